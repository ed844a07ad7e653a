"""The derived formula against the messages that the simulation counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository.stories import event, story

from clwl_spark.errors import UsageError
from clwl_spark.studies.repository.cost import RefreshCase, cost_table, refresh_cost
from clwl_spark.studies.repository.transitions import play
from clwl_spark.studies.repository.words import Sent


def counted(events, then):
    """Messages that further events cause, by kind."""
    before = play(story(*events)).sent
    after = play(story(*events, *then)).sent
    after.subtract(before)
    return after


SIZES = st.fixed_dictionaries(
    {
        "full": st.integers(1, 4),
        "partial": st.integers(1, 5),
        "own": st.integers(0, 3),
        "opened": st.integers(0, 3),
        "instances": st.integers(1, 5),
        "topics": st.integers(0, 2),
        "using": st.booleans(),
    }
)


@settings(deadline=None, max_examples=120)
@given(SIZES)
def test_the_formula_is_what_the_simulation_counts(sizes):
    full, partial, own = sizes["full"], sizes["partial"], sizes["own"]
    opened, instances, topics = sizes["opened"], sizes["instances"], sizes["topics"]
    fulls = [f"FR{n}" for n in range(full)]
    others = [f"QM{n}" for n in range(1, partial)]
    hosts = (others + fulls)[:instances]
    events = [event("0d", "join", name, full=True) for name in fulls]
    events += [event("0d", "join", name) for name in ("X", *others)]
    events += [event("1d", "define", "X", queue=f"OWN{n}") for n in range(own)]
    events += [
        event("1d", "define", host, queue=f"USED{n}") for n in range(opened) for host in hosts
    ]
    events += [event("1d", "define", "FR0", topic=f"T{n}") for n in range(topics)]
    opens = [event("3d", "open", "X", queue=f"USED{n}") for n in range(opened)]
    if sizes["using"]:
        events += [event("1d", "open", x, queue=f"OWN{n}") for x in others for n in range(own)]
    users = len(others) if sizes["using"] and own else 0
    cost = refresh_cost(
        RefreshCase(
            qmgrs=full + partial,
            full=full,
            own_queues=own,
            users=users,
            users_of_each=users,
            opened=opened,
            instances=opened * len(hosts),
            hosts=len(set(hosts) & set(others)) if opened else 0,
            topics=topics,
        )
    )
    at_once = counted(events + [event("2d", "open", "X", queue=f"USED{n}") for n in range(opened)],
                      [event("3d", "refresh", "X")])  # fmt: skip
    assert at_once[Sent.PUBLICATION] == cost.publications
    assert at_once[Sent.BETWEEN_FULL] == cost.between_full
    assert at_once[Sent.NOTICE] == cost.notices
    assert at_once[Sent.WELCOME] == cost.welcome
    assert sum(at_once.values()) == cost.at_once
    all_again = counted(events, [event("3d", "refresh", "X"), *opens])
    assert all_again[Sent.SUBSCRIPTION] == cost.subscriptions
    assert all_again[Sent.ANSWER] == cost.answers
    assert sum(all_again.values()) == cost.total


def test_a_case_by_hand():
    # Ten queue managers, two full: 11 records to two, 11 passed on, two tell of two; ten queues
    # asked of two and answered by two, seven queue managers likewise.
    cost = refresh_cost(RefreshCase(10, 2, 10, opened=10, instances=10, hosts=7))
    assert cost.to_json() == {
        "publications": 22,
        "between_full": 11,
        "notices": 0,
        "welcome": 4,
        "subscriptions": 34,
        "answers": 34,
        "at_once": 37,
        "total": 105,
    }


def test_cost_grows_with_the_cluster_only_where_others_are_told():
    small, large = cost_table([100, 1000])
    assert small["client"] == large["client"]
    assert large["server"] / small["server"] == pytest.approx(10, rel=0.03)
    assert large["pubsub"] / small["pubsub"] == pytest.approx(10, rel=0.15)
    assert large["client_on_all"] == large["client"] * 998


@pytest.mark.parametrize("sizes", [[2], [0], [1], [-5]])
def test_a_cluster_needs_full_and_partial_repositories(sizes):
    with pytest.raises(UsageError, match="at least one full and one partial"):
        cost_table(sizes)
    with pytest.raises(UsageError, match="queues is -1"):
        cost_table([10], queues=-1)
