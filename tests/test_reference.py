"""The reference router message by message: the worked figures, history, binding, publishing."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from reference import Reference
from small_worlds import (
    NOON,
    Definition,
    at,
    message,
    messages,
    proxy,
    qmgr,
    queue,
    rcvr,
    receiver,
    remote,
    sender,
    snapshot,
    tables,
    topic,
)

HOUR = timedelta(hours=1)


def hosts(*names: str, **channel: Any) -> list[Definition]:
    """Queue managers with a channel and an instance of Q each."""
    return [row for name in names for row in (rcvr(name, **channel), queue(name, "Q", "K"))]


def weighted(**weights: int) -> list[Definition]:
    """The same with a CLWLWGHT each."""
    return [row for name, weight in weights.items() for row in hosts(name, clwlwght=weight)]


def destinations(outcomes: list[dict[str, Any]]) -> str:
    """Where messages went, in order, a letter each; `-` where one failed."""
    return "".join(outcome["dest_qmgr"] or "-" for outcome in outcomes)


def routed(sent: list[dict[str, Any]], *definitions: Definition, **settings: Any) -> str:
    """Where messages put on L go."""
    return destinations(Reference(tables(rcvr("L"), *definitions), **settings).route(sent))


# ---- the worked figures (section 10) -------------------------------------------------------------


def test_weights_20_50_20_10_are_exact_for_multiples_of_ten():
    four = weighted(A=20, B=50, C=20, D=10)
    assert routed(messages(10, "L", "Q"), *four) == "ABCDBBACBB"
    assert Counter(routed(messages(100, "L", "Q"), *four)) == {"A": 20, "B": 50, "C": 20, "D": 10}


def test_use_any_with_four_receivers_and_one_sender_is_80_percent_local():
    channels = [rcvr("L", channel=f"TO.L.{number}") for number in range(4)]
    here = queue("L", "Q", "K", clwluseq="ANY")
    reference = Reference(tables(*channels, here, *hosts("B")))
    assert Counter(destinations(reference.route(messages(100, "L", "Q")))) == {"L": 80, "B": 20}


def test_four_default_instances_take_turns():
    here = queue("L", "Q", "K", clwluseq="ANY")
    assert routed(messages(20, "L", "Q"), here, *hosts("A", "B", "C")) == "ABCL" * 5


def test_channel_ranks_0_7_7_3_and_queue_ranks_6_1_0_0_go_to_the_second_server():
    servers = [
        definition
        for name, channel, of_queue in (("1", 0, 6), ("2", 7, 1), ("3", 7, 0), ("4", 3, 0))
        for definition in (rcvr(name, clwlrank=channel), queue(name, "Q", "K", clwlrank=of_queue))
    ]
    assert routed(messages(20, "L", "Q"), *servers) == "2" * 20


# ---- the choice (section 5) ----------------------------------------------------------------------


@pytest.mark.parametrize(("most", "expected"), [(1, "AAAAAA"), (2, "ABABAB"), (3, "ABCABC")])
def test_rule_15_keeps_the_most_recently_used_channels(most, expected):
    assert (
        routed(messages(6, "L", "Q"), qmgr("L", clwlmruc=most), *hosts("A", "B", "C")) == expected
    )


def test_rule_15_neither_counts_nor_cuts_local_routes():
    definitions = (qmgr("L", clwlmruc=1, clwluseq="ANY"), queue("L", "Q", "K"), *hosts("A", "B"))
    assert routed(messages(6, "L", "Q"), *definitions) == "ALALAL"


def test_rule_15_may_cut_the_only_weight_away():
    # A and B are kept, both 50; C's weight of 1 does not count any more
    definitions = (qmgr("L", clwlmruc=2), *hosts("A", "B"), *weighted(C=1))
    assert routed(messages(4, "L", "Q"), *definitions) == "ABAB"


def test_history_is_shared_by_all_objects_of_a_queue_manager():
    reference = Reference(tables(rcvr("L"), *hosts("A", "B"), queue("A", "ONLY", "K")))
    sent = [message("L", name, number) for number, name in enumerate(["ONLY", "Q", "Q", "Q"])]
    assert destinations(reference.route(sent)) == "ABAB"


def test_queue_managers_have_histories_of_their_own():
    reference = Reference(tables(rcvr("L"), rcvr("M"), *hosts("A", "B")))
    sent = messages(3, "L", "Q") + messages(3, "M", "Q")
    assert destinations(reference.route(sent)) == "ABAABA"


def test_a_local_only_plan_leaves_the_history_alone_and_a_single_route_does_not():
    reference = Reference(
        tables(rcvr("L"), queue("L", "Q", "K"), *hosts("A"), queue("A", "R", "K"))
    )
    reference.route(messages(2, "L", "Q"))
    assert reference.balance_history() == []
    reference.route([message("L", "R", 3), message("L", "R", 4)])
    expected = {"dest_seq_number": 2, "dest_seq_factor": 40}
    (row,) = reference.balance_history()
    assert row == {"qmgr": "L", "dest_qmgr": "A", "channel": "TO.A", **expected}


def test_two_routes_over_one_channel_share_its_history():
    definitions = (rcvr("R", clwlwght=30), remote("R", "R", "", "R", cluster="K"))
    reference = Reference(tables(rcvr("L"), *definitions))
    reference.route([message("L", "X", n, object_qmgr="R") for n in (1, 2)])
    (row,) = reference.balance_history()
    assert (row["dest_seq_number"], row["dest_seq_factor"]) == (2, 66)


def test_batches_change_nothing():
    here = queue("L", "Q", "K", clwluseq="ANY")
    world = tables(rcvr("L"), qmgr("L", clwlmruc=2), here, *weighted(A=20, B=50, C=1))
    sent = messages(30, "L", "Q")
    at_once = Reference(world).route(sent)
    reference = Reference(world)
    in_pieces = [o for n in range(0, 30, 7) for o in reference.route(sent[n : n + 7])]
    assert in_pieces == at_once


# ---- order (C2) ----------------------------------------------------------------------------------


def test_c2_a_batch_is_sorted_by_put_seq_and_late_messages_are_marked():
    reference = Reference(tables(rcvr("L"), *hosts("A", "B")))
    first = reference.route([message("L", "Q", 5), message("L", "Q", 3)])
    assert [(o["put_seq"], o["out_of_order"]) for o in first] == [(3, False), (5, False)]
    second = reference.route([message("L", "Q", 5), message("L", "Q", 4), message("L", "Q", 6)])
    assert [(o["put_seq"], o["out_of_order"]) for o in second] == [(4, True), (5, True), (6, False)]
    assert destinations(first + second) == "ABABA"


def test_p25_of_equal_put_seq_the_second_by_message_id_is_out_of_order():
    sent = [message("L", "Q", 1, message_id=name) for name in (b"z", b"a")]
    outcomes = Reference(tables(rcvr("L"), *hosts("A", "B"))).route(sent)
    assert [(o["message_id"], o["out_of_order"]) for o in outcomes] == [(b"a", False), (b"z", True)]


def test_p25_rejected_messages_do_not_count_as_routed():
    reference = Reference(tables(rcvr("L"), *hosts("A")))
    reference.route([message("L", "Q", 9, bind="SOMEHOW")])
    assert not reference.route([message("L", "Q", 1)])[0]["out_of_order"]


# ---- rejected messages ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"qmgr": None, "put_seq": None}, "NO_QMGR"),
        ({"qmgr": ""}, "NO_QMGR"),
        ({"put_seq": None, "put_time": None}, "NO_PUT_SEQ"),
        ({"put_time": None, "object_type": "STREAM"}, "NO_PUT_TIME"),
        ({"object_type": "STREAM", "object_name": ""}, "UNKNOWN_OBJECT_TYPE"),
        ({"object_name": None, "bind": "SOMEHOW"}, "NO_OBJECT"),
        ({"object_name": ""}, "NO_OBJECT"),
        ({"bind": "SOMEHOW", "via": "PIGEON"}, "UNKNOWN_BIND"),
        ({"via": "PIGEON", "put_time": NOON - HOUR}, "UNKNOWN_VIA"),
        ({"put_time": NOON - HOUR}, "NO_SNAPSHOT"),
    ],
)
def test_rejected_messages_have_one_error(fault, error):
    reference = Reference(tables(rcvr("L"), *hosts("A")))
    assert reference.route([{**message("L", "Q"), **fault}]) == []
    assert [row["error"] for row in reference.rejected] == [error]


def test_p1_nulls_have_their_defaults():
    names = ("object_type", "object_qmgr", "bind", "via", "open_id")
    sent = [{**message("L", "Q", n), **dict.fromkeys(names)} for n in (1, 2)]
    outcomes = Reference(tables(rcvr("L"), *hosts("A", "B"))).route(sent)
    assert destinations(outcomes) == "AB"  # OPEN, but each message an open of its own
    assert {(o["object_type"], o["object_qmgr"]) for o in outcomes} == {("QUEUE", "")}


# ---- snapshots and resets (S1, C1) ---------------------------------------------------------------


def two_snapshots(before: list[Definition], after: list[Definition]) -> list[Definition]:
    """A world that changes an hour after noon; L is in it, weights make factors count."""
    world = [*at("S1", rcvr("L"), *before), *at("S2", rcvr("L"), *after)]
    return [snapshot("S1"), snapshot("S2", 1), *world]


def resets(before: list[Definition], after: list[Definition]) -> int:
    """How often a message in each of two snapshots brings a reset."""
    reference = Reference(tables(*two_snapshots(before, after)))
    sent = [message("L", "Q", n, put_time=NOON + n * HOUR) for n in (0, 1, 2)]
    reference.route(sent)
    return reference.resets


def test_s1_the_last_valid_snapshot_counts_from_its_first_moment():
    names = (("S1", 0, "VALID"), ("S2", 1, "VALID"), ("S3", 2, "QUARANTINED"))
    reference = Reference(tables(*(snapshot(*name) for name in names)))
    times = (NOON, NOON + HOUR - timedelta(microseconds=1), NOON + HOUR, NOON + 2 * HOUR)
    sent = [message("L", "Q", n, put_time=when) for n, when in enumerate(times)]
    assert [o["snapshot_id"] for o in reference.route(sent)] == ["S1", "S1", "S2", "S2"]


@pytest.mark.parametrize("name", ["clwlrank", "clwlprty", "clwlwght", "netprty"])
def test_c1_a_changed_attribute_of_an_available_channel_resets(name):
    assert resets(hosts("A", **{name: 1}), hosts("A", **{name: 2})) == 1


def test_c1_nothing_changed_resets_nothing_and_defaults_are_no_change():
    assert resets(hosts("A", clwlwght=50), hosts("A", clwlwght=None)) == 0


def test_c1_suspension_and_queues_reset_nothing():
    changed = [rcvr("A", suspended=True), queue("A", "Q", "K", clwlrank=5)]
    assert resets(hosts("A"), changed) == 0


def test_c1_a_new_channel_and_a_new_cluster_of_a_channel_reset():
    assert resets(hosts("A"), hosts("A", "B")) == 1
    known = [rcvr("L", "J", "L.J"), *hosts("A")]
    assert resets(known, [*known, rcvr("A", "J")]) == 1


def test_c1_a_channel_that_is_gone_resets_nothing():
    assert resets(hosts("A", "B"), hosts("A")) == 0


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [("STOPPED", "RUNNING", 1), ("RUNNING", "STOPPED", 0), ("RUNNING", "INACTIVE", 0)],
)
def test_c1_a_channel_that_becomes_available_resets(before, after, count):
    was, now = sender("L", "A", before), sender("L", "A", after)
    assert resets([*hosts("A"), was], [*hosts("A"), now]) == count


def test_c1_a_change_of_an_unavailable_channel_resets_nothing():
    stopped = sender("L", "A", "STOPPED")
    assert resets([*hosts("A"), stopped], [*hosts("A", clwlrank=3), stopped]) == 0


def test_c1_l_s_own_receiver_counts_too_and_foreign_clusters_do_not():
    was, now = receiver("L", "A", "RETRYING"), receiver("L", "A", "RUNNING")
    assert resets([*hosts("A"), was], [*hosts("A"), now]) == 1
    assert resets(hosts("A"), [*hosts("A"), rcvr("Z", "FAR")]) == 0


def test_p20_a_cluster_that_l_joins_brings_new_channels():
    world = [*hosts("A"), rcvr("Z", "J")]
    assert resets(world, [*world, rcvr("L", "J", "L.J")]) == 1


def test_c1_a_reset_clears_factors_and_keeps_numbers():
    before = weighted(A=20, B=50)
    after = weighted(A=20, B=50, C=50)
    reference = Reference(tables(*two_snapshots(before, after)))
    early = messages(7, "L", "Q")
    assert destinations(reference.route(early)) == "ABBBABB"  # factors 100, 100; numbers 5, 7
    late = [message("L", "Q", n, put_time=NOON + HOUR) for n in (8, 9, 10)]
    assert destinations(reference.route(late)) == "CAB"  # factors 0; numbers 0, 5, 7
    rows = {row["dest_qmgr"]: row for row in reference.balance_history()}
    assert {n: rows[n]["dest_seq_factor"] for n in "ABC"} == {"A": 50, "B": 20, "C": 20}
    assert {n: rows[n]["dest_seq_number"] for n in "ABC"} == {"A": 9, "B": 10, "C": 8}


def test_p21_a_failing_message_brings_the_reset_and_an_earlier_one_does_not_undo_it():
    reference = Reference(tables(*two_snapshots(weighted(A=20), weighted(A=25))))
    reference.route(messages(2, "L", "Q"))
    (failed,) = reference.route([message("L", "NOTHING", 3, put_time=NOON + HOUR)])
    assert (failed["reason"], reference.balance_history()[0]["dest_seq_factor"]) == (2085, 0)
    reference.route([message("L", "Q", 4), message("L", "Q", 5, put_time=NOON + HOUR)])
    assert reference.balance_history()[0]["dest_seq_factor"] == 50 + 40
    assert reference.resets == 1


def test_later_tables_arrive():
    world = tables(*two_snapshots(hosts("A"), hosts("B")))
    first = {name: [r for r in rows if r["snapshot_id"] == "S1"] for name, rows in world.items()}
    then = {name: [r for r in rows if r["snapshot_id"] == "S2"] for name, rows in world.items()}
    reference = Reference(first)
    sent = message("L", "Q", 1, put_time=NOON + HOUR)
    assert destinations(reference.route([sent])) == "A"
    reference.add_tables(then)
    assert destinations(reference.route([{**sent, "put_seq": 2}])) == "B"


# ---- binding (section 6) -------------------------------------------------------------------------


def bound(sent: list[dict[str, Any]], *definitions: Definition, **settings: Any) -> str:
    """Destinations, in capitals where a message chose and in small letters where it was bound."""
    reference = Reference(tables(rcvr("L"), *definitions), **settings)
    outcomes = reference.route(sent)
    letters = [o["dest_qmgr"] or "-" for o in outcomes]
    return "".join(
        letter.lower() if o["bound"] else letter
        for letter, o in zip(letters, outcomes, strict=True)
    )


@pytest.mark.parametrize(
    ("bind", "defbind", "open_id", "group_id", "expected"),
    [
        ("ON_OPEN", None, 1, None, "Aaa"),
        ("ON_OPEN", None, None, b"g", "ABC"),
        ("ON_GROUP", None, 1, b"g", "Aaa"),
        ("ON_GROUP", None, 1, None, "ABC"),
        ("NOT_FIXED", "OPEN", 1, b"g", "ABC"),
        ("AS_Q_DEF", "OPEN", 1, None, "Aaa"),
        (None, None, 1, None, "Aaa"),
        ("AS_Q_DEF", "GROUP", 1, None, "ABC"),
        ("AS_Q_DEF", "GROUP", None, b"g", "Aaa"),
        ("AS_Q_DEF", "NOTFIXED", 1, b"g", "ABC"),
    ],
)
def test_bind_options(bind, defbind, open_id, group_id, expected):
    world = [
        definition
        for name in "ABC"
        for definition in (rcvr(name), queue(name, "Q", "K", defbind=defbind))
    ]
    sent = messages(3, "L", "Q", bind=bind, open_id=open_id, group_id=group_id)
    assert bound(sent, *world) == expected


def test_messages_without_an_open_id_share_an_open_where_they_are_said_to():
    sent = messages(9, "L", "Q", bind="ON_OPEN")
    sent[2]["bind"] = "NOT_FIXED"
    sent[3]["open_id"] = sent[4]["open_id"] = 0
    sent[5]["bind"] = None
    sent[6] |= {"bind": "ON_GROUP", "group_id": None}
    sent[7]["object_qmgr"] = "A"
    reference = Reference(tables(snapshot("S1"), rcvr("L"), *hosts("A", "B", "C")))
    reference.null_open_id = "shared"
    rows = reference.route(sent)
    ends = [x["dest_qmgr"].lower() if x["bound"] else x["dest_qmgr"] for x in rows]
    assert "".join(ends) == "AaBCcaAAa"


def test_bound_messages_leave_the_history_alone():
    sent = [*messages(3, "L", "Q", bind="ON_OPEN", open_id=1), message("L", "Q", 4)]
    assert bound(sent, *hosts("A", "B")) == "AaaB"


def test_keys_differ_by_open_name_and_kind():
    requests = [
        {"bind": "ON_OPEN", "open_id": 1},
        {"bind": "ON_OPEN", "open_id": 2},
        {"bind": "ON_GROUP", "group_id": b"1"},
        {"bind": "ON_OPEN", "open_id": 1, "object_qmgr": "A"},
        {"bind": "ON_OPEN", "open_id": 1},
    ]
    sent = [message("L", "Q", n, **request) for n, request in enumerate(requests)]
    assert bound(sent, *hosts("A", "B", "C")) == "ABCAa"


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(timedelta(hours=24), "Aa"), (timedelta(hours=24, microseconds=1), "AB")],
)
def test_p15_a_key_is_forgotten_after_the_time_to_live_not_at_it(gap, expected):
    sent = [
        message("L", "Q", n, bind="ON_OPEN", open_id=1, put_time=NOON + n * gap) for n in (0, 1)
    ]
    assert bound(sent, *hosts("A", "B")) == expected


def test_p15_bound_messages_renew_the_key():
    sent = [
        message("L", "Q", n, bind="ON_OPEN", open_id=1, put_time=NOON + hours * HOUR)
        for n, hours in enumerate((0, 2, 1, 4, 7))
    ]
    assert bound(sent, *hosts("A", "B"), binding_ttl=2 * HOUR) == "AaaaB"


def test_p15_a_known_key_is_looked_up_first_whatever_the_plan_says():
    after = [*at("S2", rcvr("L")), snapshot("S2", 1)]
    reference = Reference(
        tables(snapshot("S1"), rcvr("L"), *hosts("A"), queue("A", "R", "K"), *after)
    )
    sent = [
        message("L", name, n, bind="ON_OPEN", open_id=1, put_time=NOON + n * HOUR)
        for n, name in enumerate(["Q", "Q", "R"])
    ]
    outcomes = reference.route(sent)
    assert [(o["reason"], o["bound"], o["snapshot_id"]) for o in outcomes] == [
        (0, False, "S1"),
        (0, True, "S2"),
        (2085, False, "S2"),
    ]


def test_a_failed_choice_binds_nothing():
    closed = [rcvr("A"), queue("A", "Q", "K", put_enabled=False)]
    world = two_snapshots(closed, hosts("A", "B"))
    sent = [
        message("L", "Q", n, bind="ON_OPEN", open_id=1, put_time=NOON + n * HOUR) for n in (0, 1, 2)
    ]
    outcomes = Reference(tables(*world)).route(sent)
    assert [(o["reason"], o["bound"]) for o in outcomes] == [(2268, False), (0, False), (0, True)]


def test_local_only_plans_and_transmission_queues_bind_nothing():
    world = two_snapshots(
        [queue("L", "Q", "K"), remote("L", "R", "X", "FAR", xmitq="XQ"), *hosts("A")],
        [*hosts("A"), queue("A", "R", "K")],
    )
    sent = [
        message("L", name, n, bind="ON_OPEN", open_id=1, put_time=NOON + n // 2 * HOUR)
        for n, name in enumerate(["Q", "R", "Q", "R"])
    ]
    outcomes = Reference(tables(*world)).route(sent)
    assert [(o["dest_qmgr"], o["bound"]) for o in outcomes] == [
        ("L", False),
        ("FAR", False),
        ("A", False),
        ("A", False),
    ]


def test_p16_the_bound_routes_transmission_queue_is_worked_out_anew():
    after = [*hosts("A"), qmgr("L", defclxq="CHANNEL")]
    world = two_snapshots([*hosts("A")], after)
    sent = [
        message("L", "Q", n, bind="ON_OPEN", open_id=1, put_time=NOON + n * HOUR) for n in (0, 1)
    ]
    outcomes = Reference(tables(*world)).route(sent)
    assert [(o["xmitq"], o["bound"]) for o in outcomes] == [
        ("SYSTEM.CLUSTER.TRANSMIT.QUEUE", False),
        ("SYSTEM.CLUSTER.TRANSMIT.TO.A", True),
    ]


def test_p24_a_local_route_chosen_under_any_binds_and_has_no_channel():
    world = [queue("L", "Q", "K", clwluseq="ANY"), *hosts("Z")]
    sent = messages(2, "L", "Q", bind="ON_OPEN", open_id=1)
    outcomes = Reference(tables(rcvr("L"), *world)).route(sent)
    names = ("dest_qmgr", "channel", "cluster", "xmitq", "is_local")
    assert {tuple(o[n] for n in names) for o in outcomes} == {("L", None, None, None, True)}
    assert [o["bound"] for o in outcomes] == [False, True]


def test_an_outcome_of_each_kind_has_its_columns():
    world = [
        *hosts("A"),
        queue("L", "HERE"),
        remote("L", "R", "X", "FAR", xmitq="XQ"),
        remote("L", "QMA", "", "", xmitq="YQ"),
    ]
    sent = [
        message("L", "Q", 1),
        message("L", "HERE", 2),
        message("L", "R", 3),
        message("L", "X", 4, object_qmgr="QMA"),
        message("L", "X", 5, object_qmgr="A"),
    ]
    names = ("dest_qmgr", "dest_object", "channel", "cluster", "xmitq", "is_local")
    outcomes = Reference(tables(rcvr("L"), *world)).route(sent)
    assert [tuple(o[n] for n in names) for o in outcomes] == [
        ("A", "Q", "TO.A", "K", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", False),
        ("L", "HERE", None, None, None, True),
        ("FAR", "X", None, None, "XQ", False),
        ("", "X", None, None, "YQ", False),
        ("A", "X", "TO.A", "K", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", False),
    ]


# ---- publishing (section 9) ----------------------------------------------------------------------


def published(topic_string: str, *definitions: Definition, count: int = 1) -> list[dict[str, Any]]:
    """The outcomes of publications on L."""
    sent = messages(count, "L", topic_string, object_type="TOPIC", bind="ON_OPEN", open_id=1)
    return Reference(tables(rcvr("L"), *definitions)).route(sent)


def test_topic_hosts_take_turns_and_publications_are_never_bound():
    hosts = [d for n in "BC" for d in (rcvr(n), topic(n, "T", "/a", clroute="TOPICHOST"))]
    outcomes = published("/a/b", *hosts, count=4)
    assert destinations(outcomes) == "BCBC"
    assert {(o["dest_object"], o["object_name"]) for o in outcomes} == {("T", "/a/b")}


def test_a_host_publishes_locally_even_where_publishing_is_disabled():
    here = topic("L", "T", "/a", clroute="TOPICHOST", pub_enabled=False)
    there = (rcvr("B"), topic("B", "T", "/a", clroute="TOPICHOST"))
    (outcome,) = published("/a", here, *there)
    assert (outcome["dest_qmgr"], outcome["dest_object"], outcome["is_local"]) == ("L", "T", True)


def test_p18_without_a_topic_object_there_is_one_local_outcome():
    (outcome,) = published("/a", rcvr("B"), topic("B", "T", "/a/b"))
    assert (outcome["reason"], outcome["dest_qmgr"], outcome["dest_object"]) == (0, "L", "/a")


def test_direct_is_a_copy_for_each_queue_manager_with_a_proxy_subscription():
    members = [rcvr(name) for name in "BCDE"]
    subscribed = [
        proxy("L", "/a/#", "D"),
        proxy("L", "/a/b", "B"),
        proxy("L", "/a/+/c", "C"),
        proxy("B", "#", "E"),
        proxy("L", "#", "E", subtype="USER"),
        proxy("L", "#", "GHOST"),
        proxy("L", "#", "L"),
    ]
    outcomes = published("/a/b", *members, topic("B", "T", "/a"), *subscribed)
    assert destinations(outcomes) == "BD"
    assert {o["put_seq"] for o in outcomes} == {1}


def test_direct_copies_choose_among_the_channels_of_their_queue_manager():
    members = [rcvr("B", channel="B.1"), rcvr("B", channel="B.2"), rcvr("C")]
    world = [*members, topic("C", "T", "/a"), proxy("L", "#", "B"), proxy("L", "#", "C")]
    outcomes = published("/a", *world, count=2)
    assert [o["channel"] for o in outcomes] == ["B.1", "TO.C", "B.2", "TO.C"]


def test_proxysub_force_counts_as_a_subscription_of_every_queue_manager():
    world = [rcvr("B"), rcvr("C"), rcvr("D", "FAR"), topic("B", "T", "/a", proxysub="FORCE")]
    assert destinations(published("/a", *world)) == "BC"


def test_p18_direct_without_a_copy_is_one_local_outcome():
    (outcome,) = published("/a", rcvr("B"), topic("B", "T", "/a"))
    assert (outcome["dest_qmgr"], outcome["dest_object"], outcome["is_local"]) == ("L", "T", True)


def test_p18_a_direct_plan_holds_the_rows_of_all_copies():
    world = [
        rcvr("L", "J", "L.J"),
        rcvr("B", "K", "B"),
        rcvr("B", "J", "B"),
        rcvr("C", "J", "C.J", clwlrank=9),
        topic("B", "T", "/a", "K"),
        topic("C", "T", "/a", "J"),
        proxy("L", "#", "B"),
        proxy("L", "#", "C"),
    ]
    plan = Reference(tables(rcvr("L"), *world)).plan("S1", "L", "TOPIC", "/a")
    found = [
        (r["dest_qmgr"], r["instance_cluster"], r["channel_cluster"], r["eliminated_by"])
        for r in plan["candidates"]
    ]
    assert sorted(found, key=str) == [
        ("B", "J", "J", None),
        ("B", "J", "K", 2),
        ("B", "K", "J", 2),
        ("B", "K", "K", 0),
        ("C", "J", "J", None),
    ]
    assert plan["kind"] == "TOPIC"
