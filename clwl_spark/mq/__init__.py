"""What MQ prints, read without Spark: scripts, dumps, output of DISPLAY, answers of REST."""

from clwl_spark.mq.base import Changes, apply_changes
from clwl_spark.mq.encoding import decode
from clwl_spark.mq.read import (
    TABLES,
    FileReading,
    combine,
    observer_of,
    read_states,
    read_text,
    read_texts,
)
from clwl_spark.mq.records import Reading, Reject, RowDetail

__all__ = [
    "TABLES",
    "Changes",
    "FileReading",
    "Reading",
    "Reject",
    "RowDetail",
    "apply_changes",
    "combine",
    "decode",
    "observer_of",
    "read_states",
    "read_text",
    "read_texts",
]
