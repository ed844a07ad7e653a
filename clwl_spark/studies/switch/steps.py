"""The two steps of a switch, message after message: integers in arrays, no Spark, no pandas.

Step 1 moves what is on the old queue to the new one, in transactions, in order, while new messages
still go to the old queue. It ends when none is left there; from then on, step 2, new messages go
straight to the new queue. An interruption undoes the transaction in hand and nothing else, and
the step goes on when the channel starts again.

Source: IBM's page on transmission queues, "How the process to switch ..." and "Multiple
cluster-sender channels ...".
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.compiled import compiled
from clwl_spark.tables.moments import SECOND

Longs = NDArray[np.int64]
Codes = NDArray[np.int8]

NEVER: Final = 2**62
LEFT: Final = 0
SWITCHED: Final = 1
REBALANCED: Final = 2
PUT_ON_NEW: Final = 3


class Pace(NamedTuple):
    """How the switch works.

    Attributes:
        start: the channel starts, microseconds.
        per_second: messages that the switch moves in a second.
        batch: messages in a transaction.
    """

    start: int
    per_second: int
    batch: int


class Interruptions(NamedTuple):
    """When the channel stops and starts again, in order and apart from one another.

    Attributes:
        stops: (interruptions,) microseconds.
        starts: (interruptions,) microseconds; NEVER = it stays stopped.
    """

    stops: Longs
    starts: Longs


@compiled
def switch_in_steps(
    arrived: Longs, taken_at: Longs, pace: Pace, stopped: Interruptions
) -> tuple[Longs, Codes, int, int]:
    """Place each message, in the order in which the channel transfers them.

    Workload balancing may work on the same queue at the same time (the channel was stopped, and is
    started before it is through): it takes a message at its moment in `taken_at`, unless the
    switch has it then or had it before.

    Args:
        arrived: (messages,) when it was put on the old queue, not decreasing after `start`.
        taken_at: (messages,) when workload balancing would take it; NEVER = it would not.
        pace: how the switch works.
        stopped: when it is interrupted.

    Returns:
        (messages,) when each came to where it is; (messages,) how, LEFT to PUT_ON_NEW; when step 2
        begins, NEVER if not; how many moves interruptions undid.
    """
    placed, how = arrived.copy(), np.zeros(arrived.shape[0], dtype=np.int8)
    passed_over = np.zeros(arrived.shape[0], dtype=np.bool_)
    in_hand = np.empty(pace.batch, dtype=np.int64)
    clock, first, undone = pace.start, 0, 0
    while True:
        clock, next_stop = _when_it_runs(clock, stopped)
        if clock >= NEVER:
            break
        size, at = _take(clock, first, (arrived, taken_at, placed), how, passed_over, in_hand)
        if size == 0:
            how[at:] = PUT_ON_NEW
            return placed, how, clock, undone
        commit = clock + max(size * SECOND // pace.per_second, 1)
        if next_stop < commit:
            undone += size
            for message in in_hand[:size]:
                passed_over[message] |= taken_at[message] <= next_stop
            clock = next_stop
            continue
        for message in in_hand[:size]:
            how[message], placed[message] = SWITCHED, commit
        clock, first = commit, at
    for message in range(first, arrived.shape[0]):
        if taken_at[message] < NEVER and not passed_over[message]:
            how[message], placed[message] = REBALANCED, taken_at[message]
    return placed, how, NEVER, undone


@compiled
def _when_it_runs(clock: int, stopped: Interruptions) -> tuple[int, int]:
    """The moment from which the channel runs, not before `clock`; and when it next stops."""
    for interruption in range(stopped.stops.shape[0]):
        if stopped.stops[interruption] > clock:
            return clock, stopped.stops[interruption]
        clock = max(clock, stopped.starts[interruption])
    return clock, NEVER


@compiled
def _take(
    clock: int,
    first: int,
    times: tuple[Longs, Longs, Longs],
    how: Codes,
    passed_over: NDArray[np.bool_],
    in_hand: Longs,
) -> tuple[int, int]:
    """Take the next messages on the old queue in hand, as many as go into a transaction.

    Those that workload balancing has taken away by then are marked so.

    Returns:
        How many are in hand, and the first message that was not looked at.
    """
    arrived, taken_at, placed = times
    size, at = 0, first
    while at < arrived.shape[0] and size < in_hand.shape[0] and arrived[at] <= clock:
        if taken_at[at] <= clock and not passed_over[at]:
            how[at], placed[at] = REBALANCED, taken_at[at]
        else:
            in_hand[size] = at
            size += 1
        at += 1
    return size, at


def examined_at(arrived: Longs, stop: int, per_second: int) -> Longs:
    """(messages,) when workload balancing, begun at a stop, has looked at each message.

    It goes through what is on the queue at the stop, in queue order; NEVER for later arrivals.
    """
    there = arrived <= stop
    place = np.cumsum(there)
    return np.where(there, stop + place * SECOND // per_second, NEVER).astype(np.int64)


def greatest_depth(arrived: Longs, placed: Longs, start: int) -> tuple[int, int, int]:
    """How deep the old queue became while messages were moved off it.

    Args:
        arrived: (messages,) of those that were on the old queue, in microseconds.
        placed: (messages,) when each left it; NEVER = it did not.
        start: the switch starts.

    Returns:
        Depth at the start, greatest depth from then on, and when it was first so deep.
    """
    moments = np.unique(np.append(arrived[arrived >= start], start))
    came = np.searchsorted(np.sort(arrived), moments, side="right")
    gone = np.searchsorted(np.sort(placed), moments, side="right")
    depth = came - gone
    at = int(np.argmax(depth))
    return int(depth[0]), int(depth[at]), int(moments[at])
