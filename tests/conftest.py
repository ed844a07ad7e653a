"""What every test may ask for."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clwl_spark.commands.work import SMALL_WORK
from clwl_spark.session import local_session

# What commands show is as wide as a pipe's reader gets it, whatever the terminal.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: two cores, two shuffle partitions.

    It lives long enough for Java's second compiler to pay (the reference tests: 421 s, so 307 s).
    """
    session = local_session(
        {
            **SMALL_WORK,
            "spark.driver.memory": "5g",
            "spark.driver.extraJavaOptions": "-XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC",
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
        }
    )
    yield session
    session.stop()
