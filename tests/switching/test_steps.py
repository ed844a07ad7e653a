"""The switch's steps: nothing is lost, doubled or overtaken, wherever it is interrupted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.studies.switch.steps import (
    LEFT,
    NEVER,
    PUT_ON_NEW,
    REBALANCED,
    SWITCHED,
    Interruptions,
    Pace,
    examined_at,
    greatest_depth,
    switch_in_steps,
)
from clwl_spark.tables.moments import SECOND


def longs(*values):
    return np.array(values, dtype=np.int64)


def run(arrived, pace, stops=(), taken_at=None):
    taken = np.full(len(arrived), NEVER) if taken_at is None else taken_at
    stopped = Interruptions(longs(*(x for x, _ in stops)), longs(*(x for _, x in stops)))
    return switch_in_steps(arrived, taken, pace, stopped)


def in_order(placed, how):
    """Moved ones in their order, and new ones behind them."""
    switched = placed[how == SWITCHED]
    assert (np.diff(switched) >= 0).all()
    ways = how[(how != REBALANCED)]
    assert (np.diff((ways == PUT_ON_NEW).astype(int)) >= 0).all()
    if (how == PUT_ON_NEW).any() and len(switched):
        assert placed[how == PUT_ON_NEW].min() >= switched.max()


def test_waiting_messages_move_in_batches_then_new_ones_go_straight_to_the_new_queue():
    arrived = longs(0, 0, 0, 5 * SECOND)
    placed, how, step_2, undone = run(arrived, Pace(SECOND, 1, 2))
    assert how.tolist() == [SWITCHED, SWITCHED, SWITCHED, PUT_ON_NEW]
    assert placed.tolist() == [3 * SECOND, 3 * SECOND, 4 * SECOND, 5 * SECOND]
    assert (step_2, undone) == (4 * SECOND, 0)


def test_what_arrives_during_step_1_is_moved_too():
    placed, how, step_2, _ = run(longs(0, 2 * SECOND), Pace(SECOND, 1, 50))
    assert how.tolist() == [SWITCHED, SWITCHED]
    assert placed.tolist() == [2 * SECOND, 3 * SECOND]
    assert step_2 == 3 * SECOND


def test_an_empty_queue_is_in_step_2_at_once():
    _, how, step_2, _ = run(longs(), Pace(7, 1, 50))
    assert (len(how), step_2) == (0, 7)


def test_a_channel_that_stays_stopped_leaves_the_rest_on_the_old_queue():
    arrived = longs(0, 0, 0, 9 * SECOND)
    placed, how, step_2, undone = run(arrived, Pace(0, 1, 1), [(SECOND + 1, NEVER)])
    assert how.tolist() == [SWITCHED, LEFT, LEFT, LEFT]
    assert placed.tolist() == [SECOND, 0, 0, 9 * SECOND]
    assert (step_2, undone) == (NEVER, 1)


def test_the_transaction_in_hand_is_undone_and_its_messages_move_once():
    _, how, step_2, undone = run(longs(0, 0, 0), Pace(0, 1, 2), [(SECOND, 10 * SECOND)])
    assert how.tolist() == [SWITCHED] * 3
    assert (step_2, undone) == (13 * SECOND, 2)


def test_workload_balancing_and_the_switch_share_a_quickly_restarted_queue():
    arrived = np.zeros(6, dtype=np.int64)
    looked = examined_at(arrived, 0, 1)
    assert looked.tolist() == [x * SECOND for x in range(1, 7)]
    can_go = np.array([True, False, True, True, False, True])
    taken = np.where(can_go, looked, NEVER)
    placed, how, step_2, _ = run(arrived, Pace(int(2.5 * SECOND), 1, 1), taken_at=taken)
    assert how.tolist() == [REBALANCED, SWITCHED, REBALANCED, SWITCHED, SWITCHED, SWITCHED]
    assert placed.tolist()[:4] == [SECOND, 3_500_000, 3 * SECOND, 4_500_000]
    assert step_2 == 6_500_000


def test_what_balancing_passed_over_in_hand_of_the_switch_stays_with_the_switch():
    taken = longs(2 * SECOND)
    _, how, _, undone = run(longs(0), Pace(SECOND, 1, 1), [(SECOND * 2, 9 * SECOND)], taken)
    assert how.tolist() == [SWITCHED]
    assert undone == 0
    placed, how, step_2, _ = run(longs(0), Pace(SECOND, 1, 1), [(int(1.5 * SECOND), NEVER)], taken)
    assert (how.tolist(), placed.tolist(), step_2) == ([REBALANCED], [2 * SECOND], NEVER)


def test_later_arrivals_are_not_looked_at_by_balancing():
    assert examined_at(longs(0, 9), 5, 1).tolist() == [5 + SECOND, NEVER]


def test_depth_grows_where_arrivals_outrun_the_move():
    arrived = longs(0, *range(0, 10 * SECOND, SECOND // 2))
    placed, how, step_2, _ = run(arrived, Pace(0, 1, 1))
    assert (how == SWITCHED).all()
    assert step_2 == 21 * SECOND
    start, most, when = greatest_depth(arrived, placed, 0)
    assert (start, most) == (2, 12)
    assert when == 9_500_000
    assert greatest_depth(longs(), longs(), 3) == (0, 0, 3)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.integers(0, 40), max_size=25),
    st.integers(1, 4),
    st.integers(1, 3),
    st.lists(st.booleans(), min_size=25, max_size=25),
)
def test_interrupted_at_every_point_it_ends_as_if_it_had_not_been(moments, pace, batch, can_go):
    """Seconds of arrival, the switch's pace; each moment of the whole run is a moment to stop."""
    arrived = np.sort(np.array(moments, dtype=np.int64) * SECOND)
    start = Pace(10 * SECOND, pace, batch)
    _, _, end, _ = run(arrived, start)
    for stop in {*range(10 * SECOND, end + 2, SECOND // 4), end, end - 1, end + 1}:
        for pause in (1, 7 * SECOND):
            placed, how, step_2, undone = run(arrived, start, [(stop, stop + pause)])
            in_order(placed, how)
            assert step_2 < NEVER
            assert set(how.tolist()) <= {SWITCHED, PUT_ON_NEW}
            assert (placed >= arrived).all()
            assert (placed[how == PUT_ON_NEW] == arrived[how == PUT_ON_NEW]).all()
            assert undone <= batch
    again = [(stop, stop + SECOND // 3) for stop in range(10 * SECOND, 40 * SECOND, 5 * SECOND)]
    taken = np.where(can_go[: len(arrived)], examined_at(arrived, 9 * SECOND, 2), NEVER)
    placed, how, step_2, _ = run(arrived, start, again, taken)
    in_order(placed, how)
    assert step_2 < NEVER
    assert LEFT not in how
    assert (placed[how == REBALANCED] == taken[how == REBALANCED]).all()


@pytest.mark.parametrize("stop", range(12))
def test_two_halves_of_an_interrupted_switch_are_the_whole(stop):
    """What a killed process leaves on the old queue is where the next one begins."""
    arrived = longs(*[0] * 8)
    whole, _, _, _ = run(arrived, Pace(0, 1, 3))
    placed, how, _, _ = run(arrived, Pace(0, 1, 3), [(stop * SECOND, NEVER)])
    rest = np.nonzero(how == LEFT)[0]
    placed_2, how_2, _, _ = run(arrived[rest], Pace(100 * SECOND, 1, 3))
    assert sorted([*np.nonzero(how == SWITCHED)[0], *rest[how_2 == SWITCHED]]) == list(range(8))
    assert (placed_2 > placed[how == SWITCHED].max(initial=0)).all()
    assert (np.diff(rest) == 1).all()
    assert len(whole) == 8
