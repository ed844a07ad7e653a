"""Spark's own file systems, to which Spark has no way but Java's."""

from typing import Any

from pyspark.sql import SparkSession


def keeps_files_here(spark: SparkSession) -> bool:
    """Whether a folder without a scheme is one of this machine for Spark too; not with Connect."""
    try:
        conf = spark._jsc.hadoopConfiguration()  # noqa: SLF001
    except AttributeError:
        return False
    return str(conf.get("fs.defaultFS")).startswith("file:")


def delete_folder(spark: SparkSession, folder: str) -> None:
    """Take a folder away, with all that is in it, wherever Spark can write."""
    java: Any = spark._jvm  # noqa: SLF001
    conf = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    path = java.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(conf).delete(path, True)
