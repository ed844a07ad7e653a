"""Which share of a request's messages each route gets in the long run. Pure Python, no Spark.

Source: SEMANTICS 5 (rule 15, the choice), P33; CONTRACT, "JSON of a few commands".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from clwl_spark.vocabulary import DEFAULT_WEIGHT

SIMULATED: Final = 20_000
"""Choices made where no formula holds; the shares are those of the second half."""

ChannelKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Route:
    """A route as the choice sees it: its history's key, where it leads, its CLWLWGHT."""

    dest_qmgr: str
    channel: str
    is_local: bool
    clwlwght: int = DEFAULT_WEIGHT

    @property
    def key(self) -> ChannelKey:
        """What its history is kept by."""
        return self.dest_qmgr, self.channel

    @property
    def step(self) -> int:
        """What one choice adds to the channel's factor."""
        return 1000 // self.clwlwght


def long_run_shares(routes: Sequence[Route], mruc: int) -> list[Fraction]:
    """Each route's share of the messages of one choice, from an empty history, in the long run.

    - Local routes alone: the first one has all (R2).
    - Rule 15 keeps the first `mruc` remote routes: with all numbers 0 route order decides, and
      then only kept channels get numbers. This needs routes over different channels; where
      routes share one, the choices are made and counted.
    - All weights 50: the channels take turns. Else a channel's share is inverse to its step,
      as the lowest factor goes next.
    - Of routes over one channel only the first is ever chosen: the others tie with it.

    Args:
        routes: in route order; those over one channel stand next to one another.
        mruc: CLWLMRUC of the queue manager.

    Returns:
        (routes,) shares that sum to 1; none for no routes.
    """
    if routes and all(route.is_local for route in routes):
        return [Fraction(int(at == 0)) for at in range(len(routes))]
    remote = [route for route in routes if not route.is_local]
    if len(remote) <= mruc:
        return _of_kept(routes, list(range(len(routes))))
    if len({route.key for route in remote}) < len(remote):
        return _simulated(routes, mruc)
    return _of_kept(routes, _kept(routes, mruc, Counter()))


def _of_kept(routes: Sequence[Route], kept: Sequence[int]) -> list[Fraction]:
    """Shares where the same routes are kept each time."""
    first: dict[ChannelKey, int] = {}
    for at in kept:
        first.setdefault(routes[at].key, at)
    weighted = any(routes[at].clwlwght != DEFAULT_WEIGHT for at in kept)
    pace = {at: Fraction(1, routes[at].step if weighted else 1) for at in first.values()}
    total = sum(pace.values())
    return [pace.get(at, Fraction(0)) / total for at in range(len(routes))]


def _kept(routes: Sequence[Route], mruc: int, numbers: Counter[ChannelKey]) -> list[int]:
    """Rule 15: the local routes and the `mruc` most recently used remote ones, in route order."""
    remote = [at for at, route in enumerate(routes) if not route.is_local]
    remote.sort(key=lambda at: -numbers[routes[at].key])
    local = [at for at, route in enumerate(routes) if route.is_local]
    return sorted(local + remote[:mruc])


def _simulated(routes: Sequence[Route], mruc: int) -> list[Fraction]:
    """Shares counted: which routes rule 15 keeps changes while routes share channels."""
    numbers: Counter[ChannelKey] = Counter()
    factors: Counter[ChannelKey] = Counter()
    chosen: Counter[int] = Counter()
    for number in range(1, SIMULATED + 1):
        kept = _kept(routes, mruc, numbers)
        weighted = any(routes[at].clwlwght != DEFAULT_WEIGHT for at in kept)
        best = min(
            kept,
            key=lambda at: (factors[routes[at].key] if weighted else 0, numbers[routes[at].key]),
        )
        numbers[routes[best].key] = number
        factors[routes[best].key] += routes[best].step
        chosen[best] += number > SIMULATED // 2
    return [Fraction(chosen[at], chosen.total()) for at in range(len(routes))]
