"""Files where Spark can write, and whether this process sees them too."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import structlog
from pyspark.sql import SparkSession

from clwl_spark.errors import EngineError
from clwl_spark.spark.embedded import is_embedded
from clwl_spark.spark.limits import limited_to
from clwl_spark.storage import files

_GLOB: Final = frozenset("{}[]*?\\")


def without_patterns(path: str) -> str:
    """A path in which Spark finds no pattern."""
    return "".join(f"\\{x}" if x in _GLOB else x for x in path)


def keeps_files_here(spark: SparkSession) -> bool:
    """Whether a folder without a scheme is one of this machine for the session too.

    A Connect server is somewhere else, as far as anybody here knows.
    """
    if is_embedded(spark):
        return True
    try:
        conf = spark._jsc.hadoopConfiguration()  # noqa: SLF001
    except AttributeError:
        return False
    return str(conf.get("fs.defaultFS")).startswith("file:")


def sees_file(spark: SparkSession, file: Path) -> bool:
    """Whether a file of this machine is there for the session's workers too."""
    if keeps_files_here(spark):
        return True
    return _in_worker(spark, partial(_has_size, str(file.absolute()), file.stat().st_size))


def delete_folder(spark: SparkSession, folder: str) -> None:
    """Take a folder away, with all that is in it, wherever the session can write.

    Raises:
        EngineError: Spark Connect has no way to files, and its workers do not see the folder.
    """
    if is_embedded(spark):
        files.delete_folder(folder)
        return
    if limited_to(spark) and Path(folder.removeprefix("file:")).is_dir():
        # A volume is a folder of the driver's, too; which name a folder has here was drawn.
        files.delete_folder(folder.removeprefix("file:"))
        return
    try:
        java: Any = spark._jvm  # noqa: SLF001
        conf = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    except AttributeError:
        if _in_worker(spark, partial(_deleted, folder.removeprefix("file:"))):
            return
        raise EngineError(
            f"a Spark Connect server's Python does not see {folder}, which has to be deleted: "
            "delete it there, and use a lake in a folder that the server's machines share"
        ) from None
    path = java.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(conf).delete(path, True)


def forget_folder(spark: SparkSession, folder: str) -> None:
    """Take away rows that a limited session has kept; where nobody can, say where they are."""
    try:
        delete_folder(spark, folder)
    except EngineError:
        structlog.get_logger().warning("rows kept", left_in=folder)


def refuse_lasting(spark: SparkSession, folder: str) -> None:
    """Refuse a folder in which the session can write, and which could not be deleted then.

    Raises:
        EngineError: it is so; of a Connect server that is known only by trying.
    """
    if not is_embedded(spark) and not hasattr(spark, "_jvm"):
        spark.range(1).write.parquet(folder)
        delete_folder(spark, folder)


def _in_worker(spark: SparkSession, ask: Callable[[], bool]) -> bool:
    """What one of the session's workers answers."""

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.record_batch([pa.array([ask()])], ["answer"])

    one = spark.range(0, 1, 1, 1).mapInArrow(answer, "answer boolean")
    return bool(one.collect()[0][0])


def _has_size(file: str, size: int) -> bool:
    path = Path(file)
    return path.is_file() and path.stat().st_size == size


def _deleted(folder: str) -> bool:
    was_there = Path(folder).is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return was_there
