"""Which share of a request's messages each route gets in the long run. Pure Python, no Spark.

Source: SEMANTICS 5 (rule 15, the choice), P33; CONTRACT, "JSON of a few commands".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP

_MOST_ROUNDS: Final = 20_000
"""Choices after which rule 15 is taken to have dropped all that it ever drops."""

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
        return LARGEST_STEP // self.clwlwght


def long_run_shares(routes: Sequence[Route], mruc: int) -> list[Fraction]:
    """Each route's share of the messages of one choice, from an empty history, in the long run.

    - Local routes alone: the first one has all (R2).
    - Rule 15 keeps the first `mruc` remote routes: with all numbers 0 route order decides, and
      then only kept channels get numbers. Where routes share a channel, one that is chosen takes
      the others with it to the front, so channels at the end drop out, never to come back.
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
    return _of_kept(routes, _kept_for_good(routes, mruc))


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


def _kept_for_good(routes: Sequence[Route], mruc: int) -> list[int]:
    """What rule 15 keeps when it has stopped dropping channels.

    The kept routes are those of the most recently used channels. The chosen channel is one of
    them and comes to the front, so the kept channels of the next choice are among those of this
    one. A round of weights brings them into the order that repeats; when none drops out in the
    next one, none ever does.
    """
    numbers: Counter[ChannelKey] = Counter()
    factors: Counter[ChannelKey] = Counter()
    kept = _kept(routes, mruc, numbers)
    before, unchanged = _channels(routes, kept), 0
    for number in range(1, _MOST_ROUNDS):
        if unchanged >= 2 * _round(routes, kept):
            break
        weighted = any(routes[at].clwlwght != DEFAULT_WEIGHT for at in kept)
        chosen = routes[min(kept, key=lambda at: _standing(routes[at], numbers, factors, weighted))]
        numbers[chosen.key] = number
        factors[chosen.key] += chosen.step
        kept = _kept(routes, mruc, numbers)
        now = _channels(routes, kept)
        before, unchanged = now, unchanged + 1 if now == before else 0
    return kept


def _standing(
    route: Route,
    numbers: Counter[ChannelKey],
    factors: Counter[ChannelKey],
    weighted: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """What the choice compares; the least goes next."""
    return (factors[route.key] if weighted else 0), numbers[route.key]


def _channels(routes: Sequence[Route], kept: Sequence[int]) -> frozenset[ChannelKey]:
    return frozenset(routes[at].key for at in kept)


def _round(routes: Sequence[Route], kept: Sequence[int]) -> int:
    """Choices after which the weights begin anew."""
    steps = {routes[at].key: routes[at].step for at in kept}.values()
    whole = lcm(*steps)
    return sum(whole // step for step in steps)
