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

from clwl_spark.algorithm.request import REQUEST
from clwl_spark.routing.plans import plan_maker

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
ENGINES = ("arrow", "embedded", "spark", "spark", "arrow", "arrow")
"""They take turns on one lake, so that one goes on with what another one remembers."""
CASES = int(os.environ.get("CLWL_CASES", "130"))
"""Of each algorithm, with shared opens and without: 520 of the second edition a run."""
OF_FIRST_EDITION = CASES // 3
OF_SPARK = CASES // 6
"""Fewer: what it judges by is shown with all of them."""

TOO_LONG = 2189
"""Of a chain of names that is given up, P10 leaves open which name it ends with."""


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_all_is_that_of_the_reference(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: str,
    edition: int,
) -> None:
    cases = CASES if edition > 1 else OF_FIRST_EDITION
    world = World.random(spark, tmp_path, SEED, cases, algorithm, edition)
    _compare_all(world, monkeypatch, ["embedded"])


@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_shared_opens_are_those_of_the_reference(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    world = World.random(spark, tmp_path, SEED, CASES, algorithm, 2).sharing_null_opens()
    _compare_all(world, monkeypatch, ["embedded"])
    assert _binds_without_an_open_id(world)


@pytest.mark.spark
def test_engines_take_turns_with_shared_opens(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World.random(spark, tmp_path, SEED, OF_SPARK, "v9", 2).sharing_null_opens()
    _compare_all(world, monkeypatch, ENGINES[2:])


@pytest.mark.spark
@pytest.mark.parametrize(("algorithm", "edition"), [("v7", 2), ("v9", 1)])
def test_engines_take_turns(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: str,
    edition: int,
) -> None:
    world = World.random(spark, tmp_path, SEED, OF_SPARK, algorithm, edition)
    _compare_all(world, monkeypatch, ENGINES[1:] + ENGINES[:1])


def _compare_all(world: World, monkeypatch: pytest.MonkeyPatch, engines: Sequence[str]) -> None:
    """Outcomes, rejects, history and verdicts of random clusters."""
    monkeypatch.setattr(plan_maker, "MANY", 0)
    told = f"CLWL_SEED={SEED} {world.algorithm} edition {world.edition}"
    print(f"{told} clusters={len(world.cases)}")  # noqa: T201
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


def _binds_without_an_open_id(world: World) -> bool:
    """Whether a message followed another one's choice that named no open either."""
    puts = world.lake.read("messages").where("open_id IS NULL AND bind = 'ON_OPEN'")
    bound = world.lake.read("outcomes").where("bound")
    return bool(bound.join(puts, ["qmgr", "put_seq", "message_id"]).count())


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
        asked = [plan[x] for x in REQUEST[:-1]]
        owner = plan["qmgr"][: plan["qmgr"].index(".") + 1]
        if owner not in references:
            continue
        wanted = references[owner].plan(*asked, plan["scope"] or "ALL")
        assert plan["reason"] == wanted["reason"], (SEED, plan)
        assert plan["bind_default"] == wanted["bind_default"], (SEED, plan)
        if plan["reason"] != TOO_LONG:
            assert plan["kind"] == wanted["kind"], (SEED, plan)
            assert plan["first_open"] == wanted["first_open"], (SEED, plan)
        if plan["reason"] == 0:
            assert plan["resolved_object"] == wanted["resolved_object"], (SEED, plan)
        rows = sorted(tuple(str(x[name]) for name in CANDIDATE) for x in wanted["candidates"])
        assert sorted(candidates[plan["plan_id"]]) == rows, (SEED, plan)
