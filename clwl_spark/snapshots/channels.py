"""The CLUSRCVRs that a queue manager sees, and their status.

Source: SEMANTICS 1 (S2, S2a), 3, P8.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq import vocabulary as v
from clwl_spark.snapshots.first_opens import CHANNELS_SIGHT, others_asked, sight_of
from clwl_spark.snapshots.views import (
    CHANNELS_SEEN_BY,
    CLUSTERS,
    VIEW_KEY,
    VIEWER,
    Topology,
    others_rows,
    own_rows,
)
from clwl_spark.tables import columns as c

_CHANNEL_COLUMNS: Final = (
    c.CHANNEL,
    c.CLUSTER,
    c.CLWLRANK,
    c.CLWLPRTY,
    c.CLWLWGHT,
    c.NETPRTY,
    c.SUSPENDED,
)


def channels_in_view(
    known: DataFrame, topology: Topology, ends: DataFrame | None = None
) -> DataFrame:
    """Every CLUSRCVR that each viewer sees, its own included, whatever the cluster.

    Args:
        known: `viewers`.
        topology: the tables.
        ends: (snapshot_id, viewer, qmgr), distinct: only the channels of these queue managers.

    Grain: one row per (snapshot_id, viewer, qmgr, channel, cluster), with `clusters`, and
    `suspended` true where any row of the queue manager for the cluster is (P8).
    """
    looking, also = _looking(known, (CHANNELS_SEEN_BY,), ends)
    others = others_rows(looking, topology.cluster_channels, CHANNELS_SEEN_BY, also)
    return _in_view(others, _own_channels(known, topology, ends), _CHANNEL_COLUMNS)


def channels_asked(
    known: DataFrame, topology: Topology, ends: DataFrame | None = None
) -> DataFrame:
    """As `channels_in_view`, and those that a first open brings.

    Args:
        known: `with_first_opens`.
        topology: the tables.
        ends: as of `channels_in_view`.

    Grain: as `channels_in_view`, with `first_open`: whether the row counts by a first open.
    """
    sight = sight_of(known, CHANNELS_SIGHT)
    looking, also = _looking(known, sight, ends)
    others = others_asked(looking, topology.cluster_channels, sight, (c.QMGR, also))
    mine = _own_channels(known, topology, ends).withColumn(c.FIRST_OPEN, F.lit(False))
    return _in_view(others, mine, (*_CHANNEL_COLUMNS, c.FIRST_OPEN))


def _looking(
    known: DataFrame, sight: Sequence[str], ends: DataFrame | None
) -> tuple[DataFrame, tuple[str, ...]]:
    """Who looks for channels, with these columns; and by what, where it is for some of them."""
    looking = known.select(*VIEW_KEY, CLUSTERS, *sight)
    if ends is None:
        return looking, ()
    return ends.join(F.broadcast(looking), list(VIEW_KEY)), (c.QMGR,)


def _own_channels(known: DataFrame, topology: Topology, ends: DataFrame | None) -> DataFrame:
    """The viewers' own."""
    mine = own_rows(known, topology.cluster_channels, (c.CHANNEL, c.CLUSTER)).join(
        known.select(*VIEW_KEY, CLUSTERS), list(VIEW_KEY)
    )
    return mine if ends is None else mine.join(ends, [*VIEW_KEY, c.QMGR], "left_semi")


def _in_view(others: DataFrame, mine: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Channels of others and own ones together; one that is suspended suspends all (P8)."""
    names = (*VIEW_KEY, CLUSTERS, c.QMGR, *columns)
    of_cluster = Window.partitionBy(*VIEW_KEY, c.QMGR, c.CLUSTER)
    return (
        others.select(*names)
        .unionByName(mine.select(*names))
        .withColumn(c.SUSPENDED, F.max(c.SUSPENDED).over(of_cluster))
    )


def with_channel_status(
    channels: DataFrame, topology: Topology, ends: DataFrame | None = None
) -> DataFrame:
    """Add `status` and `status_tier` as the viewer sees them.

    Args:
        channels: `channels_in_view`.
        topology: the tables.
        ends: those that `channels` is of; status is not looked at for others.

    A remote channel has the status of the viewer's CLUSSDR of its name to the queue manager, a
    local one the best status of the CLUSRCVR's instances; none is INACTIVE.

    Grain: as `channels`, which has viewer, qmgr and channel. Source: SEMANTICS 3.
    """
    is_sender = F.col(c.CHLTYPE) == v.ChannelType.CLUSSDR.value
    instances = topology.channel_status.where(
        ~is_sender | (F.col(c.REMOTE_QMGR) != F.col(c.QMGR))
    ).select(*status_ends(), c.CHANNEL, c.STATUS)
    if ends is not None:
        instances = instances.join(ends, [*VIEW_KEY, c.QMGR], "left_semi")
    tiered = instances.withColumn(c.STATUS_TIER, status_tier(F.col(c.STATUS)))
    seen = tiered.groupBy(*VIEW_KEY, c.QMGR, c.CHANNEL).agg(
        F.min(c.STATUS_TIER).alias(c.STATUS_TIER),
        # In one text: for structs Sail reserves many times the memory that they take.
        F.min_by(c.STATUS, F.concat_ws("", c.STATUS_TIER, c.STATUS)).alias(c.STATUS),
    )
    return channels.join(seen, [*VIEW_KEY, c.QMGR, c.CHANNEL], "left").fillna(
        {c.STATUS: v.DEFAULT_STATUS, c.STATUS_TIER: v.STATUS_TIERS[v.DEFAULT_STATUS]}
    )


def status_ends() -> list[Column]:
    """(snapshot_id, viewer, qmgr) of a row of channel_status: whose channel `viewer` sees so."""
    is_sender = F.col(c.CHLTYPE) == v.ChannelType.CLUSSDR.value
    to = F.when(is_sender, F.col(c.REMOTE_QMGR)).otherwise(F.col(c.QMGR))
    return [F.col(c.SNAPSHOT_ID), F.col(c.QMGR).alias(VIEWER), to.alias(c.QMGR)]


def status_tier(status: Column) -> Column:
    """The tier of a channel status, 1 = best. Source: SEMANTICS 3."""
    pairs = [F.lit(x) for pair in v.STATUS_TIERS.items() for x in pair]
    return F.coalesce(F.create_map(*pairs)[status], F.lit(max(v.STATUS_TIERS.values())))
