"""Status of queues in a lake: ingested, no difference, no reason for a table, told by lint."""

import json
from datetime import UTC, datetime

import pytest
from mq.mqsc_texts import HEADER, session, two_columns

from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.cli import main
from clwl_spark.cli.lint import advice
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.diff import diff
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.studies.what_if.changed import NothingHitError, changed_to

COMMANDS = "SYSTEM.CLUSTER.COMMAND.QUEUE"
DEFINED = HEADER.format(qmgr="QM1") + (
    "DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('one')\n"
    "REFRESH CLUSTER(K) REPOS(NO)\n"
)
LINT = load_gates(Scope.TOPOLOGY).only_lint()


def shown(depth, handles=1):
    status = two_columns(
        "AMQ8450I: Display queue status details.",
        [f"QUEUE({COMMANDS})", "TYPE(QUEUE)", f"CURDEPTH({depth})", f"IPPROCS({handles})"],
    )
    return DEFINED, session("QM1", status)


def texts(tmp_path, name, depth, handles=1):
    folder = tmp_path / name
    folder.mkdir()
    for number, text in enumerate(shown(depth, handles)):
        (folder / f"{number}.txt").write_text(text)
    return folder


def at(hour):
    return IngestOptions(datetime(2024, 5, 6, hour, tzinfo=UTC))


def failing(lake, snapshot_id):
    report = advice(lake, snapshot_id, LINT)
    return {x.gate: [row["detail"] for row in x.found.rows] for x in report.results if x.found.rows}


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


def test_counts_of_a_moment_make_no_snapshot_another_one(lake, tmp_path):
    ingest(lake, [texts(tmp_path, "a", 5)], "S1", at(10))
    ingest(lake, [texts(tmp_path, "b", 9)], "S2", at(11))
    assert lake.read("queue_status").count() == 2
    assert diff(lake, "S1", "S2").isEmpty()
    with pytest.raises(NothingHitError):
        changed_to(lake, "S1", "S2")


def test_a_depth_that_does_not_fall_is_told_and_one_that_falls_is_not(lake, tmp_path):
    for name, hour, depth in (("S1", 10, 5), ("S2", 11, 5), ("S3", 12, 3), ("S4", 13, 0)):
        ingest(lake, [texts(tmp_path, name, depth)], name, at(hour))
    told = {name: failing(lake, name).get("command-queue-depth") for name in ("S1", "S2", "S3")}
    assert told == {
        "S1": None,
        "S2": ["CURDEPTH is 5, and was 5 in the snapshot before"],
        "S3": None,
    }
    assert "command-queue-depth" not in failing(lake, "S4")


def test_what_a_change_takes_over_from_its_base_is_no_second_look(lake, tmp_path):
    ingest(lake, [texts(tmp_path, "a", 5, handles=2)], "S1", at(10))
    script = tmp_path / "change.mqsc"
    script.write_text(HEADER.format(qmgr="QM1") + "DEFINE QLOCAL(NEW.Q)\n")
    ingest(lake, [script], "S2", IngestOptions(at(11).valid_from, base="S1"))
    found = failing(lake, "S2")
    assert found["command-queue-reader"] == ["IPPROCS is 2, not 1"]
    assert "command-queue-depth" not in found


def test_a_lake_without_such_texts_has_no_such_table(lake, tmp_path):
    script = tmp_path / "some.mqsc"
    script.write_text(DEFINED)
    summary = ingest(lake, [script], "S1", at(10))
    assert not lake.exists("queue_status")
    assert "queue_status" not in summary.rows
    assert "command-queue-reader" not in failing(lake, "S1")


def test_export_shows_it_and_ingest_reads_it_back(lake, tmp_path, capsys):
    ingest(lake, [texts(tmp_path, "a", 5)], "S1", at(10))
    words = ["export", "--snapshot", "S1", "--lake", lake.root]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    ingest(lake, [tmp_path / "out"], "S2", at(11))
    rows = lake.read("queue_status").select("queue", "curdepth", "ipprocs", "opprocs").distinct()
    assert [tuple(row) for row in rows.collect()] == [(COMMANDS, 5, 1, None)]


def test_a_command_that_only_acts_is_passed_over_with_a_word(lake, tmp_path, capsys):
    script = tmp_path / "some.mqsc"
    script.write_text(DEFINED)
    assert main(["ingest", str(script), "--lake", lake.root, "--snapshot", "S1", "--json"]) == 0
    told = capsys.readouterr()
    assert "some.mqsc:3: REFRESH CLUSTER is not carried out: it acts on a running" in told.err
    document = json.loads(told.out)
    rows = lake.read("actions").select("qmgr", "command", "action", "object").collect()
    assert list(map(tuple, rows)) == [
        ("QM1", "REFRESH CLUSTER(K) REPOS(NO)", "REFRESH CLUSTER", "K")
    ]
    assert "refresh-in-texts" in failing(lake, "S1")
    (left,) = document["not_carried_out"]
    assert (left["line"], left["text"]) == (3, "REFRESH CLUSTER")
    assert (document["passed_over"], document["rejects"]) == ([], [])
