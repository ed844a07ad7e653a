"""What MQ prints, read without Spark: scripts, dumps, output of DISPLAY, answers of REST."""

from clwl_spark.mq.read.base import Changes, apply_changes
from clwl_spark.mq.read.encoding import decode, is_binary, unmarked
from clwl_spark.mq.read.records import PassedOver, Reading, Reject, RowDetail
from clwl_spark.mq.read.texts import (
    TABLES,
    FileReading,
    combine,
    observer_of,
    read_states,
    read_text,
    read_texts,
)

__all__ = [
    "TABLES",
    "Changes",
    "FileReading",
    "PassedOver",
    "Reading",
    "Reject",
    "RowDetail",
    "apply_changes",
    "combine",
    "decode",
    "is_binary",
    "observer_of",
    "read_states",
    "read_text",
    "read_texts",
    "unmarked",
]
