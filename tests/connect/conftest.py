"""A Spark Connect server of the tests' own."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def server(spark: SparkSession) -> Iterator[str]:
    """The address of a server: that of the session's Java, which is warm."""
    java = spark.sparkContext._jvm
    service = getattr(java.org.apache.spark.sql.connect.service, "SparkConnectService$")
    service = getattr(service, "MODULE$")
    service.start(spark.sparkContext._jsc.sc())
    try:
        yield f"sc://127.0.0.1:{service.localPort()}"
    finally:
        absent = java.scala.Option.apply(None)
        service.stop(absent, absent)
