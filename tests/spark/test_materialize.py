"""What an engine keeps for a block, in memory or in files, is given back."""

import pytest

from clwl_spark.spark.embedded import is_embedded, scratch_folder
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.spark.materialize import checkpoint, releasing
from clwl_spark.spark.parallel import run_parallel


def held(spark):
    """What the session keeps: folders, or what is in Spark's memory."""
    if is_embedded(spark):
        return {x.name for x in (scratch_folder(spark) / "checkpoints").iterdir()}
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def given_back_by_threads(spark):
    before = held(spark)
    with releasing():
        frames = run_parallel(spark, lambda rows: checkpoint(spark.range(rows)), [3, 4, 5])
        assert [x.count() for x in frames] == [3, 4, 5]
        assert len(held(spark) - before) == 3
    assert held(spark) == before


def kept_by_the_outer_block(spark):
    before = held(spark)
    with releasing():
        outer = checkpoint(spark.range(3))
        with releasing():
            checkpoint(outer)
        assert outer.count() == 3
        assert len(held(spark) - before) == 1
    assert held(spark) == before


@pytest.mark.spark
def test_what_threads_have_kept_is_given_back_by_spark(spark):
    given_back_by_threads(spark)


def test_what_threads_have_kept_is_given_back(spark):
    given_back_by_threads(spark)


@pytest.mark.spark
def test_what_an_outer_block_keeps_outlives_an_inner_one_in_spark(spark):
    kept_by_the_outer_block(spark)


def test_what_an_outer_block_keeps_outlives_an_inner_one(spark):
    kept_by_the_outer_block(spark)


def test_a_large_frame_of_rows_at_hand_is_given_back(spark, monkeypatch):
    monkeypatch.setattr("clwl_spark.spark.frames.INLINE_BYTES", 0)
    before = held(spark)
    rows = spark.range(5).toArrow()
    with releasing():
        assert frame_from_arrow(spark, rows).count() == 5
        assert len(held(spark) - before) == 1
    assert held(spark) == before
