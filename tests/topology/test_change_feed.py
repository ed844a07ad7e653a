"""What a changed row costs: the change data feed has it alone, and tables of others do too."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from small_worlds import qmgr, queue, rcvr
from topology_frames import frames

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.write import Snapshot, write_snapshot
from clwl_spark.tables import QUEUES, TOPOLOGY

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
HEAD = Snapshot("S1", NOON, "test")
QUEUE_NUMBERS = range(400)


def world(*changed, left_out=()):
    """Many queues, those changed with another rank."""
    queues = [
        queue("QM1", f"APP.{at}", "K", clwlrank=9 if at in changed else 0)
        for at in QUEUE_NUMBERS
        if at not in left_out
    ]
    return (qmgr("QM1"), rcvr("QM1"), *queues)


def feed(lake, table, version):
    """(kind of change, queue) of the table's rows in the feed of one version."""
    rows = pa.table(DeltaTable(lake.path(table)).load_cdf(version)).to_pylist()
    return sorted((row["_change_type"], row["queue"]) for row in rows)


def data_bytes(lake, table):
    return sum(x.stat().st_size for x in Path(lake.path(table)).glob("*.parquet"))


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    lake = Lake(spark, str(tmp_path_factory.mktemp("feed") / "lake"))
    write_snapshot(lake, HEAD, frames(spark, *world()))
    return lake


def test_the_feed_has_only_the_rows_that_changed(lake, spark):
    write_snapshot(lake, HEAD, frames(spark, *world(7, left_out=(11,))))
    assert feed(lake, "queues", lake.version("queues")) == [
        ("delete", "APP.11"),
        ("update_postimage", "APP.7"),
        ("update_preimage", "APP.7"),
    ]
    rows = lake.read("queues")
    assert rows.count() == len(QUEUE_NUMBERS) - 1
    assert [row.queue for row in rows.where("clwlrank = 9").collect()] == ["APP.7"]


def test_every_table_of_the_topology_keeps_its_feed(lake):
    for table in TOPOLOGY:
        properties = DeltaTable(lake.path(table.name)).metadata().configuration
        assert properties["delta.enableChangeDataFeed"] == "true"


def test_another_snapshot_costs_little(lake, spark):
    before = data_bytes(lake, "queues")
    write_snapshot(lake, Snapshot("S2", NOON, "test"), frames(spark, *world(7)))
    # Its 400 rows compress well, since they come in the order of the keys.
    assert data_bytes(lake, "queues") - before < 400 * 40


@pytest.mark.spark
def test_a_table_of_others_without_our_columns_gets_them_when_it_is_written(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "theirs"))
    theirs = [x.name for x in QUEUES.columns if not x.optional]
    rows = frames(spark, queue("QM1", "THEIRS", "K"), snapshot_id="S0")["queues"].select(*theirs)
    rows.write.format("delta").save(lake.path("queues"))
    assert lake.read("queues").select("source", "altered").first() == (None, None)
    read_from = spark.createDataFrame([("a.txt:3",)], "source string")
    ours = frames(spark, queue("QM1", "OURS", "K"))["queues"].drop("source").crossJoin(read_from)
    write_snapshot(lake, HEAD, {"queues": ours})
    found = {row.queue: row.source for row in lake.read("queues").collect()}
    assert found == {"THEIRS": None, "OURS": "a.txt:3"}
