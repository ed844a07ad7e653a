"""Maintenance beside Apache Spark: its streams go on, and tables elsewhere are its own work."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from aged import grow_older, listed

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.upkeep import Permission
from clwl_spark.routing.maintenance import permissions
from clwl_spark.routing.maintenance.by_spark import maintain_by_spark
from clwl_spark.routing.maintenance.upkeep import maintain
from clwl_spark.spark.conf import with_settings
from clwl_spark.tables import MESSAGES, SNAPSHOTS

pytestmark = pytest.mark.spark

SIZES = ["--qmgrs", "4", "--queues", "2", "--instances", "2", "--messages", "40"]
AT = datetime(2026, 1, 2, tzinfo=UTC)
WEEK = timedelta(days=7)


def kept_up(lake, *, dry_run=False):
    found = maintain(lake, WEEK, dry_run=dry_run, tell=lambda *_: None)
    return {x.table: x for x in found.tables}


def put(lake, first, last):
    """Messages in a commit each."""
    for at in range(first, last):
        row = {"qmgr": "QM1", "put_seq": at, "put_time": AT, "object_name": "Q1"}
        fields = dict.fromkeys(MESSAGES.names) | row
        rows = pa.Table.from_pylist([fields], schema=lake.arrow_schema("messages"))
        lake.append("messages", rows)


def outcomes(lake):
    rows = lake.read("outcomes").select("qmgr", "put_seq", "dest_qmgr").collect()
    return sorted(map(tuple, rows))


def test_routing_goes_on_after_compaction_and_after_the_old_files_are_gone(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "lake"))
    assert main(["generate", "--lake", lake.root, *SIZES, "--quiet"]) == 0
    route = ["route", "--lake", lake.root, "--quiet"]
    put(lake, 1001, 1004)
    assert main(route) == 0
    put(lake, 1004, 1007)
    assert main(route) == 0
    assert len(outcomes(lake)) == 46
    before = outcomes(lake)
    assert kept_up(lake)["messages"].files_after == 1
    put(lake, 1007, 1009)
    found = kept_up(lake)
    assert "not routed yet" in found["messages"].note
    assert found["outcomes"].note == ""
    assert main(route) == 0
    grow_older(lake.root, 20)
    found = kept_up(lake)
    assert (found["messages"].note, found["messages"].files_after) == ("", 1)
    assert found["messages"].files_deleted > 6
    assert found["outcomes"].files_deleted > 0
    put(lake, 1009, 1011)
    assert main(route) == 0
    after = outcomes(lake)
    assert [x[1] for x in after if x[1] > 1000] == list(range(1001, 1011))
    assert len(after) == len(set(after)) == 50
    assert set(before) <= set(after)


def test_tables_elsewhere_are_maintained_by_spark(spark, tmp_path, monkeypatch):
    lake = Lake(spark, str(tmp_path / "lake"))
    lake.create([MESSAGES])
    put(lake, 1001, 1003)
    elsewhere = Lake(lake.spark, f"file:{lake.root}")
    found = kept_up(elsewhere)
    assert "not routed yet" in found["messages"].note
    version = elsewhere.version("messages")
    row = {
        "status": "DONE",
        "messages_id": "T",
        "messages_version": version,
        "memory_version": 1,
        "checkpoint": None,
        "batch_id": 0,
        "algorithm": "v9",
        "router_id": "256-0af",
    }
    monkeypatch.setattr(permissions, "_newest_runs", lambda _lake: [row])
    before = listed(lake.root)
    would = kept_up(elsewhere, dry_run=True)["messages"]
    assert listed(lake.root) == before
    done = kept_up(elsewhere)["messages"]
    assert would.files_before == done.files_before > done.files_after == 1
    assert (would.files_after, done.note) == (None, "")
    grow_older(lake.root, 8)
    done = kept_up(elsewhere)["messages"]
    assert done.files_deleted == would.files_before
    assert done.bytes_freed is None
    assert len(list(Path(lake.path("messages")).glob("*.parquet"))) == 1
    assert elsewhere.read("messages").count() == 2


def test_few_files_are_looked_for_in_few_tasks(spark, tmp_path):
    """Spark's own numbers are 200 and 10,000, for each step of VACUUM."""
    lake = Lake(spark, f"file:{tmp_path / 'lake'}")
    lake.create([MESSAGES])
    executors = spark.sparkContext._jsc.sc().statusStore()
    own = {
        "spark.sql.shuffle.partitions": "200",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "10000",
    }
    with with_settings(spark, own):
        before = executors.executorSummary("driver").totalTasks()
        maintain_by_spark(lake, MESSAGES.name, Permission(), WEEK, dry_run=True)
        assert executors.executorSummary("driver").totalTasks() - before < 100
        assert {x: spark.conf.get(x) for x in own} == own


def test_a_folder_of_change_data_is_no_file_to_delete(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "lake"))
    lake.create([SNAPSHOTS])
    for status in ("VALID", "QUARANTINED"):
        row = dict.fromkeys(SNAPSHOTS.names) | {"snapshot_id": "S", "status": status}
        lake.merge("snapshots", pa.Table.from_pylist([row], schema=lake.arrow_schema("snapshots")))
    assert Path(lake.path("snapshots"), "_change_data").is_dir()
    elsewhere = Lake(spark, f"file:{lake.root}")
    assert kept_up(elsewhere, dry_run=True)["snapshots"].files_deleted == 0
