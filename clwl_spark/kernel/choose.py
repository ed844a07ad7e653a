"""Rule 15, the balancing and the binding, one message after another.

Balancing is sequential per queue manager and nothing else is: this loop is all that cannot be
spread over machines. Profile: taking arrays out of the named tuples before the loop brought a
choice among 8 routes from 150 ns to 25 ns, number and factor in arrays of their own and rule 15
in a function that is only called where it cuts to 16 ns (mixed weights: 30 ns, for branches that
cannot be foretold; selecting without branches was no faster).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

NOT_CHOSEN = -1
NO_KEY = -1
DEFAULT_WEIGHT = 50


class Choices(NamedTuple):
    """What a plan's choices choose from, for one queue manager.

    Attributes:
        choice_start: (plans + 1,) first choice of each plan; a publication with CLROUTE(DIRECT)
            has one choice per copy, any other plan one.
        route_start: (choices + 1,) first route of each choice, in route order. A choice without
            routes always ends in NOT_CHOSEN: local only, transmission queue, error.
        channel: (routes,) index into the history.
        weight: (routes,) CLWLWGHT, 1-99.
        is_local: (routes,) True for routes over an own CLUSRCVR.
        mruc: (plans,) CLWLMRUC of the queue manager in the plan's snapshot.
    """

    choice_start: Ints
    route_start: Ints
    channel: Ints
    weight: Longs
    is_local: Flags
    mruc: Longs


class Puts(NamedTuple):
    """Messages of one queue manager, in the order in which they are routed.

    Attributes:
        plan: (messages,) index of the message's plan.
        snapshot: (messages,) position of its snapshot among all valid ones.
        key: (messages,) binding key, NO_KEY where every message chooses.
        put_time: (messages,) microseconds since the epoch.
        first: (messages,) index of the message's first outcome; it has as many as its plan choices.
    """

    plan: Ints
    snapshot: Ints
    key: Ints
    put_time: Longs
    first: Longs


class History(NamedTuple):
    """What a queue manager remembers; the arrays are changed in place.

    Attributes:
        counter: (1,) choices ever made.
        balance: (channels, 2) dest_seq_number and dest_seq_factor of each channel.
        brought: (1,) position of the newest snapshot whose reset was brought in this batch.
        pending: (snapshots,) True where a reset is still to be brought.
        key_route: (keys,) bound route, NOT_CHOSEN where the key is not bound.
        key_time: (keys,) greatest put_time of the key's messages, microseconds.
    """

    counter: Longs
    balance: Longs
    brought: Longs
    pending: Flags
    key_route: Longs
    key_time: Longs


@njit(cache=True)
def route_in_turn(  # noqa: PLR0915 - one loop, and numba inlines no closures
    puts: Puts, choices: Choices, history: History, binding_ttl: int, chosen: Longs, bound: Flags
) -> None:
    """Choose for each message in turn; history and results are written in place.

    Args:
        puts: the messages, in order.
        choices: the plans' routes.
        history: the queue manager's memory, changed in place.
        binding_ttl: microseconds after which a key without a message is forgotten.
        chosen: (outcomes,) result: index of the chosen or bound route, or NOT_CHOSEN.
        bound: (outcomes,) result: True where an earlier message's choice was followed.

    Source: SEMANTICS 5 (rule 15, balancing), C1 and P21 (resets), 6 and P15 (binding).
    """
    plans, snapshots, keys, times, firsts = puts
    choice_start, route_start, channel, weight, _, mruc = choices
    counter, balance, brought, pending, key_route, key_time = history
    number, factor = balance[:, 0].copy(), balance[:, 1].copy()
    step = 1000 // weight
    weighted = _weighted_choices(route_start, weight)
    newest, made = brought[0], counter[0]
    for message in range(plans.shape[0]):
        if snapshots[message] > newest:
            _bring_resets(newest, snapshots[message], pending, factor)
            newest = snapshots[message]
        first = firsts[message]
        key = keys[message]
        plan = plans[message]
        if key != NO_KEY and key_route[key] != NOT_CHOSEN:
            if times[message] - key_time[key] <= binding_ttl:
                chosen[first] = key_route[key]
                bound[first] = True
                key_time[key] = max(key_time[key], times[message])
                continue
            key_route[key] = NOT_CHOSEN
        for choice in range(choice_start[plan], choice_start[plan + 1]):
            begin, end = route_start[choice], route_start[choice + 1]
            route = NOT_CHOSEN
            if end - begin > mruc[plan]:
                route = _best_recent(begin, end, choices, mruc[plan], number, factor)
            elif begin != end:
                route = _best(begin, end, channel, number, factor, weighted[choice])
            chosen[first + choice - choice_start[plan]] = route
            if route == NOT_CHOSEN:
                continue
            made += 1
            number[channel[route]] = made
            factor[channel[route]] += step[route]
            if key != NO_KEY:
                key_route[key] = route
                key_time[key] = times[message]
    balance[:, 0], balance[:, 1] = number, factor
    brought[0], counter[0] = newest, made


@njit(cache=True)
def _weighted_choices(route_start: Ints, weight: Longs) -> Flags:
    """True for each choice that has a route whose CLWLWGHT is not the default."""
    weighted = np.zeros(route_start.shape[0] - 1, dtype=np.bool_)
    for choice in range(weighted.shape[0]):
        for route in range(route_start[choice], route_start[choice + 1]):
            weighted[choice] |= weight[route] != DEFAULT_WEIGHT
    return weighted


@njit(cache=True)
def _bring_resets(newest: int, snapshot: int, pending: Flags, factor: Longs) -> None:
    """Set every factor to 0 if a snapshot up to this one resets and was not brought yet."""
    for position in range(newest + 1, snapshot + 1):
        if pending[position]:
            pending[position] = False
            factor[:] = 0


@njit(cache=True, inline="always")
def _best(
    begin: int,
    end: int,
    channel: Ints,
    number: Longs,
    factor: Longs,
    weighted: bool,  # noqa: FBT001 - numba takes positions only
) -> int:
    """The route of lowest factor (if weighted), then of lowest number, then the first."""
    best = begin
    lowest = number[channel[begin]]
    least = factor[channel[begin]]
    for route in range(begin + 1, end):
        at = channel[route]
        if weighted and factor[at] != least:
            if factor[at] < least:
                best = route
                least = factor[at]
                lowest = number[at]
        elif number[at] < lowest:
            best = route
            lowest = number[at]
    return best


@njit(cache=True)
def _recent_routes(
    begin: int, end: int, channel: Ints, is_local: Flags, mruc: int, number: Longs
) -> Flags:
    """True for the local routes and the `mruc` most recently used remote ones (rule 15)."""
    kept = is_local[begin:end].copy()
    remote = end - begin - kept.sum()
    for _ in range(min(mruc, remote)):
        newest = NOT_CHOSEN
        for route in range(begin, end):
            if not kept[route - begin] and (
                newest == NOT_CHOSEN or number[channel[route]] > number[channel[newest]]
            ):
                newest = route
        kept[newest - begin] = True
    return kept


@njit(cache=True)
def _best_recent(
    begin: int, end: int, choices: Choices, mruc: int, number: Longs, factor: Longs
) -> int:
    """`_best` over the routes that rule 15 keeps; only their weights count."""
    kept = _recent_routes(begin, end, choices.channel, choices.is_local, mruc, number)
    routes = begin + np.nonzero(kept)[0]
    weighted = (choices.weight[routes] != DEFAULT_WEIGHT).any()
    channel = choices.channel[routes]
    return int(routes[_best(0, routes.shape[0], channel, number, factor, weighted)])
