"""One put followed over all queue managers: hops, loops, and the share of each final queue.

Source: CONTRACT, `clwl trace`; Hughson's deck, "Routing Into and Out of clusters", "Rank and
Overlapping Clusters".
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.views import Topology
from clwl_spark.spark.materialize import Materialize, as_it_is
from clwl_spark.studies.trace.chances import ROUNDED, Chances, chances
from clwl_spark.studies.trace.places import MOST_HOPS, Ending, Hop, Network, Place, hops_at
from clwl_spark.studies.trace.subscriptions import Arrival, Subscription, subscriptions_at
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import XMITQ_LINKS, End

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """What to trace.

    Attributes:
        place: the first put.
        snapshot_id: default the last valid one.
        ladder: which rules.
        links: (queue manager, transmission queue) -> queue manager at the other end, beside
            those of the table `xmitq_links`.
        most_hops: the way is not followed beyond so many hops.
    """

    place: Place
    snapshot_id: str | None = None
    ladder: Ladder = field(default_factory=Ladder)
    links: Mapping[tuple[str, str], str] = field(default_factory=dict)
    most_hops: int = MOST_HOPS


@dataclass(frozen=True, slots=True)
class Trace:
    """The answer.

    Attributes:
        request: what was asked.
        snapshot_id: the snapshot that was looked at.
        hops: every put on the way once, in the order in which it is first come to.
        levels: (hops,) how many hops it takes at least to come there, from 1.
        chances: of `hops`, by position.
        ends: share of messages by ending; those in closed loops are missing to 1.
        subscriptions: of a publication: those that get it where it was published, at topic hosts
            on its way, and where it ends.
    """

    request: TraceRequest
    snapshot_id: str
    hops: Sequence[Hop]
    levels: Sequence[int]
    chances: Chances
    ends: Mapping[Ending, float]
    subscriptions: Sequence[Subscription] = ()

    def to_json(self) -> Row:
        """The document of `clwl trace --json`."""
        queues = Counter[tuple[str, str]]()
        for ending, share in self.ends.items():
            if ending.end in (End.QUEUE, End.TOPIC):
                queues[ending.qmgr, ending.object_name] += share  # type: ignore[assignment]
        final = sorted(queues.items(), key=lambda item: (-item[1], item[0]))
        return {
            "snapshot_id": self.snapshot_id,
            "hops": [self._hop(at) for at in range(len(self.hops))],
            "loop": bool(self.chances.loops),
            "ends": [{"qmgr": x, "queue": y, "share": share} for (x, y), share in final],
            "dead_ends": [_dead_end(ending, share) for ending, share in self.dead_ends()],
            "loops": [
                {
                    "places": [_put(self.hops[at].place) for at in loop.places],
                    "share": loop.share,
                    "is_closed": loop.is_closed,
                }
                for loop in self.chances.loops
            ],
            "subscriptions": [asdict(x) for x in self.subscriptions],
        }

    def dead_ends(self) -> list[tuple[Ending, float]]:
        """Endings that are no queue, the most frequent first."""
        dead = [x for x in self.ends.items() if x[0].end not in (End.QUEUE, End.TOPIC)]
        return sorted(dead, key=lambda item: (-item[1], item[0].qmgr, item[0].object_name))

    def _hop(self, at: int) -> Row:
        hop, visits = self.hops[at], self.chances.visits[at]
        return {
            "hop": self.levels[at],
            **_put(hop.place),
            "via": hop.place.via,
            "object_type": hop.place.object_type,
            "kind": hop.plan[c.KIND],
            "routes": list(hop.routes),
            "reason": hop.plan[c.REASON],
            "resolved_object": hop.plan[c.RESOLVED_OBJECT],
            "resolved_qmgr": hop.plan[c.RESOLVED_QMGR],
            "resolution_path": list(hop.plan[c.RESOLUTION_PATH] or ()),
            "xmitq": hop.plan[c.XMITQ],
            "next": [{**_put(place), "via": place.via, "share": x} for place, x in hop.onward],
            "visits": visits if isfinite(visits) else None,
        }


def trace(lake: Lake, request: TraceRequest) -> Trace:
    """Follow a put to its final queues.

    Args:
        lake: with topology; routing need not have run.
        request: the put.

    Raises:
        UnknownQueueManagerError: the snapshot has no such queue manager.
        UsageError: less than one hop.
        MissingSnapshotError: no such snapshot, or no valid one.
    """
    if request.most_hops < 1:
        raise UsageError(f"{request.most_hops} hops: follow at least one")
    snapshot_id = chosen_snapshot(lake, request.snapshot_id)
    return followed(request, network_of(lake, snapshot_id, request.links))


def followed(request: TraceRequest, network: Network) -> Trace:
    """As `trace`, in a network that is known.

    Raises:
        UnknownQueueManagerError: it has no such queue manager.
    """
    check_qmgr(request.place.qmgr, network.defined, network.snapshot_id)
    hops, levels = _walk(request, network)
    position = {hop.place: at for at, hop in enumerate(hops)}
    ways = [{position[to]: share for to, share in hop.onward if to in position} for hop in hops]
    found = chances(ways)
    ends = _ends(hops, position, found)
    given = _given(request, network, hops, ends)
    return Trace(request, network.snapshot_id, hops, levels, found, ends, given)


def network_of(
    lake: Lake,
    snapshot_id: str,
    links: Mapping[tuple[str, str], str],
    keep: Materialize = as_it_is,
    of: Topology | None = None,
) -> Network:
    """What following puts needs to know of a snapshot.

    Args:
        lake: where it is.
        snapshot_id: the snapshot.
        links: (queue manager, transmission queue) -> queue manager at the other end, beside
            those of the table `xmitq_links`.
        keep: what to do with the tables, if they are read again and again.
        of: its tables, where they are other than the lake's.

    Raises:
        UnknownQueueManagerError: a link names a queue manager that the snapshot does not have.
    """
    topology = consistent_topology(lake, [snapshot_id], keep) if of is None else of
    defined = names_defined(topology)
    known = {
        (row[c.QMGR], row[c.XMITQ]): row[c.REMOTE_QMGR]
        for row in lake.read_or_empty(XMITQ_LINKS.name).collect()
    }
    for (qmgr, _), other in links.items():
        check_qmgr(qmgr, defined, snapshot_id)
        check_qmgr(other, defined, snapshot_id)
    return Network(snapshot_id, topology, defined, known | dict(links))


def _walk(request: TraceRequest, network: Network) -> tuple[list[Hop], list[int]]:
    """All places of the way, level by level; each is planned once, so a loop ends the walk."""
    hops: list[Hop] = []
    levels: list[int] = []
    known = {request.place}
    level = [request.place]
    for number in range(1, request.most_hops + 1):
        found = hops_at(level, network, request.ladder)
        hops += found
        levels += [number] * len(found)
        onward = (to for hop in found for to, _ in hop.onward)
        level = [to for to in dict.fromkeys(onward) if to not in known]
        known.update(level)
        if not level:
            break
    return hops, levels


def _ends(
    hops: Sequence[Hop], position: Mapping[Place, int], found: Chances
) -> dict[Ending, float]:
    """The share of messages that each ending gets."""
    ends: dict[Ending, float] = {}
    for hop, visits in zip(hops, found.visits, strict=True):
        if not isfinite(visits):
            continue
        cut_off = [
            (Ending(End.MORE_HOPS, to.qmgr, to.object_name, to.object_qmgr), share)
            for to, share in hop.onward
            if to not in position
        ]
        for ending, share in (*hop.endings, *cut_off):
            ends[ending] = ends.get(ending, 0.0) + visits * share
    return {ending: round(share, ROUNDED) for ending, share in ends.items()}


def _given(
    request: TraceRequest, network: Network, hops: Sequence[Hop], ends: Iterable[Ending]
) -> list[Subscription]:
    """The subscriptions that get a publication, in the order in which it comes to them."""
    place = request.place
    if place.object_type != ObjectType.TOPIC:
        return []
    passed = [hop.place.qmgr for hop in hops if hop.plan[c.REASON] == 0]
    ended = sorted({x.qmgr for x in ends if x.end == End.TOPIC})
    arrivals = [
        Arrival(network.snapshot_id, qmgr, place.object_name, qmgr == place.qmgr)
        for qmgr in dict.fromkeys((*passed, *ended))
    ]
    found = subscriptions_at(arrivals, network.topology, as_it_is)
    return [x for at in arrivals for x in found.get(at, ())]


def _put(place: Place) -> Row:
    return {
        "qmgr": place.qmgr,
        "object_name": place.object_name,
        "object_qmgr": place.object_qmgr,
    }


def _dead_end(ending: Ending, share: float) -> Row:
    return {
        "qmgr": ending.qmgr,
        "object_name": ending.object_name,
        "object_qmgr": ending.object_qmgr,
        "end": ending.end.value,
        "reason": ending.reason,
        "xmitq": ending.xmitq,
        "share": share,
    }
