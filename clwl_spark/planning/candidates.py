"""The candidate rows of a cluster choice: each instance with every CLUSRCVR of its queue manager.

Source: SEMANTICS 3.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.planning.instances import ALIAS_PRTY, ALIAS_RANK
from clwl_spark.snapshots.views import CLUSTERS, VIEW_KEY
from clwl_spark.tables import ROUTE_CANDIDATES
from clwl_spark.tables import columns as c

_OWN_COLUMNS = [x for x in ROUTE_CANDIDATES.names if x != c.ELIMINATED_BY]


def candidates(instances: DataFrame, channels: DataFrame) -> DataFrame:
    """Join instances with channels and put the attributes that the rules look at in place.

    Args:
        instances: as `planning.instances` makes them.
        channels: `channels.channels_asked` with status.

    Grain: one row per (plan_id, choice, instance, channel, instance cluster, channel cluster),
    with the columns of `schemas.ROUTE_CANDIDATES` less `eliminated_by`.
    """
    of_qmgr = channels.withColumnRenamed(c.QMGR, c.DEST_QMGR)
    joined = instances.where(F.col(c.REASON) == 0).join(
        of_qmgr.drop(c.FIRST_OPEN), [*VIEW_KEY, c.DEST_QMGR]
    )
    instance_cluster = F.coalesce(c.INSTANCE_CLUSTER, c.CLUSTER)
    return (
        joined.select(
            "*",
            F.col(c.CLUSTER).alias(c.CHANNEL_CLUSTER),
            F.array_contains(CLUSTERS, instance_cluster).alias(c.INSTANCE_SHARED),
            F.array_contains(CLUSTERS, F.col(c.CLUSTER)).alias(c.CHANNEL_SHARED),
            F.coalesce(ALIAS_RANK, c.CLWLRANK).alias(c.CHANNEL_RANK),
            F.coalesce(ALIAS_PRTY, c.CLWLPRTY).alias(c.CHANNEL_PRTY),
        )
        .withColumn(c.INSTANCE_CLUSTER, instance_cluster)
        .select(*_OWN_COLUMNS)
    )
