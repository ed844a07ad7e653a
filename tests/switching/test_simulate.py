"""A switch played over a lake: every message in one place, in order, and told in words."""

import json
import shutil
from dataclasses import replace

import pytest
from deltalake import DeltaTable
from waiting_worlds import FIRST
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.planning.plans import Ladder
from clwl_spark.settings import moment
from clwl_spark.studies.switch import playing
from clwl_spark.studies.switch.associations import associations
from clwl_spark.studies.switch.playing import SwitchRequest
from clwl_spark.studies.switch.simulate import simulate
from clwl_spark.studies.switch.steps import Pace
from clwl_spark.studies.switch.telling import steps_told
from clwl_spark.tables.moments import micros

OLD = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
NEW = "XMITQ.CL1.QM1"
DAY = "2024-05-06T12:00:"


def at(seconds):
    return micros(moment(f"{DAY}{seconds:02d}Z"))


def request(lake, start, **more):
    (of,) = [x for x in associations(lake, "GATE", "S1") if x.pending]
    pace = Pace(at(start), more.pop("moves", 10), more.pop("batch", 2))
    return SwitchRequest("GATE", "S1", of, pace, **more)


def rows_of(lake, summary):
    rows = lake.read("switched_messages").where(f"switch_id = '{summary.switch_id}'")
    return rows.orderBy("position").collect()


def check_all_there(lake, rows):
    """Each outcome of the channel is in one place, in put order."""
    outcomes = lake.read("outcomes").where("channel = 'CL1.QM1'").orderBy("put_seq").collect()
    assert [row.put_seq for row in rows] == [row.put_seq for row in outcomes]
    assert [bytes(row.message_id) for row in rows] == [bytes(row.message_id) for row in outcomes]


@pytest.mark.spark
def test_messages_move_on_spark_as_well(lake):
    check_that_messages_move(lake)


def test_waiting_messages_move_and_later_ones_go_to_the_new_queue(lake):
    check_that_messages_move(lake)


def check_that_messages_move(lake):
    summary = simulate(lake, request(lake, 25), Ladder(FIRST))
    rows = rows_of(lake, summary)
    check_all_there(lake, rows)
    assert (summary.figures["waiting"], summary.figures["switched"]) == (15, 16)
    assert summary.figures["put_on_new"] == 4
    assert {(row.how, row.xmitq) for row in rows} == {("SWITCHED", NEW), ("PUT_ON_NEW", NEW)}
    moved = [row.placed_at for row in rows if row.how == "SWITCHED"]
    assert moved == sorted(moved)
    told = steps_told(summary)
    assert told[-1].endswith(f"AMQ7341: The transmission queue for channel CL1.QM1 is {NEW}.")
    assert not summary.outrun
    (kept,) = lake.read("switches").where(f"switch_id = '{summary.switch_id}'").collect()
    assert (kept.from_xmitq, kept.to_xmitq, kept.switched) == (OLD, NEW, 16)


def test_arrivals_that_outrun_the_move_are_told_of(lake):
    slow = request(lake, 21, moves=1, batch=1)
    summary = simulate(lake, slow, Ladder(FIRST))
    assert summary.figures["switched"] == 20
    assert summary.outrun is False
    assert summary.figures["arrived_in_step_1"] == 9
    early = simulate(
        lake, request(lake, 20, moves=1, batch=1, interruptions=((at(21), at(40)),)), Ladder(FIRST)
    )
    assert early.outrun
    assert any("Arrivals outrun the move" in words for words in steps_told(early))
    check_all_there(lake, rows_of(lake, early))


@pytest.mark.parametrize("stop", [25, 26])
def test_an_interruption_for_good_leaves_the_rest_where_it_is(lake, stop):
    asked = request(lake, 25, moves=4, interruptions=((at(stop), None),))
    summary = simulate(lake, asked, Ladder(FIRST))
    rows = rows_of(lake, summary)
    check_all_there(lake, rows)
    assert summary.figures["step_2_at"] is None
    assert {row.xmitq for row in rows if row.how == "LEFT"} == {OLD}
    assert "Step 2 is not reached" in steps_told(summary)[-1]


def test_a_quick_restart_shares_the_messages_between_balancing_and_the_switch(lake, monkeypatch):
    monkeypatch.setattr(playing, "ROWS_AT_A_TIME", 4)
    asked = request(lake, 33, moves=2, batch=1, stopped_at=at(31), rebalanced_per_second=2)
    summary = simulate(lake, asked, Ladder(FIRST))
    rows = rows_of(lake, summary)
    check_all_there(lake, rows)
    assert summary.figures["rebalanced"] == 4
    assert summary.figures["switched"] == 16
    taken = [row for row in rows if row.how == "REBALANCED"]
    assert {row.xmitq for row in taken} == {"XMITQ.CL1"}
    slow = request(lake, 59, stopped_at=at(31), rebalanced_per_second=100)
    summary = simulate(lake, slow, Ladder(FIRST))
    assert (summary.figures["rebalanced"], summary.figures["switched"]) == (10, 10)
    assert "workload balancing" in steps_told(summary)[0]


def test_nothing_waiting_begins_with_step_2(lake):
    asked = request(lake, 25)
    figures = playing.figures_of_nothing(asked)
    assert figures["step_2_at"] == at(25)
    stopped = request(lake, 25, interruptions=((at(20), at(30)), (at(30), None)))
    assert playing.figures_of_nothing(stopped)["step_2_at"] is None


def test_the_command_shows_channels_and_plays_switches(capsys, lake):
    words = ["xmitq", "--lake", lake.root, "--qmgr", "GATE"]
    assert main([*words, "--json"]) == 0
    assert [x["channel"] for x in json.loads(capsys.readouterr().out)] == [
        "CL1.QM1", "CL1.QM2", "CS.QM3",
    ]  # fmt: skip
    assert main(words) == 0
    assert "(switch pending)" in capsys.readouterr().out
    start = ["--channel", "CL1.QM1", "--start-at", f"{DAY}25Z"]
    assert main([*words, *start, "--json", "--interrupt", f"{DAY}26Z/{DAY}28Z"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["switched"] == 15
    assert document["steps"][-1].startswith("2024-05-06T12:00:26Z Interrupted in step 2")
    assert main([*words, *start]) == 0
    assert "AMQ7341" in capsys.readouterr().out


def test_a_backlog_greater_than_what_was_routed_is_told(capsys, lake):
    words = ["xmitq", "--lake", lake.root, "--qmgr", "GATE", "--channel", "CL1.QM1"]
    assert main([*words, "--start-at", f"{DAY}25Z", "--backlog", "400"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "none of those that are known is left on" in said
    assert "has a backlog of 400, but only 15 messages were routed to it by then" in said


def test_a_plain_channel_on_the_queue_is_told_with_the_switch(capsys, lake):
    words = ["xmitq", "--lake", lake.root, "--qmgr", "GATE", "--channel", "CL1.QM1"]
    plain = {"snapshot_id": "S1", "qmgr": "GATE", "channel": "PLAIN", "chltype": "SDR"}
    put_rows(lake, "message_channels", [{**plain, "xmitq": NEW, "conname": "far(1414)"}])
    try:
        assert main([*words, "--start-at", f"{DAY}25Z", "--json"]) == 0
        steps = json.loads(capsys.readouterr().out)["steps"]
        assert steps[-1].startswith(f"PLAIN (CHLTYPE(SDR)) names {NEW}, the transmission queue")
    finally:
        DeltaTable(lake.path("message_channels")).delete()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--channel", "NOPE"], "GATE sees no channel 'NOPE' in snapshot S1"),
        (["--start-at", f"{DAY}25Z"], "name it with --channel"),
        (["--stop-at", f"{DAY}25Z"], "give --start-at too"),
        (["--channel", "CL1.QM2", "--start-at", f"{DAY}25Z"], "no switch is pending for CL1.QM2"),
        (["--channel", "CL1.QM1", "--start-at", "noon"], "--start-at 'noon' is no moment"),
        (["--channel", "CL1.QM1", "--start-at", f"{DAY}25Z", "--batch", "0"], "begin at 1"),
        (
            ["--channel", "CL1.QM1", "--start-at", f"{DAY}25Z", "--stop-at", f"{DAY}26Z"],
            "--stop-at is after --start-at",
        ),
        (
            ["--channel", "CL1.QM1", "--start-at", f"{DAY}25Z", "--interrupt", f"{DAY}24Z"],
            "give a stop after --start-at",
        ),
        (
            [
                "--channel", "CL1.QM1", "--start-at", f"{DAY}25Z",
                "--interrupt", f"{DAY}26Z", "--interrupt", f"{DAY}27Z",
            ],
            "before the one before it has ended",
        ),
    ],
)  # fmt: skip
def test_wrong_words_are_one_sentence(capsys, lake, more, said):
    assert main(["xmitq", "--lake", lake.root, "--qmgr", "GATE", *more]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert len(shown.strip().splitlines()) == 1


def test_events_after_the_moment_that_is_looked_at_have_not_been(lake, tmp_path):
    shutil.copytree(lake.root, tmp_path / "lake")
    copy = replace(lake, root=str(tmp_path / "lake"))
    before = simulate(copy, request(copy, 25, backlog=9), Ladder(FIRST))
    channel = ["--qmgr", "GATE", "--channel", "CL1.QM1", "--status", "STOPPED"]
    channel += ["--at", "2024-05-06T12:01:00Z", "--backlog", "9"]
    assert main(["reallocate", "--lake", copy.root, *channel]) == 0
    assert copy.read("reallocations").where("outcome <> 'NOT_ELIGIBLE'").count()
    after = simulate(copy, request(copy, 25, backlog=9), Ladder(FIRST))
    assert after.figures == before.figures
