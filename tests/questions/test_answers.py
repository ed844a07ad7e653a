"""The figures of questions, counted from outcomes and messages in plain Python."""

from collections import Counter, defaultdict
from datetime import timedelta

import pytest
from questions.asking import EVIL, LATE, NOBODYS, all_rows, at_hour, duck, rows_of, shares
from small_worlds import NOON

from clwl_spark.present.questions.texts import Question, all_questions


def test_share_per_hour_is_what_outcomes_count(named, outcomes):
    routed = [x for x in outcomes if x["reason"] == 0]
    counts = Counter(
        (x["object_name"], at_hour(x["put_time"]), x["dest_qmgr"], x["channel"]) for x in routed
    )
    expected = shares(counts, lambda key: key[:2])
    found = all_rows(named, Question("x", "", "", "SELECT * FROM share_per_hour"))
    keys = ("object_name", "hour", "dest_qmgr", "channel")
    assert {tuple(x[k] for k in keys): x["messages"] for x in found} == dict(counts)
    assert {tuple(x[k] for k in keys): x["share"] for x in found} == pytest.approx(expected)


def test_failures_are_counted_with_their_first_moment(answered, outcomes):
    failed = [x for x in outcomes if x["reason"]]
    assert {x["object_name"] for x in failed} == {EVIL}
    (row,) = answered["failures"]
    assert (row["object_name"], row["reason"]) == (EVIL, 2085)
    assert row["reason_name"] == "MQRC_UNKNOWN_OBJECT_NAME"
    assert row["failed"] == len(failed) == 50
    assert (row["first_put"], row["last_put"]) == (
        min(x["put_time"] for x in failed),
        max(x["put_time"] for x in failed),
    )
    assert (row["failed_share"], row["last_good_put"]) == (1.0, None)


def test_channels_carry_what_outcomes_and_messages_say(answered, outcomes, sizes):
    counts, known, hours = Counter(), defaultdict(list), defaultdict(Counter)
    for x in outcomes:
        if x["channel"] is None:
            continue
        counts[x["channel"]] += 1
        hours[x["channel"]][at_hour(x["put_time"])] += 1
        size = sizes[x["qmgr"], x["put_seq"]]
        known[x["channel"]] += [] if size is None else [size]
    found = {x["channel"]: x for x in answered["busiest-channels"]}
    assert {name: x["messages"] for name, x in found.items()} == dict(counts)
    for name, row in found.items():
        assert row["bytes"] == (sum(known[name]) or None)
        assert row["messages_in_it"] == max(hours[name].values())
        assert hours[name][row["busiest_hour"]] == row["messages_in_it"]
    assert [x["messages"] for x in answered["busiest-channels"]] == sorted(
        counts.values(), reverse=True
    )
    assert found["TO.E"]["bytes"] is None


def test_what_came_late_is_out_of_order(answered, outcomes):
    expected = [x["put_seq"] for x in outcomes if x["out_of_order"]]
    assert [x["put_seq"] for x in answered["out-of-order"]] == expected == [LATE]


def test_weights_are_ideal_and_opens_are_not_balanced(answered, named, outcomes):
    once = Counter(x["dest_qmgr"] for x in outcomes if x["object_name"] == "ONCE")
    assert sorted(once.values()) == [10, 80]
    found = {x["dest_qmgr"]: x for x in answered["unbalanced"] if x["object_name"] == "ONCE"}
    assert {name: x["messages"] for name, x in found.items()} == dict(once)
    for name, row in found.items():
        assert row["share"] == pytest.approx(once[name] / 90)
        assert (row["ideal_share"], row["greatest_to_least"]) == pytest.approx((0.5, 8.0))
        assert row["largest_deviation"] == pytest.approx(80 / 90 - 0.5)
        assert row["bound_share"] == pytest.approx(87 / 90)
    (pinned,) = answered["pinned"]
    assert (pinned["object_name"], pinned["bound"], pinned["messages_per_choice"]) == (
        "ONCE",
        87,
        30,
    )

    sql = "SELECT * FROM queue_manager_balance WHERE object_name = 'WEIGHTED'"
    weighted = {x["dest_qmgr"]: x for x in all_rows(named, Question("x", "", "", sql))}
    # A choice of B (CLWLWGHT 50) adds 1000 div 50 = 20 to its counter, one of H (10) adds 100.
    assert weighted["B"]["ideal_share"] == pytest.approx(5 / 6)
    assert weighted["H"]["ideal_share"] == pytest.approx(1 / 6)


def test_traffic_moves_from_the_suspended_to_the_enabled(answered, outcomes):
    counts = Counter(
        (x["snapshot_id"], x["dest_qmgr"]) for x in outcomes if x["object_name"] == "ORDERS"
    )
    part = shares(counts, lambda key: key[0])
    moved = {x["dest_qmgr"]: x for x in answered["moved-traffic"] if x["object_name"] == "ORDERS"}
    assert part["S1", "C"] > 0.1
    assert part["S2", "D"] > 0.1
    for name in ("C", "D"):
        row = moved[name]
        assert (row["before_it"], row["after_it"]) == ("S1", "S2")
        assert row["changed_at"] == NOON + timedelta(hours=2)
        assert row["share_before"] == pytest.approx(part.get(("S1", name), 0))
        assert row["share_after"] == pytest.approx(part.get(("S2", name), 0))


def test_the_rule_that_decides_weighs_the_messages(answered, named, outcomes):
    by = Counter()
    for x in outcomes:
        rule = {"PRIOR": 14, "ORDERS": {"S1": 5, "S2": 7}.get(x["snapshot_id"])}
        if x["object_name"] not in (EVIL, NOBODYS):
            by[6 if x["is_local"] else rule.get(x["object_name"])] += 1
    found = {x["rule"]: x for x in answered["deciding-rules"]}
    assert {rule: x["messages_decided"] for rule, x in found.items()} == dict(by)
    assert sum(x["share"] for x in found.values()) == pytest.approx(1)
    funnel = Question("x", "", "", "SELECT * FROM rule_funnel WHERE object_name = 'PRIOR'")
    for row in all_rows(named, funnel):
        at_rule = (row["candidates"], row["eliminated"], row["candidates_left"])
        assert at_rule == ((2, 1, 1) if row["rule"] == 14 else (1, 0, 1))
        assert row["is_deciding"] == (row["rule"] == 14)
        assert row["eliminated_messages"] == row["eliminated"] * row["messages"]


def test_hosts_without_messages_and_queues_without_any(answered, outcomes):
    prior = sum(x["object_name"] == "PRIOR" for x in outcomes)
    (idle,) = [x for x in answered["idle-hosts"] if x["object_name"] == "PRIOR"]
    assert (idle["dest_qmgr"], idle["rule"], idle["messages_put"]) == ("D", 14, prior)
    assert [(x["queue"], x["hosts"]) for x in answered["unused-queues"]] == [(NOBODYS, 1)]
    lonely = [x for x in answered["single-points"] if x["object_name"] == "LONELY"]
    assert {(x["only_host"], x["hosts"], x["other_host"]) for x in lonely} == {("E", 1, None)}


def test_what_waits_and_what_was_set_aside(answered, outcomes):
    waiting = Counter(x["snapshot_id"] for x in outcomes if x["channel"] == "TO.E")
    found = answered["waiting-channels"]
    assert {x["snapshot_id"]: x["messages"] for x in found} == dict(waiting)
    assert {x["status"] for x in found} == {"RETRYING"}
    (aside,) = answered["set-aside"]
    assert (aside["error"], aside["bind"], aside["messages"]) == ("UNKNOWN_BIND", "SOMETIMES", 1)


def test_snapshots_follow_one_another_but_for_quarantined_ones(answered, outcomes):
    failed = Counter(x["snapshot_id"] for x in outcomes if x["reason"])
    first, refused, second = answered["snapshots"]
    assert (first["snapshot_id"], first["valid_until"]) == ("S1", second["valid_from"])
    assert (refused["status"], refused["messages"], refused["valid_until"]) == (
        "QUARANTINED", 0, None,
    )  # fmt: skip
    assert (second["snapshot_id"], second["valid_until"]) == ("S2", None)
    assert {x["snapshot_id"]: x["failed"] for x in (first, second)} == dict(failed)
    points = 100 * (second["failed_share"] - first["failed_share"])
    assert second["points"] == pytest.approx(points)


def test_messages_are_shown_by_the_digits_of_their_ids_and_the_names_of_reasons(named, outcomes):
    found = all_rows(named, Question("x", "", "", "SELECT * FROM routed_messages"))
    named_so = {(x["qmgr"], x["put_seq"]): (x["message_id"], x["reason_name"]) for x in found}
    assert len(found) == len(outcomes) > 0
    for x in outcomes:
        name = "MQRC_UNKNOWN_OBJECT_NAME" if x["reason"] else "MQRC_NONE"
        assert named_so[x["qmgr"], x["put_seq"]] == (x["message_id"].hex().upper(), name)


def test_shares_are_followed_from_hour_to_hour(answered, named):
    rows = all_rows(named, Question("x", "", "", "SELECT * FROM share_per_hour"))
    assert len(answered["shares-per-hour"]) == len(rows)
    before = {}
    for x in answered["shares-per-hour"]:
        key = (x["object_name"], x["dest_qmgr"], x["channel"])
        last = before.get(key)
        assert x["points"] == (None if last is None else pytest.approx(100 * (x["share"] - last)))
        before[key] = x["share"]
    assert any(x["points"] for x in answered["shares-per-hour"])


def test_valid_snapshots_are_counted_by_their_day(answered):
    (day,) = answered["changes-per-day"]
    assert (day["day"], day["snapshots"]) == (NOON.replace(hour=0, minute=0), 2)
    assert (day["created"], day["changed"], day["deleted"]) == (0, 0, 0)


def test_a_change_of_a_whole_point_is_told_whatever_its_last_bits_are():
    """Also when no message was put under a snapshot in between, or that one is not valid."""
    connection = duck()
    sides = [("S1", 0.28), ("S3", 0.5), ("S2", 0.29)]
    shares_there = " UNION ALL ".join(
        f"SELECT '{x}' AS snapshot_id, 'QUEUE' AS object_type, 'Q' AS object_name, "
        f"'' AS object_qmgr, 'B' AS dest_qmgr, {share} AS share"
        for x, share in sides
    )
    connection.execute(f"CREATE VIEW share_per_snapshot AS {shares_there}")
    heads = (("S1", 11, "VALID"), ("SAME", 12, "VALID"), ("S3", 13, "QUARANTINED"))
    history = " UNION ALL ".join(
        f"SELECT '{x}' AS snapshot_id, '{status}' AS status, "
        f"TIMESTAMP '2024-05-06 {hour}:00:00' AS valid_from"
        for x, hour, status in (*heads, ("S2", 14, "VALID"))
    )
    connection.execute(f"CREATE VIEW snapshot_history AS {history}")
    (row,) = rows_of(connection, all_questions()["moved-traffic"].sql)
    assert (row["before_it"], row["after_it"]) == ("S1", "S2")
    assert row["points"] == pytest.approx(1)


@pytest.mark.parametrize(("deviation", "count"), [(0.05 + 1e-16, 0), (0.0501, 1)])
def test_five_points_are_not_more_than_five_whatever_the_last_bits_are(deviation, count):
    connection = duck()
    connection.execute(
        "CREATE VIEW queue_manager_balance AS SELECT 'QUEUE' AS object_type, 'Q' AS object_name, "
        "'' AS object_qmgr, 'B' AS dest_qmgr, 1 AS messages, 0.5 AS share, 0.5 AS ideal_share, "
        f"2 AS destinations, 1.0 AS greatest_to_least, {deviation!r}::DOUBLE AS largest_deviation"
    )
    connection.execute(
        "CREATE VIEW bindings_per_hour AS SELECT 'QUEUE' AS object_type, 'Q' AS object_name, "
        "'' AS object_qmgr, 0 AS bound, 1 AS messages"
    )
    assert len(rows_of(connection, all_questions()["unbalanced"].sql)) == count
