"""Where does every message of an IBM MQ cluster go, and why: exactly, on Spark.

    import clwl_spark as cw

    with cw.lake("build/demo-lake") as lake:
        print(lake.explain("SHOP1", "PARCEL.IN"))

What is exported here is imported when it is first used: importing the package starts nothing, and
`clwl --help` needs neither Spark nor pandas.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from clwl_spark.api import OpenLake, lake
    from clwl_spark.errors import ClwlError, InputError, UsageError

__all__ = ["ClwlError", "InputError", "OpenLake", "UsageError", "lake"]

_ROOMS: Final = {
    "lake": "clwl_spark.api",
    "OpenLake": "clwl_spark.api",
    "ClwlError": "clwl_spark.errors",
    "InputError": "clwl_spark.errors",
    "UsageError": "clwl_spark.errors",
}


_OLDEST: Final = (3, 11)
if sys.version_info < _OLDEST:
    raise ImportError(
        "clwl-spark needs Python 3.11 or newer, and this is "
        + ".".join(map(str, sys.version_info[:2]))
    )


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever is exported)
    """Import an export when it is asked for."""
    if name not in _ROOMS:
        # Python's own protocol: hasattr and `from ... import` wait for this error.
        raise AttributeError(f"module 'clwl_spark' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    """The exports, imported or not."""
    return sorted({*globals(), *__all__})
