"""What MQ prints, read without Spark: MQSC scripts, dmpmqcfg dumps and output of DISPLAY."""

from clwl_spark.mq.encoding import decode
from clwl_spark.mq.read import TABLES, read_text, read_texts
from clwl_spark.mq.records import Reading, Reject

__all__ = ["TABLES", "Reading", "Reject", "decode", "read_text", "read_texts"]
