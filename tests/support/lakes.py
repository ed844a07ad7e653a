"""Empty lakes for tests: tables are made once per process, and copied."""

import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import TABLES


def lake_with(spark: SparkSession, folder: Path | str, tables: Iterable[str] = TABLES) -> Lake:
    """A lake in a folder with these tables, empty."""
    for name in tables:
        shutil.copytree(Path(_made(spark, name)), Path(folder) / name)
    return Lake(spark, str(folder))


@cache
def _made(spark: SparkSession, name: str) -> str:
    lake = Lake(spark, str(_templates()))
    lake.create([TABLES[name]])
    return lake.path(name)


@cache
def _templates() -> Path:
    return Path(tempfile.mkdtemp(prefix="clwl-templates-"))
