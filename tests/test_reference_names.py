"""The reference's name resolution and views against hand-worked answers."""

from itertools import pairwise

import pytest
from reference import Reference
from reference_rows import matches_topic
from reference_views import matches_channel
from small_worlds import (
    Definition,
    alias,
    qmgr,
    queue,
    rcvr,
    remote,
    seen_by,
    sender,
    tables,
    topic,
)

from clwl_spark.planning.topic_strings import topic_matches

# L and B share cluster K; Q and the alias QMALIAS are on B, CLUSTERED on both.
CLUSTER = [
    rcvr("L"),
    rcvr("B"),
    queue("B", "Q", "K", defbind="NOTFIXED"),
    queue("B", "CLUSTERED", "K"),
    queue("L", "CLUSTERED", "K"),
    queue("L", "LOCAL"),
    queue("L", "CLOSED", put_enabled=False),
    remote("B", "QMALIAS", "", "B", cluster="K"),
]


def plan(name: str, at: str = "", *more: Definition, via: str = "LOCAL"):
    """The plan for `(name, at)` on L in the cluster above."""
    reference = Reference(tables(*CLUSTER, *more))
    return reference.plan("S1", "L", "QUEUE", name, at, via)


def end(name: str, at: str = "", *more: Definition):
    """Kind, reason, and the names at the end."""
    found = plan(name, at, *more)
    return found["kind"], found["reason"], found["resolved_object"], found["resolved_qmgr"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("LOCAL", ("LOCAL", 0, "LOCAL", "")),
        ("CLUSTERED", ("QUEUE", 0, "CLUSTERED", "")),
        ("Q", ("QUEUE", 0, "Q", "")),
        ("CLOSED", ("LOCAL", 2051, "CLOSED", "")),
        ("NOTHING", ("QUEUE", 2082, "NOTHING", "")),
        ("OTHER", ("QUEUE", 2001, "OTHER", "")),
        ("A", ("QUEUE", 2001, "A", "")),
    ],
)
def test_row_1_an_alias_leads_to_its_target(target, expected):
    assert end("A", "", alias("L", "A", target), alias("L", "OTHER", "LOCAL")) == expected


def test_row_1_a_put_disabled_alias_is_2051():
    assert end("A", "", alias("L", "A", "Q", put_enabled=False))[1] == 2051


def test_row_1_put_disabled_of_the_target_alias_is_not_looked_at():
    other = alias("L", "Q", "LOCAL", put_enabled=False)
    assert end("A", "", alias("L", "A", "Q"), other) == ("QUEUE", 0, "Q", "")


def test_row_1_an_alias_named_as_its_target_reaches_the_other_instances():
    found = plan("Q", "", alias("L", "Q", "Q", cluster="K"))
    assert (found["kind"], found["reason"]) == ("QUEUE", 0)
    assert [route["dest_qmgr"] for route in found["routes"]] == ["B"]


def test_row_1_a_target_that_is_a_remote_queue_goes_on_by_row_3():
    more = alias("L", "A", "REM"), remote("L", "REM", "X", "B")
    assert end("A", "", *more) == ("QMGR", 0, "X", "B")


def test_p11_a_remote_queue_that_leads_back_to_the_target_is_a_loop():
    more = alias("L", "A", "REM"), remote("L", "REM", "REM", "")
    assert end("A", "", *more)[1] == 2189


def test_row_2_a_queue_not_shared_stays_local_and_may_be_closed():
    assert end("LOCAL") == ("LOCAL", 0, "LOCAL", "")
    assert end("CLOSED") == ("LOCAL", 2051, "CLOSED", "")


def test_row_2_a_shared_queue_is_chosen_for():
    assert end("CLUSTERED")[0] == "QUEUE"


def test_s3_a_queue_shared_in_a_cluster_that_l_is_not_in_is_not_clustered():
    assert end("FAR", "", queue("L", "FAR", "ELSEWHERE")) == ("LOCAL", 0, "FAR", "")


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (remote("L", "R", "X", "B"), ("QMGR", 0, "X", "B")),
        (remote("L", "R", "Q", ""), ("QUEUE", 0, "Q", "")),
        (remote("L", "R", "LOCAL", "L"), ("LOCAL", 0, "LOCAL", "L")),
        (remote("L", "R", "", "B"), ("QUEUE", 2184, "R", "")),
        (remote("L", "R", "", "B", put_enabled=False), ("QUEUE", 2184, "R", "")),
        (remote("L", "R", "X", "B", put_enabled=False), ("QUEUE", 2051, "R", "")),
        (remote("L", "R", "X", "FAR", xmitq="XQ"), ("XMITQ", 0, "X", "FAR")),
        (remote("L", "R", "X", "", xmitq="XQ"), ("XMITQ", 0, "X", "")),
        (remote("L", "R", "R", ""), ("QUEUE", 2189, "R", "")),
        (remote("L", "R", "X", "UNKNOWN"), ("QMGR", 2087, "X", "UNKNOWN")),
    ],
)
def test_row_3_remote_queues(definition, expected):
    assert end("R", "", definition) == expected


def test_row_3_a_second_remote_queue_is_2184_before_it_is_put_disabled():
    more = remote("L", "R", "S", ""), remote("L", "S", "Q", "", put_enabled=False)
    assert end("R", "", *more)[1] == 2184


def test_rows_4_and_5_a_queue_somewhere_else_or_nowhere():
    assert end("Q") == ("QUEUE", 0, "Q", "")
    assert end("NOTHING") == ("QUEUE", 2085, "NOTHING", "")


def test_p5_a_clustered_queue_manager_alias_is_no_queue():
    assert end("QMALIAS")[1] == 2085


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LOCAL", ("LOCAL", 0, "LOCAL", "L")),
        ("CLUSTERED", ("LOCAL", 0, "CLUSTERED", "L")),
        ("CLOSED", ("LOCAL", 2051, "CLOSED", "L")),
        ("Q", ("QMGR", 2085, "Q", "L")),
        ("A", ("QUEUE", 0, "Q", "")),
        ("R", ("QMGR", 0, "X", "B")),
    ],
)
def test_row_6_l_by_name_means_local_definitions_only(name, expected):
    assert end(name, "L", alias("L", "A", "Q"), remote("L", "R", "X", "B")) == expected


def test_row_7_a_transmission_queue_by_the_queue_managers_name():
    found = plan("X", "B", queue("L", "B", usage="XMITQ"))
    assert (found["kind"], found["xmitq"], found["resolved_qmgr"]) == ("XMITQ", "B", "B")


def test_row_7_an_ordinary_queue_of_that_name_is_passed_over():
    assert end("X", "B", queue("L", "B")) == ("QMGR", 0, "X", "B")


@pytest.mark.parametrize(
    ("definition", "name", "expected"),
    [
        (remote("L", "QMA", "", "FAR", xmitq="XQ"), "X", ("XMITQ", 0, "X", "FAR")),
        (remote("L", "QMA", "", "B"), "X", ("QMGR", 0, "X", "B")),
        (remote("L", "QMA", "", ""), "Q", ("QUEUE", 0, "Q", "")),
        (remote("L", "QMA", "", "L"), "LOCAL", ("LOCAL", 0, "LOCAL", "L")),
        (remote("L", "QMA", "", "QMA"), "X", ("QMGR", 2087, "X", "QMA")),
        (remote("L", "QMA", "", "", put_enabled=False), "Q", ("QUEUE", 0, "Q", "")),
    ],
)
def test_row_8_local_queue_manager_aliases(definition, name, expected):
    assert end(name, "QMA", definition) == expected


def test_row_8_an_alias_of_its_own_name_goes_on_to_the_cluster():
    assert end("X", "B", remote("L", "B", "", "B")) == ("QMGR", 0, "X", "B")


def test_row_8_aliases_that_lead_in_a_circle_are_2189():
    more = remote("L", "ONE", "", "TWO"), remote("L", "TWO", "", "ONE")
    assert end("X", "ONE", *more) == ("QMGR", 2189, "X", "ONE")


@pytest.mark.parametrize(("aliases", "reason"), [(15, 0), (16, 0), (17, 2189)])
def test_p10_sixteen_steps_are_allowed(aliases, reason):
    names = [f"A{number}" for number in range(aliases)] + ["B"]
    steps = [remote("L", name, "", following) for name, following in pairwise(names)]
    assert end("X", "A0", *steps)[:2] == ("QMGR", reason)


def test_row_9_a_queue_manager_or_an_alias_of_one_that_l_sees():
    assert end("X", "B") == ("QMGR", 0, "X", "B")
    assert end("X", "QMALIAS") == ("QMGR", 0, "X", "QMALIAS")


def test_row_10_the_default_transmission_queue_or_2087():
    assert end("X", "FAR") == ("QMGR", 2087, "X", "FAR")
    assert end("X", "FAR", qmgr("L", defxmitq="DX")) == ("XMITQ", 0, "X", "FAR")


@pytest.mark.parametrize(
    ("name", "at", "bind"),
    [
        ("Q", "", "NOTFIXED"),  # nothing of L's: the lowest instance that L sees
        ("A", "", "GROUP"),  # the alias, not its target
        ("GONE", "", "GROUP"),  # looked at, though it leads nowhere
        ("R", "", "NOTFIXED"),  # the remote queue's own
        ("Q", "B", "OPEN"),
        ("NOTHING", "", "OPEN"),
        ("Q", "QMA", "NOTFIXED"),  # through a queue manager alias, which is no queue
    ],
)
def test_p9_the_opened_definitions_defbind_counts(name, at, bind):
    more = (
        alias("L", "A", "Q", defbind="GROUP"),
        alias("L", "GONE", "NOWHERE", defbind="GROUP"),
        remote("L", "R", "Q", "B", defbind="NOTFIXED"),
        remote("L", "QMA", "", "", defbind="GROUP"),
        rcvr("C"),
        queue("C", "Q", "K", defbind="OPEN"),
    )
    assert plan(name, at, *more)["bind_default"] == bind


def test_p3_of_several_rows_that_of_the_lowest_cluster_counts():
    more = (
        rcvr("L", "J", "TO.L.J"),
        queue("L", "TWICE", "K", defbind="NOTFIXED"),
        queue("L", "TWICE", "J", defbind="GROUP"),
    )
    assert plan("TWICE", "", *more)["bind_default"] == "GROUP"


def dest_qmgrs(found):
    return [route["dest_qmgr"] for route in found["routes"]]


def test_s2_what_l_observed_of_others_replaces_the_full_repositories_view():
    more = (rcvr("C"), queue("C", "Q", "K"), *seen_by("L", queue("C", "Q", "K")))
    assert dest_qmgrs(plan("Q", "", *more)) == ["C"]


def test_p2_what_l_observed_of_itself_hides_nothing():
    more = (rcvr("C"), queue("C", "Q", "K"), *seen_by("L", queue("L", "MINE", "K")))
    assert dest_qmgrs(plan("Q", "", *more)) == ["B", "C"]
    assert plan("MINE", "", *more)["kind"] == "QUEUE"


def test_s2_l_knows_its_own_objects_better():
    closed = seen_by("L", queue("L", "LOCAL", put_enabled=False))
    assert end("LOCAL", "", *closed)[1] == 2051


def test_p1_a_queue_manager_without_rows_sees_nothing():
    reference = Reference(tables(*CLUSTER))
    found = [reference.plan("S1", "GHOST", "QUEUE", "Q", at)["reason"] for at in ("", "B")]
    assert found == [2085, 2087]


def test_p4_instances_in_a_foreign_cluster_are_candidates_but_not_seen():
    more = (rcvr("C", "FAR"), queue("C", "Q", "FAR"), queue("C", "ONLY", "FAR"))
    found = plan("Q", "", *more)
    assert [(r["dest_qmgr"], r["eliminated_by"]) for r in found["candidates"]] == [
        ("B", None),
        ("C", 1),
    ]
    assert plan("ONLY", "", *more)["reason"] == 2085


@pytest.mark.parametrize(
    ("pattern", "channel", "matching"),
    [
        ("TO.B", "TO.B", True),
        ("TO.*", "TO.", True),
        ("T*.*B", "TO.QB", True),
        ("T*.*B", "TO.QC", False),
        ("T.*", "TO.B", False),
        ("*", "", True),
        ("", "TO.B", False),
    ],
)
def test_section_7_patterns(pattern, channel, matching):
    assert matches_channel(pattern, channel) is matching


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ({"X1": "TO.*", "X2": "TO.B"}, "X2"),
        ({"X1": "*TO.B", "X2": "T*"}, "X2"),
        ({"X1": "T*", "X2": "TO*"}, "X2"),
        ({"X1": "T*B*", "X2": "T**.B"}, "X2"),
        ({"X2": "TO.B", "X1": "TO.B"}, "X1"),
        ({"X1": "OTHER"}, "SYSTEM.CLUSTER.TRANSMIT.QUEUE"),
    ],
)
def test_section_7_precedence(patterns, chosen):
    queues = [queue("L", n, usage="XMITQ", clchname=p) for n, p in patterns.items()]
    reference = Reference(tables(*CLUSTER, *queues))
    assert reference._view("S1", "L").transmission_queue("B", "TO.B") == chosen


def test_section_7_the_default_and_the_current_association():
    channel = Reference(tables(*CLUSTER, qmgr("L", defclxq="CHANNEL")))._view("S1", "L")
    assert channel.transmission_queue("B", "TO.B") == "SYSTEM.CLUSTER.TRANSMIT.TO.B"
    more = (
        queue("L", "X1", usage="XMITQ", clchname="TO.B"),
        sender("L", "B", "RUNNING", xmitq="OLD"),
    )
    assert (
        Reference(tables(*CLUSTER, *more))._view("S1", "L").transmission_queue("B", "TO.B") == "OLD"
    )


@pytest.mark.parametrize(
    ("pattern", "string", "matching"),
    [
        ("/a/#", "/a", True),
        ("/a/#", "/a/b/c", True),
        ("/a/+", "/a/b/c", False),
        ("/+/b", "/a/b", True),
        ("#/c", "/a/b/c", True),
        ("/a/#/c", "/a/c", True),
        ("/a/*", "/a/b", False),
        ("/a/*", "/a/*", True),
        ("#", "/a", True),
    ],
)
def test_p19_subscriptions_match_by_levels(pattern, string, matching):
    assert matches_topic({"topicstr": pattern, "wschema": "TOPIC"}, string) is matching
    assert topic_matches(pattern, "TOPIC", string) is matching


@pytest.mark.parametrize(
    ("pattern", "string", "matching"),
    [
        ("*", "/a/b", True),
        ("*", "", True),
        ("/a*c", "/a/b/c", True),
        ("/a*", "/a", True),
        ("/?/b", "/a/b", True),
        ("/a?b", "/a/b", True),
        ("/a?", "/a", False),
        ("/+/b", "/a/b", False),
        ("/+/b", "/+/b", True),
        ("/a/#", "/a/b", False),
        ("/a.b", "/axb", False),
        ("/a%", "/a%", True),
    ],
)
def test_p19_subscriptions_match_by_characters(pattern, string, matching):
    assert matches_topic({"topicstr": pattern, "wschema": "CHAR"}, string) is matching
    assert topic_matches(pattern, "CHAR", string) is matching


@pytest.mark.parametrize(
    ("string", "name"),
    [("/a/b/c", "T2"), ("/a", "T1"), ("/ab", "/ab"), ("/a/b", "T2"), ("/x", "/x")],
)
def test_p17_the_topic_object_is_the_nearest_ancestor(string, name):
    topics = [
        topic("B", "T3", "/a/b"),
        topic("B", "T2", "/a/b"),
        topic("B", "T1", "/a"),
        topic("L", "T9", "/x", cluster=""),
    ]
    found = Reference(tables(*CLUSTER, *topics)).plan("S1", "L", "TOPIC", string)
    assert found["resolved_object"] == name
