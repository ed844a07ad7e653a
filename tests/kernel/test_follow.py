"""Choices that are followed are the algorithm's: what it chose itself agrees to the last one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN, Choices, History, Puts, route_in_turn
from clwl_spark.algorithm.follow import AGREES, DIFFERS, NOT_SEEN, Seen, Verdicts, follow

WEIGHTS = st.lists(st.sampled_from([50, 50, 20, 99]), min_size=2, max_size=6)


def history(routes: int, keys: int) -> History:
    return History(
        np.zeros(1, np.int64),
        np.zeros((routes, 2), np.int64),
        np.full(1, -1, np.int64),
        np.array([False, True, True]),
        np.full(keys, NOT_CHOSEN, np.int64),
        np.zeros(keys, np.int64),
    )


def world(weights: list[int], mruc: int, by_factor: bool) -> Choices:
    routes = len(weights)
    return Choices(
        np.array([0, 1], np.int32),
        np.array([0, routes], np.int32),
        np.arange(routes, dtype=np.int32),
        np.array(weights, np.int64),
        np.zeros(routes, np.bool_),
        np.array([mruc], np.int64),
        by_factor,
    )


@settings(deadline=None)
@given(
    WEIGHTS,
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 3), st.booleans()), max_size=60),
    st.booleans(),
)
def test_what_the_algorithm_chose_agrees_and_leads_to_the_same_history(
    weights: list[int], mruc: int, messages: list[tuple[int, int, bool]], by_factor: bool
) -> None:
    """Whichever of the choices were seen, of bound messages and others."""
    choices = world(weights, mruc, by_factor)
    size, routes = len(messages), len(weights)
    snapshots = np.maximum.accumulate(np.array([0, *(x for x, _, _ in messages)], np.int32))[1:]
    keys = np.array([x for _, x, _ in messages], np.int32)
    places = np.arange(size, dtype=np.int64)
    puts = Puts(np.zeros(size, np.int32), snapshots, keys, places, places)
    chosen, bound = np.full(size, NOT_CHOSEN, np.int64), np.zeros(size, np.bool_)
    made, again = history(routes, 4), history(routes, 4)
    route_in_turn(puts, choices, made, 10, chosen, bound)
    shown = np.array([x for _, _, x in messages], np.bool_)
    pattern = np.where(shown, chosen, NOT_SEEN).astype(np.int32)
    seen = Seen(pattern, np.eye(routes, dtype=np.bool_), np.zeros((routes, 1), np.bool_))
    verdict, extra = np.zeros(size, np.int32), np.zeros(size, np.int64)
    follow(puts, choices, again, seen, (10, 0), Verdicts(verdict, extra))
    assert verdict.tolist() == np.where(shown, AGREES, 0).tolist()
    assert again.balance.tolist() == made.balance.tolist()
    assert again.counter[0] == made.counter[0]


def test_choices_of_others_are_found_in_between() -> None:
    choices, routes = world([50, 50, 50], 9, by_factor=False), 3
    went = np.array([0, 1, 0, 1, 2], np.int32)
    places = np.arange(5, dtype=np.int64)
    nothing = np.zeros(5, np.int32)
    puts = Puts(nothing, nothing, np.full(5, NO_KEY, np.int32), places, places)
    seen = Seen(went, np.eye(routes, dtype=np.bool_), np.zeros((routes, 1), np.bool_))
    for most, verdicts, extras in (
        (0, [AGREES, AGREES, DIFFERS, DIFFERS, AGREES], [0] * 5),
        (5, [AGREES] * 5, [0, 0, 1, 0, 0]),
    ):
        verdict, extra = np.zeros(5, np.int32), np.zeros(5, np.int64)
        follow(puts, choices, history(routes, 0), seen, (10, most), Verdicts(verdict, extra))
        assert verdict.tolist() == verdicts
        assert extra.tolist() == extras
