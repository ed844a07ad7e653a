"""`clwl reallocate` and `clwl explain-reallocation`, from words to tables and back to words."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from small_worlds import NOON
from waiting_worlds import FIRST
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.reallocate import run as run_module
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.tables import CHANNEL_EVENTS
from clwl_spark.tables.moments import micros

AT = "2024-05-06T12:01:00Z"
EVENT = ["--qmgr", "GATE", "--channel", "TO.QM1", "--status", "stopped", "--at", AT]


def message_id(put_seq):
    return (b"%8d" % put_seq).hex()


def story(capsys, lake, put_seq, *more):
    capsys.readouterr()
    words = ["explain-reallocation", message_id(put_seq), "--lake", lake.root, *more]
    assert main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    return found


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_killed_run_leaves_nothing_and_the_next_one_does_it_all(capsys, lake, monkeypatch):
    def die(*_):
        raise Killed

    event = ChannelEvent("GATE", "TO.QM1", "STOPPED", micros(NOON + timedelta(minutes=1)))
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "merge", die)
        with pytest.raises(Killed):
            reallocate(lake, [event], Ladder(FIRST))
    left = lake.read("reallocations").count()
    assert left > 0
    assert "No stop of that channel was run" in story(capsys, lake, 1)["summary"]

    assert main(["reallocate", "--lake", lake.root, *EVENT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    counts = {"waiting": left, "moved": 3, "still_favoured": 2, "failed": 0, "not_eligible": 1}
    assert {name: document[name] for name in counts} == counts
    (event_row,) = document["events"]
    assert event_row["not_eligible_by_reason"] == {"BIND_ON_OPEN": 1}
    assert event_row["still_favoured_by_rule"] == {"4": 2}
    rows = lake.read("reallocations").collect()
    assert {row.event_id for row in rows} == {event_row["event_id"]}
    assert len(rows) == left
    assert lake.read("reallocation_events").count() == 1


def test_rank_where_priority_was_meant_is_told(capsys, lake):
    found = story(capsys, lake, 1)
    (event,) = found["events"]
    assert (event["at"], event["outcome"], event["deciding_rule"]) == (AT, "STILL_FAVOURED", 4)
    told = " ".join(event["words"])
    assert "The queue's CLWLRANK is looked at before the status of channels" in told
    assert "TO.QM2 to QM2 is INACTIVE: with CLWLPRTY in place of CLWLRANK" in told
    assert {row["channel"] for row in event["candidates"]} == {"TO.QM1", "TO.QM2"}


def test_the_others_are_told_of_in_words(capsys, lake):
    moved = next(found for found in (story(capsys, lake, x) for x in (3, 4)) if found["events"])
    assert moved["events"][0]["words"] == [
        "It now goes by TO.QM2, and waits on SYSTEM.CLUSTER.TRANSMIT.QUEUE."
    ]
    fixed = story(capsys, lake, 9, "--qmgr", "GATE")
    assert "put with bind-on-open" in fixed["events"][0]["words"][0]
    local = story(capsys, lake, 10)
    assert local["summary"].startswith("It never waited for a cluster-sender channel")
    assert main(["explain-reallocation", message_id(1), "--lake", lake.root]) == 0
    assert "STILL_FAVOURED" in capsys.readouterr().out


def test_a_history_of_events_is_a_table(capsys, lake):
    later = datetime(2024, 5, 6, 13, tzinfo=UTC)
    lake.create([CHANNEL_EVENTS])
    stops = (("TO.QM2", "STOPPED"), ("TO.QM1", "RETRYING"), ("TO.QM1", "RETRYING"))
    put_rows(
        lake,
        "channel_events",
        [
            {
                "qmgr": "GATE",
                "channel": channel,
                "status": status,
                "at": later + timedelta(seconds=x),
            }
            for x, (channel, status) in enumerate(stops)
        ],
    )
    capsys.readouterr()
    assert main(["reallocate", "--lake", lake.root, "--events", "channel_events", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [x["moved"] for x in document["events"]] == [6, 6, 0]
    assert [x["waiting"] for x in document["events"]] == [6, 9, 3]
    numbers = lake.read("reallocation_events").orderBy("event_number").collect()
    assert [row.event_number for row in numbers] == [1, 2, 3, 4]
    place = f"{lake.root}/channel_events"
    assert main(["reallocate", "--lake", lake.root, "--events", place]) == 2
    assert "is before its last one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--qmgr", "GATE"], "name the event with --qmgr, --channel, --status and --at"),
        ([*EVENT, "--events", "t"], "--events is a history"),
        (["--events", "nowhere"], "check --lake"),
        ([*EVENT[:-1], "soon"], "--at 'soon' is no moment"),
        ([*EVENT[:-1], "2020-01-01T00:00:00Z"], "is before its last one"),
        (["--qmgr", "QM2", *EVENT[2:-1], "2020-01-01T00:00:00Z"], "no snapshot is in force at"),
        (["--qmgr", "NOBODY", *EVENT[2:]], "no queue manager 'NOBODY' in snapshot S1"),
        (["--qmgr", "QM2", "--channel", "NOPE", *EVENT[4:]], "QM2 has no cluster-sender channel"),
        (["--qmgr", "QM2", *EVENT[2:5], "BROKEN", *EVENT[6:]], "status 'BROKEN' is none"),
    ],
)
def test_wrong_events_are_one_sentence(capsys, lake, words, said):
    reallocate_words = ["reallocate", "--lake", lake.root, *words]
    capsys.readouterr()
    assert main(reallocate_words) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert len(shown.strip().splitlines()) == 1


def test_messages_that_are_not_there_are_refused(capsys, lake):
    assert main(["explain-reallocation", "ff00", "--lake", lake.root]) == 2
    assert "no message FF00 in table outcomes" in capsys.readouterr().err
    assert main(["explain-reallocation", "xyz", "--lake", lake.root]) == 2
    assert "is no message identifier" in capsys.readouterr().err


@pytest.mark.usefixtures("spark")
def test_a_lake_that_was_not_routed_is_refused(capsys, tmp_path):
    assert main(["reallocate", "--lake", str(tmp_path), *EVENT]) == 2
    said = capsys.readouterr().err
    assert "no table 'outcomes'" in said
    assert "make one with `clwl route`" in said


def test_no_event_is_no_work(lake):
    assert run_module.reallocate(lake, [], Ladder(FIRST)).to_json()["waiting"] == 0
