"""The simulation of one shared queue, event by event, over arrays; no Spark, no pandas.

Three kinds of event: a put, a queue manager's answer (to a local put or to a notification), and
a getter that is done with its message and issues its next MQGET. Ties go in the order done,
answer, put. Random numbers are splitmix64, so that a run's numbers hang on its seed alone.

Source: IBM's page on shared queues. Its rules, and where they are below:
- a nonpersistent message out of syncpoint goes straight to a waiting local getter, is not written
  to the queue, and nobody is notified: `_put`, first branch;
- any other message is written; where the queue was empty, the CF notifies: `_notify`;
- the local queue manager does not wait for its notification, but honours a waiting getter at
  once, and usually comes first, depending on how busy it is: `_post`;
- the first to answer processes the message; the others find the queue empty: `_answer`;
- a queue that is not drained is pulled from by everybody who has been notified: `_done`.

Choices where the seed is silent: every queue manager with a getter for the queue is notified of
every transition, the local one too (the seed: "all connected queue managers"), and a getter that
waits is given a message put locally although others are still on the queue.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.compiled import compiled

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

DIRECT: Final = 0
LOCAL: Final = 1
NOTIFIED: Final = 2
PULLED: Final = 3
NOTIFICATIONS: Final = 4
EMPTY_ANSWERS: Final = 5
MEASURES: Final = 6
"""Columns of what is counted per queue manager: gets by how they came about, then the rest."""
TRANSITIONS: Final = 0
DEEPEST: Final = 1
WAITED: Final = 2
TOTALS: Final = 3
"""Columns of what is counted per run; WAITED is in seconds, summed over messages."""

_NEVER: Final = np.inf


class Group(NamedTuple):
    """The group as arrays; times in seconds.

    Attributes:
        getter_start: (qmgrs + 1,) first getter of each queue manager.
        service: (qmgrs,) mean service time, made longer by how busy it is.
        fixed: (qmgrs,) True where service times do not vary.
        local: (qmgrs,) mean time of a local post.
        answer: (qmgrs,) mean time of an answer to a notification.
        notification: (1,) time that a notification takes.
        putter: (putters,) queue manager of each putter.
        interval: (putters,) mean time between two puts.
        even: (putters,) True where it is always that.
        direct: (putters,) share of messages that may go straight to a waiting getter.
    """

    getter_start: Longs
    service: Floats
    fixed: Flags
    local: Floats
    answer: Floats
    notification: Floats
    putter: Longs
    interval: Floats
    even: Flags
    direct: Floats


class State(NamedTuple):
    """What one run changes.

    Attributes:
        next_put: (putters,) when each puts next.
        answer_at: (qmgrs,) when each will answer; infinite if nothing woke it.
        answer_how: (qmgrs,) LOCAL or NOTIFIED.
        done_at: (getters,) when each is done; infinite while it waits.
        waiting: (qmgrs,) getters that wait.
        put_time: (messages,) when each message on the queue was put, first come first served.
        line: (2,) messages taken from the queue, and written to it.
        random: (1,) state of the random numbers.
        counts: (qmgrs, MEASURES) results.
        totals: (TOTALS,) results.
    """

    next_put: Floats
    answer_at: Floats
    answer_how: Longs
    done_at: Floats
    waiting: Longs
    put_time: Floats
    line: Longs
    random: Words
    counts: Longs
    totals: Floats


@compiled
def simulate(group: Group, messages: int, seeds: Words) -> tuple[Longs, Floats]:
    """Run the queue once for each seed until all messages are got.

    Args:
        group: with at least one getter and one putter.
        messages: messages of a run.
        seeds: (runs,) seeds.

    Returns:
        (runs, qmgrs, MEASURES) counts per queue manager, and (runs, TOTALS) per run.
    """
    qmgrs = group.service.shape[0]
    counts = np.zeros((seeds.shape[0], qmgrs, MEASURES), dtype=np.int64)
    totals = np.zeros((seeds.shape[0], TOTALS))
    for run in range(seeds.shape[0]):
        _run(group, messages, _fresh(group, messages, seeds[run], counts[run], totals[run]))
    return counts, totals


@compiled
def _fresh(group: Group, messages: int, seed: np.uint64, counts: Longs, totals: Floats) -> State:
    """Everybody waits, the queue is empty, each putter has its first put ahead."""
    qmgrs = group.service.shape[0]
    random = np.full(1, seed, dtype=np.uint64)
    next_put = np.zeros(group.putter.shape[0])
    for putter in range(next_put.shape[0]):
        next_put[putter] = _interval(group, putter, random)
    return State(
        next_put,
        np.full(qmgrs, _NEVER),
        np.zeros(qmgrs, dtype=np.int64),
        np.full(group.getter_start[-1], _NEVER),
        group.getter_start[1:] - group.getter_start[:-1],
        np.zeros(messages),
        np.zeros(2, dtype=np.int64),
        random,
        counts,
        totals,
    )


@compiled
def _run(group: Group, messages: int, state: State) -> None:
    """Take the next event until no message is left."""
    put, got = 0, 0
    while got < messages:
        done = int(np.argmin(state.done_at))
        answer = int(np.argmin(state.answer_at))
        putter = int(np.argmin(state.next_put))
        put_at = state.next_put[putter] if put < messages else _NEVER
        if state.done_at[done] <= min(state.answer_at[answer], put_at):
            got += _done(group, state, done)
        elif state.answer_at[answer] <= put_at:
            got += _answer(group, state, answer)
        else:
            put += 1
            got += _put(group, state, putter)
            state.next_put[putter] = put_at + _interval(group, putter, state.random)


@compiled
def _put(group: Group, state: State, putter: int) -> int:
    """A message is put; returns the messages got by it at once, 0 or 1."""
    now, here = state.next_put[putter], int(group.putter[putter])
    if _uniform(state.random) < group.direct[putter] and state.waiting[here] > 0:
        _take(group, state, here, now)
        state.counts[here, DIRECT] += 1
        return 1
    state.put_time[state.line[1]] = now
    state.line[1] += 1
    depth = state.line[1] - state.line[0]
    state.totals[DEEPEST] = max(state.totals[DEEPEST], depth)
    if depth == 1:
        state.totals[TRANSITIONS] += 1
        _notify(group, state, now)
    _post(group, state, here, now)
    return 0


@compiled
def _notify(group: Group, state: State, now: float) -> None:
    """The CF tells everybody who has a getter; those who wait will answer."""
    arrives = now + group.notification[0]
    for qmgr in range(state.waiting.shape[0]):
        if group.getter_start[qmgr] == group.getter_start[qmgr + 1]:
            continue
        state.counts[qmgr, NOTIFICATIONS] += 1
        if state.waiting[qmgr] > 0:
            _wake(state, qmgr, arrives + _exponential(group.answer[qmgr], state.random), NOTIFIED)


@compiled
def _post(group: Group, state: State, here: int, now: float) -> None:
    """The local queue manager looks after a getter of its own without waiting for the CF."""
    if state.waiting[here] > 0:
        _wake(state, here, now + _exponential(group.local[here], state.random), LOCAL)


@compiled
def _wake(state: State, qmgr: int, at: float, how: int) -> None:
    """A queue manager answers once, to what reaches it first."""
    if at < state.answer_at[qmgr]:
        state.answer_at[qmgr] = at
        state.answer_how[qmgr] = how


@compiled
def _answer(group: Group, state: State, qmgr: int) -> int:
    """A woken queue manager lets its waiting getters get what is there; returns how many."""
    now, how = state.answer_at[qmgr], state.answer_how[qmgr]
    state.answer_at[qmgr] = _NEVER
    if state.waiting[qmgr] > 0 and state.line[0] == state.line[1]:
        state.counts[qmgr, EMPTY_ANSWERS] += 1
    got = 0
    while state.waiting[qmgr] > 0 and state.line[0] < state.line[1]:
        _take_next(group, state, qmgr, now)
        state.counts[qmgr, how] += 1
        got += 1
    return got


@compiled
def _done(group: Group, state: State, getter: int) -> int:
    """A getter issues its next MQGET: it takes what is there, or waits."""
    qmgr = int(np.searchsorted(group.getter_start, getter, side="right")) - 1
    now = state.done_at[getter]
    state.done_at[getter] = _NEVER
    state.waiting[qmgr] += 1
    if state.line[0] == state.line[1]:
        return 0
    _take_next(group, state, qmgr, now)
    state.counts[qmgr, PULLED] += 1
    return 1


@compiled
def _take_next(group: Group, state: State, qmgr: int, now: float) -> None:
    """A getter that waits there takes the first message of the queue."""
    state.totals[WAITED] += now - state.put_time[state.line[0]]
    state.line[0] += 1
    _take(group, state, qmgr, now)


@compiled
def _take(group: Group, state: State, qmgr: int, now: float) -> None:
    """A getter that waits there is busy with a message from now on."""
    getter = int(group.getter_start[qmgr])
    while state.done_at[getter] != _NEVER:
        getter += 1
    mean = group.service[qmgr]
    needed = mean if group.fixed[qmgr] else _exponential(mean, state.random)
    state.done_at[getter] = now + needed
    state.waiting[qmgr] -= 1


@compiled
def _interval(group: Group, putter: int, random: Words) -> float:
    """Time to a putter's next put."""
    mean = group.interval[putter]
    return mean if group.even[putter] else _exponential(mean, random)


@compiled
def _exponential(mean: float, random: Words) -> float:
    """An exponentially distributed number; 0 for a mean of 0."""
    return float(-mean * np.log1p(-_uniform(random)))


@compiled
def _uniform(random: Words) -> float:
    """A number from 0 to below 1: splitmix64, of which the upper 53 bits."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * 2.0**-53
