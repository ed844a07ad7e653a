"""Choices that are repeated lead to the history that they were made with."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN, Choices, History, Puts, route_in_turn
from clwl_spark.algorithm.replay import LOCAL, NONE_MADE, replay

WEIGHTS = st.lists(st.sampled_from([50, 50, 20, 99]), min_size=1, max_size=6)


@settings(deadline=None)
@given(
    WEIGHTS,
    st.integers(0, 3),
    st.integers(1, 4),
    st.lists(st.integers(0, 2), max_size=60),
    st.booleans(),
)
def test_replayed_choices_lead_to_the_same_history(
    weights: list[int], local: int, mruc: int, snapshots: list[int], by_factor: bool
) -> None:
    """Of local routes only that it was one of them is known."""
    routes, messages = len(weights), len(snapshots)
    choices = Choices(
        np.array([0, 1], np.int32),
        np.array([0, routes], np.int32),
        np.arange(routes, dtype=np.int32),
        np.array(weights, np.int64),
        np.arange(routes) < local,
        np.array([mruc], np.int64),
        by_factor,
    )
    history = History(
        np.zeros(1, np.int64),
        np.zeros((routes, 2), np.int64),
        np.full(1, -1, np.int64),
        np.array([False, True, True]),
        np.full(1, NOT_CHOSEN, np.int64),
        np.zeros(1, np.int64),
    )
    nothing = np.zeros(messages, np.int32)
    put = np.array(snapshots, np.int32)
    keys, first = np.full(messages, NO_KEY, np.int32), np.arange(messages, dtype=np.int64)
    chosen, bound = np.full(messages, NOT_CHOSEN, np.int64), np.zeros(messages, np.bool_)
    puts = Puts(nothing, put, keys, first, first)
    route_in_turn(puts, choices, history, 1, chosen, bound)
    reached = np.maximum.accumulate(put)
    resets = np.zeros(messages, np.bool_)
    for snapshot in (1, 2):
        if (at := np.searchsorted(reached, snapshot)) < messages:
            resets[at] = True
    made = np.where(chosen < local, LOCAL, chosen), nothing.astype(np.int64), step(chosen, weights)
    counter, balance = np.zeros(1, np.int64), np.zeros((routes, 2), np.int64)
    replay(made, resets, choices, counter, balance)
    assert counter[0] == messages
    assert balance.tolist() == history.balance.tolist()


def step(chosen: np.ndarray, weights: list[int]) -> np.ndarray:
    """What the chosen channels' factors grow by."""
    return 1000 // np.array(weights, np.int64)[chosen]


def test_what_chose_nothing_changes_nothing_but_a_reset_does() -> None:
    none = np.zeros(0, np.int64)
    choices = Choices(none, none, none, none, none.astype(np.bool_), none)
    counter, balance = np.array([7]), np.array([[7, 20]])
    made = np.array([NONE_MADE]), np.zeros(1, np.int64), np.zeros(1, np.int64)
    replay(made, np.array([True]), choices, counter, balance)
    assert (counter.tolist(), balance.tolist()) == ([7], [[7, 0]])
