"""A local session's Python workers have their libraries before their first task."""

import sys

import pytest

pytestmark = pytest.mark.spark


def imported(batches):
    """Where a worker has them before a task asks for them."""
    import gc  # noqa: PLC0415  (by value to a worker, whose modules are told)

    found = sorted({"pandas", "pyarrow", "numba"} & {*sys.modules})
    for batch in batches:
        told = (
            batch.slice(0, 1).to_pandas().assign(names=",".join(found), kept=gc.get_freeze_count())
        )
        yield batch.from_pandas(told[["names", "kept"]])


def test_a_worker_is_forked_with_them(spark):
    (row,) = spark.range(1).mapInArrow(imported, "names string, kept long").collect()
    assert row.names == "numba,pandas,pyarrow"
    assert row.kept > 100_000
