"""Moments that options give."""

from datetime import datetime

from clwl_spark.errors import UsageError
from clwl_spark.settings import moment
from clwl_spark.tables.moments import micros


def moment_of(option: str, text: str) -> datetime:
    """The moment that an option gives.

    Raises:
        UsageError: it is none; the sentence names the option.
    """
    try:
        return moment(text)
    except UsageError as error:
        raise UsageError(f"{option} {error}") from error


def micros_of(option: str, text: str) -> int:
    """The same in microseconds since 1970.

    Raises:
        UsageError: it is none.
    """
    return micros(moment_of(option, text))
