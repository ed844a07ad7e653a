"""The facts of a run's plans are the same, whoever gathers them."""

import random
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from worlds import World

from clwl_spark.algorithm.request import Request
from clwl_spark.errors import LakeStateError
from clwl_spark.planning.facts import (
    CURRENT,
    DEFINITIONS,
    FACTS,
    PLAN_COLUMNS,
    PLANS,
    RESETS,
    ROUTE_COLUMNS,
    ROUTES,
    SENDERS,
    read_document,
)
from clwl_spark.planning.facts_in_memory import facts_in_memory
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.plans.gather import InUse, gathered_by_spark, gathered_here
from clwl_spark.routing.plans.plan_maker import PlanMaker
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.spark import materialize

SEED = random.SystemRandom().randrange(10**6)
LISTS = (PLANS, ROUTES, SENDERS, RESETS)


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Random clusters, of which two batches are routed: the second has a history to heed."""
    world = World.random(spark, tmp_path_factory.mktemp("gather"), SEED, 25, "v9")
    for at in world.batches()[:2]:
        world.append("messages", world.batch(at))
        world.route()
    return world


@pytest.fixture
def maker(world: World) -> PlanMaker:
    return PlanMaker(world.lake, snapshot_catalog(world.lake).pins, Ladder())


def _documents(facts: DataFrame | pa.Table) -> list[dict[str, Any]]:
    return facts.to_pylist() if isinstance(facts, pa.Table) else facts.collect()


def _said(facts: DataFrame | pa.Table) -> dict[str, dict[str, list[str]]]:
    """By queue manager and list, its rows in any order."""
    return {row["qmgr"]: _in_order(read_document(row[FACTS])) for row in _documents(facts)}


def _in_order(document: Mapping[str, Any]) -> dict[str, list[str]]:
    for row in document[SENDERS]:
        row[DEFINITIONS] = sorted(map(_cells, row.get(DEFINITIONS) or ()))
        row[CURRENT] = sorted(map(_cells, _rows(row.get(CURRENT) or {})))
    listed = {x: _rows(document[x]) for x in (PLANS, ROUTES)} | {
        x: document.get(x) or () for x in (SENDERS, RESETS)
    }
    return {name: sorted(map(_cells, listed[name])) for name in LISTS}


def _rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _cells(row: Any) -> str:
    """A row's cells by name, without those that are null."""
    if not isinstance(row, dict):
        return str(row)
    return str(sorted((name, cell) for name, cell in row.items() if cell is not None))


@pytest.fixture(autouse=True)
def _spark_leaves_out_what_no_route_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does for many plans, and as it is done without Spark for any."""
    monkeypatch.setattr(materialize, "FEW", 0)


def test_facts_are_the_same_whoever_gathers_them(world: World, maker: PlanMaker) -> None:
    in_use = InUse([pin.snapshot_id for pin in snapshot_catalog(world.lake).pins])
    here = gathered_here(world.lake, in_use)
    by_spark = gathered_by_spark(world.lake, maker, in_use)
    assert here is not None
    assert here.plan_ids == by_spark.plan_ids
    said = _said(here.facts)
    assert said == _said(by_spark.facts), SEED
    documents = [read_document(row[FACTS]) for row in _documents(here.facts)]
    for name in LISTS:
        assert any(x[name] for x in said.values()), (SEED, name)
    for name in (DEFINITIONS, CURRENT):
        assert any(row[name] for x in documents for row in x[SENDERS]), (SEED, name)


def test_plans_that_are_named_are_gathered_alone(world: World, maker: PlanMaker) -> None:
    rows = world.lake.rows("route_plans")
    named = frozenset(row["plan_id"] for row in rows[::3])
    snapshots = [pin.snapshot_id for pin in snapshot_catalog(world.lake).pins]
    here = gathered_here(world.lake, InUse(snapshots, named))
    by_spark = gathered_by_spark(world.lake, maker, InUse(snapshots, named))
    assert here is not None
    assert here.plan_ids == by_spark.plan_ids == named
    assert _said(here.facts) == _said(by_spark.facts), SEED


def test_many_plans_are_left_to_spark(world: World) -> None:
    plans = len(world.lake.rows("route_plans"))
    in_use = InUse([pin.snapshot_id for pin in snapshot_catalog(world.lake).pins])
    assert gathered_here(world.lake, in_use, most=plans - 1) is None


def test_two_requests_of_one_id_are_refused(world: World, maker: PlanMaker) -> None:
    row = world.lake.rows("route_plans")[0]
    other = Request("S", "QM", "QUEUE", "ANOTHER.QUEUE")
    with pytest.raises(LakeStateError, match=f"share plan_id {row['plan_id']}"):
        maker.make({row["plan_id"]: other})


def test_thousands_of_queue_managers_get_their_own_rows() -> None:
    names = [f"QM{at}" for at in range(3_000)]
    shuffled = random.Random(SEED).sample(names, len(names))
    plans = pa.table({"qmgr": shuffled} | dict.fromkeys(PLAN_COLUMNS, shuffled))
    routes = pa.table({"qmgr": shuffled * 2} | dict.fromkeys(ROUTE_COLUMNS, shuffled * 2))
    documents = facts_in_memory(plans, routes, {x: [] for x in names}, {}).to_pylist()
    assert {row["qmgr"] for row in documents} == set(names)
    for row in documents:
        document = read_document(row[FACTS])
        assert document[PLANS] == {x: [row["qmgr"]] for x in PLAN_COLUMNS}, SEED
        assert document[ROUTES] == {x: [row["qmgr"]] * 2 for x in ROUTE_COLUMNS}, SEED
