"""Which of a channel's messages wait: those that somebody names, or those that a status tells of.

A message that was sent does not wait. What a put does not say, whether its message was sent since,
an option says, or the status of the channel.

Source: SEMANTICS 8 ("Who waits"), P40, P41.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import DEFAULT_STATUS, ChannelType
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.snapshots.channels import status_tier
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import CHANNEL_STATUS
from clwl_spark.tables import columns as c
from clwl_spark.tables.waiting import WaitingBy

UP: Final = 1
"""The tier of a channel that sends what is put."""

Sender = tuple[str, str]
"""A queue manager and the name of its cluster-sender channels."""


@dataclass(frozen=True, slots=True)
class WhoWaits:
    """Which of a channel's messages wait, among those put by the moment that is asked for.

    Attributes:
        by: what says so.
        put_from: those put then or later, in microseconds; None = whenever they were put.
        last: of these the last so many, by (put_seq, message_id); None = all of them.
    """

    by: WaitingBy
    put_from: int | None = None
    last: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether anything says that messages wait; else the channel was up."""
        return self.by is not WaitingBy.NONE


ALL_WAIT: Final = WhoWaits(WaitingBy.ALL)
NONE_WAITS: Final = WhoWaits(WaitingBy.NONE)


@dataclass(frozen=True, slots=True)
class SeenSender:
    """What a snapshot says of the cluster-sender channels of one name together (P40).

    Attributes:
        tier: the best of their status tiers, 1 where it has no status of them.
        backlog: messages that wait for them; None = not known of any.
    """

    tier: int = UP
    backlog: int | None = None


Senders = Mapping[tuple[str, Sender], SeenSender]
"""By snapshot and sender; what a snapshot has no status of is not in it."""


def as_told(since: int | None, backlog: int | None) -> WhoWaits | None:
    """Who waits by an option; None where none is given.

    Args:
        since: those put after it, in microseconds.
        backlog: the last so many.
    """
    if since is not None:
        return WhoWaits(WaitingBy.SINCE, put_from=since + 1)
    if backlog is not None:
        return WhoWaits(WaitingBy.BACKLOG, last=backlog)
    return None


def by_status(sender: Sender, upto: Sequence[Pin], seen: Senders) -> WhoWaits:
    """Who waits by the channel's status.

    Args:
        sender: whose messages.
        upto: the valid snapshots in order, the last of them the one in force.
        seen: what they say.
    """
    now = seen.get((upto[-1].snapshot_id, sender), SeenSender())
    if now.backlog is not None:
        return WhoWaits(WaitingBy.STATUS_BACKLOG, last=now.backlog)
    down_from: int | None = None
    for pin in reversed(upto):
        if seen.get((pin.snapshot_id, sender), SeenSender()).tier == UP:
            break
        down_from = pin.valid_from
    return NONE_WAITS if down_from is None else WhoWaits(WaitingBy.TIER, put_from=down_from)


def senders_seen(
    lake: Lake, senders: Collection[Sender], snapshot_ids: Sequence[str]
) -> dict[tuple[str, Sender], SeenSender]:
    """What the snapshots' status says of the senders.

    Args:
        lake: with topology; a table of an earlier version knows no backlog.
        senders: the channels.
        snapshot_ids: of the snapshots.
    """
    if not senders:
        return {}
    asked = frame_from_rows(lake.spark, sorted(set(senders)), "qmgr string, channel string")
    status = F.coalesce(c.STATUS, F.lit(DEFAULT_STATUS))
    rows = (
        lake.read_or_empty(CHANNEL_STATUS.name, c.SNAPSHOT_ID, snapshot_ids)
        .where(F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value)
        .join(F.broadcast(asked), [c.QMGR, c.CHANNEL], "left_semi")
        .groupBy(c.SNAPSHOT_ID, c.QMGR, c.CHANNEL)
        .agg(F.min(status_tier(status)).alias("tier"), F.sum(c.BACKLOG).alias(c.BACKLOG))
    )
    return {
        (row[c.SNAPSHOT_ID], (row[c.QMGR], row[c.CHANNEL])): SeenSender(row["tier"], row[c.BACKLOG])
        for row in rows.collect()
    }
