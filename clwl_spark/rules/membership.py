"""Rules 1 and 2: only clusters that both ends share, and one cluster along the way."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.rules.marking import eliminate
from clwl_spark.tables import columns as c


def keep_shared_clusters(candidates: DataFrame) -> DataFrame:
    """Eliminate rows whose instance or channel is in a cluster that the sender is not in.

    Source: SEMANTICS 4, rule 1 (IBM's algorithm page, rule 1).
    """
    return eliminate(candidates, ~(F.col(c.INSTANCE_SHARED) & F.col(c.CHANNEL_SHARED)), 1)


def keep_channels_of_instance_cluster(candidates: DataFrame) -> DataFrame:
    """Eliminate rows whose channel is not in the cluster of the instance.

    Source: SEMANTICS 4, rule 2 (IBM's algorithm page, rule 2).
    """
    return eliminate(candidates, F.col(c.CHANNEL_CLUSTER) != F.col(c.INSTANCE_CLUSTER), 2)
