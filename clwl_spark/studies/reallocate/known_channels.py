"""Whether an event's queue manager and channel are there at all.

Source: SEMANTICS 8, P27, P30.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.mq.vocabulary import ChannelType
from clwl_spark.snapshots.channels import channels_in_view
from clwl_spark.snapshots.defined import is_defined
from clwl_spark.snapshots.views import VIEWER, Topology, in_clusters, read_topology, viewers
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import OUTCOMES, REALLOCATIONS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

OF_EVENT: Final = (c.SNAPSHOT_ID, c.QMGR, c.CHANNEL)
_SHOWN: Final = 8


class UnknownEventError(InputError):
    """An event of a queue manager, channel or moment that the lake does not know."""


def refuse_unknown(lake: Lake, asked: Sequence[tuple[str, str, str]]) -> None:
    """Each queue manager and channel must be in its snapshot, or have messages that go by it.

    Args:
        lake: with topology and outcomes.
        asked: (snapshot_id, qmgr, channel), distinct.

    Raises:
        UnknownEventError: one is not.
    """
    if not asked:
        return
    topology = read_topology(lake, sorted({key[0] for key in asked}))
    spark = lake.spark
    frame = frame_from_rows(spark, asked, "snapshot_id string, qmgr string, channel string")
    used = _used_channels(lake, frame)
    channels = _channels(frame, topology)
    missing = frame.join(channels, list(OF_EVENT), "left_anti").join(
        used, [c.QMGR, c.CHANNEL], "left_anti"
    )
    for row in missing.orderBy(*OF_EVENT).limit(1).collect():
        raise _unknown(row[c.SNAPSHOT_ID], row[c.QMGR], row[c.CHANNEL], channels, topology)


def _used_channels(lake: Lake, asked: DataFrame) -> DataFrame:
    """(qmgr, channel) of those asked for that messages wait for: they may outlive a channel."""
    pairs = asked.select(c.QMGR, c.CHANNEL).distinct()
    outcomes = lake.read(OUTCOMES.name).select(c.QMGR, c.CHANNEL)
    moved = lake.read_or_empty(REALLOCATIONS.name).select(c.QMGR, w.TO_CHANNEL)
    met = outcomes.union(moved)
    return met.join(F.broadcast(pairs), [c.QMGR, c.CHANNEL], "left_semi").distinct()


def _channels(asked: DataFrame, topology: Topology) -> DataFrame:
    """The cluster-sender channels of the queue managers asked for: seen, or with a status."""
    looking = asked.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    seen = channels_in_view(viewers(looking, topology), topology).where(
        (F.col(c.QMGR) != F.col(VIEWER)) & in_clusters(c.CLUSTER)
    )
    started = topology.channel_status.where(F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value)
    return (
        seen.select(c.SNAPSHOT_ID, F.col(VIEWER).alias(c.QMGR), c.CHANNEL)
        .union(started.select(*OF_EVENT))
        .distinct()
    )


def _unknown(
    snapshot_id: str, qmgr: str, channel: str, channels: DataFrame, topology: Topology
) -> UnknownEventError:
    """What is missing, and what is there instead."""
    of_qmgr = channels.where((F.col(c.SNAPSHOT_ID) == snapshot_id) & (F.col(c.QMGR) == qmgr))
    there = [row[0] for row in of_qmgr.select(c.CHANNEL).orderBy(c.CHANNEL).limit(_SHOWN).collect()]
    if there or is_defined(qmgr, snapshot_id, topology):
        return UnknownEventError(
            f"{qmgr} has no cluster-sender channel '{channel}' in snapshot {snapshot_id}: "
            f"name one of {', '.join(there) or '(none)'}"
        )
    return UnknownEventError(
        f"no queue manager '{qmgr}' in snapshot {snapshot_id}: check the name (case counts), or "
        "ingest its definitions"
    )
