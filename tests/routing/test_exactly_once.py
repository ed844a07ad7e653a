"""A run that is killed at any point and started again gives the tables of one that was not."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from killed_lakes import STEPS, Killed

from clwl_spark.algorithm.semantics import Wanted
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Algorithm

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
LATE_SNAPSHOT = {
    "snapshot_id": "S9",
    "valid_from": None,
    "status": "VALID",
    "source": "test",
    "loaded_at": None,
}


@pytest.mark.fault(3, 10)
@pytest.mark.parametrize("point", [x for x in STEPS if x != "snapshot_resets"])
def test_a_kill_after_a_commit_loses_and_doubles_nothing(
    killed: Killed, tmp_path: Path, point: str
) -> None:
    """Nor does a snapshot that comes after a kill change the killed batch, which has no resets."""
    world = killed.copy(tmp_path / "lake")
    killed.kill(world, f"after:{point}")
    first = killed.world.lake.read("snapshots").orderBy("valid_from").first()
    world.append("snapshots", [LATE_SNAPSHOT | {"valid_from": first.valid_from}])
    world.route()
    killed.check(world)


@pytest.mark.fault(1)
def test_kills_at_random_moments_lose_and_double_nothing(killed: Killed, tmp_path: Path) -> None:
    moments = random.Random(SEED)
    print(f"CLWL_SEED={SEED}")  # noqa: T201
    world = killed.copy(tmp_path / "lake")
    for _ in range(4):
        killed.kill(world, f"{moments.uniform(0.1, 2):.2f}")
    world.route()
    killed.check(world, SEED)


@pytest.mark.fault(2)
@pytest.mark.spark
@pytest.mark.parametrize(
    ("kills", "engine"),
    [
        ([("embedded", "route_candidates"), ("arrow", "outcomes")], "spark"),
        ([("embedded", "route_plans"), ("spark", "outcomes")], "arrow"),
        ([("arrow", "router_memory")], "embedded"),
    ],
)
def test_another_engine_goes_on_with_what_was_killed(
    killed: Killed, tmp_path: Path, kills: list[tuple[str, str]], engine: str
) -> None:
    """Each kill of an engine of Spark's starts a Java."""
    world = killed.copy(tmp_path / "lake")
    for other, table in kills:
        killed.kill(world, f"after:{table}", other)
    world.route(engine=engine)
    killed.check(world)


@pytest.mark.fault(4)
@pytest.mark.spark
def test_a_lost_checkpoint_is_begun_anew(killed: Killed, tmp_path: Path) -> None:
    world = killed.planned_copy(tmp_path / "lake")
    shutil.rmtree(world.lake.checkpoint_root)
    world.route(engine="arrow")
    killed.check(world)


@pytest.mark.spark
def test_a_checkpoint_that_is_ahead_is_refused(killed: Killed, tmp_path: Path) -> None:
    world = killed.planned_copy(tmp_path / "lake")
    shutil.copytree(world.lake.root, tmp_path / "older")
    world.route(engine="arrow")
    older = Lake(killed.spark, str(tmp_path / "older"), checkpoints=world.lake.checkpoint_root)
    world.lake = older
    with pytest.raises(LakeStateError, match="checkpoint"):
        world.route(engine="arrow")


@pytest.mark.fault(24)
def test_another_algorithm_is_refused(killed: Killed) -> None:
    with pytest.raises(LakeStateError, match="first routed with algorithm v9"):
        killed.world.route(wanted=Wanted(Algorithm.V7))


@pytest.mark.fault(11)
def test_of_two_runs_one_routes(killed: Killed, tmp_path: Path) -> None:
    """The other one ends with a sentence, or finds nothing left."""
    world = killed.copy(tmp_path / "lake")
    command = ["-m", "clwl_spark.cli", "route", "--lake", world.lake.root, "--engine", "embedded"]
    both = [
        subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [x.communicate(timeout=120) for x in both]
    codes = sorted(x.returncode for x in both)
    assert codes in ([0, 0], [0, 2]), said
    if codes == [0, 2]:
        (error,) = (y.decode() for x, (_, y) in zip(both, said, strict=True) if x.returncode)
        assert "being routed by another run" in error
        assert "Traceback" not in error
    killed.check(world)
