"""Choices that were made, brought into a queue manager's history once more."""

import numpy as np

from clwl_spark.algorithm.choose import Choices, Flags, Longs, recent_routes
from clwl_spark.algorithm.compiled import compiled, inlined
from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP

NONE_MADE = -1
LOCAL = -2


_GREATEST = np.iinfo(np.int64).max


@compiled
def replay(
    made: tuple[Longs, Longs, Longs],
    resets: Flags,
    choices: Choices,
    counter: Longs,
    balance: Longs,
) -> None:
    """Repeat choices in turn; the history is changed in place.

    Args:
        made: (outcomes,) channel that was chosen, NONE_MADE, or LOCAL where only that is known;
            (outcomes,) place of the choice; (outcomes,) what the channel's factor grows by.
        resets: (outcomes,) True where every factor becomes 0 before.
        choices: what plans choose from; `mruc` is of each choice here.
        counter: (1,) choices made before.
        balance: (channels, 2) number and factor of each channel before.

    Source: SEMANTICS 5, C1, P21.
    """
    chosen, choice, step = made
    for at in range(chosen.shape[0]):
        if resets[at]:
            balance[:, 1] = 0
        channel, added = chosen[at], step[at]
        if channel == NONE_MADE:
            continue
        if channel == LOCAL:
            route = _best_local(choice[at], choices, balance)
            channel, added = choices.channel[route], LARGEST_STEP // choices.weight[route]
        counter[0] += 1
        balance[channel, 0] = counter[0]
        balance[channel, 1] += added


@compiled
def _best_local(choice: int, choices: Choices, balance: Longs) -> int:
    """The local route that a choice which ended in one has taken."""
    return best_route(choice, choices.mruc[choice], choices, balance, True)


@compiled
def best_route(choice: int, mruc: int, choices: Choices, balance: Longs, local: bool) -> int:  # noqa: FBT001
    """The route that a choice takes by the history as it stands, or -1 if there is none.

    Args:
        choice: its place.
        mruc: CLWLMRUC of the queue manager.
        choices: what plans choose from.
        balance: (channels, 2) number and factor of each channel.
        local: it is known to be a local one; rule 15 and weights count all of them.

    Source: SEMANTICS 5 (rule 15, the choice), R3.
    """
    begin, end = choices.route_start[choice], choices.route_start[choice + 1]
    is_cut, kept = end - begin > mruc, choices.is_local[begin:end]
    if is_cut:
        kept = recent_routes(begin, end, choices, mruc, balance[:, 0].copy(), -1)
    is_weighted = choices.by_factor or _has_weights(begin, end, choices, is_cut, kept)
    best, least = -1, (_GREATEST, _GREATEST)
    for route in range(begin, end):
        if (is_cut and not kept[route - begin]) or (local and not choices.is_local[route]):
            continue
        number, factor = balance[choices.channel[route]]
        own = (factor if is_weighted else 0, number)
        if own < least:
            best, least = route, own
    return best


@inlined
def _has_weights(begin: int, end: int, choices: Choices, is_cut: bool, kept: Flags) -> bool:  # noqa: FBT001
    """Whether weights count among the routes that rule 15 keeps."""
    found = False
    for route in range(begin, end):
        if not is_cut or kept[route - begin]:
            found |= choices.weight[route] != DEFAULT_WEIGHT
    return found
