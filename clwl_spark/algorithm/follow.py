"""Choices that were seen, held against the algorithm's, one message after another.

Each choice is foretold from what was seen before it, not from what was foretold: a history that
went astray once does not make all that follows look wrong, and what is missing can be found.
"""

from typing import Final, NamedTuple

import numpy as np

from clwl_spark.algorithm.choose import (
    NO_KEY,
    NOT_CHOSEN,
    Choices,
    Flags,
    History,
    Ints,
    Longs,
    Puts,
    bring_resets,
)
from clwl_spark.algorithm.compiled import compiled
from clwl_spark.algorithm.replay import best_route
from clwl_spark.mq.vocabulary import LARGEST_STEP

NOT_SEEN: Final = -1
AGREES: Final = 1
DIFFERS: Final = 2


class Seen(NamedTuple):
    """What was seen of messages.

    Attributes:
        pattern: (messages,) what a message's record tells, as a number; NOT_SEEN = nothing.
        fits: (patterns, routes) whether a route is one that the record may mean.
        fits_end: (patterns, plans) whether the plan's end where nothing is chosen is.
    """

    pattern: Ints
    fits: Flags
    fits_end: Flags


class Verdicts(NamedTuple):
    """What comes of the comparison; the arrays are written in place.

    Attributes:
        verdict: (messages,) AGREES, DIFFERS, or 0 = not compared.
        extra: (messages,) choices of others supposed before it.
    """

    verdict: Ints
    extra: Longs


@compiled
def follow(
    puts: Puts,
    choices: Choices,
    history: History,
    seen: Seen,
    limits: tuple[int, int],
    held: Verdicts,
) -> None:
    """Foretell each message's choice; the history and the results are changed in place.

    Args:
        puts: the messages, in order; `first` is not looked at.
        choices: the plans' routes.
        history: before the first message. What was seen goes into it, else what is foretold.
        seen: what was seen, of messages whose plans have one choice.
        limits: microseconds after which a binding is forgotten, and how many choices of others
            may be supposed before a message, so that it fits.
        held: the results.

    Source: SEMANTICS 5, 6, C1, P15, P21.
    """
    ttl, most = limits
    verdict, extra = held
    for message in range(puts.plan.shape[0]):
        _bring(puts.snapshot[message], history)
        key, plan, pattern = puts.key[message], puts.plan[message], seen.pattern[message]
        if key != NO_KEY and _is_bound(key, puts.put_time[message], ttl, history):
            if pattern != NOT_SEEN:
                fits = seen.fits[pattern, history.key_route[key]]
                verdict[message] = AGREES if fits else DIFFERS
            continue
        route = NOT_CHOSEN
        if pattern != NOT_SEEN:
            route, verdict[message], extra[message] = _held(
                plan, pattern, choices, history, seen, most
            )
            _take(route, choices, history)
        else:
            route = _foretold(plan, choices, history)
        if key != NO_KEY and route != NOT_CHOSEN:
            history.key_route[key] = route
            history.key_time[key] = puts.put_time[message]


@compiled
def _stretch(
    begin: int, end: int, puts: Puts, seen: Seen, held: Verdicts
) -> tuple[Puts, Seen, Verdicts]:
    """Some of the messages, what was seen of them, and the places for their results."""
    some = Puts(
        puts.plan[begin:end],
        puts.snapshot[begin:end],
        puts.key[begin:end],
        puts.put_time[begin:end],
        puts.first[begin:end],
    )
    told = Seen(seen.pattern[begin:end], seen.fits, seen.fits_end)
    return some, told, Verdicts(held.verdict[begin:end], held.extra[begin:end])


@compiled
def wrong_of(
    puts: Puts,
    choices: Choices,
    history: History,
    seen: Seen,
    limits: tuple[int, int],
    altered: Longs,
) -> Longs:
    """(alterations,) how many messages differ where a channel's weight is altered between two.

    Args:
        puts: the messages, in order.
        choices: the plans' routes, with the weights before.
        history: before the first message; it stays as it is.
        seen: what was seen.
        limits: as of `follow`.
        altered: (alterations, 4) the first message that has it, in order; channel, weight, and
            whether that sets all factors to 0.

    Source: SEMANTICS 5, C1.
    """
    size, done, missed = puts.plan.shape[0], 0, 0
    wrong = np.zeros(altered.shape[0], np.int64)
    held = Verdicts(np.zeros(size, np.int32), np.zeros(size, np.int64))
    before = _copied(history)
    for at in range(altered.shape[0]):
        begin, channel, weight, resets = altered[at]
        some, told, results = _stretch(done, begin, puts, seen, held)
        follow(some, choices, before, told, limits, results)
        missed += _differing(results.verdict)
        done = begin
        own = _copied(before)
        if resets:
            own.balance[:, 1] = 0
        changed = weighted(choices, channel, weight)
        some, told, results = _stretch(begin, size, puts, seen, held)
        results.verdict[:] = 0
        follow(some, changed, own, told, limits, results)
        wrong[at] = missed + _differing(results.verdict)
    return wrong


@compiled
def _differing(verdict: Ints) -> int:
    count = 0
    for one in verdict:
        count += one == DIFFERS
    return count


@compiled
def weighted(choices: Choices, channel: int, weight: int) -> Choices:
    """Choices with another weight of a channel."""
    weights = choices.weight.copy()
    for route in range(weights.shape[0]):
        if choices.channel[route] == channel:
            weights[route] = weight
    return Choices(
        choices.choice_start,
        choices.route_start,
        choices.channel,
        weights,
        choices.is_local,
        choices.mruc,
        choices.by_factor,
    )


@compiled
def _copied(history: History) -> History:
    return History(
        history.counter.copy(),
        history.balance.copy(),
        history.brought.copy(),
        history.pending.copy(),
        history.key_route.copy(),
        history.key_time.copy(),
    )


@compiled
def _bring(snapshot: int, history: History) -> None:
    """Bring the resets of a snapshot, where it is newer than all before."""
    if snapshot > history.brought[0]:
        bring_resets(history.brought[0], snapshot, history.pending, history.balance)
        history.brought[0] = snapshot


@compiled
def _foretold(plan: int, choices: Choices, history: History) -> int:
    """Take what the algorithm does for a message's choices; the last route, or NOT_CHOSEN."""
    route = NOT_CHOSEN
    for choice in range(choices.choice_start[plan], choices.choice_start[plan + 1]):
        route = best_route(choice, choices.mruc[plan], choices, history.balance, False)
        _take(route, choices, history)
    return route


@compiled
def _held(
    plan: int, pattern: int, choices: Choices, history: History, seen: Seen, most: int
) -> tuple[int, int, int]:
    """The route that a message which was seen took, whether it is foretold, and after how many."""
    choice, mruc = choices.choice_start[plan], choices.mruc[plan]
    route = best_route(choice, mruc, choices, history.balance, False)
    if _fits(pattern, plan, route, seen):
        return route, AGREES, 0
    before, counter, supposed = history.balance.copy(), history.counter[0], 0
    while route != NOT_CHOSEN and supposed < most:
        _take(route, choices, history)
        supposed += 1
        route = best_route(choice, mruc, choices, history.balance, False)
        if seen.fits[pattern, route]:
            return route, AGREES, supposed
    history.balance[:, :] = before
    history.counter[0] = counter
    return _meant(choice, choices, seen.fits[pattern], history.balance), DIFFERS, 0


@compiled
def _fits(pattern: int, plan: int, route: int, seen: Seen) -> bool:
    """Whether a record may mean a route, or the plan's end where there is none."""
    if route == NOT_CHOSEN:
        return bool(seen.fits_end[pattern, plan])
    return bool(seen.fits[pattern, route])


@compiled
def _is_bound(key: int, put_time: int, ttl: int, history: History) -> bool:
    """Whether the key is bound still; if so its time goes on, else it is forgotten."""
    if history.key_route[key] == NOT_CHOSEN:
        return False
    if put_time - history.key_time[key] > ttl:
        history.key_route[key] = NOT_CHOSEN
        return False
    history.key_time[key] = max(history.key_time[key], put_time)
    return True


@compiled
def _meant(choice: int, choices: Choices, fits: Flags, balance: Longs) -> int:
    """The route that a record means: of its choice, else of any; NOT_CHOSEN = none."""
    begin, end = choices.route_start[choice], choices.route_start[choice + 1]
    best, least = NOT_CHOSEN, 0
    for route in range(begin, end):
        number = balance[choices.channel[route], 0]
        if fits[route] and (best == NOT_CHOSEN or number < least):
            best, least = route, number
    if best == NOT_CHOSEN:
        for route in range(fits.shape[0]):
            if fits[route]:
                return route
    return best


@compiled
def _take(route: int, choices: Choices, history: History) -> None:
    """Count a choice."""
    if route == NOT_CHOSEN:
        return
    channel = choices.channel[route]
    history.counter[0] += 1
    history.balance[channel, 0] = history.counter[0]
    history.balance[channel, 1] += LARGEST_STEP // choices.weight[route]
