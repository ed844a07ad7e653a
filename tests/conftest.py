"""What every test may ask for."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clwl_spark.commands.work import SMALL_WORK
from clwl_spark.session import local_session

# Great Expectations imports Spark Connect, which ends a process whose main module has no file,
# as that of a test process beside others has none: it takes it for its own doctests.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

# What commands show is as wide as a pipe's reader gets it, whatever the terminal.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: two cores, two shuffle partitions."""
    session = local_session(
        {
            **SMALL_WORK,
            "spark.driver.memory": "3g",
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
        }
    )
    yield session
    session.stop()
