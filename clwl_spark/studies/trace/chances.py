"""Where a message ends that goes from place to place by chance. Pure Python and numpy, no Spark.

A place is left for others with fixed shares; what is missing to 1 ends there. A message may come
back to a place: then the shares along all its ways, however often it goes round, are summed, which
a system of linear equations per loop does exactly.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ways = Sequence[Mapping[int, float]]
"""For each place the shares of the places that come next."""
ROUNDED = 12
_NOTHING_LEFT = 1e-9


@dataclass(frozen=True, slots=True)
class Loop:
    """Places that lead back to one another.

    Attributes:
        places: one way round, without the first place repeated at its end.
        share: messages that get into it.
        is_closed: nothing leads out of it: its messages never end.
    """

    places: tuple[int, ...]
    share: float
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Chances:
    """What becomes of a message that starts at place 0.

    Attributes:
        visits: (places,) how often it is put to each place on average; infinite in a closed loop.
        loops: in the order of their first place.
    """

    visits: list[float]
    loops: list[Loop] = field(default_factory=list)


def chances(ways: Ways) -> Chances:
    """Follow all ways from place 0.

    Args:
        ways: (places,) for each place the shares of those that come next, summing to 1 at most.
    """
    coming = np.zeros(len(ways))
    coming[0] = 1.0
    visits = np.zeros(len(ways))
    loops = []
    for group in _groups(ways):
        entering = round(float(coming[group].sum()), ROUNDED)
        goes_round = len(group) > 1 or group[0] in ways[group[0]]
        is_closed = goes_round and _is_closed(ways, group)
        if goes_round and entering > 0:
            loops.append(Loop(_round(ways, min(group)), entering, is_closed))
        if is_closed:
            visits[group] = np.inf if entering > 0 else 0.0
            continue
        visits[group] = _settled(ways, group, coming[group]) if goes_round else coming[group]
        _send_on(ways, group, visits, coming)
    loops.sort(key=lambda loop: loop.places)
    return Chances([round(float(x), ROUNDED) for x in visits], loops)


def _send_on(
    ways: Ways, group: list[int], visits: NDArray[np.float64], coming: NDArray[np.float64]
) -> None:
    """Add to `coming` what leaves a group for other places."""
    inside = set(group)
    for place in group:
        for other, share in ways[place].items():
            if other not in inside:
                coming[other] += visits[place] * share


def _settled(ways: Ways, group: list[int], coming: NDArray[np.float64]) -> NDArray[np.float64]:
    """Visits of the places of a loop that can be left: those that come in, and come round."""
    at = {place: position for position, place in enumerate(group)}
    inner = np.zeros((len(group), len(group)))
    for place in group:
        for other, share in ways[place].items():
            if other in at:
                inner[at[other], at[place]] += share
    return np.linalg.solve(np.eye(len(group)) - inner, coming).astype(np.float64)


def _is_closed(ways: Ways, group: list[int]) -> bool:
    """Whether nothing leads out of the places, neither to others nor to an end."""
    inside = set(group)
    kept = (sum(x for other, x in ways[place].items() if other in inside) for place in group)
    return all(1 - share < _NOTHING_LEFT for share in kept)


def _groups(ways: Ways) -> list[list[int]]:
    """Places that lead to one another, together; whoever leads to another group comes first."""
    reached = [_reached(ways, place) for place in range(len(ways))]
    groups: list[list[int]] = []
    placed: set[int] = set()
    for place in range(len(ways)):
        if place not in placed:
            group = sorted(x for x in reached[place] if place in reached[x]) or [place]
            groups.append(group)
            placed.update(group)
    # A group reaches all that a later one reaches, and itself.
    groups.sort(key=lambda group: -len(reached[group[0]] | set(group)))
    return groups


def _reached(ways: Ways, start: int) -> set[int]:
    """The places that a place leads to; itself only where it leads back."""
    found: set[int] = set()
    waiting = list(ways[start])
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting.extend(ways[place])
    return found


def _round(ways: Ways, start: int) -> tuple[int, ...]:
    """A shortest way from a place back to itself."""
    waiting: deque[tuple[int, ...]] = deque([(start,)])
    seen: set[int] = set()
    while waiting:
        way = waiting.popleft()
        for other in sorted(ways[way[-1]]):
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                waiting.append((*way, other))
    return (start,)
