"""What Spark keeps in memory for a block is given back."""

import pytest

from clwl_spark.spark.materialize import checkpoint, releasing
from clwl_spark.spark.parallel import run_parallel

pytestmark = pytest.mark.spark


def held(spark) -> set[int]:
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_what_threads_have_kept_is_given_back(spark):
    before = held(spark)
    with releasing():
        frames = run_parallel(spark, lambda rows: checkpoint(spark.range(rows)), [3, 4, 5])
        assert [x.count() for x in frames] == [3, 4, 5]
        assert len(held(spark) - before) == 3
    assert held(spark) == before


def test_what_an_outer_block_keeps_outlives_an_inner_one(spark):
    before = held(spark)
    with releasing():
        outer = checkpoint(spark.range(3))
        with releasing():
            checkpoint(outer)
        assert outer.count() == 3
        assert len(held(spark) - before) == 1
    assert held(spark) == before
