"""Which version of each table a lake has, told without Spark: what an answer is worked out from."""

from collections.abc import Iterable

from deltalake.exceptions import DeltaError

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.opening import delta_table, has_log
from clwl_spark.delta.protocol import opened

Versions = tuple[tuple[str, int] | None, ...]
"""(Delta's id of the table, version) by table; None = no such table.

The id tells a table from another one that was made at the same place.
"""


def versions_of(lake: Lake, tables: Iterable[str]) -> Versions | None:
    """The newest versions of tables.

    Args:
        lake: the lake.
        tables: names.

    Returns:
        (tables,) versions; None where only Spark can tell: in a catalog, elsewhere than
        where this process reads, or of tables that delta-rs does not know how to read.
    """
    if not lake.is_here:
        return None
    try:
        return tuple(_version(lake.path(table)) for table in tables)
    except (DeltaError, OSError):
        return None


def _version(folder: str) -> tuple[str, int] | None:
    if not has_log(folder):
        return None
    table = opened(folder) or delta_table(folder)
    return str(table.metadata().id), int(table.version())
