"""Moments that options give."""

import re
from datetime import datetime, timedelta
from typing import Final

from clwl_spark.errors import UsageError
from clwl_spark.settings import moment
from clwl_spark.tables.moments import micros, moment_at

_OF_A_DAY: Final = re.compile(r"\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:?\d\d)?")


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


def is_time_of_day(text: str) -> bool:
    """Whether a text is a time without a day, like 14:00."""
    return _OF_A_DAY.fullmatch(text) is not None


def micros_before(option: str, text: str, last: int) -> int:
    """As `micros_of`; a time of day is the last one up to a moment, in UTC if it says no zone.

    Args:
        option: the option.
        text: what it gives.
        last: that moment, in microseconds since 1970.

    Raises:
        UsageError: it is none.
    """
    if not is_time_of_day(text):
        return micros_of(option, text)
    zone = "" if text[-1] == "Z" or text[5:].strip("0123456789:") else "Z"
    days = [moment_at(last) + timedelta(days=x) for x in (1, 0, -1)]
    found = (micros_of(option, f"{day:%Y-%m-%d}T{text}{zone}") for day in days)
    return next(x for x in found if x <= last)
