"""Expected load of puts that share a history, against the reference router."""

from collections import Counter

import pytest
from reference import Reference
from small_worlds import alias, message, proxy, qmgr, queue, rcvr, remote, seen_by, tables, topic
from what_if.plain import topology_of

from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.shares.balance import alike, balance
from clwl_spark.studies.shares.traffic import Puts

PERIODS = 400


def balanced(spark, world, *puts):
    return balance(puts, "S1", topology_of(spark, world), Ladder())


def shares(found):
    """Share of each route of each object, local ones by the queue manager alone."""
    return {
        (request["object_name"], route["dest_qmgr"], route["channel"]): route["share"]
        for request in found.requests
        for route in request["routes"]
    }


def counted(world, period):
    """Shares of the routes of each object, from messages that the reference puts in turn."""
    names = period * PERIODS
    puts = [message("ME", name, number) for number, name in enumerate(names, 1)]
    counts = Counter(
        (x["object_name"], x["dest_qmgr"], x["channel"])
        for x in Reference(world).route(puts)[len(names) // 2 :]
    )
    of_name = Counter(names)
    return {end: 2 * count / of_name[end[0]] for end, count in counts.items()}


@pytest.fixture(scope="module")
def world():
    """Two objects that share A's channel, and one of each kind that is not balanced."""
    return tables(
        qmgr("ME"),
        *(rcvr(x, clwlwght=weight) for x, weight in (("ME", 50), ("A", 20), ("B", 50), ("C", 80))),
        queue("A", "ORDERS", "K"), queue("B", "ORDERS", "K"),
        queue("A", "BILLS", "K"), queue("C", "BILLS", "K"),
        queue("ME", "MINE", "K"), queue("ME", "HERE"),
        alias("ME", "NOWHERE", "NONE"), remote("ME", "OUT", "FAR", "Z", xmitq="X"),
        topic("A", "T", "/t"), proxy("ME", "/t", "A"), proxy("ME", "/t", "B"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(spark, world):
    puts = [Puts("ME", x) for x in ("MINE", "HERE", "NOWHERE", "OUT")]
    publication = Puts("ME", "/t", object_type="TOPIC", messages=2.0)
    orders, bills = Puts("ME", "ORDERS", messages=3.0), Puts("ME", "BILLS", messages=1.0)
    return balanced(spark, world, orders, bills, *puts, publication)


def test_objects_that_share_a_channel_share_its_history(world, found):
    ways = shares(found)
    expected = counted(world, ["ORDERS", "ORDERS", "BILLS", "ORDERS"])
    assert found.is_exact
    for end, share in expected.items():
        assert ways[end] == pytest.approx(share, abs=0.005)
    assert sum(share for end, share in ways.items() if end[0] == "ORDERS") == pytest.approx(1)
    alone = [x["expected_share"] for x in found.requests[0]["routes"]]
    assert alone == pytest.approx([20 / 70, 50 / 70])
    assert found.requests[1]["routes"][0]["expected_share"] > 0.1
    assert ways["BILLS", "A", "TO.A"] == 0, "its factor is always ahead, by what ORDERS put there"


def test_what_is_not_balanced_is_told_with_its_reason(found):
    told = {x["object_name"]: (x["kind"], x["reason"], len(x["routes"])) for x in found.requests}
    assert told["HERE"] == ("LOCAL", 0, 0)
    assert told["OUT"] == ("XMITQ", 0, 0)
    assert told["NOWHERE"][1:] == (2082, 0)
    assert told["MINE"] == ("QUEUE", 0, 1)
    assert told["/t"] == ("TOPIC", 0, 2)


def test_sums_are_of_all_messages_that_get_a_destination(found):
    ways = shares(found)
    whole = 3 + 1 + 1 + 1 + 1 + 2  # ORDERS, BILLS, MINE, HERE, OUT, and the publication
    a = 3 * ways["ORDERS", "A", "TO.A"] + ways["BILLS", "A", "TO.A"] + 2 * 0.5
    qmgrs = {x["dest_qmgr"]: x["share"] for x in found.queue_managers}
    channels = {(x["dest_qmgr"], x["channel"]): x["share"] for x in found.channels}
    assert sum(qmgrs.values()) == pytest.approx(1)
    assert qmgrs["A"] == channels["A", "TO.A"] == pytest.approx(a / whole)
    assert qmgrs["ME"] == pytest.approx(2 / whole), "MINE and HERE"
    assert qmgrs["Z"] == pytest.approx(1 / whole), "OUT names its transmission queue"
    assert "ME" not in {qmgr for qmgr, _ in channels}


def limited(*seen):
    """ME keeps one of two remote routes."""
    hosts = [queue(x, "ORDERS", "K") for x in "AB"]
    return tables(qmgr("ME", clwlmruc=1), *(rcvr(x) for x in ("ME", "A", "B")), *hosts, *seen)


def test_clwlmruc_of_the_sender_counts(spark):
    found = shares(balanced(spark, limited(), Puts("ME", "ORDERS")))
    assert found == {("ORDERS", "A", "TO.A"): 1.0, ("ORDERS", "B", "TO.B"): 0.0}


def test_what_others_see_of_the_sender_does_not_hide_its_clwlmruc(spark):
    """DISPLAY CLUSQMGR on A gives a row about ME that has its QMID alone."""
    world = limited(*seen_by("A", qmgr("ME", qmid="ME_1")))
    assert counted(world, ["ORDERS"]) == {("ORDERS", "A", "TO.A"): 1.0}
    found = shares(balanced(spark, world, Puts("ME", "ORDERS")))
    assert found == {("ORDERS", "A", "TO.A"): 1.0, ("ORDERS", "B", "TO.B"): 0.0}


@pytest.mark.parametrize(
    ("weights", "groups"),
    [
        ({"A": 91, "B": 99, "C": 50}, [["A", "B"]]),
        ({"A": 50, "B": 50}, []),
        ({"A": 20, "B": 20, "C": 50}, []),
        ({"D": 90, "A": 84, "B": 99, "C": 95}, [["A", "D"], ["B", "C"]]),
        ({"A": 51, "B": 52}, [["A", "B"]]),
        ({"A": 50, "B": 51}, []),
        ({}, []),
    ],
)
def test_weights_with_one_quotient_count_alike(weights, groups):
    assert sorted(alike(weights)) == groups
