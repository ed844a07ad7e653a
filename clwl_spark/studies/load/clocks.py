"""Whether the clocks of queue managers can be believed: order within one, distance between two."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import Final, NamedTuple

_PAIRS: Final = 3
"""Starts that both ends report: so many tell of a difference, fewer may be chance."""
_TOLD_FROM: Final = 5.0
"""Seconds; ends of a channel start within less of each other."""
_AS_ONE: Final = 2.0
"""Seconds by which the pairs of two clocks that only differ may differ among themselves."""


class OutOfOrder(NamedTuple):
    """An event that is not in the order in which its queue manager put the events.

    Attributes:
        at: its place among them.
        is_ahead: its moment is after that of events behind it, else before that of one before it.
        other: the moment of that event.
    """

    at: int
    is_ahead: bool
    other: datetime


class ClockDifference(NamedTuple):
    """Two queue managers whose clocks differ.

    Attributes:
        qmgr: the one.
        other: the other.
        seconds: by which the other's is ahead; below 0 = behind.
        pairs: starts of channels that both ends report, from which that is known.
    """

    qmgr: str
    other: str
    seconds: float
    pairs: int


def out_of_order(moments: Sequence[datetime]) -> list[OutOfOrder]:
    """The fewest events without which all others are in order.

    So that a clock that jumps forward and back costs the events of that time, and not all that
    come after them.

    Args:
        moments: of one queue manager's events, in the order in which it put them.
    """
    kept = _longest_in_order(moments)
    found = []
    for at, moment in enumerate(moments):
        place = bisect_left(kept, at)
        if place < len(kept) and kept[place] == at:
            continue
        later = moments[kept[place]] if place < len(kept) else None
        if later is not None and moment > later:
            found.append(OutOfOrder(at, is_ahead=True, other=later))
        else:
            found.append(OutOfOrder(at, is_ahead=False, other=moments[kept[place - 1]]))
    return found


def _longest_in_order(moments: Sequence[datetime]) -> list[int]:
    """Places of a longest part of the moments that never goes back, ascending."""
    tails: list[datetime] = []
    ends: list[int] = []
    before: list[int] = []
    for at, moment in enumerate(moments):
        length = bisect_right(tails, moment)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(moment)
            ends.append(at)
        else:
            tails[length], ends[length] = moment, at
    kept = []
    at = ends[-1] if ends else -1
    while at >= 0:
        kept.append(at)
        at = before[at]
    return kept[::-1]


def clock_differences(
    starts: Mapping[tuple[str, str], Sequence[datetime]], senders: Iterable[tuple[str, str, str]]
) -> list[ClockDifference]:
    """The pairs of queue managers whose clocks differ, by the starts of channels between them.

    Args:
        starts: by (queue manager, channel), when it says that the channel started, ascending.
        senders: (queue manager, the one that it sends to, channel).

    A start is the same as the other end's if both have as many, and all are as far apart.
    """
    found = []
    for qmgr, other, channel in sorted(senders):
        mine, theirs = starts.get((qmgr, channel), ()), starts.get((other, channel), ())
        if len(mine) != len(theirs) or len(mine) < _PAIRS:
            continue
        apart = [(y - x).total_seconds() for x, y in zip(mine, theirs, strict=True)]
        middle = median(apart)
        if abs(middle) >= _TOLD_FROM and all(abs(x - middle) <= _AS_ONE for x in apart):
            found.append(ClockDifference(qmgr, other, middle, len(apart)))
    return found
