"""Where messages were expected to go: the long-run shares of the plans that they were routed by."""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.present.report.aggregate import COUNT, Aggregate
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.studies.shares.expected import SHARE, route_shares, taken_channel
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

EXPECTED: Final = "expected"
_PAIR: Final = (c.QMGR, c.OBJECT_NAME)


def expected_ways(lake: Lake, aggregate: Aggregate) -> DataFrame:
    """The share of each way that its plans give it, each plan by itself.

    Where an object has several plans, they are weighed by their outcomes.

    Args:
        lake: with the plans that routing made.
        aggregate: the outcomes' sums.

    Grain: one row per sender, object, destination and channel (null = it stays there): (qmgr,
    object_name, dest_qmgr, channel, expected), which sums to 1 for sender and object.
    """
    used = aggregate.rows.groupBy(c.PLAN_ID).agg(F.sum(COUNT).alias(COUNT))
    plans = aggregate.keep(lake.read_or_empty(ROUTE_PLANS.name).join(used, c.PLAN_ID))
    candidates = lake.read_or_empty(ROUTE_CANDIDATES.name)
    ids = [row[0] for row in plans.select(c.SNAPSHOT_ID).distinct().collect()]
    ends = route_shares(
        plans,
        candidates.join(plans.select(c.PLAN_ID), c.PLAN_ID, "left_semi"),
        consistent_topology(lake, ids),
    )
    outcomes = F.col(COUNT) / F.col("choices") * F.col(SHARE)
    arrives = (F.col(c.REASON) == 0) & F.col(c.DEST_QMGR).isNotNull()
    found = ends.where(arrives & (F.col(SHARE) > 0)).groupBy(*_PAIR, c.DEST_QMGR, taken_channel())
    whole = F.sum(EXPECTED).over(Window.partitionBy(*_PAIR))
    return found.agg(F.sum(outcomes).alias(EXPECTED)).withColumn(EXPECTED, F.col(EXPECTED) / whole)
