"""Files where Spark can write, and whether this process sees them too."""

import shutil
from typing import Any, Final

from pyspark.sql import SparkSession

from clwl_spark.errors import EngineError
from clwl_spark.spark.embedded import is_embedded

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


def delete_folder(spark: SparkSession, folder: str) -> None:
    """Take a folder away, with all that is in it, wherever the session can write.

    Raises:
        EngineError: Spark Connect has no way to files, and nobody knows where the server's are.
    """
    if is_embedded(spark):
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        java: Any = spark._jvm  # noqa: SLF001
        conf = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    except AttributeError:
        raise EngineError(
            f"a Spark Connect server cannot be asked to delete {folder}: delete it there"
        ) from None
    path = java.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(conf).delete(path, True)
