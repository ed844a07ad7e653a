"""What every test may ask for."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clwl_spark.commands.work import SMALL_WORK
from clwl_spark.session import local_session

# What commands show is as wide as a pipe's reader gets it, whatever the terminal.
os.environ.pop("COLUMNS", None)

JAVA_OPTIONS = (
    "-XX:ReservedCodeCacheSize=400m",
    "-XX:+UseSerialGC",
    "-Xms2g",
    "-Xmn1g",
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2500",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: two cores, two shuffle partitions.

    It lives long enough for Java's second compiler to pay (the reference tests: 421 s, so 307 s),
    which took a third of Java's time for methods that few tests call; it now waits for more calls
    (`tests/analysis` and `tests/api` in part: 286 s, so 259, with memory from the start as well).
    """
    session = local_session(
        {
            **SMALL_WORK,
            "spark.driver.memory": "5g",
            "spark.driver.extraJavaOptions": " ".join(JAVA_OPTIONS),
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
        }
    )
    yield session
    session.stop()
