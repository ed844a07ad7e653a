"""A run that is killed at any point and started again gives the tables of one that was not."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from worlds import World

from clwl_spark.errors import LakeStateError
from clwl_spark.storage import Lake
from clwl_spark.vocabulary import Algorithm

pytestmark = pytest.mark.spark


SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
SCRIPT = Path(__file__).with_name("killed_run.py")
LATE_SNAPSHOT = {
    "snapshot_id": "S9",
    "valid_from": None,
    "status": "VALID",
    "source": "test",
    "loaded_at": None,
}


class Killed:
    """A lake with a batch routed and another waiting; copies of it are killed."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.world = World.random(spark, folder / "whole", 5, 25, "v9")
        self.world.append("messages", self.world.batch(0), files=2)
        self.world.route()
        self.world.append("messages", self.world.batch(1), files=2)
        self.waiting = folder / "waiting"
        shutil.copytree(folder / "whole", self.waiting)
        self.world.route()
        self.expected = self.tables(self.world.lake)

    def tables(self, lake: Lake) -> dict[str, list[tuple[Any, ...]]]:
        """Every routed table, ordered."""
        return {
            name: sorted(
                tuple(map(str, row)) for row in lake.read(name).drop("rejected_at").collect()
            )
            for name in (
                "outcomes",
                "rejected_messages",
                "balance_history",
                "route_plans",
                "route_candidates",
            )
        }

    def copy(self, folder: Path) -> World:
        """A copy of the waiting lake."""
        shutil.copytree(self.waiting, folder)
        world = object.__new__(World)
        world.spark, world.algorithm, world.lake = self.spark, "v9", Lake(self.spark, str(folder))
        return world

    def kill(self, world: World, point: str) -> None:
        """Run the copy, going on with what was killed before, and kill it at `point`."""
        command = [sys.executable, str(SCRIPT), world.lake.root, point]
        done = subprocess.run(command, start_new_session=True, check=False, timeout=600)
        assert done.returncode == -9


@pytest.fixture(scope="module")
def killed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return Killed(spark, tmp_path_factory.mktemp("killed"))


def test_kills_after_each_commit_lose_and_double_nothing(killed: Killed, tmp_path: Path) -> None:
    """Nor does a snapshot that comes after a kill change the killed batch."""
    world = killed.copy(tmp_path / "lake")
    killed.kill(world, "after:route_candidates")
    killed.kill(world, "after:outcomes")
    first = killed.world.lake.read("snapshots").orderBy("valid_from").first()
    world.append("snapshots", [LATE_SNAPSHOT | {"valid_from": first.valid_from}])
    killed.kill(world, "after:balance_history")
    world.route()
    assert killed.tables(world.lake) == killed.expected


def test_kills_at_random_moments_lose_and_double_nothing(killed: Killed, tmp_path: Path) -> None:
    moments = random.Random(SEED)
    print(f"CLWL_SEED={SEED}")  # noqa: T201
    world = killed.copy(tmp_path / "lake")
    for _ in range(2):
        killed.kill(world, f"{moments.uniform(1, 15):.2f}")
    world.route()
    assert killed.tables(world.lake) == killed.expected, SEED


def test_a_lost_checkpoint_is_refused(killed: Killed, tmp_path: Path) -> None:
    world = killed.copy(tmp_path / "lake")
    shutil.rmtree(world.lake.checkpoint_root)
    with pytest.raises(LakeStateError, match="checkpoint"):
        world.route()


def test_another_algorithm_is_refused(killed: Killed) -> None:
    with pytest.raises(LakeStateError, match="first routed with algorithm v9"):
        killed.world.route(algorithm=Algorithm.V7)
