import json
import os
import signal
import subprocess
import sys

import pytest
from worlds import World

from clwl_spark.cli import main
from clwl_spark.cli import route as route_command
from clwl_spark.cli.samples import samples_folder
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.ledger.run_record import RunSummary

SIZES = ["--qmgrs", "6", "--queues", "4", "--instances", "2", "--messages", "300"]


def document(capsys, words, exit_code=0):
    capsys.readouterr()
    assert main([*words, "--json"]) == exit_code
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):  # noqa: ARG001  (its session is used)
    folder = tmp_path_factory.mktemp("generated") / "lake"
    assert main(["generate", "--lake", str(folder), *SIZES, "--unknown", "0.2", "--quiet"]) == 0
    return folder


def test_a_lake_is_generated_once(capsys, lake):
    assert main(["generate", "--lake", str(lake), *SIZES]) == 2
    assert "has messages already: give another --lake" in capsys.readouterr().err


def test_route_prints_one_document_and_logs_to_standard_error(capsys, lake):
    assert main(["route", "--lake", str(lake), "--json"]) == 0
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert summary["messages"] == summary["outcomes"] == 300
    assert summary["rejected"] == summary["out_of_order"] == 0
    assert sum(summary["by_reason"].values()) == 300
    assert set(summary["by_reason"]) == {"0", "2085"}
    assert (summary["snapshots"], summary["quarantined"]) == (["S1"], [])
    lines = [json.loads(line) for line in shown.err.splitlines()]
    assert {line["command"] for line in lines} == {"route"}
    (last,) = [line for line in lines if line["event"] == "routed"]
    assert last["run_id"] == summary["run_id"]

    assert main(["route", "--lake", str(lake)]) == 0
    shown = capsys.readouterr().out
    assert "messages per second" in shown
    assert document(capsys, ["route", "--lake", str(lake)])["messages"] == 0


def test_reasons_are_named_in_the_summary():
    summary = RunSummary("r", 7, 7, by_reason={"2085": 4, "0": 3}, seconds=2.0)
    table = route_command.summary_table(summary)
    cells = list(zip(*(column.cells for column in table.columns), strict=True))
    assert ("  0 MQRC_NONE", "3") in cells
    assert ("  2085 MQRC_UNKNOWN_OBJECT_NAME", "4") in cells


def test_the_lakes_algorithm_cannot_be_changed(capsys, lake):
    main(["route", "--lake", str(lake), "--quiet"])
    assert main(["route", "--lake", str(lake), "--algorithm", "v7"]) == 2
    assert "first routed with algorithm v9" in capsys.readouterr().err


@pytest.mark.fault(26)
def test_following_ends_after_the_batch_in_hand(capsys, lake, monkeypatch):
    def follow(_lake, _options, *, poll_seconds, stop, progress):
        assert poll_seconds == 0.5
        progress("routing", 0, 1)
        yield RunSummary("one", messages=3, outcomes=3)
        assert not stop()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop()
        yield RunSummary("two", messages=4, outcomes=4)

    monkeypatch.setattr(route_command, "follow", follow)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    totals = document(capsys, ["route", "--lake", str(lake), "--follow", "--poll", "500ms"])
    counts = {"runs": 2, "messages": 7, "outcomes": 7, "rejected": 0, "out_of_order": 0}
    assert totals == counts | {"engine": "embedded"}
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.usefixtures("spark")
def test_a_folder_without_messages_is_bad_input(capsys, tmp_path):
    assert main(["route", "--lake", str(tmp_path)]) == 2
    assert "no table 'messages' in" in capsys.readouterr().err


def test_explain_answers_as_json_and_as_tables(capsys, lake):
    words = ["explain", "--lake", str(lake), "--from", "QM1", "--object", "Q1"]
    answer = document(capsys, words)
    assert answer["plan"]["kind"] == "QUEUE"
    assert sum(route["expected_share"] for route in answer["routes"]) == pytest.approx(1)
    assert {"eliminated_by", "why"} <= answer["candidates"][0].keys()
    assert main(words) == 0
    assert answer["routes"][0]["dest_qmgr"] in capsys.readouterr().out


def test_explain_of_an_unknown_snapshot_is_bad_input(capsys, lake):
    words = ["explain", "--lake", str(lake), "--from", "QM1", "--object", "Q1", "--snapshot", "S9"]
    assert main(words) == 2
    assert "S9" in capsys.readouterr().err


def test_ingest_names_each_reject_on_standard_error(capsys, spark, tmp_path):
    words = ["ingest", str(samples_folder() / "topology"), "--snapshot", "s"]
    words += ["--lake", str(tmp_path / "lake"), "--valid-from", "2026-09-14T08:00:00+02:00"]
    assert main([*words, "--json"]) == 0
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert summary["snapshot_id"] == "s"
    assert summary["rows"]["cluster_channels"] > 8
    for reject in summary["rejects"]:
        assert f"{reject['file']}:{reject['line']}: {reject['reason']}" in shown.err
    read = spark.read.format("delta").load(str(tmp_path / "lake" / "snapshots"))
    assert read.selectExpr("unix_timestamp(valid_from)").first()[0] == 1_789_365_600

    assert main(words) == 0
    assert "cluster_channels" in capsys.readouterr().out


@pytest.mark.usefixtures("spark")
def test_ingest_of_nothing_usable_is_bad_input(capsys, tmp_path):
    words = ["ingest", str(tmp_path / "none.txt"), "--snapshot", "s", "--lake", str(tmp_path / "l")]
    assert main(words) == 2
    assert "no such file or folder" in capsys.readouterr().err


@pytest.mark.spark
def test_the_callers_session_is_left_running(spark, tmp_path):
    world = World.random(spark, tmp_path / "lake", 5, 3, "v9")
    world.append("messages", world.batch(0))
    assert main(["route", "--lake", world.lake.root, "--quiet", "--set", "spark.ui.port=1"]) == 0
    assert spark.range(3).count() == 3


@pytest.mark.java
@pytest.mark.usefixtures("spark")
def test_doctor_reports_what_it_looked_at(capsys):
    found = document(capsys, ["doctor"])
    assert {check["name"] for check in found["checks"]} >= {
        "python",
        "java",
        "engine embedded",
        "engine spark",
    }


def test_demo_shows_every_kind_of_outcome_and_adds_nothing_twice(capsys, spark, tmp_path):
    words = ["demo", "--lake", str(tmp_path / "demo")]
    first = document(capsys, words)
    assert first["route"]["messages"] == first["route"]["outcomes"] + first["route"]["rejected"]
    assert first["route"]["rejected"] == 7
    assert {"0", "2051", "2085", "2087"} == set(first["route"]["by_reason"])
    shares = {route["dest_qmgr"]: route["expected_share"] for route in first["explain"]["routes"]}
    assert shares == {"DEPOT1": pytest.approx(5 / 7), "DEPOT2": pytest.approx(2 / 7)}

    night = first["night"]
    assert (night["status"], night["used"]) == ("QUARANTINED", "demo")
    (refusing,) = night["failed"]
    assert refusing["gate"] == "channel-of-two"
    assert refusing["rows"] == [{"channel": "FREIGHT.SHOP1", "detail": "SHOP1 and SHOP3"}]

    outcomes = spark.read.format("delta").load(str(tmp_path / "demo" / "outcomes"))
    taken = outcomes.where("qmgr = 'SHOP1' AND object_name = 'PARCEL.IN'").groupBy("dest_qmgr")
    assert {tuple(row) for row in taken.count().collect()} == {("DEPOT1", 1000), ("DEPOT2", 400)}

    lake = Lake(spark, str(tmp_path / "demo"))
    written = ("snapshots", "cluster_channels", "outcomes", "gate_results", "gate_failures")
    before = [lake.version(name) for name in written]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert [lake.version(name) for name in written] == before
    assert "Snapshot night was quarantined by an earlier demo" in shown
    assert "Nothing new to route" in shown

    routed = document(capsys, ["route", "--lake", lake.root])
    assert (routed["messages"], routed["quarantined"]) == (
        0,
        [{"snapshot_id": "night", "used": "demo"}],
    )
    assert main(["route", "--lake", lake.root]) == 0
    told = "Snapshot night is QUARANTINED, routing goes on with demo"
    assert told in capsys.readouterr().out
    assert f"delta_scan('{tmp_path / 'demo'}/outcomes')" in shown


def test_demo_leaves_other_lakes_alone(capsys, lake):
    assert main(["demo", "--lake", str(lake)]) == 2
    assert "is not one of the demo's" in capsys.readouterr().err


@pytest.mark.slow
def test_the_program_itself_answers(lake):
    command = [sys.executable, "-m", "clwl_spark.cli", "route", "--lake", str(lake), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rejected"] == 0
