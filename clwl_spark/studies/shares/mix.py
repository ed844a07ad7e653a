"""Long-run shares of several objects that one queue manager puts to: they share its history.

The shares of one request alone have a formula (`shares`). Where requests choose among the same
channels, each changes the numbers and factors that the others choose by. Then the kernel itself
chooses, for one period of the traffic after the other, until the history is what it was at the
start of an earlier period: what lies between repeats for ever, so its shares are exact.

In a period each request has its number of messages, as evenly spaced as they can be.

Source: SEMANTICS 5. Pure numpy, no Spark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN, Choices, History, Puts, route_in_turn
from clwl_spark.algorithm.shares import ChannelKey, Route
from clwl_spark.mq.vocabulary import LARGEST_STEP

_PERIODS: Final = 2_000
_LONG: Final = 100_000
_LONG_PERIODS: Final = 500
"""First single periods are looked at, then many together, of as many choices as this, and so often:
50 million choices in a second or two."""


Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stream:
    """Messages of one request.

    Attributes:
        routes: in route order; a local-only request has its first route alone.
        messages: of a period, relative to the other requests'.
    """

    routes: Sequence[Route]
    messages: int


@dataclass(frozen=True, slots=True)
class MixShares:
    """Shares of the requests of a mix.

    Attributes:
        shares: by request, (routes,) of its messages; they sum to 1.
        is_exact: they repeat for ever; else they are counted over millions of choices.
    """

    shares: list[list[Fraction]]
    is_exact: bool


def mixed_shares(streams: Sequence[Stream], mruc: int, *, by_factor: bool = False) -> MixShares:
    """What each request's routes get in the long run, from an empty history.

    Args:
        streams: the requests, each with one route at least and one message.
        mruc: CLWLMRUC of the queue manager.
        by_factor: of the semantics (R3).
    """
    if not streams:
        return MixShares([], is_exact=True)
    order = _spaced([stream.messages for stream in streams])
    kernel = _Kernel(streams, mruc, order, by_factor)
    seen: dict[tuple[int, ...], tuple[Longs, Longs]] = {}
    counts = np.zeros(kernel.routes, dtype=np.int64)
    early = counts
    for times, rounds in ((1, _PERIODS), (max(_LONG // len(order), 1), _LONG_PERIODS)):
        early = counts.copy()
        for _ in range(rounds):
            state, gaps = kernel.state()
            before = seen.get(state)
            if before is not None and (gaps >= before[1]).all():
                return MixShares(_of_counts(streams, counts - before[0]), is_exact=True)
            seen[state] = counts.copy(), gaps
            counts += kernel.play(times)
    return MixShares(_of_counts(streams, counts - early), is_exact=False)


def _spaced(messages: Sequence[int]) -> NDArray[np.int32]:
    """Which request each message of a period is of: message k of n stands at (k + 1/2) / n."""
    common = reduce(gcd, messages)
    counts = [count // common for count in messages]
    place = np.concatenate([(np.arange(n) + 0.5) / n for n in counts])
    of = np.concatenate([np.full(n, at, dtype=np.int32) for at, n in enumerate(counts)])
    ordered: NDArray[np.int32] = of[np.lexsort((of, place))]
    return ordered


def _of_counts(streams: Sequence[Stream], counts: Longs) -> list[list[Fraction]]:
    """Shares of each request's own choices."""
    found, start = [], 0
    for stream in streams:
        own = counts[start : start + len(stream.routes)]
        total = int(own.sum())
        found.append([Fraction(int(x), total) for x in own])
        start += len(stream.routes)
    return found


class _Kernel:
    """The kernel, a period of puts, and the history as it goes on."""

    def __init__(
        self,
        streams: Sequence[Stream],
        mruc: int,
        order: NDArray[np.int32],
        by_factor: bool,  # noqa: FBT001
    ) -> None:
        keys: dict[ChannelKey, int] = {}
        every = [route for stream in streams for route in stream.routes]
        channel = [keys.setdefault(route.key, len(keys)) for route in every]
        sizes = [len(stream.routes) for stream in streams]
        self.routes = len(every)
        self._groups = _connected(streams, keys)
        self._farthest = LARGEST_STEP * len(order) + 1
        self._choices = Choices(
            choice_start=np.arange(len(streams) + 1, dtype=np.int32),
            route_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            channel=np.array(channel, dtype=np.int32),
            weight=np.array([route.clwlwght for route in every], dtype=np.int64),
            is_local=np.array([route.is_local for route in every], dtype=np.bool_),
            mruc=np.full(len(streams), mruc, dtype=np.int64),
            by_factor=by_factor,
        )
        self._order = order
        nothing = np.zeros(0, dtype=np.int64)
        self._history = History(
            np.zeros(1, dtype=np.int64),
            np.zeros((len(keys), 2), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.bool_),
            nothing,
            nothing,
        )

    def play(self, periods: int) -> Longs:
        """Choose for some periods; (routes,) how often each was chosen."""
        size = len(self._order) * periods
        puts = Puts(
            np.tile(self._order, periods),
            np.zeros(size, dtype=np.int32),
            np.full(size, NO_KEY, dtype=np.int32),
            np.zeros(size, dtype=np.int64),
            np.arange(size, dtype=np.int64),
        )
        chosen = np.full(size, NOT_CHOSEN, dtype=np.int64)
        flags = np.zeros(size, dtype=np.bool_)
        route_in_turn(puts, self._choices, self._history, 0, chosen, flags)
        return np.bincount(chosen, minlength=self.routes).astype(np.int64)

    def state(self) -> tuple[tuple[int, ...], Longs]:
        """What the next period depends on, and the distances that were cut short in it.

        Only the order of numbers counts, and the differences of factors within channels that some
        request chooses among together. A distance that no period can close is cut to one that it
        cannot close either; where it has grown since a state was seen, the state is the same.
        """
        number, factor = self._history.balance.T
        words: list[int] = []
        gaps: list[Longs] = []
        for group in self._groups:
            words += np.unique(number[group], return_inverse=True)[1].tolist()
            order = np.argsort(factor[group], kind="stable")
            steps = np.diff(factor[group][order])
            far = np.minimum(steps, self._farthest)
            words += order.tolist() + far.tolist()
            gaps.append(np.where(steps > self._farthest, steps, 0))
        return tuple(words), np.concatenate(gaps) if gaps else np.zeros(0, dtype=np.int64)


def _connected(streams: Sequence[Stream], keys: dict[ChannelKey, int]) -> list[Longs]:
    """Channels in groups: those of one request are together, and so are groups that share one."""
    group_of = list(range(len(keys)))
    for stream in streams:
        together = {group_of[keys[route.key]] for route in stream.routes}
        least = min(together)
        group_of = [least if group in together else group for group in group_of]
    groups = np.array(group_of)
    return [np.nonzero(groups == group)[0] for group in sorted(set(group_of))]
