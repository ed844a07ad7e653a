"""Moments as Delta keeps them and routing counts them: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """A moment with its zone in microseconds."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment_at(microseconds: int) -> datetime:
    """The moment of so many microseconds, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)
