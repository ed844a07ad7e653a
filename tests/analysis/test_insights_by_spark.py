"""Insights of a lake that Spark alone reads, where what steps share is kept in Spark's memory."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from worlds import World

from clwl_spark.cli import main


@pytest.mark.spark
def test_kept_columns_are_told_from_those_that_they_came_from(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World.random(spark, tmp_path, 7, 2, "v9", 2)
    world.append("messages", world.batch(0))
    world.route(engine="embedded")
    code = main(["insights", "--json", "--lake", f"file:{world.lake.root}"])
    said, complaint = capsys.readouterr()
    assert code == 0, complaint
    assert json.loads(said)["deciding"]
