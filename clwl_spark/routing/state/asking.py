"""Choices that somebody may want otherwise, one message after another; no Spark.

Each choice depends on all before it, and an answer may depend on the factors. So a part of the
messages is chosen for, all of its choices are asked about at once, and it is chosen for anew with
the answers until they stay as they are: what comes before the first answer that differs is settled
each time, so it ends. With answers that do not look at numbers or factors, that is the second time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import (
    NO_KEY,
    NOT_CHOSEN,
    Choices,
    History,
    Puts,
    Routed,
    bring_resets,
    route_as_wanted,
)
from clwl_spark.errors import ExitFunctionError
from clwl_spark.mq.vocabulary import LARGEST_STEP

Longs = NDArray[np.int64]

AT_ONCE: Final = 4096
"""Messages that are asked about at once, at the most."""

_PURE: Final = "its answers to the same rows differ: they may depend on nothing but the rows"


class Standing(NamedTuple):
    """Destinations that choices are between, a row for each, choice by choice in route order.

    Attributes:
        message: place of the message among those of the queue manager.
        copy: which of the message's choices.
        route: index of the route.
        number: dest_seq_number of its channel before the choice; 0 = never chosen.
        factor: dest_seq_factor of its channel before the choice.
        is_default: the algorithm's choice.
    """

    message: Longs
    copy: Longs
    route: Longs
    number: Longs
    factor: Longs
    is_default: NDArray[np.bool_]


class Asks(Protocol):
    """Says which destinations are taken."""

    def __call__(self, standing: Standing) -> NDArray[np.bool_]:
        """(rows,) whether a destination is taken: one of each choice."""


@dataclass(frozen=True, slots=True)
class Balancing:
    """What a queue manager's choices depend on.

    Attributes:
        choices: as `algorithm.choose.route_in_turn`.
        history: as there, changed in place.
        ttl: as there, `binding_ttl`.
    """

    choices: Choices
    history: History
    ttl: int


def choose_asking(
    puts: Puts, balancing: Balancing, asks: Asks, chosen: Longs, bound: NDArray[np.bool_]
) -> None:
    """Choose for messages in turn, each time as it is wanted.

    Args:
        puts: the messages of one queue manager, in order; their outcomes follow one another.
        balancing: the queue manager.
        asks: who wants other routes.
        chosen: as `algorithm.choose.route_in_turn`.
        bound: as `algorithm.choose.route_in_turn`.

    Raises:
        ExitFunctionError: answers to the same rows differ.
    """
    copies = np.diff(balancing.choices.choice_start)[puts.plan]
    for part in _parts(puts):
        first = int(puts.first[part.start])
        end = int(puts.first[part.stop - 1] + copies[part.stop - 1])
        own = Puts(
            puts.plan[part],
            puts.snapshot[part],
            puts.key[part],
            puts.put_time[part],
            puts.first[part] - first,
        )
        results = chosen[first:end], bound[first:end]
        _settle(_Part(own, part.start, copies[part], balancing), asks, *results)


def _parts(puts: Puts) -> Iterator[slice]:
    """Messages that are asked about at once: a reset is brought by the first of a part."""
    begins = np.flatnonzero(np.diff(np.maximum.accumulate(puts.snapshot))) + 1
    bounds = [0, *begins.tolist(), len(puts.plan)]
    for start, end in pairwise(bounds):
        for at in range(start, end, AT_ONCE):
            yield slice(at, min(at + AT_ONCE, end))


@dataclass(frozen=True, slots=True)
class _Part:
    """Messages that are asked about at once.

    Attributes:
        puts: they; their outcomes count from 0.
        first_message: place of the first among those of the queue manager.
        copies: (messages,) choices that each makes.
        balancing: the queue manager.
    """

    puts: Puts
    first_message: int
    copies: NDArray[np.int32]
    balancing: Balancing


def _settle(part: _Part, asks: Asks, chosen: Longs, bound: NDArray[np.bool_]) -> None:
    """Choose until the answers to all choices are the ones that were chosen by."""
    history = part.balancing.history
    _bring_resets(part)
    before = _Kept(history, part.puts.key)
    wanted = np.full(len(chosen), NOT_CHOSEN, dtype=np.int64)
    for _ in range(len(chosen) + 2):
        default = np.full(len(chosen), NOT_CHOSEN, dtype=np.int64)
        bound[:] = False
        chosen[:] = NOT_CHOSEN
        balancing = part.balancing
        routed = Routed(chosen, bound, wanted, default)
        route_as_wanted(part.puts, balancing.choices, history, balancing.ttl, routed)
        asked = np.flatnonzero(default != NOT_CHOSEN)
        if not len(asked):
            return
        standing, choice = _standing(part, before, asked, chosen, default)
        taken = asks(standing)
        answers = np.full(len(chosen), NOT_CHOSEN, dtype=np.int64)
        answers[asked[choice[taken]]] = standing.route[taken]
        if np.array_equal(answers[asked], chosen[asked]):
            return
        # What is left to the algorithm is left to it again, after all that is wanted otherwise.
        wanted = np.where(answers == default, NOT_CHOSEN, answers)
        before.restore(history)
    raise ExitFunctionError(_PURE)


def _bring_resets(part: _Part) -> None:
    """Bring the resets that the first message brings, so that its factors are those after them."""
    history, snapshot = part.balancing.history, part.puts.snapshot[0]
    if snapshot > history.brought[0]:
        bring_resets(history.brought[0], snapshot, history.pending, history.balance)
        history.brought[0] = snapshot


class _Kept:
    """A history as it was, as far as some messages change it."""

    def __init__(self, history: History, keys: NDArray[np.int32]) -> None:
        self.counter = int(history.counter[0])
        self.balance = history.balance.copy()
        self._keys = np.unique(keys[keys != NO_KEY])
        self._bound = history.key_route[self._keys], history.key_time[self._keys]

    def restore(self, history: History) -> None:
        """Make it so again."""
        history.counter[0] = self.counter
        history.balance[:] = self.balance
        history.key_route[self._keys], history.key_time[self._keys] = self._bound


def _standing(
    part: _Part, before: _Kept, asked: Longs, chosen: Longs, default: Longs
) -> tuple[Standing, Longs]:
    """The destinations of choices, and of which choice each is."""
    choices = part.balancing.choices
    message = np.repeat(np.arange(len(part.copies)), part.copies)[asked]
    copy = asked - part.puts.first[message]
    at = choices.choice_start[part.puts.plan[message]] + copy
    begins, sizes = choices.route_start[at], np.diff(choices.route_start)[at]
    choice = np.repeat(np.arange(len(asked)), sizes)
    within = np.arange(len(choice)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    route = begins[choice] + within
    number, factor = _balance_before(choices, before, chosen[asked], choice, route)
    standing = Standing(
        message=part.first_message + message[choice],
        copy=copy[choice],
        route=route,
        number=number,
        factor=factor,
        is_default=route == default[asked][choice],
    )
    return standing, choice


def _balance_before(
    choices: Choices, before: _Kept, chosen: Longs, choice: Longs, route: Longs
) -> tuple[Longs, Longs]:
    """(rows,) number and factor of each row's channel before its choice.

    Args:
        choices: of the queue manager.
        before: the history before the first choice.
        chosen: (choices,) the routes that were taken.
        choice: (rows,) of which choice each row is.
        route: (rows,) its route.
    """
    taken_channel = choices.channel[chosen]
    steps = LARGEST_STEP // choices.weight[chosen]
    row_channel = choices.channel[route]
    number, factor = (before.balance[row_channel, x].copy() for x in (0, 1))
    for channel in np.unique(row_channel):
        places = np.flatnonzero(taken_channel == channel)
        rows = np.flatnonzero(row_channel == channel)
        done = np.searchsorted(places, choice[rows])
        added = np.concatenate([[0], np.cumsum(steps[places])])
        factor[rows] += added[done]
        has = done > 0
        number[rows[has]] = before.counter + places[done[has] - 1] + 1
    return number, factor
