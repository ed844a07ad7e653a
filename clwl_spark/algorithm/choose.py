"""Rule 15, the balancing and the binding, one message after another.

Balancing is sequential per queue manager and nothing else is: this loop is all that cannot be
spread over machines. Profile: taking arrays out of the named tuples before the loop brought a
choice among 8 routes from 150 ns to 25 ns; factor and number of a channel in one integer, so that
one comparison decides and no branch has to be foretold, to 17 ns, weighted or not (two arrays:
15 ns, weighted 28 ns).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.compiled import compiled, inlined
from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

NOT_CHOSEN = -1
NO_KEY = -1


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
        by_factor: True where the factor counts whatever the weights are (R3).
    """

    choice_start: Ints
    route_start: Ints
    channel: Ints
    weight: Longs
    is_local: Flags
    mruc: Longs
    by_factor: bool = False


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


class Routed(NamedTuple):
    """What becomes of messages; the arrays are written in place.

    Attributes:
        chosen: (outcomes,) index of the chosen or bound route, or NOT_CHOSEN.
        bound: (outcomes,) True where an earlier message's choice was followed.
        wanted: (outcomes,) given: the route that is taken in place of the algorithm's, or
            NOT_CHOSEN; empty = nobody wants another one.
        default: (outcomes,) the algorithm's route, where it chose; empty as `wanted`.
    """

    chosen: Longs
    bound: Flags
    wanted: Longs
    default: Longs


def load() -> None:
    """Have the loop compiled, or read from where it is kept compiled, before there are messages."""
    ints, longs, flags = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    one = np.zeros(1, np.int64)
    route_in_turn(
        Puts(ints, ints, ints, longs, longs),
        Choices(one.astype(np.int32), one.astype(np.int32), ints, longs, flags, longs, False),
        History(one, longs.reshape(0, 2), one, flags, longs, longs),
        0,
        longs,
        flags,
    )


@compiled
def route_in_turn(
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

    Source: SEMANTICS 5 (rule 15, balancing), R3, C1 and P21 (resets), 6 and P15 (binding).
    """
    nothing = np.empty(0, dtype=np.int64)
    routed = Routed(chosen, bound, nothing, nothing)
    route_as_wanted(puts, choices, history, binding_ttl, routed)


@compiled
def route_as_wanted(
    puts: Puts, choices: Choices, history: History, binding_ttl: int, routed: Routed
) -> None:
    """As `route_in_turn`, where somebody may want other routes than the algorithm's.

    Args:
        puts: as there.
        choices: as there.
        history: as there; a route that is wanted counts in it like one that was chosen.
        binding_ttl: as there.
        routed: what is wanted, and the results.
    """
    plans, snapshots, keys, times, firsts = puts
    shift, _ = _layout(history.balance.shape[0])
    looked_at = _looked_at(choices.route_start, choices.weight, (1 << shift) - 1, choices.by_factor)
    begin = 0
    while begin < snapshots.shape[0]:
        newest = max(history.brought[0], snapshots[begin])
        bring_resets(history.brought[0], newest, history.pending, history.balance)
        history.brought[0] = newest
        end = begin + 1
        while end < snapshots.shape[0] and snapshots[end] <= newest:
            end += 1
        part = slice(begin, end)
        under_it = Puts(plans[part], snapshots[part], keys[part], times[part], firsts[part])
        _route_without_resets(under_it, choices, history, binding_ttl, routed, looked_at)
        begin = end


@compiled
def _route_without_resets(  # noqa: PLR0915 - one loop; calls that are not inlined are dear
    puts: Puts,
    choices: Choices,
    history: History,
    binding_ttl: int,
    routed: Routed,
    looked_at: Longs,
) -> None:
    """As `route_as_wanted`, of messages that no snapshot's reset comes between.

    Args:
        puts: as there.
        choices: as there.
        history: as there.
        binding_ttl: as there.
        routed: as there.
        looked_at: (choices,) bits of a standing that decide.
    """
    chosen, bound, wanted, default = routed
    plans, _, keys, times, firsts = puts
    choice_start, route_start, channel, weight, _, mruc, _ = choices
    _, balance, _, _, key_route, key_time = history
    shift, room = _layout(balance.shape[0])
    low = (1 << shift) - 1
    step = (LARGEST_STEP // weight) << shift
    standing, start = np.empty((2, balance.shape[0]), dtype=np.int64)
    number = _stand(balance, shift, room, standing, start)
    full = number + room
    for message in range(plans.shape[0]):
        first, key, plan = firsts[message], keys[message], plans[message]
        if key != NO_KEY and _follows(key, times[message], binding_ttl, key_route, key_time):
            chosen[first] = key_route[key]
            bound[first] = True
            continue
        for choice in range(choice_start[plan], choice_start[plan + 1]):
            begin, end = route_start[choice], route_start[choice + 1]
            if end - begin > mruc[plan]:
                route = _best_recent(begin, end, choices, mruc[plan], standing, low)
            else:
                route = _best(begin, end, channel, standing, looked_at[choice])
            at = first + choice - choice_start[plan]
            if wanted.shape[0]:
                route = _wanted(route, at, wanted, default)
            chosen[at] = route
            if route == NOT_CHOSEN:
                continue
            number += 1
            at = channel[route]
            standing[at] = ((standing[at] & ~low) + step[route]) | number
            if key != NO_KEY:
                key_route[key], key_time[key] = route, times[message]
            if number == full:
                _settle(standing, start, number, shift, history)
                number = _stand(balance, shift, room, standing, start)
    _settle(standing, start, number, shift, history)


@compiled
def _wanted(route: int, at: int, wanted: Longs, default: Longs) -> int:
    """The route that is taken in place of the algorithm's, which is noted; its own as a rule."""
    default[at] = route
    return wanted[at] if route != NOT_CHOSEN and wanted[at] != NOT_CHOSEN else route


@inlined
def _follows(key: int, put_time: int, ttl: int, key_route: Longs, key_time: Longs) -> bool:
    """Whether the key is bound still; if so its time goes on, else it is forgotten."""
    if key_route[key] == NOT_CHOSEN:
        return False
    if put_time - key_time[key] > ttl:
        key_route[key] = NOT_CHOSEN
        return False
    key_time[key] = max(key_time[key], put_time)
    return True


@compiled
def _layout(channels: int) -> tuple[int, int]:
    """Bits of a number in a standing, and the choices that fit before it is made anew.

    A standing is below 2**63 for up to 2**18 channels: numbers have `shift` bits, and the factors
    of all channels lie within (channels + 1) * (1000 * room + 1).
    """
    bits = 0
    while channels >> bits:
        bits += 1
    room_bits = min(20, (48 - bits) // 2)
    return max(room_bits, bits) + 1, 1 << room_bits


@compiled
def _stand(balance: Longs, shift: int, room: int, standing: Longs, start: Longs) -> int:
    """One integer per channel that orders as (factor, number) do: the factor above `shift` bits.

    Numbers become ranks. A distance between factors that `room` choices cannot close is
    shortened to one that they cannot close either, so the order of all choices stays as it was.
    Written to `standing` and `start`; returns the number before the next choice's.
    """
    rank, before = 0, 0
    for at in np.argsort(balance[:, 0]):
        rank += balance[at, 0] != before
        before = balance[at, 0]
        standing[at] = rank
    level, before = 0, -1
    for at in np.argsort(balance[:, 1]):
        if before >= 0:
            level += min(balance[at, 1] - before, 1000 * room + 1)
        before = balance[at, 1]
        standing[at] |= level << shift
    start[:] = standing
    return len(balance)


@compiled
def _settle(standing: Longs, start: Longs, number: int, shift: int, history: History) -> None:
    """Bring into the history what was chosen since `start`; numbers above the ranks are new."""
    counter, balance = history.counter, history.balance
    ranks = balance.shape[0]
    for at in range(ranks):
        own = standing[at] & ((1 << shift) - 1)
        if own > ranks:
            balance[at, 0] = counter[0] + own - ranks
            balance[at, 1] += (standing[at] >> shift) - (start[at] >> shift)
    counter[0] += number - ranks


@compiled
def _looked_at(route_start: Ints, weight: Longs, low: int, by_factor: bool) -> Longs:  # noqa: FBT001
    """Bits of a standing that decide each choice: as a rule the factor counts with weights only."""
    bits = np.full(route_start.shape[0] - 1, -1 if by_factor else low, dtype=np.int64)
    for choice in range(bits.shape[0]):
        for route in range(route_start[choice], route_start[choice + 1]):
            if weight[route] != DEFAULT_WEIGHT:
                bits[choice] = -1
    return bits


@compiled
def bring_resets(newest: int, snapshot: int, pending: Flags, balance: Longs) -> None:
    """Set every factor to 0 if a snapshot up to this one resets and was not brought yet."""
    for position in range(newest + 1, snapshot + 1):
        if pending[position]:
            pending[position] = False
            balance[:, 1] = 0


@inlined
def _best(begin: int, end: int, channel: Ints, standing: Longs, looked_at: int) -> int:
    """The first route of the lowest standing, or NOT_CHOSEN if there is none."""
    best = NOT_CHOSEN
    least = np.iinfo(np.int64).max
    for route in range(begin, end):
        own = standing[channel[route]] & looked_at
        if own < least:
            least = own
            best = route
    return best


@compiled
def recent_routes(
    begin: int, end: int, choices: Choices, mruc: int, standing: Longs, low: int
) -> Flags:
    """True for the local routes and the `mruc` most recently used remote ones (rule 15)."""
    kept = choices.is_local[begin:end].copy()
    remote = end - begin - kept.sum()
    for _ in range(min(mruc, remote)):
        newest, greatest = NOT_CHOSEN, -1
        for route in range(begin, end):
            own = standing[choices.channel[route]] & low
            if not kept[route - begin] and own > greatest:
                newest, greatest = route, own
        kept[newest - begin] = True
    return kept


@compiled
def _best_recent(
    begin: int, end: int, choices: Choices, mruc: int, standing: Longs, low: int
) -> int:
    """`_best` over the routes that rule 15 keeps; only their weights count."""
    kept = recent_routes(begin, end, choices, mruc, standing, low)
    routes = begin + np.nonzero(kept)[0]
    weighted = (choices.weight[routes] != DEFAULT_WEIGHT).any()
    looked_at = -1 if weighted or choices.by_factor else low
    return int(routes[_best(0, routes.shape[0], choices.channel[routes], standing, looked_at)])
