"""Small tables read without Spark: the rows are those that Spark reads."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from damaged_lakes import copied
from deltalake import write_deltalake
from lakes import lake_with
from pyspark.sql import functions as F
from worlds import frame

from clwl_spark.delta.files import (
    dataset_of,
    greatest_rows,
    is_only_appended,
    new_files,
    newest_version,
)
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import MissingColumnsError, MissingLakeError
from clwl_spark.tables import SNAPSHOTS, TABLES

NAME = "snapshots"
WANTED = SNAPSHOTS.arrow(SNAPSHOTS.names)
TYPES = [(x.name, x.type) for x in SNAPSHOTS.columns]
ROWS = [
    {"snapshot_id": "S1", "valid_from": datetime(2024, 5, 6, 12, tzinfo=UTC), "status": "VALID"},
    {"snapshot_id": "S2", "valid_from": datetime(2024, 5, 6, 13, 30, 0, 250_000, tzinfo=UTC)},
    {"snapshot_id": "S3", "status": "QUARANTINED"},
]


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """A lake with three snapshots, in two files."""
    found = lake_with(spark, tmp_path_factory.mktemp("made") / "lake", [NAME])
    found.append(NAME, frame(spark, NAME, ROWS[:2]).repartition(1))
    found.append(NAME, frame(spark, NAME, ROWS[2:]).repartition(1))
    return found


@pytest.fixture
def lake(made, tmp_path):
    """A copy of it."""
    return copied(made, tmp_path / "lake")


def same(lake, column="", values=()):
    """Rows of `read`, which are those that Spark reads."""
    names = TABLES[NAME].names
    few = lake.read_or_empty(NAME, column, values).select(*names)
    expected = lake.spark.sql(f"SELECT * FROM {lake.sql_name(NAME)}")  # noqa: S608  (our table)
    expected = expected.where(F.col(column).isin(list(values))) if column else expected
    assert few.dtypes == TYPES
    found = sorted(map(tuple, few.collect()), key=repr)
    assert found == sorted(map(tuple, expected.select(*names).collect()), key=repr)
    return found


def in_memory(lake):
    return lake.few_in_memory(NAME) is not None


@pytest.mark.spark
def test_few_rows_are_those_that_spark_reads(lake):
    counts = [
        ("", (), 3),
        ("snapshot_id", ["S1"], 1),
        ("snapshot_id", ["S3", "S1", "S9"], 2),
        ("snapshot_id", ["S9"], 0),
        ("snapshot_id", [], 0),
        ("status", ["VALID"], 1),
    ]
    for column, values, count in counts:
        assert len(same(lake, column, values)) == count
    assert in_memory(lake)


def test_a_table_that_is_not_there_has_no_rows_or_is_missed(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    assert lake.read_or_empty(NAME).dtypes == TYPES
    assert lake.read_or_empty(NAME).isEmpty()
    assert lake.few_in_memory(NAME).num_rows == 0
    for read in (lake.read, lake.expect):
        with pytest.raises(MissingLakeError):
            read(NAME)


@pytest.mark.spark
def test_a_table_is_passed_over_without_being_held(lake, spark, tmp_path):
    wanted = ["snapshot_id", "status"]
    rows = lake.dataset(NAME).to_table(wanted)
    assert rows.sort_by("snapshot_id") == lake.few_in_memory(NAME, names=wanted).sort_by(
        "snapshot_id"
    )
    assert lake.dataset("queues").count_rows() == 0, "there is no such table"
    clone = Lake(spark, str(tmp_path / "clone"))
    spark.sql(f"CREATE TABLE {clone.sql_name(NAME)} SHALLOW CLONE {lake.sql_name(NAME)}")
    assert clone.dataset(NAME) is None, "its files are elsewhere"


@pytest.mark.spark
def test_a_table_without_rows_is_read_in_memory(spark, tmp_path):
    lake = lake_with(spark, tmp_path / "lake", [NAME])
    assert same(lake) == []
    assert in_memory(lake)


@pytest.mark.spark
def test_columns_that_others_add_are_left_out(spark, lake):
    wider = frame(spark, NAME, [{"snapshot_id": "S4"}]).withColumn("note", F.lit("by hand"))
    wider = wider.select("note", *reversed(SNAPSHOTS.names))
    wider.write.format("delta").option("mergeSchema", "true").mode("append").save(lake.path(NAME))
    assert len(same(lake)) == 4
    assert in_memory(lake)


@pytest.mark.spark
def test_deleted_rows_stay_deleted_where_spark_only_marks_them(spark, lake):
    """Deletion vectors: the file still has the row."""
    table = lake.sql_name(NAME)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)")
    spark.sql(f"DELETE FROM {table} WHERE snapshot_id = 'S1'")  # noqa: S608  (the test's table)
    assert [row[0] for row in same(lake)] == ["S2", "S3"]
    assert same(lake, "snapshot_id", ["S1"]) == []


@pytest.mark.spark
def test_columns_that_are_renamed_in_the_log_alone_are_read_by_spark(spark, lake):
    """Column mapping: the files know the old name."""
    table = lake.sql_name(NAME)
    spark.sql(
        f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
        "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
    )
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN source TO origin")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN source string")
    assert len(same(lake)) == 3


@pytest.mark.spark
def test_a_table_of_other_types_is_refused_as_spark_refuses_it(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    other = frame(spark, NAME, ROWS).withColumn("valid_from", F.lit(True))
    other.write.format("delta").save(lake.path(NAME))
    for read in (lake.read_or_empty, lake.read, lake.expect):
        with pytest.raises(MissingColumnsError):
            read(NAME)


@pytest.mark.spark
def test_a_table_that_lacks_a_column_is_refused(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    frame(spark, NAME, ROWS).drop("status").write.format("delta").save(lake.path(NAME))
    with pytest.raises(MissingColumnsError):
        lake.read_or_empty(NAME)


def test_more_rows_than_few_are_left_to_spark(spark, tmp_path):
    lake = lake_with(spark, tmp_path / "lake", [NAME])
    rows = [{"snapshot_id": f"S{n}"} for n in range(300)]
    lake.append(NAME, frame(spark, NAME, rows).repartition(1))
    assert lake.few_in_memory(NAME, most=300).num_rows == 300
    assert lake.few_in_memory(NAME, most=299) is None
    assert lake.few_in_memory(NAME, "snapshot_id", ["S1"], 2).num_rows == 1
    many = [f"S{n}" for n in range(100, 5_000)]
    assert lake.in_memory(NAME, "snapshot_id", many, names=["snapshot_id"]).num_rows == 200
    assert lake.read(NAME, "snapshot_id", many).count() == 200


def test_a_column_that_a_table_may_lack_is_null(tmp_path):
    rows = pa.table({"qmgr": ["QM1"], "channel": ["TO.QM2"]})
    write_deltalake(tmp_path / "t", rows)
    wanted = pa.schema([*rows.schema, pa.field("backlog", pa.int64())])
    assert dataset_of(str(tmp_path / "t"), wanted) is None
    found = dataset_of(str(tmp_path / "t"), wanted, optional={"backlog"})
    only = pc.field("qmgr") == "QM1"
    assert found.to_table(["backlog", "qmgr"], filter=only).to_pylist() == [
        {"backlog": None, "qmgr": "QM1"}
    ]


@pytest.mark.parametrize("folder", ["hdfs://host/lake/snapshots", "file:/lake/snapshots"])
def test_other_places_are_left_to_spark(folder):
    assert dataset_of(folder, WANTED) is None


def test_a_folder_that_is_no_delta_table_is_left_to_spark(tmp_path):
    (tmp_path / "_delta_log").mkdir()
    assert dataset_of(str(tmp_path), WANTED) is None
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text("{}\n")
    assert dataset_of(str(tmp_path), WANTED) is None


@pytest.mark.spark
def test_a_catalog_lake_is_read_by_spark(spark, lake):
    spark.sql(f"CREATE SCHEMA few LOCATION '{lake.root}/schema'")
    try:
        spark.sql(f"CREATE TABLE few.{NAME} USING delta LOCATION '{lake.path(NAME)}'")
        found = Lake(spark, "spark_catalog.few", in_catalog=True)
        assert not in_memory(found)
        assert len(same(found, "snapshot_id", ["S1", "S2"])) == 2
        assert found.read_or_empty("queues").isEmpty()
    finally:
        spark.sql("DROP SCHEMA few CASCADE")


def numbered(spark, lake, numbers):
    rows = [{"run_id": f"R{at}", "batch_id": x} for at, x in enumerate(numbers)]
    lake.append("runs", frame(spark, "runs", rows).repartition(1))


def greatest(lake):
    """Ids of the rows with the greatest batch, and whether Spark had to look for them."""
    found = sorted(row["run_id"] for row in lake.greatest("runs", "batch_id"))
    return found, greatest_rows(lake.path("runs"), "batch_id") is None


def test_the_greatest_rows_are_found_by_statistics(spark, tmp_path):
    lake = lake_with(spark, tmp_path / "lake", ["runs"])
    assert greatest(lake) == ([], False)
    numbered(spark, lake, [3, 7, 1])
    numbered(spark, lake, [2, 7])
    numbered(spark, lake, [5, None])
    assert greatest(lake) == (["R1", "R1"], False)


@pytest.mark.spark
def test_without_statistics_spark_finds_the_greatest_rows(spark, tmp_path):
    lake = lake_with(spark, tmp_path / "lake", ["runs"])
    properties = "SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'run_id')"
    spark.sql(f"ALTER TABLE {lake.sql_name('runs')} {properties}")
    numbered(spark, lake, [3, 7, 1])
    assert greatest(lake) == (["R1"], True)


def test_a_table_that_is_not_there_has_no_greatest_rows(spark, tmp_path):
    with pytest.raises(MissingLakeError):
        Lake(spark, str(tmp_path)).greatest("runs", "batch_id")


@pytest.mark.spark
def test_appended_files_are_those_that_a_stream_takes(spark, lake):
    folder, table = lake.path(NAME), lake.sql_name(NAME)

    def rows_after(version, changed=()):
        found = new_files(folder, version, newest_version(folder))
        assert [rows for _, rows in found.changed] == [*changed]
        return [rows for _, rows in found.appended]

    assert rows_after(0) == [2, 1]
    assert rows_after(1) == [1]
    assert rows_after(2) == []
    assert all(Path(name).is_file() for name, _ in new_files(folder, 0, 2).appended)
    spark.sql(f"OPTIMIZE {table}")
    spark.sql(f"DELETE FROM {table} WHERE snapshot_id = 'S1'")  # noqa: S608  (the test's table)
    assert rows_after(2, changed=[2]) == [], "a file with the rows that were left"
    lake.append(NAME, lake.arrow_rows(NAME, [["S4", *[None] * (len(SNAPSHOTS.names) - 1)]]))
    assert rows_after(2, changed=[2]) == [1]
    newest = newest_version(folder)
    Path(folder, "_delta_log", f"{3:020}.json").unlink()
    assert new_files(folder, 2, newest) is None, "cleaned up"


@pytest.mark.spark
def test_rows_in_memory_are_the_same_whoever_reads_them(lake):
    few = sorted(lake.rows(NAME), key=lambda row: row["snapshot_id"])
    assert [{x: y for x, y in row.items() if y is not None} for row in few] == ROWS
    elsewhere = replace(lake, root=f"file:{lake.root}")
    assert sorted(elsewhere.rows(NAME), key=lambda row: row["snapshot_id"]) == few
    assert elsewhere.rows(NAME, "snapshot_id", ["S2"]) == lake.rows(NAME, "snapshot_id", ["S2"])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("", True),
        ("DELETE FROM {} WHERE snapshot_id = 'S1'", False),
        ("UPDATE {} SET status = 'VALID'", False),
        ("OPTIMIZE {}", False),
        ("ALTER TABLE {} ADD COLUMNS (more string)", False),
    ],
)
def test_a_log_tells_whether_rows_were_only_appended(spark, lake, change, expected):
    if change:
        spark.sql(change.format(lake.sql_name(NAME)))
    assert is_only_appended(lake.path(NAME)) is expected
    assert not is_only_appended(lake.path("queues"))


@pytest.mark.spark
@pytest.mark.parametrize("change", ["", "DELETE FROM {} WHERE snapshot_id = 'S1'"])
def test_a_stream_begins_with_the_rows_that_are_there(spark, lake, change, tmp_path):
    if change:
        spark.sql(change.format(lake.sql_name(NAME)))
    seen = []

    def see(rows, _):
        seen.append(sorted(row["snapshot_id"] for row in rows.collect()))

    for _ in range(2):
        writer = lake.stream(NAME).writeStream.foreachBatch(see)
        place = str(tmp_path / "checkpoint")
        writer.option("checkpointLocation", place).trigger(
            availableNow=True
        ).start().awaitTermination()
        lake.append(NAME, frame(spark, NAME, [ROWS[0] | {"snapshot_id": "S7"}]))
    assert seen == [["S2", "S3"] if change else ["S1", "S2", "S3"], ["S7"]]
