"""Great Expectations, imported with its telemetry off; other modules take it from here."""

import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")
warnings.filterwarnings("ignore", module=r"great_expectations|marshmallow")

# It imports Spark Connect, which takes a process whose main module has no file (`python -c`, a
# test process beside others) for its own doctests, and ends it.
if _lent_file := not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

_PUT_OFF: Final = ("altair", "scipy.sparse", "scipy.stats")
"""Libraries that it imports for a few expectations: a third of its own import."""


class _PutOff(ModuleType):
    """A module that runs when something of it is first asked for.

    importlib's own LazyLoader, as of Python 3.11, takes `import` itself for such a question.
    """

    def __getattr__(self, name: str) -> object:
        """What is there once it has run."""
        self.__class__ = ModuleType  # type: ignore[assignment]
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _put_off(name: str) -> None:
    """Put off a module, unless somebody has imported it."""
    spec = importlib.util.find_spec(name)
    if spec is None or name in sys.modules:
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _PutOff
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)


for _name in _PUT_OFF:
    _put_off(_name)

import great_expectations as gx  # noqa: E402  (its telemetry is switched off before)
from great_expectations.core import (  # noqa: E402
    ExpectationSuiteValidationResult,
    ExpectationValidationResult,
    RunIdentifier,
)
from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: E402
from great_expectations.data_context.types.resource_identifiers import (  # noqa: E402
    ExpectationSuiteIdentifier,
    ValidationResultIdentifier,
)
from great_expectations.exceptions.exceptions import (  # noqa: E402
    ExpectationNotFoundError,
    GreatExpectationsError,
)
from great_expectations.expectations.expectation import (  # noqa: E402
    Expectation as GxExpectation,
)
from great_expectations.expectations.metadata_types import FailureSeverity  # noqa: E402
from great_expectations.expectations.registry import get_expectation_impl  # noqa: E402

if _lent_file:
    del sys.modules["__main__"].__file__

__all__ = [
    "ExpectationNotFoundError",
    "ExpectationSuiteIdentifier",
    "ExpectationSuiteValidationResult",
    "ExpectationValidationResult",
    "FailureSeverity",
    "GreatExpectationsError",
    "GxExpectation",
    "ProgressBarsConfig",
    "RunIdentifier",
    "ValidationResultIdentifier",
    "get_expectation_impl",
    "gx",
    "quiet",
]


@contextmanager
def quiet() -> Iterator[None]:
    """Great Expectations logs what it also returns."""
    logger = logging.getLogger("great_expectations")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
