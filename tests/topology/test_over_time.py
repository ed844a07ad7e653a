"""Snapshots made of others, read side by side by workers, and killed while they are written."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import IngestError, InputError
from clwl_spark.snapshots import reading
from clwl_spark.snapshots.catalog import list_snapshots
from clwl_spark.snapshots.diff import compare
from clwl_spark.snapshots.ingest import IngestOptions, ingest

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
QM1 = """
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one(1414)') CLUSTER(K) CLWLWGHT(10)
DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(1)
DEFINE QLOCAL(OLD.Q) CLUSTER(K)
"""
QM2 = QM1.replace("QM1", "QM2").replace("one", "two")
CHANGE = """
ALTER QLOCAL(APP.Q) CLWLRANK(7)
DELETE QLOCAL(OLD.Q)
SUSPEND QMGR CLUSTER(K)
"""
SCRIPT = Path(__file__).with_name("killed_ingest.py")


def told(difference):
    """(queue or channel, change, attribute, old, new) of every change."""
    return {
        (x["key"].get("queue") or x["key"]["channel"], x["change"], x["attribute"], x["new"])
        for x in difference.changes
        if x["change"] != "REMOVED"
    } | {(x["key"].get("queue"), "REMOVED") for x in difference.changes if x["change"] == "REMOVED"}


def versions(lake):
    return {name: lake.version(name) for name in ("queues", "cluster_channels", "snapshots")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("over_time")
    (folder / "whole" / "QM1").mkdir(parents=True)
    (folder / "whole" / "QM1" / "dump [1].mqsc").write_text(QM1)
    (folder / "whole" / "QM2").mkdir()
    (folder / "whole" / "QM2" / "dump.mqsc").write_text(QM2 + "DEFINE QLOCAL(+X+.Q)\n")
    (folder / "change.mqsc").write_text(CHANGE)
    return folder


@pytest.fixture(scope="module")
def lake(spark, folder, tmp_path_factory):
    lake = Lake(spark, str(tmp_path_factory.mktemp("lake") / "lake"))
    ingest(lake, [folder / "whole"], "S1", IngestOptions(NOON, "{folder}"))
    return lake


def test_a_change_alone_makes_a_snapshot_of_its_base(lake, folder):
    options = IngestOptions(observer="QM1", base="S1")
    summary = ingest(lake, [folder / "change.mqsc"], "S2", options)
    assert (summary.rejects, summary.rows["queues"], summary.rows["cluster_channels"]) == ((), 1, 1)
    assert told(compare(lake, "S1", "S2")) == {
        ("APP.Q", "CHANGED", "clwlrank", 7),
        ("OLD.Q", "REMOVED"),
        ("TO.QM1", "CHANGED", "suspended", True),
    }
    before = versions(lake)
    assert ingest(lake, [folder / "change.mqsc"], "S2", options).to_json() == summary.to_json()
    assert versions(lake) == before
    assert {x.snapshot_id: x.base for x in list_snapshots(lake)}["S2"] == "S1"


def test_another_change_to_the_base_is_merged_into_what_was_made_of_it(lake, folder, tmp_path):
    other = tmp_path / "other.mqsc"
    other.write_text("ALTER QLOCAL(APP.Q) PUT(DISABLED)\n")
    for script in (folder / "change.mqsc", other):
        ingest(lake, [script], "S3", IngestOptions(observer="QM1", base="S1"))
    assert told(compare(lake, "S2", "S3")) == {("APP.Q", "CHANGED", "put_enabled", False)}
    with pytest.raises(InputError, match="no snapshot 'S9'"):
        ingest(lake, [other], "S4", IngestOptions(observer="QM1", base="S9"))


def test_workers_read_many_files_to_the_same_rows_and_rejects(lake, folder, monkeypatch):
    options = IngestOptions(NOON, "{folder}")
    here = ingest(lake, [folder / "whole"], "here", options)
    monkeypatch.setattr(reading, "FEW_FILES", 1)
    spread = ingest(lake, [folder / "whole"], "spread", options)
    assert spread.to_json() == {**here.to_json(), "snapshot_id": "spread"}
    assert [reject.line for reject in spread.rejects] == [5]
    assert compare(lake, "here", "spread").changes == ()
    sources = {row.source for row in lake.read("queues").where("snapshot_id = 'spread'").collect()}
    assert f"{folder / 'whole' / 'QM1' / 'dump [1].mqsc'}:3" in sources
    before = versions(lake)
    ingest(lake, [folder / "whole"], "spread", options)
    assert versions(lake) == before
    with pytest.raises(IngestError, match=r"dump.*names no queue manager"):
        ingest(lake, [folder / "whole"], "nobody")
    with pytest.raises(IngestError, match=r"1 piece\(s\) cannot be used.*dump.mqsc:5"):
        ingest(lake, [folder / "whole"], "strict", IngestOptions(NOON, "{folder}", strict=True))
    assert versions(lake) == before


@pytest.mark.fault(9)
def test_a_snapshot_killed_between_two_tables_is_in_force_only_when_it_is_whole(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "killed"))
    script = tmp_path / "QM1.mqsc"
    script.write_text(QM1)

    def kill_while(snapshot_id, table):
        words = [sys.executable, str(SCRIPT), lake.root, str(script), snapshot_id, table]
        done = subprocess.run(words, start_new_session=True, check=False, capture_output=True)
        assert done.returncode == -signal.SIGKILL

    def state():
        return {x.snapshot_id: (x.status, x.being_written) for x in list_snapshots(lake)}

    kill_while("S1", "queues")
    # Half of it is there, and nobody sees it.
    assert lake.read("queues").count() == 2
    assert state() == {}
    ingest(lake, [script], "S1", IngestOptions(observer="QM1"))
    assert state() == {"S1": ("VALID", False)}

    script.write_text(QM1.replace("CLWLWGHT(10)", "CLWLWGHT(20)").replace("RANK(1)", "RANK(2)"))
    kill_while("S1", "cluster_channels")
    assert state() == {"S1": ("QUARANTINED", True)}
    ingest(lake, [script], "S1", IngestOptions(observer="QM1"))
    assert state() == {"S1": ("VALID", False)}
    assert lake.read("queues").where("clwlrank = 2").count() == 1
