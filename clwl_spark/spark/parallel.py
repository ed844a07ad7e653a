"""What runs side by side: pieces of a session's small work, and its tasks."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, TypeVar

from pyspark import inheritable_thread_target
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from clwl_spark.spark.embedded import is_embedded

Given = TypeVar("Given")
Made = TypeVar("Made")
_AT_A_TIME: Final = 4
_RANGE: Final = 100_000


def run_parallel(
    spark: SparkSession, do: Callable[[Given], Made], many: Iterable[Given]
) -> list[Made]:
    """What `do` makes of each, in their order; four at a time."""
    target = inheritable_thread_target(spark)(do)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        made = [pool.submit(copy_context().run, target, x) for x in many]
        return [x.result() for x in made]


def run_whole(
    spark: SparkSession, do: Callable[[Given], Made], many: Iterable[Given]
) -> list[Made]:
    """What `do` makes of each, in their order, where it changes the session's settings.

    Side by side in a session that is this process's own and whose settings are not changed for it.
    """
    return run_parallel(spark, do, many) if is_embedded(spark) else [*map(do, many)]


def cores(spark: SparkSession) -> int:
    """Tasks that the session runs at a time, as far as it says so."""
    if is_embedded(spark):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _AT_A_TIME
    try:
        return int(spark.sparkContext.defaultParallelism)
    except PySparkAttributeError:
        # Spark Connect has no way to ask; a range has as many partitions.
        parts = spark.range(_RANGE).select(F.spark_partition_id()).distinct()
        return int(parts.count())


def has_all_cores(spark: SparkSession) -> bool:
    """Whether the session works on this machine alone, in the cores that this process has."""
    if is_embedded(spark):
        return True
    try:
        return str(spark.sparkContext.master).startswith("local")
    except PySparkAttributeError:
        return False
