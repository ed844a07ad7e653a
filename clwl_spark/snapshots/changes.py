"""What a new snapshot changes for a queue manager's history: is it reset.

Source: SEMANTICS C1, P20 (IBM's algorithm page, the paragraph on historic data).
"""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.snapshots.channels import (
    channels_in_view,
    status_ends,
    status_tier,
    with_channel_status,
)
from clwl_spark.snapshots.differences import PAIR, Differences
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, in_clusters, viewers
from clwl_spark.spark.materialize import Materialize, broadcast_if_small
from clwl_spark.tables import columns as c

_KEY = (c.SNAPSHOT_ID, VIEWER, c.QMGR, c.CHANNEL, c.CLUSTER)
_COMPARED = (c.CLWLRANK, c.CLWLPRTY, c.CLWLWGHT, c.NETPRTY)
AVAILABLE = 1


def resets(wanted: DataFrame, differences: Differences, keep: Materialize) -> DataFrame:
    """Whether each queue manager's history is reset from one valid snapshot to the next.

    Args:
        wanted: (viewer, snapshot_id, previous_id), distinct.
        differences: between the snapshots of these pairs.
        keep: what to do with frames that several steps read.

    Only channels that differ, or were not available, are looked at: others reset nothing.

    Grain: one row per row of `wanted`, columns qmgr, snapshot_id, previous_id, is_reset.
    """
    topology = differences.topology
    touched = keep(_ends(wanted, differences))
    two = F.explode(F.array(*PAIR)).alias(c.SNAPSHOT_ID)
    ends = broadcast_if_small(touched.select(VIEWER, c.QMGR, two).distinct(), keep)
    known = keep(viewers(ends.select(*VIEW_KEY).distinct(), topology))
    in_view = channels_in_view(known, topology, ends).where(in_clusters(c.CLUSTER))
    with_status = with_channel_status(in_view, topology, ends)
    seen = keep(with_status.select(*_KEY, *_COMPARED, c.STATUS_TIER))
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
        touched.join(seen.where(F.col(c.STATUS_TIER) == AVAILABLE), [*VIEW_KEY, c.QMGR])
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


def _ends(wanted: DataFrame, differences: Differences) -> DataFrame:
    """The queue managers whose channels may reset a viewer's history.

    Of channels that differ, those of clusters that the viewer is in: in a lake of many clusters
    most queue managers never meet.

    Grain: one row per (viewer, snapshot_id, previous_id, qmgr).
    """
    topology = differences.topology
    statuses = topology.channel_status.where(status_tier(F.col(c.STATUS)) != AVAILABLE)
    unavailable = statuses.select(*status_ends()).withColumnRenamed(c.SNAPSHOT_ID, c.PREVIOUS_ID)
    in_cluster = (c.SNAPSHOT_ID, c.CLUSTER, c.QMGR)
    members = topology.cluster_channels.select(*in_cluster).distinct()
    viewing = wanted.join(members.withColumnRenamed(c.QMGR, VIEWER), list(VIEW_KEY))
    differing = differences.rows("cluster_channels").select(*in_cluster).distinct()
    # Whose own clusters or view differ, may see other queue managers than before.
    altered = viewing.join(differences.viewers("cluster_channels"), list(VIEW_KEY), "left_semi")
    found = [
        wanted.join(unavailable, [VIEWER, c.PREVIOUS_ID]),
        viewing.join(differing, [c.SNAPSHOT_ID, c.CLUSTER]),
        altered.join(members, [c.SNAPSHOT_ID, c.CLUSTER]),
    ]
    rows = (frame.select(VIEWER, *PAIR, c.QMGR) for frame in found)
    return reduce(DataFrame.union, rows).distinct()


def neighbours(snapshots: Sequence[str]) -> list[tuple[str, str]]:
    """(snapshot, the valid one before it), for snapshots in order of validity."""
    return [(later, earlier) for earlier, later in pairwise(snapshots)]
