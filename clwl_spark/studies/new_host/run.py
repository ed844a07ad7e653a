"""A new host of a queue, worked out of a lake: the way of puts now, and what it would need."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.views import VIEWER, own_rows
from clwl_spark.studies.new_host.needs import (
    DESIGN_TEXTS,
    Design,
    Need,
    Row,
    Way,
    changes,
    copies,
    design_of,
    membership,
)
from clwl_spark.studies.new_host.trial import tried
from clwl_spark.studies.trace.places import Place
from clwl_spark.studies.trace.trace import Trace, TraceRequest, trace
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End


@dataclass(frozen=True, slots=True)
class NewHost:
    """The answer.

    Attributes:
        new: the queue manager that is to host the queue.
        place: the put whose way it is to be on.
        snapshot_id: the snapshot.
        design: how messages find a host now.
        hosts: the hosts now.
        on_new: what the new one needs, in order.
        on_others: what has to change elsewhere.
        unchanged: queue managers of the clusters where nothing changes.
        share: of the put's messages that the new one gets when it has what it needs; None = not
            tried, since what others need leaves something open.
        why_nothing: why that is nothing; "" = it gets some, or it was not tried.
    """

    new: str
    place: Place
    snapshot_id: str
    design: Design
    hosts: Sequence[str]
    on_new: Sequence[Need]
    on_others: Sequence[Need]
    unchanged: int
    share: float | None = None
    why_nothing: str = ""

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl advise --add-host --json`."""
        return {
            "new_host": self.new,
            "from": self.place.qmgr,
            "object_name": self.place.object_name,
            "object_qmgr": self.place.object_qmgr,
            "snapshot_id": self.snapshot_id,
            "design": self.design.value,
            "text": DESIGN_TEXTS[self.design],
            "hosts": list(self.hosts),
            "on_new_host": [asdict(x) for x in self.on_new],
            "on_others": [asdict(x) for x in self.on_others],
            "unchanged": self.unchanged,
            "share": self.share,
            "why_nothing": self.why_nothing,
        }


def new_host(
    lake: Lake, place: Place, new: str, snapshot_id: str, ladder: Ladder, *, tries: bool = True
) -> NewHost:
    """What another host of the queue that a put comes to would need.

    Args:
        lake: with topology.
        place: the put.
        new: name of the new host; it may be in the snapshot or not.
        snapshot_id: the snapshot.
        ladder: the rules.
        tries: whether what it needs is carried out, to see what the new host gets then.

    Raises:
        UsageError: the put comes to no queue, or the new host is one already.
        UnknownQueueManagerError: the snapshot has no such queue manager to put at.
    """
    request = TraceRequest(place, snapshot_id, ladder)
    way = _way(trace(lake, request))
    if not way.hosts:
        raise UsageError(
            f"{place.object_name} put at {place.qmgr} comes to no queue in snapshot {snapshot_id}: "
            "clwl trace shows where it ends"
        )
    if new in way.hosts:
        raise UsageError(f"{new} hosts the queue already, with {', '.join(sorted(way.hosts))}")
    topology = consistent_topology(lake, [snapshot_id])
    known = topology.queues.where(F.col(c.QUEUE).isin(sorted(way.names)))
    rows = _owned(known, c.QUEUE)
    used = _clusters(way, rows)
    channels = _owned(
        topology.cluster_channels.where(F.col(c.CLUSTER).isin(sorted(used))), c.CHANNEL
    )
    own = [*membership(new, way.hosts, used, channels), *copies(way, rows, new)]
    elsewhere = changes(way, rows)
    touched = {new, *(x.qmgr for x in elsewhere)}
    found = NewHost(
        new,
        place,
        snapshot_id,
        design_of(way, rows),
        sorted(way.hosts),
        own,
        elsewhere,
        len({row[c.QMGR] for row in channels} - touched),
    )
    if not tries or elsewhere:
        return found
    share, why = tried(lake, request, new, [x.command for x in own if x.command])
    return replace(found, share=share, why_nothing=why)


def _owned(table: DataFrame, name: str) -> list[Row]:
    """What queue managers have themselves, as it is defined, or as they show it, by its key.

    Args:
        table: rows of queues or channels.
        name: its column that names them.
    """
    owners = table.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    rows = [row.asDict() for row in own_rows(owners, table, (name, c.CLUSTER)).collect()]
    return sorted(rows, key=itemgetter(c.QMGR, name, c.CLUSTER))


def _way(found: Trace) -> Way:
    """Hosts, names and queue managers of a trace."""
    place = found.request.place
    ends = [x for x in found.ends if x.end == End.QUEUE]
    hosts = frozenset(x.qmgr for x in ends)
    names = {x.object_name for x in ends}
    for hop in found.hops:
        path = hop.plan[c.RESOLUTION_PATH] or ()
        names |= {hop.place.object_name, hop.place.object_qmgr}
        names |= {part for text in path for part in text.split("@")}
    others = {hop.place.qmgr for hop in found.hops} - hosts
    return Way(hosts, frozenset(names - {"", *hosts}), frozenset(others), place.object_qmgr)


def _clusters(way: Way, rows: Sequence[Row]) -> set[str]:
    """The clusters in which the hosts share what is on the way."""
    return {
        row[c.CLUSTER]
        for row in rows
        if row[c.QMGR] in way.hosts and row[c.QUEUE] in way.names and row[c.CLUSTER]
    }
