"""The kernel by calling it: worked figures of SEMANTICS 10, rule 15, resets, binding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clwl_spark.algorithm.choose import (
    NO_KEY,
    NOT_CHOSEN,
    Choices,
    History,
    Puts,
    route_in_turn,
)

HOUR = 3_600_000_000


class Sender:
    """One queue manager with one plan over some routes."""

    def __init__(
        self,
        weights: list[int],
        *,
        local: int = 0,
        mruc: int = 999_999_999,
        by_factor: bool = False,
    ) -> None:
        count = len(weights)
        self.choices = Choices(
            np.array([0, 1], np.int32),
            np.array([0, count], np.int32),
            np.arange(count, dtype=np.int32),
            np.array(weights, np.int64),
            np.arange(count) < local,
            np.array([mruc], np.int64),
            by_factor,
        )
        self.history = History(
            np.zeros(1, np.int64),
            np.zeros((count, 2), np.int64),
            np.full(1, -1, np.int64),
            np.zeros(4, np.bool_),
            np.full(8, NOT_CHOSEN, np.int64),
            np.zeros(8, np.int64),
        )

    def put(
        self,
        count: int,
        *,
        snapshot: int = 0,
        keys: list[int] | None = None,
        times: list[int] | None = None,
        ttl: int = 24 * HOUR,
    ) -> list[int]:
        puts = Puts(
            np.zeros(count, np.int32),
            np.full(count, snapshot, np.int32),
            np.array(keys or [NO_KEY] * count, np.int32),
            np.array(times or range(count), np.int64),
            np.arange(count, dtype=np.int64),
        )
        chosen, self.bound = np.full(count, NOT_CHOSEN, np.int64), np.zeros(count, np.bool_)
        route_in_turn(puts, self.choices, self.history, ttl, chosen, self.bound)
        return list(chosen)


def test_weights_20_50_20_10_are_exact_for_multiples_of_ten() -> None:
    chosen = Sender([20, 50, 20, 10]).put(1000)
    assert np.bincount(chosen).tolist() == [200, 500, 200, 100]


def test_default_weights_rotate_strictly() -> None:
    assert Sender([50] * 4).put(20) == [0, 1, 2, 3] * 5


def test_four_own_receivers_and_one_sender_keep_four_fifths_local() -> None:
    chosen = Sender([50] * 5, local=4).put(100)
    assert sum(x < 4 for x in chosen) == 80


@pytest.mark.parametrize("weight", [48, 49])
def test_weights_of_the_same_step_as_50_count_as_weights(weight: int) -> None:
    sender = Sender([weight, 50])
    sender.history.balance[0] = (1, 100)
    sender.history.balance[1] = (2, 0)
    assert sender.put(1) == [1]


def test_by_factor_the_lowest_factor_is_next_though_all_weights_are_50() -> None:
    for by_factor, first in ((False, 1), (True, 0)):
        sender = Sender([50, 50], by_factor=by_factor)
        sender.history.balance[:] = [[2, 20], [1, 40]]
        assert sender.put(1) == [first]


def test_rule_15_keeps_the_most_recent_remote_routes_and_every_local_one() -> None:
    sender = Sender([50] * 4, local=1, mruc=2)
    assert set(sender.put(30)) == {0, 1, 2}


def test_a_reset_is_brought_once_and_sets_factors_only() -> None:
    sender = Sender([10, 20])
    sender.put(6)
    sender.history.pending[2] = True
    before = sender.history.balance.copy()
    sender.put(1, snapshot=1)
    assert sender.history.balance[:, 1].sum() > before[:, 1].sum()
    chosen = sender.put(1, snapshot=3)[0]
    step = 1000 // [10, 20][chosen]
    assert sender.history.balance[:, 1].tolist() == [step if at == chosen else 0 for at in (0, 1)]
    assert (sender.history.balance[:, 0] >= before[:, 0]).all()
    sender.put(1, snapshot=3)
    assert sender.history.balance[:, 1].sum() > step


def test_a_key_follows_its_first_choice_until_its_time_to_live_is_over() -> None:
    sender = Sender([50, 50])
    times = [0, 1 * HOUR, 25 * HOUR, 49 * HOUR + 1]
    assert sender.put(4, keys=[0] * 4, times=times) == [0, 0, 0, 1]
    assert sender.bound.tolist() == [False, True, True, False]


def test_a_late_bound_message_does_not_shorten_the_key_s_life() -> None:
    sender = Sender([50, 50])
    sender.put(3, keys=[0] * 3, times=[10 * HOUR, 2 * HOUR, 34 * HOUR])
    assert sender.bound.tolist() == [False, True, True]


def test_a_choice_without_routes_changes_nothing() -> None:
    sender = Sender([])
    assert sender.put(3, keys=[0, 0, 0]) == [NOT_CHOSEN] * 3
    assert sender.history.counter[0] == 0


@pytest.mark.fault(23)
def test_years_of_choices_do_not_overflow() -> None:
    sender = Sender([1, 1])
    sender.history.counter[0] = 2**40
    sender.history.balance[:] = [[2**40 - 1, 2**50], [2**40, 2**50]]
    assert sender.put(2) == [0, 1]


def plain_choices(
    weights: list[int],
    balance: list[list[int]],
    counter: int,
    count: int,
    *,
    by_factor: bool = False,
) -> list[int]:
    """SEMANTICS 5 in plain Python over one list of routes; `balance` is changed in place."""
    weighted = by_factor or any(weight != 50 for weight in weights)
    chosen = []
    for _ in range(count):
        best = min(
            range(len(weights)), key=lambda r: (balance[r][1] if weighted else 0, balance[r][0])
        )
        counter += 1
        balance[best] = [counter, balance[best][1] + 1000 // weights[best]]
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("weights", [[50] * 5, [1, 99, 50, 7, 50]])
def test_more_choices_than_fit_between_two_settlings(weights: list[int]) -> None:
    count = (1 << 20) + 1000
    balance = [[0, 0] for _ in weights]
    sender = Sender(weights)
    assert sender.put(count) == plain_choices(weights, balance, 0, count)
    assert sender.history.balance.tolist() == balance
    assert sender.history.counter[0] == count


@given(
    st.lists(st.sampled_from([1, 10, 48, 50, 99]), min_size=1, max_size=6),
    st.lists(st.sampled_from([0, 1, 20, 10**6, 10**9, 10**12, 2**60]), min_size=6, max_size=6),
    st.permutations(range(6)),
    st.lists(st.integers(1, 300), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_history_and_any_cut_choose_as_the_plain_way(
    weights: list[int],
    factors: list[int],
    numbers: list[int],
    counts: list[int],
    by_factor: bool,
) -> None:
    sender = Sender(weights, by_factor=by_factor)
    rows = [[numbers[r], factors[r]] for r in range(len(weights))]
    sender.history.balance[:] = rows
    sender.history.counter[0] = 6
    chosen = [route for count in counts for route in sender.put(count)]
    assert chosen == plain_choices(weights, rows, 6, sum(counts), by_factor=by_factor)
    assert sender.history.balance.tolist() == rows
