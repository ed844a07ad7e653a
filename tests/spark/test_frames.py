"""Rows in memory are frames, whatever they have and however few they are."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql import Row

from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows

NOON = datetime(2024, 5, 6, 12)  # noqa: DTZ001
TYPES = "name string, at timestamp, many array<string>, counts map<string,bigint>, raw binary"
CELLS = ("A", NOON, ["x", "y"], [("p", 1)], b"\0")


def test_cells_come_in_order_or_by_name_and_what_is_left_out_is_null(spark):
    found = frame_from_rows(spark, [CELLS, {"name": "B"}], TYPES).collect()
    assert found[0] == Row(
        name="A", at=NOON, many=["x", "y"], counts={"p": 1}, raw=bytearray(b"\0")
    )
    assert found[1] == Row(name="B", at=None, many=None, counts=None, raw=None)


def test_a_moment_with_its_zone_is_that_moment(spark):
    at = NOON.replace(tzinfo=UTC)
    frame = frame_from_rows(spark, [(at,)], "at timestamp")
    assert frame.selectExpr("unix_micros(at)").collect()[0][0] == at.timestamp() * 1_000_000


def test_no_rows_are_a_frame_with_the_columns(spark):
    frame = frame_from_rows(spark, [], TYPES)
    assert frame.collect() == []
    assert [name for name, _ in frame.dtypes] == ["name", "at", "many", "counts", "raw"]


def test_columns_without_a_chunk_are_a_frame(spark):
    types = {"many": pa.list_(pa.string()), "at": pa.timestamp("us", "UTC")}
    chunkless = pa.table({x: pa.chunked_array([], y) for x, y in types.items()})
    assert frame_from_arrow(spark, chunkless).collect() == []


@pytest.mark.spark
def test_rows_behind_a_chunk_without_rows_are_in_the_frame(spark):
    parts = [pa.table({"at": pa.array(range(x), pa.int64())}) for x in (0, 5, 0, 3, 0, 0, 9, 0)]
    table = pa.concat_tables(parts)
    found = frame_from_arrow(spark, table.append_column("same", table["at"].combine_chunks()))
    assert sorted(found.collect()) == sorted((x, x) for x in table["at"].to_pylist())
    assert frame_from_arrow(spark, pa.concat_tables([parts[0], parts[2]])).collect() == []


@pytest.mark.spark
def test_rows_are_read_without_a_python_worker(spark):
    plan = frame_from_rows(spark, [CELLS], TYPES)._jdf.queryExecution().optimizedPlan().toString()
    assert plan.startswith("LocalRelation")
