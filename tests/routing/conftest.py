"""What tests of routed lakes ask for."""

from pathlib import Path

import pytest
from damaged_lakes import copied
from pyspark.sql import SparkSession
from routed import Routed

from clwl_spark.delta.lake import Lake


@pytest.fixture(scope="module")
def routed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Routed:
    """A world of as many batches as the test's file says with BATCHES."""
    return Routed(spark, tmp_path_factory.mktemp("routed"), request.module.BATCHES)


@pytest.fixture
def lake(routed: Routed, tmp_path: Path) -> Lake:
    """A copy of its lake, to be damaged."""
    return copied(routed.lake, tmp_path / "lake")
