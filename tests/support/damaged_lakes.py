"""Lakes that were routed, and what happens to their tables by hand."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from worlds import World

from clwl_spark.delta.lake import Lake

ROUTED = (
    "outcomes",
    "rejected_messages",
    "balance_history",
    "router_memory",
    "route_plans",
    "route_candidates",
)


def routed_world(spark: SparkSession, folder: Path, batches: int = 2) -> World:
    """Random clusters whose first batches are routed, each by a run of its own."""
    world = World.random(spark, folder, 11, 6, "v9")
    for at in range(batches):
        world.append("messages", world.batch(at), files=2)
        world.route()
    return world


def copied(lake: Lake, folder: Path) -> Lake:
    """The lake as it is, in another folder."""
    shutil.copytree(lake.root, folder)
    return Lake(lake.spark, str(folder))


def lose_newest_commit(lake: Lake, table: str) -> None:
    """Delete the newest entry of a table's log."""
    newest_commit(lake, table).unlink()


def newest_commit(lake: Lake, table: str) -> Path:
    """The newest entry of a table's log."""
    return max(Path(lake.path(table), "_delta_log").glob("*.json"))


def restore(lake: Lake, table: str, older: Lake) -> None:
    """Put an older copy of a table in its place."""
    shutil.rmtree(lake.path(table))
    shutil.copytree(older.path(table), lake.path(table))


def rows(lake: Lake, table: str) -> Counter[str]:
    """A table's rows, but for the moment at which a message was set aside."""
    found = lake.read(table).drop("rejected_at").toArrow().to_pylist()
    return Counter(str(x) for x in found)


def tables(lake: Lake) -> dict[str, Counter[str]]:
    """The rows of all tables that a batch writes."""
    return {table: rows(lake, table) for table in ROUTED}


def newest_run(lake: Lake) -> dict[str, Any]:
    """The row of `runs` of the newest batch."""
    return lake.greatest("runs", "batch_id")[0]
