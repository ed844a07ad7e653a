"""Rule 15, the balancing and the binding, one message after another.

Balancing is sequential per queue manager and nothing else is: this loop is all that cannot be
spread over machines. Profile: taking arrays out of the named tuples before the loop brought a
choice among 8 routes from 150 ns to about 15 ns; `make bench` prints the figure.
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
    choice_start, route_start, channel, weight, is_local, mruc = choices
    counter, balance, brought, pending, key_route, key_time = history
    weighted = _weighted_choices(route_start, weight)
    for message in range(plans.shape[0]):
        if snapshots[message] > brought[0]:
            _bring_resets(snapshots[message], brought, pending, balance)
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
                kept = _recent_routes(begin, end, channel, is_local, mruc[plan], balance)
                route = _best_kept(begin, kept, channel, weight, balance)
            elif begin != end:
                route = _best(begin, end, channel, balance, weighted[choice])
            chosen[first + choice - choice_start[plan]] = route
            if route == NOT_CHOSEN:
                continue
            counter[0] += 1
            balance[channel[route], 0] = counter[0]
            balance[channel[route], 1] += 1000 // weight[route]
            if key != NO_KEY:
                key_route[key] = route
                key_time[key] = times[message]


@njit(cache=True)
def _weighted_choices(route_start: Ints, weight: Longs) -> Flags:
    """True for each choice that has a route whose CLWLWGHT is not the default."""
    weighted = np.zeros(route_start.shape[0] - 1, dtype=np.bool_)
    for choice in range(weighted.shape[0]):
        for route in range(route_start[choice], route_start[choice + 1]):
            weighted[choice] |= weight[route] != DEFAULT_WEIGHT
    return weighted


@njit(cache=True)
def _bring_resets(snapshot: int, brought: Longs, pending: Flags, balance: Longs) -> None:
    """Set every factor to 0 if a snapshot up to this one resets and was not brought yet."""
    for position in range(brought[0] + 1, snapshot + 1):
        if pending[position]:
            pending[position] = False
            balance[:, 1] = 0
    brought[0] = snapshot


@njit(cache=True, inline="always")
def _best(begin: int, end: int, channel: Ints, balance: Longs, weighted: bool) -> int:  # noqa: FBT001 - numba takes positions only
    """The route of lowest factor (if weighted), then of lowest number, then the first."""
    best = begin
    number = balance[channel[begin], 0]
    factor = balance[channel[begin], 1]
    for route in range(begin + 1, end):
        other = balance[channel[route], 0]
        if weighted:
            other_factor = balance[channel[route], 1]
            if other_factor < factor or (other_factor == factor and other < number):
                best, number, factor = route, other, other_factor
        elif other < number:
            best, number = route, other
    return best


@njit(cache=True)
def _recent_routes(
    begin: int, end: int, channel: Ints, is_local: Flags, mruc: int, balance: Longs
) -> Flags:
    """True for the local routes and the `mruc` most recently used remote ones (rule 15)."""
    kept = is_local[begin:end].copy()
    remote = end - begin - kept.sum()
    for _ in range(min(mruc, remote)):
        newest = NOT_CHOSEN
        for route in range(begin, end):
            if not kept[route - begin] and (
                newest == NOT_CHOSEN or balance[channel[route], 0] > balance[channel[newest], 0]
            ):
                newest = route
        kept[newest - begin] = True
    return kept


@njit(cache=True)
def _best_kept(begin: int, kept: Flags, channel: Ints, weight: Longs, balance: Longs) -> int:
    """`_best` over the kept routes alone; only their weights count."""
    routes = begin + np.nonzero(kept)[0]
    weighted = (weight[routes] != DEFAULT_WEIGHT).any()
    return int(routes[_best(0, routes.shape[0], channel[routes], balance, weighted)])
