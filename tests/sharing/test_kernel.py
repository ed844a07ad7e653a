"""The simulation against what can be worked out by hand, and what always holds."""

from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.studies.shared_queue import kernel
from clwl_spark.studies.shared_queue.group import make_group
from clwl_spark.studies.shared_queue.simulation import as_arrays, seeds_of, simulate_group


def group_of(members, putters, **more):
    told = {"queue_managers": members, "putters": putters, "messages": 200, "runs": 20}
    return make_group(told | more, "test")


def simulated(group):
    return kernel.simulate(as_arrays(group), group.messages, seeds_of(group))


def test_even_puts_to_a_fixed_getter_by_hand():
    # Message n is put at n ms and got at 1 + 1.6 (n - 1) ms: the first one directly, the others
    # when the getter is done. The queue is empty before the second and the third put alone.
    group = group_of(
        [{"name": "A", "getters": 1, "service": "fixed", "service_ms": 1.6, "local_ms": 0}],
        [{"queue_manager": "A", "rate": 1000.0, "arrivals": "even"}],
        messages=7,
    )
    counts, totals = simulated(group)
    assert counts[0, 0].tolist() == [1, 0, 0, 6, 2, 0]
    assert totals[0, kernel.TRANSITIONS] == 2
    assert totals[0, kernel.DEEPEST] == 3
    assert totals[0, kernel.WAITED] == pytest.approx(sum(0.6e-3 * n for n in range(7)))


@pytest.mark.parametrize(("getters", "rate"), [(1, 600.0), (3, 2400.0)])
def test_waiting_is_that_of_erlang_where_nothing_takes_time_but_service(getters, rate):
    # M/M/c, whose mean wait every textbook has.
    group = group_of(
        [{"name": "A", "getters": getters, "service_ms": 1.0, "local_ms": 0}],
        [{"queue_manager": "A", "rate": rate, "persistent": 1.0}],
        messages=20_000,
        runs=100,
        notification_ms=0,
    )
    load = rate / 1000
    tail = load**getters / factorial(getters) * getters / (getters - load)
    queued = tail / (sum(load**k / factorial(k) for k in range(getters)) + tail)
    expected = queued / (getters * 1000 - rate) * 1000
    waited = simulate_group(group).waited_ms
    assert waited.mean == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("busy", [0.0, 0.5, 0.9])
def test_the_race_between_a_local_post_and_a_notification(busy):
    group = group_of(
        [
            {"name": "A", "getters": 2, "busy": busy, "local_ms": 0.2, "answer_ms": 10_000},
            {"name": "B", "getters": 2, "answer_ms": 0.4},
        ],
        [{"queue_manager": "A", "rate": 0.5, "syncpoint": 1.0}],
        messages=2000,
        runs=50,
        notification_ms=0.3,
    )
    local = 0.2 / (1 - busy)
    remote_wins = exp(-0.3 / local) * local / (local + 0.4)
    result = simulate_group(group)
    # Answers of A, long after, find the queue as empty as messages 2 s apart leave it.
    assert result.members[1].share.mean == pytest.approx(remote_wins, abs=0.01)


def test_the_random_numbers_are_those_of_splitmix64():
    """The first outputs of the published generator for a seed of 0, upper 53 bits."""
    state = np.zeros(1, dtype=np.uint64)
    words = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [kernel._uniform(state) for _ in words] == [(x >> 11) * 2.0**-53 for x in words]


members_told = st.lists(
    st.fixed_dictionaries(
        {
            "getters": st.integers(0, 3),
            "service_ms": st.sampled_from([0.1, 1.0, 7.0]),
            "service": st.sampled_from(["exponential", "fixed"]),
            "busy": st.sampled_from([0.0, 0.8]),
            "local_ms": st.sampled_from([0.0, 0.3]),
            "answer_ms": st.sampled_from([0.0, 0.5]),
        }
    ),
    min_size=1,
    max_size=5,
)
putters_told = st.lists(
    st.fixed_dictionaries(
        {
            "rate": st.sampled_from([10.0, 700.0, 20_000.0]),
            "arrivals": st.sampled_from(["poisson", "even"]),
            "persistent": st.sampled_from([0.0, 0.4, 1.0]),
            "syncpoint": st.sampled_from([0.0, 0.4, 1.0]),
        }
    ),
    min_size=1,
    max_size=3,
)


@settings(deadline=None, max_examples=120)
@given(members_told, putters_told, st.integers(0, 2**32), st.data())
def test_what_always_holds(members, putters, seed, data):
    members = [{"name": f"MQ{at}"} | member for at, member in enumerate(members)]
    members[0]["getters"] += 1
    names = st.sampled_from([member["name"] for member in members])
    putters = [putter | {"queue_manager": data.draw(names)} for putter in putters]
    group = group_of(members, putters, messages=60, runs=10, seed=seed)
    counts, totals = simulated(group)
    got = counts[:, :, : kernel.NOTIFICATIONS]
    assert (got.sum(axis=(1, 2)) == group.messages).all()
    assert (totals[:, kernel.WAITED] >= 0).all()
    put_on = {putter.queue_manager for putter in group.putters}
    for at, member in enumerate(group.queue_managers):
        told = counts[:, at, kernel.NOTIFICATIONS]
        assert (told == (totals[:, kernel.TRANSITIONS] if member.getters else 0)).all()
        assert member.getters or not counts[:, at].any()
        assert (counts[:, at, kernel.EMPTY_ANSWERS] <= group.messages).all()
        if member.name not in put_on:
            assert not got[:, at, : kernel.NOTIFIED].any()
    if all(putter.direct_share == 0 for putter in group.putters):
        assert not got[:, :, kernel.DIRECT].any()
        assert (totals[:, kernel.TRANSITIONS] >= 1).all()
    again, _ = simulated(group)
    assert (again == counts).all()


def test_more_runs_leave_the_first_ones_as_they_are():
    members, putters = [{"name": "A", "getters": 2}], [{"queue_manager": "A", "rate": 900.0}]
    few, _ = simulated(group_of(members, putters, runs=10, seed=7))
    many, _ = simulated(group_of(members, putters, runs=50, seed=7))
    other, _ = simulated(group_of(members, putters, runs=10, seed=8))
    assert (many[:10] == few).all()
    assert (other != few).any()


def test_more_persistence_means_more_notifications_and_a_smaller_local_share():
    members = [{"name": "A", "getters": 1, "busy": 0.5}, {"name": "B", "getters": 1}]
    results = [
        simulate_group(
            group_of(members, [{"queue_manager": "A", "rate": 100.0, "persistent": share}])
        )
        for share in (0.0, 0.5, 1.0)
    ]
    notified = [result.notifications.mean for result in results]
    local = [result.members[0].share.mean for result in results]
    assert notified == sorted(notified)
    assert local == sorted(local, reverse=True)
