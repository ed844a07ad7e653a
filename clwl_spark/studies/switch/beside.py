"""Sender and server channels that name a transmission queue of cluster-senders.

Source: IBM's page on transmission queues (several cluster-senders can open one queue, and one
sender or server channel only; after ALTER CHANNEL of its XMITQ no message is moved).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import MESSAGE_CHANNELS
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class MessageChannel:
    """A sender or server channel and the transmission queue that it takes messages from."""

    channel: str
    chltype: str
    xmitq: str
    conname: str

    def beside(self, cluster_senders: Iterable[str]) -> str:
        """What it means that cluster-senders have its queue, in sentences."""
        names = sorted(set(cluster_senders))
        others = f" and {len(names) - 1} others" if names[1:] else ""
        return (
            f"{self.channel} (CHLTYPE({self.chltype})) names {self.xmitq}, the transmission queue "
            f"of the cluster-sender {names[0]}{others}: it would take messages for other queue "
            "managers, and cannot open the queue beside others. It keeps the queue until its "
            "XMITQ is altered; unlike the switch of a cluster-sender, that moves no message: what "
            f"is on {self.xmitq} by then stays there."
        )

    def to_json(self, cluster_sender: str) -> dict[str, Any]:
        """An element of `message_channels` of a cluster-sender in `clwl xmitq --json`."""
        return {
            c.CHANNEL: self.channel,
            c.CHLTYPE: self.chltype,
            c.XMITQ: self.xmitq,
            c.CONNAME: self.conname,
            "text": self.beside([cluster_sender]),
        }


def message_channels(lake: Lake, qmgr: str, snapshot_id: str) -> list[MessageChannel]:
    """The channels of a queue manager that name a transmission queue, by name."""
    rows = lake.read_or_empty(MESSAGE_CHANNELS.name, c.SNAPSHOT_ID, [snapshot_id]).where(
        (F.col(c.QMGR) == qmgr) & (F.col(c.XMITQ) != "")
    )
    found = rows.select(c.CHANNEL, c.CHLTYPE, c.XMITQ, c.CONNAME).collect()
    return [MessageChannel(x[0], x[1], x[2], x[3] or "") for x in sorted(found)]


def naming(
    channels: Sequence[MessageChannel], queues: Collection[str | None]
) -> tuple[MessageChannel, ...]:
    """Those of the channels that name one of the queues."""
    return tuple(x for x in channels if x.xmitq in queues)


def beside_told(beside: Iterable[tuple[str, Sequence[MessageChannel]]]) -> list[str]:
    """Sentences on each channel that is beside cluster-senders, in order of names.

    Args:
        beside: of cluster-senders, name and the channels that name its queue.
    """
    senders: dict[MessageChannel, list[str]] = {}
    for cluster_sender, channels in beside:
        for x in channels:
            senders.setdefault(x, []).append(cluster_sender)
    told = sorted(senders.items(), key=lambda x: x[0].channel)
    return [channel.beside(names) for channel, names in told]
