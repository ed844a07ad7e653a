"""Lakes with a batch routed and another waiting, of which copies are killed or otherwise disturbed.

What is disturbed has to end with the tables of the lake that was not.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from damaged_lakes import ROUTED
from lakes import share_plans
from pyspark.sql import DataFrame, SparkSession
from worlds import World

from clwl_spark.delta.lake import Lake

SCRIPT = Path(__file__).parents[1] / "routing" / "killed_run.py"
STEPS = (
    "runs",
    "snapshot_resets",
    "route_candidates",
    "route_plans",
    "outcomes",
    "rejected_messages",
    "balance_history",
    "router_memory",
)
"""Tables in the order in which a batch is written; a kill may come after each."""
COUNTED = ("batch_id", "status", "messages", "outcomes", "rejected", "out_of_order", "by_reason")


class Killed:
    """A lake with a batch routed and another waiting; copies of it are killed."""

    def __init__(self, spark: SparkSession, folder: Path, seed: int = 5) -> None:
        self.spark = spark
        self.world = World.random(spark, folder / "whole", seed, 25, "v9")
        self.world.append("messages", self.world.batch(0), files=2)
        self.world.route()
        self.world.append("messages", self.world.batch(1), files=2)
        self.waiting = folder / "waiting"
        shutil.copytree(folder / "whole", self.waiting)
        self.world.route()
        self.expected = self.tables(self.world.lake)

    def tables(self, lake: Lake) -> dict[str, list[tuple[Any, ...]]]:
        """Every routed table, ordered, and what `runs` counts."""
        found = {name: _rows(lake.read(name).drop("rejected_at")) for name in ROUTED}
        return {**found, "runs": _rows(lake.read("runs").select(*COUNTED))}

    def copy(self, folder: Path) -> World:
        """A copy of the waiting lake."""
        shutil.copytree(self.waiting, folder)
        return world_in(self.spark, folder)

    def planned_copy(self, folder: Path) -> World:
        """A copy of the waiting lake whose requests are planned already."""
        world = self.copy(folder)
        share_plans(self.world.lake, world.lake)
        return world

    def kill(self, world: World, point: str, engine: str = "embedded") -> None:
        """Run the copy, going on with what was killed before, and kill it at `point`."""
        command = [sys.executable, str(SCRIPT), world.lake.root, point, engine]
        done = subprocess.run(
            command, start_new_session=True, check=False, timeout=600, env=environment()
        )
        assert done.returncode == -9

    def check(self, world: World, said: object = "") -> None:
        """The copy has the tables of the lake that was not killed."""
        found = self.tables(world.lake)
        for name, rows in self.expected.items():
            assert found[name] == rows, (name, said)


def world_in(spark: SparkSession, folder: Path) -> World:
    """The lake in a folder, as far as routing it goes."""
    return World(Lake(spark, str(folder)))


def environment() -> dict[str, str]:
    """Of a process whose session is another one than this process's."""
    return {x: y for x, y in os.environ.items() if x != "SPARK_CONNECT_MODE_ENABLED"}


def _rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(map(_said, row)) for row in frame.collect())


def _said(value: object) -> str:
    return str(sorted(value.items()) if isinstance(value, dict) else value)
