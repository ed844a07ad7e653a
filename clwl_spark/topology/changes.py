"""What a new snapshot changes for a queue manager's history: is it reset.

Source: SEMANTICS C1, P20 (seed 0, the paragraph on historic data).
"""

from collections.abc import Sequence
from itertools import pairwise

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.keeping import Keep
from clwl_spark.topology.views import (
    VIEWER,
    Topology,
    channels_in_view,
    in_clusters,
    viewers,
    with_channel_status,
)

_KEY = (c.SNAPSHOT_ID, VIEWER, c.QMGR, c.CHANNEL, c.CLUSTER)
_COMPARED = (c.CLWLRANK, c.CLWLPRTY, c.CLWLWGHT, c.NETPRTY)
AVAILABLE = 1


def resets(wanted: DataFrame, topology: Topology, keep: Keep) -> DataFrame:
    """Whether each queue manager's history is reset from one valid snapshot to the next.

    Args:
        wanted: (viewer, snapshot_id, previous_id), distinct; both snapshots are in `topology`.
        topology: the tables.
        keep: what to do with frames that several steps read.

    Grain: one row per row of `wanted`, columns qmgr, snapshot_id, previous_id, is_reset.
    """
    two = F.explode(F.array(c.SNAPSHOT_ID, c.PREVIOUS_ID)).alias(c.SNAPSHOT_ID)
    both = wanted.select(VIEWER, two)
    known = keep(viewers(both.distinct().select(c.SNAPSHOT_ID, VIEWER), topology))
    in_view = channels_in_view(known, topology).where(in_clusters(c.CLUSTER))
    seen = keep(with_channel_status(in_view, topology).select(*_KEY, *_COMPARED, c.STATUS_TIER))
    before = seen.select(
        F.col(c.SNAPSHOT_ID).alias(c.PREVIOUS_ID),
        *_KEY[1:],
        F.struct(*_COMPARED).alias("before"),
        F.col(c.STATUS_TIER).alias("tier_before"),
    )
    changed = (
        F.col("before").isNull()
        | (F.col("tier_before") != AVAILABLE)
        | (F.col("before") != F.struct(*_COMPARED))
    )
    resetting = (
        wanted.join(seen.where(F.col(c.STATUS_TIER) == AVAILABLE), [VIEWER, c.SNAPSHOT_ID])
        .join(before, [VIEWER, c.PREVIOUS_ID, *_KEY[2:]], "left")
        .where(changed)
        .select(VIEWER, c.SNAPSHOT_ID, c.PREVIOUS_ID, F.lit(True).alias(c.IS_RESET))
        .distinct()
    )
    return (
        wanted.join(resetting, [VIEWER, c.SNAPSHOT_ID, c.PREVIOUS_ID], "left")
        .fillna({c.IS_RESET: False})
        .withColumnRenamed(VIEWER, c.QMGR)
        .select(c.QMGR, c.SNAPSHOT_ID, c.PREVIOUS_ID, c.IS_RESET)
    )


def neighbours(snapshots: Sequence[str]) -> list[tuple[str, str]]:
    """(snapshot, the valid one before it), for snapshots in order of validity."""
    return [(later, earlier) for earlier, later in pairwise(snapshots)]
