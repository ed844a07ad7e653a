"""What MQ prints, read without Spark: scripts, dumps, output of DISPLAY, answers of REST."""

from clwl_spark.mq.read.encoding import decode, is_binary, packed, unmarked
from clwl_spark.mq.read.records import PassedOver, Reject
from clwl_spark.mq.read.texts import FileReading, observer_of, read_states

__all__ = [
    "FileReading",
    "PassedOver",
    "Reject",
    "decode",
    "is_binary",
    "observer_of",
    "packed",
    "read_states",
    "unmarked",
]
