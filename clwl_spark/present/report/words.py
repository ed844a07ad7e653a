"""How the report writes names, numbers and moments. Whatever a name holds is text here."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from clwl_spark.mq.vocabulary import reason_text
from clwl_spark.present.printable import printable
from clwl_spark.tables.moments import DAY, HOUR, MILLISECOND, MINUTE, SECOND

LONG: Final = 80
"""Names in sentences are cut here; MQ's have at most 48 characters, topic strings 10,240."""


def named(name: str | None, most: int = LONG) -> str:
    """A name as text on one line, at most so many characters."""
    if not name or not name.strip():
        return "(blank)"
    shown = printable(name)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def request(object_name: str, object_qmgr: str) -> str:
    """An object, with the queue manager that the open named."""
    at = f" at {named(object_qmgr)}" if object_qmgr.strip() else ""
    return f"{named(object_name)}{at}"


def way(dest_qmgr: str, channel: str | None, most: int = LONG) -> str:
    """A destination and the channel to it."""
    over = f" over {named(channel, most)}" if channel else ""
    return f"{named(dest_qmgr, most)}{over}"


def count(number: float) -> str:
    """A number with its thousands told apart."""
    return f"{number:,.0f}"


def counted(number: int, noun: str) -> str:
    """A number of things: '1 message', '2,000 messages'."""
    return f"{count(number)} {noun if number == 1 else f'{noun}s'}"


def percent(share: float) -> str:
    """A share, 0 to 1, in percent; little is not nothing, and nearly all is not all."""
    if 0 < share < 0.001:  # noqa: PLR2004
        return "<0.1%"
    if 0.999 < share < 1:  # noqa: PLR2004
        return ">99.9%"
    return f"{share:.1%}"


def moment(at: datetime | None) -> str:
    """A moment in UTC, to the second."""
    return "(not known)" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def reason(code: int) -> str:
    """An MQRC with its name, where that is known."""
    return reason_text(code)


def lasting(microseconds: int) -> str:
    """The length of a bucket: '5 minutes'."""
    for unit, length in _UNITS:
        if microseconds % length == 0:
            return counted(microseconds // length, unit)
    return counted(microseconds, "microsecond")


def joined(parts: Sequence[str]) -> str:
    """Parts of a sentence: 'a, b and c'."""
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


_UNITS: Final = (
    ("day", DAY),
    ("hour", HOUR),
    ("minute", MINUTE),
    ("second", SECOND),
    ("millisecond", MILLISECOND),
)


def told_apart(names: Sequence[str | None], most: int) -> list[str]:
    """Names cut to so many characters, and numbered where that leaves two of them alike."""
    met: Counter[str] = Counter()
    told = []
    for name in names:
        short = named(name, most)
        met[short] += 1
        told.append(short if met[short] == 1 else f"{short} ({met[short]})")
    return told
