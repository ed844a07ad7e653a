"""Rows in memory written without Spark: Spark and others find what Spark would have written."""

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from lakes import lake_with
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from clwl_spark.delta.creation import create_in_folder, create_statement
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.delta.writes import append_rows, delete_rows, merge_rows
from clwl_spark.errors import CannotWriteError, InputError
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES, RUNS, SNAPSHOTS, TABLES

SPARKS = (PySparkException, Py4JJavaError)
AT = datetime(2024, 5, 6, 12, 30, 0, 250_001, tzinfo=UTC)
RUN = {"started_at": AT, "status": "RUNNING", "batch_id": 0, "snapshots": ["S", None, "Ü"]}
ROWS = {
    "runs": [
        {"run_id": "R1", **RUN, "seconds": 1.5, "by_reason": [("0", 3), ("2085", None)]},
        {"run_id": "R2", "snapshots": [], "by_reason": []},
    ],
    "snapshots": [
        {"snapshot_id": "S1", "valid_from": AT, "status": "VALID", "being_written": True},
        {"snapshot_id": "S 'ä'"},
    ],
    "outcomes": [
        {"qmgr": "QM", "put_seq": 2**62, "message_id": b"\x00\xff", "put_time": AT, "reason": 0},
        {"qmgr": "", "put_seq": -1, "put_time": datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)},
    ],
    "balance_history": [
        {"qmgr": "QM", "dest_qmgr": "A", "channel": "TO.A", "dest_seq_number": 1},
        {"qmgr": "QM", "dest_qmgr": "B", "channel": "TO.B", "dest_seq_factor": 2},
    ],
}
CHANGED = {
    "runs": [ROWS["runs"][0], {"run_id": "R2", "status": "DONE"}, {"run_id": "R3"}],
    "snapshots": [{"snapshot_id": "S1", "status": "QUARANTINED"}, {"snapshot_id": "S9"}],
    "balance_history": [
        {"qmgr": "QM", "dest_qmgr": "B", "channel": "TO.B", "dest_seq_number": 7},
        {"qmgr": "QN", "dest_qmgr": "B", "channel": "TO.B"},
    ],
}


def arrow(lake: Lake, name: str, rows: list[dict]) -> pa.Table:
    """Rows in memory, as a caller has them."""
    names = TABLES[name].names
    return lake.arrow_rows(name, [[row.get(x) for x in names] for row in rows])


def frame(lake: Lake, name: str, rows: list[dict]):
    """The same rows for Spark to write."""
    return lake.spark.createDataFrame(arrow(lake, name, rows), TABLES[name].schema)


def read(lake: Lake, name: str) -> list[str]:
    return sorted(map(str, lake.read(name).collect()))


def read_outside_spark(lake: Lake, name: str) -> list[str]:
    return sorted(map(str, DeltaTable(lake.path(name)).to_pyarrow_table().to_pylist()))


def log_of(folder: str) -> list[dict]:
    """All actions of a table's log, in order."""
    commits = sorted(Path(folder, "_delta_log").glob("*.json"))
    return [json.loads(line) for x in commits for line in x.read_text().splitlines()]


def newest_writer(lake: Lake, name: str) -> str:
    """Who made the newest commit."""
    infos = [x["commitInfo"] for x in log_of(lake.path(name)) if "commitInfo" in x]
    return "Spark" if "Spark" in infos[-1]["engineInfo"] else "delta-rs"


@pytest.fixture
def lakes(spark, tmp_path):
    """Two lakes with the tables of ROWS, empty."""
    return [lake_with(spark, tmp_path / name, ROWS) for name in ("ours", "sparks")]


def described(folder: Path) -> list[object]:
    """What a table's log says of the table, but for its id and moment."""
    said = []
    for action in log_of(str(folder)):
        for kind in action.keys() & {"metaData", "protocol"}:
            found = {x: y for x, y in action[kind].items() if x not in ("id", "createdTime")}
            if kind == "metaData":
                found["schemaString"] = json.loads(found["schemaString"])
            else:
                found["writerFeatures"] = sorted(found.get("writerFeatures", []))
            said.append((kind, found))
    return sorted(said, key=str)


@pytest.mark.spark
def test_every_table_is_made_as_sparks_sql_makes_it(spark, tmp_path):
    def make(table):
        assert create_in_folder(str(tmp_path / "ours" / table.name), table)
        spark.sql(create_statement(f"delta.`{tmp_path}/sparks/{table.name}`", table))

    run_parallel(spark, make, TABLES.values())
    for name in TABLES:
        expected = described(tmp_path / "sparks" / name)
        assert len(expected) == 2
        assert described(tmp_path / "ours" / name) == expected, name


@pytest.mark.spark
def test_spark_keeps_to_what_a_table_says_that_was_made_without_it(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    lake.create([SNAPSHOTS])
    said = spark.sql(f"DESCRIBE TABLE {lake.sql_name('snapshots')}").collect()
    comments = {row.col_name: row.comment for row in said}
    assert all(comments[x.name] == x.comment for x in SNAPSHOTS.columns)
    into = f"INSERT INTO {lake.sql_name('snapshots')} (snapshot_id, status) VALUES"
    spark.sql(f"{into} ('S', 'VALID')")
    for values in ("('T', 'PERHAPS')", "(NULL, 'VALID')"):
        with pytest.raises(SPARKS):
            spark.sql(f"{into} {values}")
    assert [row.snapshot_id for row in lake.read("snapshots").collect()] == ["S"]


def test_a_table_that_is_there_is_left_as_it_is(lakes):
    ours, _ = lakes
    ours.append("runs", arrow(ours, "runs", ROWS["runs"]))
    before = log_of(ours.path("runs"))
    ours.create([RUNS])
    assert log_of(ours.path("runs")) == before


def test_a_table_is_made_once_by_many(lakes, tmp_path):
    assert lakes, "Spark, which knows the types of columns, is running"
    folder = str(tmp_path / "runs")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: create_in_folder(folder, RUNS), range(8)))
    assert any(made)
    assert DeltaTable(folder).version() == 0
    assert [x.name for x in Path(folder, "_delta_log").iterdir()] == [f"{0:020}.json"]


def test_a_table_is_made_once_there_is_room_for_it(tmp_path, monkeypatch):
    """What a full disk or a killed process left of its first commit is in nobody's way."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "runs"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(CannotWriteError, match="make room"):
            create_in_folder(str(folder), RUNS)
    assert [*(folder / "_delta_log").iterdir()] == []
    (folder / "_delta_log" / ".killed.tmp").touch()
    assert create_in_folder(str(folder), RUNS)
    assert DeltaTable(str(folder)).version() == 0


def test_where_other_files_are_no_table_is_made(lakes, tmp_path):
    """Spark says then what is there."""
    assert lakes, "Spark, which knows the types of columns, is running"
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "notes.parquet").write_text("mine")
    assert not create_in_folder(str(tmp_path / "runs"), RUNS)
    assert [x.name for x in (tmp_path / "runs").iterdir()] == ["notes.parquet"]


@pytest.mark.spark
@pytest.mark.parametrize("name", ROWS)
def test_appended_rows_read_as_those_that_spark_appends(lakes, name):
    ours, sparks = lakes
    ours.append(name, arrow(ours, name, ROWS[name]))
    sparks.append(name, frame(sparks, name, ROWS[name]))
    assert newest_writer(ours, name) == "delta-rs"
    assert newest_writer(sparks, name) == "Spark"
    assert len(read(ours, name)) == len(ROWS[name])
    assert read(ours, name) == read(sparks, name)
    assert read_outside_spark(ours, name) == read_outside_spark(sparks, name)


@pytest.mark.spark
@pytest.mark.parametrize("name", CHANGED)
def test_merged_rows_read_as_those_that_spark_merges_once_or_twice(lakes, name):
    ours, sparks = lakes
    for lake, given in ((ours, arrow), (sparks, frame)):
        lake.append(name, given(lake, name, ROWS[name]))
        lake.merge(name, given(lake, name, CHANGED[name]))
    assert newest_writer(ours, name) == "delta-rs"
    assert newest_writer(sparks, name) == "Spark"
    once = read(ours, name)
    assert once == read(sparks, name)
    ours.merge(name, arrow(ours, name, CHANGED[name]))
    assert read(ours, name) == once


@pytest.mark.spark
def test_the_change_feed_says_what_was_merged(lakes):
    said = []
    for lake, given in zip(lakes, (arrow, frame), strict=True):
        for write, rows in ((lake.append, ROWS), (lake.merge, CHANGED)):
            write("snapshots", given(lake, "snapshots", rows["snapshots"]))
        feed = lake.spark.read.option("readChangeFeed", "true").option("startingVersion", 1)
        changes = feed.format("delta").load(lake.path("snapshots")).drop("_commit_timestamp")
        said.append(sorted(map(str, changes.collect())))
    assert newest_writer(lakes[0], "snapshots") == "delta-rs"
    assert said[0] == said[1]
    assert len(said[0]) == 5, "two inserts, one of them updated (before, after), another insert"


def test_deleted_rows_are_gone(lakes):
    ours, _ = lakes
    ours.append("runs", arrow(ours, "runs", ROWS["runs"]))
    ours.delete("runs", "run_id", "R1")
    assert newest_writer(ours, "runs") == "delta-rs"
    assert [row.run_id for row in ours.read("runs").collect()] == ["R2"]


def check_clearing(lake):
    rows = [
        {"run_id": x, "status": y, "batch_id": 1} for x, y in (("R1", "DONE"), ("R2", "RUNNING"))
    ]
    lake.append("runs", arrow(lake, "runs", rows))
    lake.clear("runs", "batch_id", {"run_id": ["R1", "R2"], "status": ["DONE"]})
    found = {row.run_id: row.batch_id for row in lake.read("runs").collect()}
    assert found == {"R1": None, "R2": 1}


def test_a_column_is_cleared_in_the_rows_that_have_it_all(lakes):
    check_clearing(lakes[0])


@pytest.mark.spark
def test_spark_clears_a_column_where_the_table_asks_more_of_writers(lakes):
    lake, _ = lakes
    name = lake.sql_name("runs")
    lake.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    check_clearing(lake)
    assert newest_writer(lake, "runs") != "delta-rs"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("snapshots", {"snapshot_id": "S", "status": "PERHAPS"}),
        ("snapshots", {"status": "VALID"}),
        ("rejected_messages", {"error": "PERHAPS"}),
        ("channel_status", {"snapshot_id": "S", "qmgr": "Q", "channel": "C", "chltype": "SDR"}),
    ],
)
def test_rows_that_break_a_rule_of_the_table_are_refused(spark, tmp_path, name, row):
    lake = lake_with(spark, tmp_path / "lake", [name])
    for write in (lake.append, lake.merge) if TABLES[name].keys else (lake.append,):
        with pytest.raises(InputError, match=name):
            write(name, arrow(lake, name, [row]))
    assert lake.version(name) == 0


@pytest.mark.spark
def test_a_transaction_is_written_once_by_whichever_way_on_spark(lakes):
    check_transactions(lakes[0])


def test_a_transaction_is_written_once_by_whichever_way(lakes):
    check_transactions(lakes[0])


def check_transactions(lake):
    turns = [(arrow, 3), (arrow, 3), (frame, 3), (frame, 4), (arrow, 4), (arrow, 2), (arrow, 5)]
    for given, version in turns:
        rows = given(lake, "runs", [{"run_id": f"R{version}"}])
        lake.append("runs", rows, Transaction("app", version))
    assert sorted(row.run_id for row in lake.read("runs").collect()) == ["R3", "R4", "R5"]
    lake.append("runs", arrow(lake, "runs", [{"run_id": "R3"}]), Transaction("another", 3))
    assert lake.read("runs").count() == 4


def test_a_transaction_is_written_once_by_many_at_a_time(lakes):
    lake, _ = lakes
    rows = arrow(lake, "runs", ROWS["runs"][:1])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append_rows(lake.path("runs"), RUNS, rows, ("app", 1)), range(8)))
    assert lake.read("runs").count() == 1


def test_merges_at_a_time_lose_nothing(lakes):
    """Those that find another one faster look anew."""
    lake, _ = lakes
    name = "balance_history"
    lake.append(name, arrow(lake, name, ROWS[name]))
    more = [[{"qmgr": f"QM{at}", "dest_qmgr": "A", "channel": "TO.A"}] for at in range(4)]
    given = [arrow(lake, name, rows) for rows in more]
    with ThreadPoolExecutor(4) as pool:
        merged = pool.map(lambda rows: merge_rows(lake.path(name), BALANCE_HISTORY, rows), given)
        assert all(merged)
    assert lake.read(name).count() == 6


def test_no_rows_are_no_commit(lakes):
    lake, _ = lakes
    lake.append("runs", arrow(lake, "runs", []))
    lake.merge("runs", arrow(lake, "runs", []))
    assert lake.version("runs") == 0


UNKNOWN = {
    "deletion vectors": "SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)",
    "column mapping": "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
    "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')",
    "row tracking": "SET TBLPROPERTIES ('delta.enableRowTracking' = true)",
    "append only": "SET TBLPROPERTIES ('delta.appendOnly' = true)",
    "a property": "SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 90 days')",
    "a constraint": "ADD CONSTRAINT short CHECK (length(run_id) < 9)",
    "a column": "ADD COLUMNS (note string)",
}


@pytest.mark.spark
@pytest.mark.parametrize("what", UNKNOWN)
def test_a_table_with_more_than_ours_have_is_left_to_spark(lakes, what):
    lake, _ = lakes
    lake.spark.sql(f"ALTER TABLE {lake.sql_name('runs')} {UNKNOWN[what]}")
    rows, folder = arrow(lake, "runs", ROWS["runs"]), lake.path("runs")
    assert not append_rows(folder, RUNS, rows)
    assert not merge_rows(folder, RUNS, rows)
    assert not delete_rows(folder, RUNS, "true")
    lake.append("runs", rows)
    assert newest_writer(lake, "runs") == "Spark"
    assert len(read(lake, "runs")) == 2


@pytest.mark.spark
def test_a_table_of_others_is_left_to_spark(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    rows = arrow(lake, "outcomes", ROWS["outcomes"])
    others = spark.createDataFrame(rows.select(OUTCOMES.names[::-1]))
    others.write.format("delta").partitionBy("qmgr").save(lake.path("outcomes"))
    assert not append_rows(lake.path("outcomes"), OUTCOMES, rows)
    lake.append("outcomes", rows)
    assert lake.read("outcomes").count() == 4


@pytest.mark.spark
def test_a_key_that_comes_twice_is_refused_as_spark_refuses_it(lakes):
    lake, _ = lakes
    name = "balance_history"
    lake.append(name, arrow(lake, name, ROWS[name]))
    twice = arrow(lake, name, [ROWS[name][0], ROWS[name][0]])
    assert not merge_rows(lake.path(name), BALANCE_HISTORY, twice)
    with pytest.raises(SPARKS, match="DELTA_MULTIPLE_SOURCE_ROW_MATCHING"):
        lake.merge(name, twice)


@pytest.mark.spark
def test_a_lake_elsewhere_is_left_to_spark(spark, tmp_path):
    lake = Lake(spark, f"file:{tmp_path}")
    assert not lake.is_here
    lake.create([RUNS])
    lake.append("runs", arrow(lake, "runs", ROWS["runs"]))
    lake.merge("runs", arrow(lake, "runs", CHANGED["runs"]))
    lake.delete("runs", "run_id", "R1")
    at = Lake(spark, str(tmp_path))
    assert newest_writer(at, "runs") == "Spark"
    assert [row.run_id for row in lake.read("runs").orderBy("run_id").collect()] == ["R2", "R3"]
    assert lake.version("runs") == at.version("runs") == 3


@pytest.mark.spark
def test_where_sparks_files_are_elsewhere_by_default_so_is_the_lake(spark, tmp_path):
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    before = conf.get("fs.defaultFS")
    try:
        conf.set("fs.defaultFS", "hdfs://somewhere:8020")
        assert not Lake(spark, str(tmp_path)).is_here
    finally:
        conf.set("fs.defaultFS", before)
    assert Lake(spark, str(tmp_path)).is_here


@pytest.mark.spark
def test_a_table_that_lacks_columns_of_ours_gets_them(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    optional = [x.name for x in SNAPSHOTS.columns if x.optional]
    assert optional
    rows = arrow(lake, "snapshots", ROWS["snapshots"])
    spark.createDataFrame(rows.drop_columns(optional)).write.format("delta").save(
        lake.path("snapshots")
    )
    lake.append("snapshots", rows)
    given = next(x for x in optional if rows[x][0].is_valid)
    assert lake.read("snapshots").where(f"{given} IS NOT NULL").count() == 1


@pytest.mark.spark
def test_a_frame_of_few_rows_is_written_without_spark(spark, tmp_path):
    lakes = [lake_with(spark, tmp_path / name) for name in ("known", "unknown")]
    for lake, most in zip(lakes, (len(ROWS["snapshots"]), None), strict=True):
        lake.append("snapshots", frame(lake, "snapshots", ROWS["snapshots"]), most=most)
        assert ("delta-rs" in newest_writer(lake, "snapshots")) == (most is not None)
        others = frame(lake, "snapshots", CHANGED["snapshots"])
        lake.replace("snapshots", others, "snapshot_id", ["S1", "S9"], most)
        assert ("delta-rs" in newest_writer(lake, "snapshots")) == (most is not None)
    known, unknown = (read(x, "snapshots") for x in lakes)
    assert known == unknown
    assert len(known) == 3


@pytest.mark.spark
def test_no_rows_are_no_commit_wherever_they_would_be_written(spark, tmp_path):
    lake = lake_with(spark, tmp_path / "lake")
    elsewhere = Lake(spark, f"file:{lake.root}")
    for at in (lake, elsewhere):
        before = log_of(lake.path("snapshots"))
        at.append("snapshots", arrow(at, "snapshots", []))
        assert log_of(lake.path("snapshots")) == before
