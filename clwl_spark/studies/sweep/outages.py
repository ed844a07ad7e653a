"""What can fail in a cluster, and which channels senders then see in which state.

- A channel that is stopped: the CLUSSDR of that name is STOPPED on every queue manager, or on one.
- A queue manager that is down: every channel to it is RETRYING, and nothing is put on it.
- A cluster that is down: every channel of it is STOPPED.

A failure never betters a channel: one that is STOPPED stays so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyspark.sql import functions as F

from clwl_spark.errors import InputError
from clwl_spark.mq.vocabulary import STATUS_TIERS
from clwl_spark.snapshots.defined import names_defined
from clwl_spark.snapshots.views import Topology
from clwl_spark.tables import columns as c

_STOPPED: Final = "STOPPED"
_RETRYING: Final = "RETRYING"


class Part(StrEnum):
    """What kind of thing fails."""

    CHANNEL = "channel"
    QMGR = "queue manager"
    CLUSTER = "cluster"


class NothingHitError(InputError):
    """A failure of something that the snapshot does not have."""


@dataclass(frozen=True, slots=True, order=True)
class Outage:
    """One failure.

    Attributes:
        part: what kind of thing it is.
        name: its name.
        to: of a channel, the queue manager that it leads to; '' = any.
        on: of a channel, the queue manager whose CLUSSDR it is; '' = every one.
    """

    part: Part
    name: str
    to: str = ""
    on: str = ""

    def __str__(self) -> str:
        """As an administrator says it."""
        to, on = f" to {self.to}" if self.to else "", f" on {self.on}" if self.on else ""
        verb = "stopped" if self.part is Part.CHANNEL else "down"
        return f"{self.part} {self.name}{to}{on} {verb}"


Case = tuple[Outage, ...]
"""Failures at the same time."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A channel that senders see in another state; `on` is the sender, '' = every one."""

    on: str
    dest_qmgr: str
    channel: str
    status: str

    @property
    def tier(self) -> int:
        """The tier of the status."""
        return STATUS_TIERS[self.status]


@dataclass(frozen=True, slots=True)
class Channels:
    """The CLUSRCVRs of a snapshot.

    Attributes:
        rows: (queue manager, channel, cluster), by any view.
        defined: queue managers whose own definitions are known; one of them may have none.
    """

    rows: frozenset[tuple[str, str, str]]
    defined: frozenset[str] = frozenset()

    def outages(self, parts: Iterable[Part] = tuple(Part)) -> list[Outage]:
        """Every single failure of these kinds, in order."""
        found = set[Outage]()
        for part in parts:
            for qmgr, channel, cluster in self.rows:
                if part is Part.CHANNEL:
                    found.add(Outage(part, channel, to=qmgr))
                elif part is Part.QMGR:
                    found.add(Outage(part, qmgr))
                elif cluster:
                    found.add(Outage(part, cluster))
        return sorted(found)

    def hits(self, case: Sequence[Outage]) -> list[Hit]:
        """The channels that a case hits, each once for a sender, in the worst of its states.

        Raises:
            NothingHitError: the snapshot has no such thing.
        """
        worst: dict[tuple[str, str, str], Hit] = {}
        for outage in case:
            for hit in self._hits_of(outage):
                key = (hit.on, hit.dest_qmgr, hit.channel)
                if key not in worst or worst[key].tier < hit.tier:
                    worst[key] = hit
        return sorted(worst.values(), key=lambda hit: (hit.on, hit.dest_qmgr, hit.channel))

    def _hits_of(self, outage: Outage) -> list[Hit]:
        found = [
            Hit(outage.on, qmgr, channel, _RETRYING if outage.part is Part.QMGR else _STOPPED)
            for qmgr, channel, cluster in self.rows
            if outage.name == _name(outage.part, qmgr, channel, cluster)
            and outage.to in ("", qmgr)
            and outage.on != qmgr
        ]
        is_known = outage.part is Part.QMGR and outage.name in self.defined
        if not found and not is_known:
            raise NothingHitError(f"{outage}: the snapshot has no such {self._near(outage)}")
        return found

    def _near(self, outage: Outage) -> str:
        """What there is of an outage's kind: of its name in other letters, or some."""
        there = sorted({x.name for x in self.outages([outage.part])})
        near = [x for x in there if x.upper() == outage.name.upper()] or there[:8]
        more = ", ..." if len(there) > len(near) else ""
        return f"{outage.part} (case counts); it has {', '.join(near) or 'none'}{more}"


def _name(part: Part, qmgr: str, channel: str, cluster: str) -> str:
    return {Part.CHANNEL: channel, Part.QMGR: qmgr, Part.CLUSTER: cluster}[part]


def down_qmgrs(case: Sequence[Outage]) -> frozenset[str]:
    """The queue managers that are down, on which nothing is put."""
    return frozenset(x.name for x in case if x.part is Part.QMGR)


def channels_of(topology: Topology) -> Channels:
    """The CLUSRCVRs of a snapshot; a few thousand at most, so the driver holds them."""
    rows = topology.cluster_channels.select(c.QMGR, c.CHANNEL, F.coalesce(c.CLUSTER, F.lit("")))
    found = frozenset((x[0], x[1], x[2]) for x in rows.distinct().collect())
    return Channels(found, names_defined(topology))
