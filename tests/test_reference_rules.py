"""The reference's ladder of rules, one rule at a time, against hand-worked answers."""

from typing import Any

import pytest
from reference import Reference
from small_worlds import (
    Definition,
    message,
    qmgr,
    queue,
    rcvr,
    receiver,
    remote,
    sender,
    tables,
    topic,
)


def plan(*definitions: Definition, name: str = "Q", at: str = "", **more: Any):
    """The plan on L for a queue, or what `object_type` says."""
    request = {"object_type": "QUEUE", "via": "LOCAL", "algorithm": "v9"} | more
    reference = Reference(
        tables(rcvr("L"), *definitions),
        request["algorithm"],
        exit_function=more.get("exit_function"),
    )
    return reference.plan("S1", "L", request["object_type"], name, at, request["via"])


def lost(*definitions: Definition, **request: Any):
    """`eliminated_by` by queue manager, or by channel where that says more."""
    rows = plan(*definitions, **request)["candidates"]
    key = "channel" if len({row["dest_qmgr"] for row in rows}) < len(rows) else "dest_qmgr"
    return {row[key]: row["eliminated_by"] for row in rows}


def instances(*names: str, **attributes: Any):
    """Queue managers with a channel and an instance of Q each."""
    rows = [(rcvr(name), queue(name, "Q", "K", **attributes)) for name in names]
    return [definition for pair in rows for definition in pair]


def test_rules_1_and_2_only_l_s_clusters_and_only_the_queues_own():
    rows = plan(
        rcvr("L", "J", "L.J"),
        queue("B", "Q", "K"),
        queue("B", "Q", "FAR"),
        rcvr("B", "K", "B.K"),
        rcvr("B", "J", "B.J"),
        rcvr("B", "FAR", "B.FAR"),
    )["candidates"]
    found = {(r["instance_cluster"], r["channel_cluster"]): r["eliminated_by"] for r in rows}
    assert found == {
        ("K", "K"): None,
        ("K", "J"): 2,
        ("K", "FAR"): 1,
        ("FAR", "K"): 1,
        ("FAR", "J"): 1,
        ("FAR", "FAR"): 1,
    }


def test_r0_a_host_without_a_channel_in_the_queues_cluster_is_2270():
    found = plan(rcvr("L", "J", "L.J"), queue("B", "Q", "K"), rcvr("B", "J"))
    assert (found["kind"], found["reason"], found["routes"]) == ("QUEUE", 2270, [])
    assert [row["eliminated_by"] for row in found["candidates"]] == [2]


@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_p26_no_candidate_row_at_all_is_2270(algorithm):
    assert plan(queue("B", "Q", "K"), algorithm=algorithm)["reason"] == 2270


def test_the_exit_takes_rows_after_rule_2():
    def not_b(rows):
        return [row for row in rows if row.dest_qmgr != "B"]

    assert lost(*instances("B", "C"), exit_function=not_b) == {"B": 100, "C": None}
    assert plan(*instances("B"), exit_function=not_b)["reason"] == 2270


def test_rule_3_channel_rank_goes_before_rule_4_queue_rank():
    definitions = (
        rcvr("B", clwlrank=7),
        rcvr("C", clwlrank=7),
        rcvr("D"),
        queue("B", "Q", "K", clwlrank=1),
        queue("C", "Q", "K"),
        queue("D", "Q", "K", clwlrank=6),
    )
    assert lost(*definitions) == {"B": None, "C": 4, "D": 3}


def test_rule_3_an_aliass_rank_takes_the_place_of_its_channels():
    definitions = (
        rcvr("R", clwlrank=1),
        rcvr("B", clwlrank=9),
        remote("B", "R", "", "R", cluster="K", clwlrank=0),
    )
    assert lost(*definitions, at="R") == {"R": None, "B": 3}


def test_rule_4_does_not_act_on_queue_managers():
    definitions = (rcvr("R"), rcvr("B"), remote("B", "R", "", "R", cluster="K"))
    assert lost(*definitions, at="R") == {"R": None, "B": None}


def test_rule_5_put_disabled_instances_give_way():
    definitions = (*instances("B"), *instances("C", put_enabled=False))
    assert lost(*definitions) == {"B": None, "C": 5}


def test_rule_5_with_only_disabled_ones_is_2268():
    definitions = instances("B", "C", put_enabled=False)
    assert plan(*definitions)["reason"] == 2268
    assert lost(*definitions) == {"B": 5, "C": 5}


def test_rule_5_goes_before_rule_6():
    definitions = (queue("L", "Q", "K", put_enabled=False), *instances("B"))
    assert lost(*definitions) == {"L": 5, "B": None}


def test_rule_3_goes_before_rule_6():
    definitions = (queue("L", "Q", "K"), rcvr("B", clwlrank=1), queue("B", "Q", "K"))
    assert lost(*definitions) == {"L": 3, "B": None}


@pytest.mark.parametrize(
    ("of_queue", "of_qmgr", "via", "remote_lost"),
    [
        ("LOCAL", "ANY", "LOCAL", 6),
        ("QMGR", "LOCAL", "LOCAL", 6),
        (None, None, "LOCAL", 6),
        ("QMGR", "ANY", "LOCAL", None),
        ("ANY", "LOCAL", "LOCAL", None),
        ("ANY", "ANY", "CLUSTER", 6),
    ],
)
def test_rule_6_the_local_instance(of_queue, of_qmgr, via, remote_lost):
    definitions = (
        qmgr("L", clwluseq=of_qmgr),
        queue("L", "Q", "K", clwluseq=of_queue),
        *instances("B"),
    )
    assert lost(*definitions, via=via) == {"L": None, "B": remote_lost}


def test_rule_6_looks_at_l_s_attribute_only():
    definitions = (queue("L", "Q", "K", clwluseq="ANY"), *instances("B", clwluseq="LOCAL"))
    assert lost(*definitions)["B"] is None


def test_p7_one_local_row_that_says_local_is_enough():
    definitions = (
        rcvr("L", "J", "L.J"),
        queue("L", "Q", "K", clwluseq="ANY"),
        queue("L", "Q", "J", clwluseq="LOCAL"),
        *instances("B"),
    )
    assert lost(*definitions)["TO.B"] == 6


def test_rule_7_suspended_queue_managers_give_way_if_one_is_not():
    definitions = (rcvr("B", suspended=True), queue("B", "Q", "K"), *instances("C"))
    assert lost(*definitions) == {"B": 7, "C": None}


def test_rule_7_acts_only_among_several_queue_managers():
    definitions = (
        rcvr("L", "J", "L.J"),
        rcvr("B", "K", "B.K", suspended=True),
        rcvr("B", "J", "B.J"),
        queue("B", "Q", "K"),
        queue("B", "Q", "J"),
    )
    rows = plan(*definitions)["routes"]
    assert [row["channel"] for row in rows] == ["B.J", "B.K"]


def test_p8_any_suspended_row_suspends_the_queue_manager_in_that_cluster_alone():
    definitions = (
        rcvr("L", "J", "L.J"),
        rcvr("B", "K", "B.K1", suspended=True),
        rcvr("B", "K", "B.K2"),
        rcvr("B", "J", "B.J"),
        queue("B", "Q", "K"),
        queue("B", "Q", "J"),
        *instances("C"),
    )
    rows = plan(*definitions)["candidates"]
    suspended = {row["channel"] for row in rows if row["eliminated_by"] == 7}
    assert suspended == {"B.K1", "B.K2"}


@pytest.mark.parametrize(
    ("best", "worse", "number"),
    [
        ("INACTIVE", "BINDING", 8),
        ("RUNNING", "STOPPED", 8),
        ("STOPPING", "RETRYING", 9),
        ("INITIALIZING", "SWITCHING", 9),
        ("RETRYING", "PAUSED", 10),
        ("RETRYING", "REQUESTING", 10),
    ],
)
def test_rules_8_to_11_the_best_status_tier(best, worse, number):
    definitions = (*instances("B", "C"), sender("L", "B", best), sender("L", "C", worse))
    assert lost(*definitions) == {"B": None, "C": number}


@pytest.mark.parametrize("status", ["STOPPED", "RETRYING", "STARTING"])
def test_rules_8_to_11_with_one_tier_take_nothing(status):
    definitions = (*instances("B", "C"), sender("L", "B", status), sender("L", "C", status))
    assert lost(*definitions) == {"B": None, "C": None}


def test_rules_8_to_11_no_status_is_inactive_and_others_statuses_do_not_count():
    definitions = (
        *instances("B", "C"),
        sender("B", "C", "STOPPED"),
        sender("L", "X", "STOPPED", channel="TO.B"),
    )
    assert lost(*definitions) == {"B": None, "C": None}


def test_rules_8_to_11_a_local_row_has_its_best_receiver_instance():
    here = queue("L", "Q", "K", clwluseq="ANY")
    stopping = (here, *instances("B"), receiver("L", "B", "STOPPING"))
    assert lost(*stopping) == {"L": 8, "B": None}
    assert lost(*stopping, receiver("L", "C", "RUNNING")) == {"L": None, "B": None}


def test_rule_12_network_priority_per_queue_manager():
    definitions = (
        rcvr("B", "K", "B.1", netprty=1),
        rcvr("B", "K", "B.2", netprty=2),
        rcvr("C", "K", "C.0"),
        queue("B", "Q", "K"),
        queue("C", "Q", "K"),
    )
    assert lost(*definitions) == {"B.1": 12, "B.2": None, "C.0": None}


def test_rule_12_leaves_local_rows_alone():
    definitions = (
        queue("L", "Q", "K", clwluseq="ANY"),
        rcvr("L", "K", "L.2", netprty=5),
        *instances("B"),
    )
    assert lost(*definitions) == {"TO.L": None, "L.2": None, "TO.B": None}


def test_rule_12_goes_after_the_status():
    definitions = (
        rcvr("B", "K", "B.FAST", netprty=9),
        rcvr("B", "K", "B.SLOW"),
        queue("B", "Q", "K"),
        sender("L", "B", "RETRYING", channel="B.FAST"),
    )
    assert lost(*definitions) == {"B.FAST": 8, "B.SLOW": None}


def test_rule_13_goes_before_rule_14():
    definitions = (
        rcvr("B", clwlprty=1),
        rcvr("C", clwlprty=1),
        rcvr("D"),
        queue("B", "Q", "K", clwlprty=1),
        queue("C", "Q", "K"),
        queue("D", "Q", "K", clwlprty=9),
    )
    assert lost(*definitions) == {"B": None, "C": 14, "D": 13}


def test_rule_13_a_priority_counts_after_the_status_and_a_rank_before_it():
    stopped = sender("L", "B", "STOPPED")
    by_priority = (rcvr("B", clwlprty=9), queue("B", "Q", "K"), *instances("C"), stopped)
    assert lost(*by_priority) == {"B": 8, "C": None}
    by_rank = (rcvr("B", clwlrank=9), queue("B", "Q", "K"), *instances("C"), stopped)
    assert lost(*by_rank) == {"B": None, "C": 3}


def test_r1_rows_that_differ_in_the_cluster_alone_are_one_route():
    definitions = (
        rcvr("L", "J", "L.J"),
        rcvr("B", "K", "B", clwlwght=10),
        rcvr("B", "J", "B", clwlwght=20),
        queue("B", "Q", "K"),
        queue("B", "Q", "J"),
    )
    found = plan(*definitions)
    assert [(r["channel"], r["cluster"], r["clwlwght"]) for r in found["routes"]] == [
        ("B", "J", 20)
    ]
    assert sorted(str(row["eliminated_by"]) for row in found["candidates"]) == [
        "0",
        "2",
        "2",
        "None",
    ]


def test_r1_a_queue_manager_and_its_alias_are_two_routes():
    found = plan(rcvr("R"), remote("R", "R", "", "R", cluster="K"), at="R")
    assert [(r["dest_qmgr"], r["is_alias"]) for r in found["routes"]] == [("R", False), ("R", True)]


def test_a_remote_queue_and_an_alias_are_instances_of_their_names():
    definitions = (
        rcvr("B"),
        rcvr("C"),
        rcvr("D"),
        queue("B", "Q", "K", qtype="QALIAS", target="T"),
        remote("C", "Q", "T", "X", cluster="K"),
        remote("D", "Q", "", "X", cluster="K"),
    )
    assert lost(*definitions) == {"B": None, "C": None}


def test_for_l_itself_only_a_local_queue_is_an_instance():
    definitions = (queue("L", "Q", "K", qtype="QALIAS", target="Q"), *instances("B"))
    assert lost(*definitions) == {"B": None}


# ---- v7 ------------------------------------------------------------------------------------------


def test_v7_put_disabled_goes_first_and_even_without_an_enabled_one():
    disabled = (*instances("B"), rcvr("C", clwlrank=9), queue("C", "Q", "K", put_enabled=False))
    assert lost(*disabled, algorithm="v7") == {"B": None, "C": 5}
    assert lost(*disabled) == {"B": 3, "C": 5}
    assert plan(*disabled)["reason"] == 2268
    assert plan(*disabled, algorithm="v7")["reason"] == 0


def test_v7_the_local_instance_goes_before_the_ranks():
    definitions = (queue("L", "Q", "K"), rcvr("B", clwlrank=9), queue("B", "Q", "K"))
    assert lost(*definitions, algorithm="v7") == {"L": None, "B": 6}


def test_v7_channel_priority_acts_on_queue_managers_only():
    to_queue = (rcvr("B", clwlprty=1), queue("B", "Q", "K"), *instances("C"))
    assert lost(*to_queue, algorithm="v7") == {"B": None, "C": None}
    to_qmgr = (rcvr("R"), rcvr("B"), remote("B", "R", "", "R", cluster="K", clwlprty=1))
    assert lost(*to_qmgr, at="R", algorithm="v7") == {"R": 13, "B": None}


def test_v7_suspension_counts_only_when_no_local_row_is_left():
    definitions = (
        queue("L", "Q", "K", clwluseq="ANY"),
        rcvr("B", suspended=True),
        queue("B", "Q", "K"),
    )
    assert lost(*definitions) == {"L": None, "B": 7}
    assert lost(*definitions, algorithm="v7") == {"L": None, "B": None}


# ---- topics --------------------------------------------------------------------------------------


def hosts(**attributes: Any):
    """B is a plain host, C one with these attributes."""
    return (
        rcvr("B"),
        rcvr("C"),
        topic("B", "T", "/a", clroute="TOPICHOST"),
        topic("C", "T", "/a", clroute="TOPICHOST", **attributes),
    )


def test_rule_5_uses_pub_for_topic_hosts():
    found = lost(*hosts(pub_enabled=False), name="/a/b", object_type="TOPIC")
    assert found == {"B": None, "C": 5}


def test_rules_3_and_13_act_on_topic_hosts_and_4_6_and_14_do_not():
    definitions = (*hosts(), rcvr("D", clwlprty=1), topic("D", "T", "/a", clroute="TOPICHOST"))
    found = lost(*definitions, name="/a", object_type="TOPIC", via="CLUSTER")
    assert found == {"B": 13, "C": 13, "D": None}


def test_p17_a_topic_is_topichost_when_any_row_says_so_and_only_those_are_hosts():
    found = lost(*hosts(), rcvr("D"), topic("D", "T", "/a"), name="/a", object_type="TOPIC")
    assert found == {"B": None, "C": None}


def test_p24_a_failed_choice_has_no_destination():
    reference = Reference(tables(rcvr("L"), *instances("B", put_enabled=False)))
    (outcome,) = reference.route([message("L", "Q")])
    assert outcome["reason"] == 2268
    assert {outcome[n] for n in ("dest_qmgr", "dest_object", "channel", "cluster", "xmitq")} == {
        None
    }
    assert not outcome["is_local"]
