"""Great Expectations, imported with its telemetry off; other modules take it from here."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")
warnings.filterwarnings("ignore", module=r"great_expectations|marshmallow")

# It imports Spark Connect, which takes a process whose main module has no file (`python -c`, a
# test process beside others) for its own doctests, and ends it.
if _lent_file := not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

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
