"""The whole thread against the plain router, over hundreds of random clusters.

CLWL_SEED repeats a run; the seed is in every failure's message.
"""

import os
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from worlds import CANDIDATE, World, comparable

from clwl_spark.routing.plans import plan_maker

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
ENGINES = ("arrow", "embedded", "spark", "spark", "arrow", "arrow")
"""They take turns on one lake, so that one goes on with what another one remembers."""
CASES = int(os.environ.get("CLWL_CASES", "120"))
OF_SPARK = CASES // 4
"""Fewer: what it judges by is shown with all of them."""


@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_all_is_that_of_the_reference(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    world = World.random(spark, tmp_path, SEED, CASES, algorithm)
    _compare_all(world, monkeypatch, ["embedded"])


@pytest.mark.spark
@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_engines_take_turns(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    engines = ENGINES[1:] + ENGINES[:1] if algorithm == "v7" else ENGINES
    world = World.random(spark, tmp_path, SEED, OF_SPARK, algorithm)
    _compare_all(world, monkeypatch, engines)


def _compare_all(world: World, monkeypatch: pytest.MonkeyPatch, engines: Sequence[str]) -> None:
    """Outcomes, rejects, history and verdicts of random clusters."""
    monkeypatch.setattr(plan_maker, "MANY", 0)
    print(f"CLWL_SEED={SEED} {world.algorithm} clusters={len(world.cases)}")  # noqa: T201
    expected: Counter[tuple[object, ...]] = Counter()
    for at in world.batches():
        world.append("messages", world.batch(at), files=3)
        engine = engines[at % len(engines)]
        summary = world.route(engine=engine)
        assert (summary.engine, summary.messages) == (engine, len(world.batch(at))), SEED
        expected.update(comparable(row) for row in world.expected(at))
    found = world.outcomes()
    assert not (found - expected), (SEED, list(found - expected)[:3])
    assert not (expected - found), (SEED, list(expected - found)[:3])
    assert world.history() == sorted(
        (x["qmgr"], x["dest_qmgr"], x["channel"], x["dest_seq_number"], x["dest_seq_factor"])
        for reference in world.references
        for x in reference.balance_history()
    ), SEED
    assert world.rejected() == Counter(
        (x["qmgr"], x["put_seq"], x["error"])
        for reference in world.references
        for x in reference.rejected
    ), SEED
    _compare_plans(world)


def _compare_plans(world: World) -> None:
    """Every plan's kind, reason, and the rule that eliminated each candidate row."""
    candidates = defaultdict(list)
    for row in world.lake.read("route_candidates").collect():
        candidates[row["plan_id"]].append(tuple(str(row[name]) for name in CANDIDATE))
    references = {
        case.prefix: reference
        for case, reference in zip(world.cases, world.references, strict=True)
    }
    for plan in world.lake.read("route_plans").collect():
        asked = [plan[x] for x in ("snapshot_id", "qmgr", "object_type", "object_name")]
        owner = plan["qmgr"][: plan["qmgr"].index(".") + 1]
        if owner not in references:
            continue
        wanted = references[owner].plan(*asked, plan["object_qmgr"], plan["via"])
        assert plan["reason"] == wanted["reason"], (SEED, plan)
        assert plan["bind_default"] == wanted["bind_default"], (SEED, plan)
        if plan["reason"] == 0:
            assert plan["kind"] == wanted["kind"], (SEED, plan)
            assert plan["resolved_object"] == wanted["resolved_object"], (SEED, plan)
        rows = sorted(tuple(str(x[name]) for name in CANDIDATE) for x in wanted["candidates"])
        assert sorted(candidates[plan["plan_id"]]) == rows, (SEED, plan)
