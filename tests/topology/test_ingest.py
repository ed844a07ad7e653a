"""Files into a snapshot: again changes nothing, others are merged, strict refuses all."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import IngestError, LakeStateError
from clwl_spark.snapshots.ingest import STEM, IngestOptions, ingest
from clwl_spark.tables import ROUTE_PLANS, TABLES

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
QM1 = """
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one(1414)') CLUSTER(K) CLWLWGHT(10)
DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSSDR) CONNAME('two(1414)') CLUSTER(K) CLWLRANK(4)
DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(1)
"""
QM2 = """
DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CONNAME('two(1414)') CLUSTER(K)
DEFINE QLOCAL(APP.Q) CLUSTER(K)
DEFINE QLOCAL(+ELSE+.Q)
"""


@pytest.fixture
def folder(tmp_path):
    """Scripts of two queue managers, one in a subfolder, and what is to be left alone."""
    scripts = tmp_path / "scripts"
    (scripts / "more").mkdir(parents=True)
    (scripts / ".git").mkdir()
    (scripts / "QM1.mqsc").write_text(QM1)
    (scripts / "more" / "QM2.mqsc").write_text(QM2)
    (scripts / ".hidden.mqsc").write_text("nothing of MQ's")
    (scripts / ".git" / "config").write_text("nothing of MQ's")
    return scripts


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


def versions(lake):
    return {name: lake.version(name) for name in TABLES if lake.exists(name)}


def column(lake, table, name):
    return sorted(row[0] for row in lake.read(table).select(name).collect())


def test_ingesting_again_changes_nothing_and_other_files_are_merged(lake, folder, tmp_path):
    summary = ingest(lake, [folder], "S1", IngestOptions(NOON, STEM))
    assert summary.files == 2
    assert summary.rows["queues"] == 2
    assert summary.rows["cluster_channels"] == 2
    assert summary.rows["cluster_senders"] == 1
    assert [reject.line for reject in summary.rejects] == [4]
    assert column(lake, "cluster_channels", "qmgr") == ["QM1", "QM2"]
    assert column(lake, "cluster_senders", "clwlrank") == [4]
    assert column(lake, "ingest_rejects", "file") == [str(folder / "more" / "QM2.mqsc")]

    refused = lake.read("snapshots").withColumn("status", F.lit("QUARANTINED"))
    lake.replace("snapshots", refused, "snapshot_id", ["S1"])
    before = versions(lake)
    again = ingest(lake, [folder], "S1", IngestOptions(observer=STEM))
    assert again.to_json() == summary.to_json()
    assert versions(lake) == before

    other = tmp_path / "QM3.txt"
    other.write_text("DEFINE QLOCAL(APP.Q) CLUSTER(K)\nDEFINE QLOCAL(NEW.Q)\n")
    (tmp_path / "QM1.txt").write_text("DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(7)\n")
    merged = ingest(lake, [other, tmp_path / "QM1.txt"], "S1", IngestOptions(observer=STEM))
    assert merged.rows["queues"] == 3
    assert merged.replaced["queues"] == 1
    ranks = {(row.qmgr, row.queue): row.clwlrank for row in lake.read("queues").collect()}
    assert ranks == {
        ("QM1", "APP.Q"): 7, ("QM2", "APP.Q"): None, ("QM3", "APP.Q"): None, ("QM3", "NEW.Q"): None
    }  # fmt: skip
    (head,) = lake.read("snapshots").selectExpr("*", "unix_seconds(valid_from) AS start").collect()
    assert head.start == NOON.timestamp()
    # What a gate said was said of the old content.
    assert head.status == "VALID"
    assert head.source == f"{folder}; {other}; {tmp_path / 'QM1.txt'}"
    assert lake.read("ingest_rejects").isEmpty()


def test_the_document_is_the_contract_s(lake, folder):
    document = ingest(lake, [folder / "QM1.mqsc"], "S1", IngestOptions(observer="GATE")).to_json()
    assert list(document)[:4] == ["snapshot_id", "files", "rows", "rejects"]
    assert document["snapshot_id"] == "S1"
    assert document["rejects"] == []
    assert column(lake, "queues", "qmgr") == ["GATE"]


def test_a_used_snapshot_is_refused(lake, folder, spark):
    ingest(lake, [folder / "QM1.mqsc"], "S1", IngestOptions(observer=STEM))
    plan = {"plan_id": 1, "snapshot_id": "S1"}
    row = tuple(plan.get(name) for name in ROUTE_PLANS.names)
    lake.create([ROUTE_PLANS])
    lake.append("route_plans", spark.createDataFrame([row], ROUTE_PLANS.schema))
    before = versions(lake)
    with pytest.raises(LakeStateError, match="used by routing"):
        ingest(lake, [folder / "more"], "S1", IngestOptions(observer=STEM))
    assert versions(lake) == before


def test_what_cannot_be_used_at_all_is_refused_and_leaves_no_lake(lake, folder, tmp_path):
    with pytest.raises(IngestError, match=r"1 piece.*QM2.mqsc:4"):
        ingest(lake, [folder], "S1", IngestOptions(observer=STEM, strict=True))
    with pytest.raises(IngestError, match="queue manager"):
        ingest(lake, [folder / "QM1.mqsc"], "S1")
    with pytest.raises(IngestError, match="no such file"):
        ingest(lake, [folder / "gone"], "S1")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(IngestError, match="no files"):
        ingest(lake, [empty], "S1")
    (empty / "notes.txt").write_text("Dear diary,\n")
    with pytest.raises(IngestError, match="nothing in 1 file"):
        ingest(lake, [empty], "S1", IngestOptions(observer="QM1"))
    assert not lake.exists("snapshots")


def test_the_stem_stands_only_for_texts_that_name_no_queue_manager(lake, tmp_path):
    dump = tmp_path / "export.txt"
    dump.write_text("Starting MQSC for queue manager QM7.\n" + QM1)
    (tmp_path / "QM8.mqsc").write_text(QM2)
    ingest(lake, [dump, tmp_path / "QM8.mqsc"], "S1", IngestOptions(observer=STEM))
    assert set(column(lake, "queues", "qmgr")) <= {"QM7", "QM8"}
    assert "QM8" in column(lake, "queues", "qmgr")
