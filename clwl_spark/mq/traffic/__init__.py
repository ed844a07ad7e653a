"""What MQ records of traffic: events, statistics and spans, into rows. Pure Python, no Spark.

Source: IBM MQ documentation, "Event messages", "Monitoring performance"; amqsevt's JSON output;
OpenTelemetry, semantic conventions for messaging.
"""

from clwl_spark.mq.traffic.cuts import beginnings, whole_size
from clwl_spark.mq.traffic.read import Recorded, is_recorded, records_of, text_of
from clwl_spark.mq.traffic.records import LocalMoment, Record

__all__ = [
    "LocalMoment",
    "Record",
    "Recorded",
    "beginnings",
    "is_recorded",
    "records_of",
    "text_of",
    "whole_size",
]
