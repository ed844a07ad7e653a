"""Lakes that earlier versions of the package routed, whose memory is in a checkpoint alone."""

import tarfile
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from worlds import World, comparable, random_cases

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import EngineError
from clwl_spark.routing.engines.fitness import waiting_messages
from clwl_spark.settings import read_settings

GOLDEN = Path(__file__).with_name("golden")
"""By version of the state: a lake of `random_cases(21, 6)`, batch 0 routed and batch 1 put."""
CASES = (21, 6)


def world_of(spark: SparkSession, folder: Path, version: int) -> World:
    """The golden lake, with references that have routed what it has."""
    with tarfile.open(GOLDEN / f"state-{version}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return World(Lake(spark, str(folder / "lake")), random_cases(*CASES))


@pytest.mark.fault(15)
@pytest.mark.spark
@pytest.mark.parametrize("version", [1, 2])
def test_memory_is_taken_over_by_the_next_run(
    spark: SparkSession, tmp_path: Path, version: int
) -> None:
    world = world_of(spark, tmp_path, version)
    expected = Counter(comparable(row) for at in (0, 1) for row in world.expected(at))
    world.route(engine="arrow")
    assert world.outcomes() == expected
    memories = {row["qmgr"] for row in world.lake.read("router_memory").collect()}
    assert memories == {row["qmgr"] for row in world.lake.read("outcomes").collect()}
    world.append("messages", world.batch(2))
    expected.update(comparable(row) for row in world.expected(2))
    assert world.route(engine="embedded").engine == "embedded"
    assert world.outcomes() == expected
    assert world.history() == sorted(
        (x["qmgr"], x["dest_qmgr"], x["channel"], x["dest_seq_number"], x["dest_seq_factor"])
        for reference in world.references
        for x in reference.balance_history()
    )


def test_spark_has_to_take_it_over(spark: SparkSession, tmp_path: Path) -> None:
    world = world_of(spark, tmp_path, 2)
    settings = read_settings(options={"lake": world.lake.root})
    assert "known to a checkpoint of Spark's alone" in waiting_messages(settings).only_spark
    with pytest.raises(EngineError, match="--engine spark"):
        world.route()
