"""Moments as Delta keeps them and routing counts them: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

MILLISECOND: Final = 1_000
SECOND: Final = 1_000 * MILLISECOND
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
"""In microseconds."""

ISO_8601: Final = (
    "^(?<date>[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))"
    "(?:[T ](?<time>(?:[01][0-9]|2[0-3]):[0-5][0-9])"
    r"(?:(?<seconds>:[0-5][0-9])(?:(?<fraction>\.[0-9]{1,6})[0-9]{0,3})?)?"
    r"(?:Z|(?<hours>[+-](?:0[0-9]|1[0-7]))(?::?(?<minutes>[0-5][0-9]))?)?)?\z"
)
"""A moment in text; its groups are, in order, PARTS. Spark, Sail and Arrow know such patterns."""
PARTS: Final = {
    "date": "",
    "time": "00:00",
    "seconds": ":00",
    "fraction": "",
    "hours": "+00",
    "minutes": "00",
}
"""Groups of ISO_8601, each with what it is where it is left out: a date alone is its midnight, and
without a zone a moment is in UTC."""
SPELLED: Final = ("date", "T", "time", "seconds", "fraction", "hours", ":", "minutes")
"""Groups, and what stands between them, of a moment in text that leaves nothing out."""


def micros(at: datetime) -> int:
    """A moment with its zone in microseconds."""
    return (at - EPOCH) // timedelta(microseconds=1)


def moment_at(microseconds: int) -> datetime:
    """The moment of so many microseconds, in UTC; beyond FIRST and LAST the nearer of them."""
    return EPOCH + timedelta(microseconds=min(max(microseconds, FIRST), LAST))


def moment_text(moment: datetime, precision: str = "auto") -> str:
    """A moment in UTC: 2026-09-14T06:00:00Z; precision is that of `datetime.isoformat`."""
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


FIRST: Final = micros(datetime.min.replace(tzinfo=UTC))
LAST: Final = micros(datetime.max.replace(tzinfo=UTC))
"""The first microsecond of year 1 and the last of year 9999; Delta's tables have no others."""
