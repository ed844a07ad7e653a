"""Who waits for a channel in edition 2, worked out by hand from SEMANTICS 8, P27, P30, P40, P41."""

import json
from datetime import timedelta

import pytest
from small_worlds import NOON, at, message, qmgr, queue, rcvr, sender, snapshot, tables
from waiting_worlds import FIRST, SECOND, routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.studies.reallocate.who_waits import NONE_WAITS, SeenSender, WhoWaits, by_status
from clwl_spark.tables import CHANNEL_EVENTS
from clwl_spark.tables.moments import micros
from clwl_spark.tables.waiting import WaitingBy

SENDER = ("GATE", "TO.QM1")
HALF = timedelta(minutes=30)
PUTS = {1: 1, 2: 2, 3: 3, 4: 5, 5: 7, 6: 9, 7: 9.5}
"""Half hours after noon of each put: 2 comes with S2 itself."""


def half(number):
    return NOON + number * HALF


def moment(number):
    return half(number).strftime("%Y-%m-%dT%H:%M:%SZ")


def event(number, since=None, backlog=None, channel="TO.QM1"):
    at = None if since is None else micros(half(since))
    return ChannelEvent("GATE", channel, "STOPPED", micros(half(number)), at, backlog)


def world():
    """SOLE is on QM1 alone. TO.QM1 is up in S1, down in S2 and S3, up in S4, and then counted."""
    there = (qmgr("GATE"), rcvr("GATE"), rcvr("QM1"), queue("QM1", "SOLE", "K", defbind="NOTFIXED"))
    heads = [snapshot(f"S{number}", number - 1) for number in range(1, 7)]
    heads.append(snapshot("Q3", 2.5, "QUARANTINED"))
    status = {"S1": "RUNNING", "S2": "RETRYING", "S3": "STOPPED", "S4": None, "S5": "RUNNING"}
    rows = [*heads]
    for name, word in {**status, "S6": "STOPPED", "Q3": "RUNNING"}.items():
        more = {"S5": {"backlog": 2}, "S6": {"backlog": 0}}.get(name, {})
        rows += at(name, *there, sender("GATE", "QM1", word, **more))
    return tables(*rows)


@pytest.fixture
def lake(spark, tmp_path):
    puts = [message("GATE", "SOLE", x, put_time=half(y)) for x, y in PUTS.items()]
    return routed_lake(spark, tmp_path, world(), puts, SECOND)


def run(lake, *events, semantics=SECOND):
    return reallocate(lake, list(events), Ladder(semantics)).events


def waited(lake, summary):
    rows = lake.read("reallocations").where(f"event_id = '{summary.event.event_id}'").collect()
    return sorted(row.put_seq for row in rows)


def test_a_tier_that_is_not_1_tells_since_when_the_channel_is_down(lake):
    """In S3; S2 is down as well, S1 is not; Q3, in which it is up, is no valid snapshot."""
    early, later = run(lake, event(5.5), event(5.6))
    assert early.event.waits == WhoWaits(WaitingBy.TIER, put_from=micros(half(2)))
    assert waited(lake, early) == [2, 3, 4]
    assert waited(lake, later) == [2, 3, 4]
    (row,) = lake.read("reallocation_events").where("event_number = 1").collect()
    assert (row.waiting_by, row.backlog, row.waiting) == ("TIER", None, 3)


def test_within_the_run_only_what_was_put_by_then_waits(lake):
    (summary,) = run(lake, event(2.5))
    assert waited(lake, summary) == [2]


def test_a_channel_that_was_up_has_none_and_the_event_leaves_nothing(lake, capsys):
    for moment_of, name in ((1.5, "S1"), (7.5, "S4")):
        (summary,) = run(lake, event(moment_of))
        assert summary.event.waits == NONE_WAITS
        assert (summary.event.snapshot_id, summary.counts["waiting"]) == (name, 0)
    assert lake.read("reallocations").count() == 0
    assert lake.read("reallocation_events").count() == 0
    # P30: the event at 7.5 does not count, so an earlier one is not refused.
    (summary,) = run(lake, event(7, since=6))
    assert waited(lake, summary) == [5]
    words = ["reallocate", "--lake", lake.root, "--qmgr", "GATE", "--channel", "TO.QM1"]
    words += ["--status", "STOPPED", "--at", moment(7.5)]
    capsys.readouterr()
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "TO.QM1 of GATE was up until then, as snapshot S4 has it" in shown
    assert "--since S (those put after S) or --backlog N (the last N)" in shown
    assert main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["events"]
    assert (found["waiting_by"], found["event_id"], found["waiting"]) == ("NONE", None, 0)
    assert "--backlog N" in found["note"]


def test_a_message_of_a_channel_that_is_up_did_not_wait_and_that_is_why(spark, tmp_path, capsys):
    known = ("S1", "S2", "S3", "S4", "Q3")
    rows = {name: [x for x in found if x.get("snapshot_id") in known]
            for name, found in world().items()}  # fmt: skip
    puts = [message("GATE", "SOLE", x, put_time=half(y)) for x, y in PUTS.items()]
    lake = routed_lake(spark, tmp_path, rows, puts, SECOND)
    words = ["explain-reallocation", (b"%8d" % 5).hex(), "--lake", lake.root, "--json"]
    capsys.readouterr()
    assert main(words) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["events"] == []
    assert found["summary"].startswith("It went by TO.QM1. ")
    assert "was up until then, as snapshot S4 has it, so none of its messages" in found["summary"]
    assert "--backlog N" in found["summary"]


def test_a_backlog_that_is_known_is_the_last_so_many(lake):
    summary, nothing = run(lake, event(9.2), event(10))
    assert summary.event.waits == WhoWaits(WaitingBy.STATUS_BACKLOG, last=2)
    assert waited(lake, summary) == [5, 6]
    # A backlog of 0: none waits, though the channel is down; the event counts.
    assert nothing.event.waits == WhoWaits(WaitingBy.STATUS_BACKLOG, last=0)
    assert waited(lake, nothing) == []
    assert lake.read("reallocation_events").count() == 2


def test_since_and_backlog_go_before_the_status(lake):
    first, second, third = run(
        lake, event(7.5, since=3), event(7.6, backlog=2), event(9.2, since=2)
    )
    assert waited(lake, first) == [4, 5], "put after S, not at S"
    assert (first.event.waits.by, second.event.waits.by) == (WaitingBy.SINCE, WaitingBy.BACKLOG)
    assert waited(lake, second) == [4, 5], "the last by put_seq, whatever their new put_time"
    # P27: those that chose anew are put when they did; 3 was put at 3, after 2.
    assert waited(lake, third) == [3, 4, 5, 6]


def test_what_chose_anew_was_put_when_it_did_in_a_later_run_too(lake):
    run(lake, event(5.5))
    (since,) = run(lake, event(5.8, since=5.2))
    assert waited(lake, since) == [2, 3, 4]
    (before,) = run(lake, event(5.9, since=5.85))
    assert waited(lake, before) == []


def test_a_backlog_greater_than_what_was_routed_is_told(lake):
    (summary,) = run(lake, event(3, backlog=5))
    assert waited(lake, summary) == [1, 2, 3]
    assert (summary.missing, summary.to_json()["missing"]) == (2, 2)
    assert "has a backlog of 5, but only 3 messages were routed to it by then" in summary.note


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--since", moment(5), "--backlog", "3"], "--since and --backlog both say who waits"),
        (["--since", moment(7.5)], "--since 2024-05-06T15:45:00Z is not before 2024-05-06T15:45:0"),
        (["--since", "noon"], "--since 'noon' is no moment"),
        (["--backlog", "-1"], "Invalid value for '--backlog'"),
        (["--at", "2020-01-01T00:00:00Z"], "no snapshot is in force at 2020-01-01"),
    ],
)
def test_words_that_do_not_go_together_are_one_sentence(lake, capsys, more, said):
    words = ["reallocate", "--lake", lake.root, "--qmgr", "GATE", "--channel", "TO.QM1"]
    capsys.readouterr()
    assert main([*words, "--status", "STOPPED", "--at", moment(7.5), *more]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert len(shown.strip().splitlines()) == 1


def test_a_table_of_events_says_it_for_each(lake, capsys):
    def history(*rows):
        lake.create([CHANNEL_EVENTS])
        lake.delete("channel_events", "qmgr", "GATE")
        same = {"qmgr": "GATE", "channel": "TO.QM1", "status": "STOPPED"}
        put_rows(lake, "channel_events", [{**same, **row} for row in rows])
        capsys.readouterr()
        words = ["reallocate", "--lake", lake.root, "--events", "channel_events", "--json"]
        return main(words), capsys.readouterr()

    code, said = history(
        {"at": half(5.5)}, {"at": half(7.2), "backlog": 1}, {"at": half(7.4), "since": half(6)},
        {"at": half(7.6)},
    )  # fmt: skip
    assert code == 0
    found = json.loads(said.out)["events"]
    assert [x["waiting_by"] for x in found] == ["TIER", "BACKLOG", "SINCE", "NONE"]
    assert [x["waiting"] for x in found] == [3, 1, 1, 0]
    assert (found[0]["put_from"], found[2]["since"]) == (
        "2024-05-06T13:00:00+00:00", "2024-05-06T15:00:00+00:00",
    )  # fmt: skip
    code, said = history({"at": half(8), "since": half(6), "backlog": 1})
    assert code == 2
    assert "since and backlog both say who waits" in said.err
    code, said = history({"at": half(8), "backlog": -1})
    assert (code, "backlog -1: give how many" in said.err) == (2, True)
    words = ["reallocate", "--lake", lake.root, "--events", "channel_events", "--backlog", "1"]
    assert main(words) == 2
    assert "columns of these names do" in capsys.readouterr().err


def test_in_the_first_edition_all_waits_unless_an_option_says_which(spark, tmp_path):
    puts = [message("GATE", "SOLE", x, put_time=half(y)) for x, y in PUTS.items()]
    lake = routed_lake(spark, tmp_path, world(), puts)
    everything, told = run(lake, event(7.5), event(7.6, backlog=1), semantics=FIRST)
    assert waited(lake, everything) == [1, 2, 3, 4, 5]
    assert waited(lake, told) == [5]


def test_several_senders_of_one_name_count_together(spark, tmp_path):
    """P40: backlogs are added up, where they are known; the best tier counts."""
    ends = [rcvr(x, channel="SHARED") for x in ("QM1", "QM2")]
    there = [qmgr("GATE"), rcvr("GATE"), *ends]
    there += [queue(x, f"AT.{x}", "K", defbind="NOTFIXED") for x in ("QM1", "QM2")]

    def of(name, *status):
        pairs = zip(("QM1", "QM2"), status, strict=False)
        more = (sender("GATE", x, y, "SHARED", backlog=z) for x, (y, z) in pairs)
        return [snapshot(name, int(name[1])), *at(name, *there, *more)]

    rows = tables(
        *of("S0", ("STOPPED", 2), ("RUNNING", 1)),
        *of("S1", ("STOPPED", None), ("RUNNING", 1)),
        *of("S2", ("STOPPED", None), ("RUNNING", None)),
        *of("S3", ("STOPPED", None), ("RETRYING", None)),
        *of("S4", ("STOPPED", None)),
    )
    puts = [
        message("GATE", f"AT.QM{1 + x % 2}", x, put_time=NOON + timedelta(minutes=x))
        for x in range(1, 10)
    ]
    puts.append(message("GATE", "AT.QM1", 10, put_time=NOON + timedelta(hours=3.1)))
    lake = routed_lake(spark, tmp_path, rows, puts, SECOND)
    found = run(lake, *(event(2 * x + 0.9, channel="SHARED") for x in range(5)))
    assert [x.event.waits for x in found] == [
        WhoWaits(WaitingBy.STATUS_BACKLOG, last=3),
        WhoWaits(WaitingBy.STATUS_BACKLOG, last=1),
        NONE_WAITS,
        WhoWaits(WaitingBy.TIER, put_from=micros(NOON + timedelta(hours=3))),
        WhoWaits(WaitingBy.TIER, put_from=micros(NOON + timedelta(hours=3))),
    ]
    assert [waited(lake, x) for x in found[:2]] == [[7, 8, 9], [9]]
    assert [waited(lake, x) for x in found[3:]] == [[10], [10]]


@pytest.mark.parametrize(
    ("tiers", "down_from"),
    [
        ((1, 1, 1), None), ((1, 3, 4), 10), ((4, 1, 4), 20), ((4, 4, 4), 0), ((4, 4, 1), None),
        ((None, None, 2), 20), ((4, None, 4), 20),
    ],
)  # fmt: skip
def test_the_run_goes_back_to_where_the_channel_was_last_up(tiers, down_from):
    """A snapshot that has no status of it counts as tier 1."""
    pins = [Pin(f"S{at}", 10 * at) for at in range(3)]
    seen = {(f"S{at}", SENDER): SeenSender(x) for at, x in enumerate(tiers) if x is not None}
    who = by_status(SENDER, pins, seen)
    assert who == (NONE_WAITS if down_from is None else WhoWaits(WaitingBy.TIER, down_from))
