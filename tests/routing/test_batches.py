"""Cut as you like: batches, partitions, Arrow sizes and files change nothing (SEMANTICS C3)."""

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from random_clusters import Case, random_case
from worlds import World

CASES = 40


def _cases(seed: int) -> list[Case]:
    """Cases whose messages come in order, all in one list."""
    made = []
    for at in range(CASES):
        case = random_case(random.Random(seed * 1000 + at), f"C{at:03d}.", unique_put_seq=True)
        ordered = sorted(
            (row for batch in case.batches for row in batch),
            key=lambda row: (row["qmgr"] or "", row["put_seq"] or 0),
        )
        made.append(Case(case.prefix, case.tables, [ordered]))
    return made


def _outcomes(world: World) -> tuple[object, ...]:
    return world.outcomes(), world.history(), world.rejected()


@pytest.fixture(scope="module")
def whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Everything in one batch."""
    world = World(spark, tmp_path_factory.mktemp("whole"), _cases(3), "v9")
    world.append("messages", world.batch(0))
    world.route()
    return _outcomes(world)


def test_many_batches_are_one_batch(
    spark: SparkSession, tmp_path: Path, whole: tuple[object, ...]
) -> None:
    world = World(spark, tmp_path, _cases(3), "v9")
    for part in range(4):
        rows = []
        for case in world.cases:
            size = -(-len(case.batches[0]) // 4)
            rows += case.batches[0][part * size : (part + 1) * size]
        world.append("messages", rows)
        world.route()
    assert _outcomes(world) == whole


@pytest.mark.parametrize(("partitions", "arrow_rows", "memory_mib"), [(1, 7, 1), (7, 10_000, 512)])
def test_partitions_arrow_sizes_and_memory_change_nothing(
    spark: SparkSession,
    tmp_path: Path,
    whole: tuple[object, ...],
    partitions: int,
    arrow_rows: int,
    memory_mib: int,
) -> None:
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(arrow_rows))
    try:
        world = World(spark, tmp_path, _cases(3), "v9")
        world.append("messages", world.batch(0)[::-1], files=5)
        world.route(state_partitions=partitions, worker_memory_mib=memory_mib)
        assert _outcomes(world) == whole
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(before))
