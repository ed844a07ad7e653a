"""What every test may ask for."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clwl_spark.commands.work import SMALL_WORK
from clwl_spark.session import local_session


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
