"""Lakes for tests: what many of them begin with is made once per process, and copied."""

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS, SNAPSHOT_RESETS, TABLES


def lake_with(spark: SparkSession, folder: Path | str, tables: Iterable[str] = TABLES) -> Lake:
    """A lake in a folder with these tables, empty."""
    for name in tables:
        shutil.copytree(Path(_made(spark, name)), Path(folder) / name)
    return Lake(spark, str(folder))


def made_once(
    spark: SparkSession, folder: Path | str, told: object, make: Callable[[Path], object]
) -> Lake:
    """A lake in a folder: a copy of that of `template`."""
    shutil.copytree(template(spark, told, make), folder, dirs_exist_ok=True)
    return Lake(spark, str(folder))


def template(spark: SparkSession, told: object, make: Callable[[Path], object]) -> Path:
    """The folder of the lake that the session has made for what is told; nobody changes it.

    Args:
        spark: the session.
        told: all that the lake depends on; its text tells it.
        make: makes it in a folder.
    """
    made = _templates() / hashlib.sha256(repr((id(spark), told)).encode()).hexdigest()
    if not made.exists():
        unfinished = made.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(made)
    return made


def share_plans(planned: Lake, lake: Lake) -> None:
    """Give a lake the plans of another one of the same topology, as if a run had made them.

    Planning is what takes Spark longest where messages are few; how they are routed with the plans
    is another question.
    """
    for table in (SNAPSHOT_RESETS, ROUTE_CANDIDATES, ROUTE_PLANS):
        shutil.rmtree(lake.path(table.name), ignore_errors=True)
        shutil.copytree(planned.path(table.name), lake.path(table.name))


@cache
def _made(spark: SparkSession, name: str) -> str:
    lake = Lake(spark, str(_templates()))
    lake.create([TABLES[name]])
    return lake.path(name)


@cache
def _templates() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="clwl-templates-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
