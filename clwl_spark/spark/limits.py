"""What a session may be asked for: all that Spark has, or what serverless compute takes.

Serverless compute refuses `cache`, `persist` and checkpoints, all settings but a few, and whatever
is Java's. A session that is limited so keeps rows in files of a folder that the caller names, and
leaves settings as they are. Nothing else tells the two apart: what differs is in this room.

Source: docs/how-to/platforms.md, serverless compute.
"""

import uuid
from typing import Final

from pyspark.sql import SparkSession

SETTINGS_TAKEN: Final = frozenset(
    {
        "spark.databricks.execution.timeout",
        "spark.sql.ansi.enabled",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.legacy.timeParserPolicy",
        "spark.sql.session.timeZone",
        "spark.sql.shuffle.partitions",
    }
)
"""The settings that serverless compute lets a session have otherwise; others it refuses, even to
tell."""
_FOLDER: Final = "clwl_rows_in"
"""Attribute of a limited session: the folder of the rows that it keeps."""


def limit(spark: SparkSession, folder: str) -> None:
    """From now on the session is asked for no more than serverless compute takes.

    Args:
        spark: the session.
        folder: where rows are kept that several steps read; '' = the session takes all again.
    """
    if folder:
        setattr(spark, _FOLDER, folder.rstrip("/"))
    elif limited_to(spark):
        delattr(spark, _FOLDER)


def limited_to(spark: SparkSession) -> str:
    """The folder that a limited session keeps rows in; '' = it takes all that Spark has."""
    folder: str = getattr(spark, _FOLDER, "")
    return folder


def new_folder(spark: SparkSession) -> str:
    """A folder of a limited session that is not there yet."""
    return f"{limited_to(spark)}/{uuid.uuid4().hex}"


def takes_setting(spark: SparkSession, name: str) -> bool:
    """Whether the session may be asked about a setting, and given another one."""
    return not limited_to(spark) or name in SETTINGS_TAKEN


def setting(spark: SparkSession, name: str, absent: str) -> str:
    """A setting's value; `absent` where it has none, or nobody may ask."""
    # Spark refuses an absent value that the setting could not have, unless it is none at all.
    value = spark.conf.get(name, None) if takes_setting(spark, name) else None
    return absent if value is None else str(value)
