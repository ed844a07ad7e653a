"""Materialized views of a lake's outcomes; `CLWL_LAKE` in the environment says where it is.

They are kept by whatever runs `spark-pipelines run` after `clwl route`, and worked out anew.
"""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

LAKE = os.environ.get("CLWL_LAKE", "/data/lake")
OBJECT = ("object_type", "object_name", "object_qmgr")


@dp.temporary_view
def outcomes() -> DataFrame:
    """One row per message, with the hour in which it was put."""
    read = SparkSession.active().read.format("delta").load(f"{LAKE}/outcomes")
    return read.withColumn("hour", F.date_trunc("HOUR", "put_time"))


@dp.materialized_view(format="delta")
def share_per_hour() -> DataFrame:
    """Where each object's messages went, hour by hour, as the view of that name has it."""
    routed = SparkSession.active().read.table("outcomes").where("reason = 0")
    by_way = routed.groupBy(*OBJECT, "hour", "dest_qmgr", "channel")
    counted = by_way.agg(F.count("*").alias("messages"))
    whole = F.sum("messages").over(Window.partitionBy(*OBJECT, "hour"))
    return counted.withColumn("share", F.col("messages") / whole)


@dp.materialized_view(format="delta")
def failures_per_hour() -> DataFrame:
    """Puts that no queue took, by reason and hour."""
    failed = SparkSession.active().read.table("outcomes").where("reason <> 0")
    return failed.groupBy("qmgr", *OBJECT, "hour", "reason").agg(F.count("*").alias("messages"))
