"""The least start of a history that the first choices fit.

A choice says of each route that was not taken that its channel stood behind the one taken. For
channels that were not used since, that is said of the numbers they began with; where weights count,
of the factors, less what was added since. Such differences have a least solution, if any: counters
grow from 0 until all is fulfilled.

Source: SEMANTICS 5 (rule 15, the choice).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP
from clwl_spark.studies.conform.held import Sender
from clwl_spark.studies.conform.trial import Start

_LOOKED_AT: Final = 5_000
Said = list[tuple[int, int, int, int]]
"""(message, channel, other channel, by how much the other's counter is greater at the least)."""


def least_start(sender: Sender) -> Start | None:
    """The least start that as many of the first choices fit as can be; None = empty fits as well.

    Args:
        sender: with what was seen of its messages.
    """
    numbers, factors = _said(sender)
    messages = sorted({x[0] for x in (*numbers, *factors)})
    low, high = 0, len(messages)
    best: Start | None = None
    while low < high:
        middle = (low + high + 1) // 2
        found = _fitting(sender, numbers, factors, messages[middle - 1])
        if found is None:
            high = middle - 1
        else:
            low, best = middle, found
    return best if best is not None and best.counters else None


def _fitting(sender: Sender, numbers: Said, factors: Said, last: int) -> Start | None:
    size = len(sender.channels)
    found = [_least([x for x in said if x[0] <= last], size) for said in (numbers, factors)]
    if found[0] is None or found[1] is None:
        return None
    return Start(found[0], found[1])


def _least(said: Said, channels: int) -> NDArray[np.int64] | None:
    """(channels,) the least counters of which all that is said holds; None = there are none."""
    bound = np.full((channels, channels), np.iinfo(np.int64).min // 4)
    for _, one, other, more in said:
        bound[one, other] = max(bound[one, other], more)
    counters = np.zeros(channels, np.int64)
    for _ in range(channels + 1):
        grown = np.maximum(counters, (counters[:, None] + bound).max(axis=0))
        if (grown == counters).all():
            return counters
        counters = grown
    return None


def _said(sender: Sender) -> tuple[Said, Said]:
    """What choices say of numbers and of factors at the start, up to the first reset."""
    found = _Compared(sender)
    for message in range(sender.resets_before(min(len(sender.plan), _LOOKED_AT))):
        if not sender.is_bound[message]:
            routes = sender.routes_of(message)
            taken = _taken(sender, message, routes)
            if taken is not None:
                found.take(message, routes, taken)
    return found.numbers, found.factors


class _Compared:
    """What the choices up to a message say of the channels' counters at the start."""

    def __init__(self, sender: Sender) -> None:
        self.numbers: Said = []
        self.factors: Said = []
        self._choices = sender.choices
        self._by_factor = sender.by_factor_of(0)
        self._used: dict[int, int] = {}
        self._added: dict[int, int] = {}

    def take(self, message: int, routes: slice, taken: int) -> None:
        """Compare the channel that was taken with the others, and count it."""
        channels = self._choices.channel[routes].tolist()
        weights = self._choices.weight[routes]
        one = channels[taken]
        says = (
            self._factor if self._by_factor or (weights != DEFAULT_WEIGHT).any() else self._number
        )
        for at, other in enumerate(channels):
            if other != one:
                says(message, one, other, int(taken >= at))
        self._used[one] = message
        self._added[one] = self._added.get(one, 0) + LARGEST_STEP // int(weights[taken])

    def _factor(self, message: int, one: int, other: int, behind: int) -> None:
        ahead = _is_ahead(self._used, one, other, behind)
        more = self._added.get(one, 0) - self._added.get(other, 0) + ahead
        self.factors.append((message, one, other, more))

    def _number(self, message: int, one: int, other: int, behind: int) -> None:
        """What was used since has a greater number than anything had at the start."""
        if other in self._used:
            return
        held = (other, other, 1) if one in self._used else (one, other, behind)
        self.numbers.append((message, *held))


def _is_ahead(used: dict[int, int], one: int, other: int, behind: int) -> int:
    """1 where equal factors would have led to the other channel, by numbers or route order."""
    if one in used and other in used:
        return int(used[one] > used[other])
    if one not in used and other not in used:
        return behind
    return int(one in used)


def _taken(sender: Sender, message: int, routes: slice) -> int | None:
    """Place of the route that was taken, where one record means one channel."""
    pattern = sender.pattern[message]
    if pattern < 0:
        return None
    fits = np.flatnonzero(sender.fits[pattern, routes])
    channels = set(sender.choices.channel[routes][fits].tolist())
    return int(fits[0]) if len(channels) == 1 else None
