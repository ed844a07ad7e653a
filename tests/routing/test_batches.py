"""Cut as you like: batches, partitions, buckets, Arrow sizes and files change nothing (C3)."""

import random
from pathlib import Path

import pytest
from lakes import lake_with, share_plans
from pyspark.sql import SparkSession
from random_clusters import Case, random_case
from scenario_files import START
from worlds import World, put_rows

from clwl_spark.routing.ledger import runs
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.spark.embedded import scratch_folder

CASES = 20


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
def planned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Everything in one batch."""
    world = World.made(spark, tmp_path_factory.mktemp("whole"), _cases(3), "v9")
    world.append("messages", world.batch(0))
    world.route()
    return world


@pytest.fixture(scope="module")
def whole(planned: World) -> tuple[object, ...]:
    """What comes of it."""
    return _outcomes(planned)


def test_many_batches_are_one_batch(
    spark: SparkSession, tmp_path: Path, whole: tuple[object, ...]
) -> None:
    world = World.made(spark, tmp_path, _cases(3), "v9")
    for part in range(4):
        rows = []
        for case in world.cases:
            size = -(-len(case.batches[0]) // 4)
            rows += case.batches[0][part * size : (part + 1) * size]
        world.append("messages", rows)
        world.route()
    assert _outcomes(world) == whole


@pytest.mark.fault(16)
@pytest.mark.spark
@pytest.mark.parametrize(("partitions", "arrow_rows", "memory_mib"), [(1, 7, 1), (7, 10_000, 512)])
def test_partitions_arrow_sizes_and_memory_change_nothing(
    spark: SparkSession,
    tmp_path: Path,
    planned: World,
    partitions: int,
    arrow_rows: int,
    memory_mib: int,
) -> None:
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(arrow_rows))
    try:
        world = World.made(spark, tmp_path, _cases(3), "v9")
        share_plans(planned.lake, world.lake)
        world.append("messages", world.batch(0)[::-1], files=5)
        world.route(state_partitions=partitions, worker_memory_mib=memory_mib)
        assert _outcomes(world) == _outcomes(planned)
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(before))


@pytest.mark.fault(16)
@pytest.mark.parametrize(("buckets", "memory_mib"), [(0, 512), (1, 1), (3, 512)])
def test_buckets_change_nothing(
    spark: SparkSession,
    tmp_path: Path,
    whole: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
    buckets: int,
    memory_mib: int,
) -> None:
    """None: each queue manager's memory is a state of its own, as of lakes routed long ago."""
    monkeypatch.setattr(runs, "BUCKETS", buckets)
    world = World.made(spark, tmp_path, _cases(3), "v9")
    rows = world.batch(0)
    for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        world.append("messages", part, files=2)
        world.route(worker_memory_mib=memory_mib)
    assert {row.router_id.split("-")[0] for row in world.lake.read("runs").collect()} == {
        str(buckets)
    }
    assert _outcomes(world) == whole


def test_a_run_leaves_no_files_of_its_engine(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("clwl_spark.spark.frames.INLINE_BYTES", 0)
    world = World.made(spark, tmp_path, _cases(2), "v9")
    world.append("messages", world.batch(0))
    kept = scratch_folder(spark) / "checkpoints"
    before = {*kept.iterdir()}
    assert world.route().messages > 0
    assert {*kept.iterdir()} == before


def test_a_run_that_finds_nothing_names_the_engine_that_looked(spark, tmp_path):
    world = World.random(spark, tmp_path, 5, 3, "v9")
    world.append("messages", world.batch(0))
    world.route()
    summary = world.route()
    assert (summary.messages, summary.engine) == (0, "embedded")


@pytest.mark.parametrize("status", ["QUARANTINED", None])
def test_where_no_snapshot_is_valid_messages_are_set_aside(spark, tmp_path, status):
    lake = lake_with(spark, tmp_path / "lake")
    if status:
        put_rows(lake, "snapshots", [{"snapshot_id": "S1", "valid_from": START, "status": status}])
    put = {"qmgr": "QM1", "object_name": "Q", "put_time": START}
    put_rows(lake, "messages", [put | {"put_seq": at} for at in (1, 2)])
    summary = route(lake, RouteOptions(engine="embedded"))
    assert (summary.messages, summary.outcomes, summary.rejected) == (2, 0, 2)
    assert {x.error for x in lake.read("rejected_messages").collect()} == {"NO_SNAPSHOT"}
