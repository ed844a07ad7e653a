"""Rows that plans hold, on the embedded engine."""

from functools import reduce

import pyarrow as pa

from clwl_spark.spark.frames import INLINE_BYTES, frame_from_arrow
from clwl_spark.spark.materialize import alike, checkpoint, inline

COPIES = 20
MOST_OF_A_PLAN = 128 * 2**20


def test_many_rows_reach_the_engine_however_often_a_plan_reads_them(spark):
    rows = MOST_OF_A_PLAN // COPIES // 8
    table = pa.table({"id": pa.array(range(rows), pa.int64())})
    assert INLINE_BYTES < table.nbytes < MOST_OF_A_PLAN < COPIES * table.nbytes + table.nbytes
    kept = inline(frame_from_arrow(spark, table))
    assert reduce(type(kept).unionAll, [kept] * COPIES).count() == COPIES * rows


def test_few_rows_are_in_the_plan(spark, monkeypatch):
    monkeypatch.setattr("clwl_spark.spark.frames._in_a_file", None)
    assert inline(spark.range(3)).count() == 3


def test_columns_are_alike_in_rows_that_are_kept(spark):
    rows = {"a": [1, 1], "b": [1, 2], "c": ["x", None], "d": [None, None], "e": [True, True]}
    table = pa.table(rows | {"d": pa.nulls(2, pa.int64())})
    frame = frame_from_arrow(spark, table)
    assert alike(inline(frame), [*rows]) == {"a", "d", "e"}
    assert {"a", "e"} <= alike(checkpoint(frame), [*rows]) <= {"a", "d", "e"}
    assert alike(spark.range(1), ["id"]) == frozenset()
