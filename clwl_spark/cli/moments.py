"""Moments that options give."""

import re
from datetime import datetime, timedelta
from typing import Final

from clwl_spark.errors import UsageError
from clwl_spark.settings import moment
from clwl_spark.tables.moments import micros, moment_at

_OF_A_DAY: Final = re.compile(r"\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:?\d\d)?")

Moment = str | datetime
"""A moment as text in ISO 8601, or with its zone."""


def moment_of(option: str, given: Moment) -> datetime:
    """The moment that an option gives.

    Raises:
        UsageError: it is none; the sentence names the option.
    """
    try:
        return moment(given if isinstance(given, str) else given.isoformat())
    except UsageError as error:
        raise UsageError(f"{option} {error}") from error


def micros_of(option: str, given: Moment) -> int:
    """The same in microseconds since 1970.

    Raises:
        UsageError: it is none.
    """
    return micros(moment_of(option, given))


def micros_if(option: str, given: Moment | None) -> int | None:
    """As `micros_of`, where something is given."""
    return None if given is None else micros_of(option, given)


def micros_before(option: str, given: Moment, last: int) -> int:
    """As `micros_of`; a time of day, 14:00, is the last one up to a moment, in UTC without zone.

    Args:
        option: the option.
        given: what it gives.
        last: that moment, in microseconds since 1970.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(given, str) or not _OF_A_DAY.fullmatch(given):
        return micros_of(option, given)
    zone = "" if given[-1] == "Z" or given[5:].strip("0123456789:") else "Z"
    days = [moment_at(last) + timedelta(days=x) for x in (1, 0, -1)]
    found = (micros_of(option, f"{day:%Y-%m-%d}T{given}{zone}") for day in days)
    return next(x for x in found if x <= last)
