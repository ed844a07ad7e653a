"""What happens to a message at one place of its way, for many places at once.

A place is a put: an object, an object queue manager and how the message came there. Where it goes
on to is what the queue manager found out about the names, not what the application said:
- A cluster queue is asked for by its resolved name, no queue manager named; what was looked up by
  a queue manager's name (kind QMGR) keeps that name, so that an alias there has its say.
- What comes over a cluster channel is put with via CLUSTER; over a point-to-point channel LOCAL,
  since only cluster channels prefer the local queue (SEMANTICS, rule 6).
- A transmission queue leads to the queue manager of `xmitq_links`, else to the one of its own
  name, else to the one that the message is for, as far as the snapshot defines them.
- A publication that has come to another queue manager is handed to the subscriptions there; a
  topic host sends it on to those that subscribe, but not back (edition 2; `object_qmgr` of such a
  place is where it came from).
- What goes to a queue manager that the snapshot does not define ends at the queue that was seen.

Source: Hughson's deck, "Routing Into and Out of clusters", scenarios 1 to 5; SEMANTICS is silent on
hops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from clwl_spark.algorithm.request import Request
from clwl_spark.mq.vocabulary import ClusterRoute, ObjectType, PlanKind, Via
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import Topology
from clwl_spark.studies.explain.planned import EXPECTED_SHARE, planned
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End

MOST_HOPS: Final = 50
"""How many puts a way is followed, unless another number is asked for."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A put on the way of a message."""

    qmgr: str
    object_name: str
    object_qmgr: str = ""
    via: str = Via.LOCAL.value
    object_type: str = ObjectType.QUEUE.value


@dataclass(frozen=True, slots=True)
class Ending:
    """A way that ends: how, on which queue manager, and at which object."""

    end: End
    qmgr: str
    object_name: str
    object_qmgr: str = ""
    reason: int = 0
    xmitq: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """A place and what happens there.

    Attributes:
        place: the put.
        plan: its row of `route_plans`, less `reset_epoch`.
        routes: as in `clwl explain --json`.
        onward: (next place, share) of the messages that go on.
        endings: (ending, share) of those that do not.
    """

    place: Place
    plan: Row
    routes: Sequence[Row] = ()
    onward: Sequence[tuple[Place, float]] = ()
    endings: Sequence[tuple[Ending, float]] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """What a trace needs to know of a snapshot.

    Attributes:
        snapshot_id: the snapshot.
        topology: its tables.
        defined: queue managers whose own definitions it has.
        links: (queue manager, transmission queue) -> queue manager at the other end.
    """

    snapshot_id: str
    topology: Topology
    defined: frozenset[str]
    links: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def other_end(self, qmgr: str, xmitq: str, meant_for: str) -> str | None:
        """The queue manager that a transmission queue leads to; None where nobody knows."""
        linked = self.links.get((qmgr, xmitq))
        if linked is not None:
            return linked if linked in self.defined else None
        named = (name for name in (xmitq, meant_for) if name in self.defined and name != qmgr)
        return next(named, None)


def hops_at(places: Sequence[Place], network: Network, ladder: Ladder) -> list[Hop]:
    """Plan the puts of several places in one pass.

    Args:
        places: distinct.
        network: the snapshot.
        ladder: which rules.

    Returns:
        (places,) what happens at each.
    """
    asked = [
        Request(network.snapshot_id, x.qmgr, x.object_type, x.object_name, x.object_qmgr, x.via)
        for x in places
    ]
    found = planned(asked, network.topology, replace(ladder, is_onward=True))
    return [
        hop_of(place, found[request].plan, found[request].routes, network)
        for place, request in zip(places, asked, strict=True)
    ]


def hop_of(place: Place, plan: Row, routes: Sequence[Row], network: Network) -> Hop:
    """Where the messages of a place go on to, and where they end."""
    if plan[c.REASON] != 0:
        dead = Ending(
            End.DEAD_END, place.qmgr, place.object_name, place.object_qmgr, plan[c.REASON]
        )
        return Hop(place, plan, endings=[(dead, 1.0)])
    if plan[c.KIND] == PlanKind.LOCAL:
        kept = Ending(_kept(place), place.qmgr, plan[c.RESOLVED_OBJECT])
        return Hop(place, plan, endings=[(kept, 1.0)])
    if plan[c.KIND] == PlanKind.XMITQ:
        return _by_transmission_queue(place, plan, network)
    return _by_routes(place, plan, routes, network)


def _by_transmission_queue(place: Place, plan: Row, network: Network) -> Hop:
    """A place whose messages go on a transmission queue that is no cluster's."""
    name, for_qmgr, xmitq = plan[c.RESOLVED_OBJECT], plan[c.RESOLVED_QMGR], plan[c.XMITQ]
    other = network.other_end(place.qmgr, xmitq, for_qmgr)
    if other is None:
        left = Ending(End.LEAVES, place.qmgr, name, for_qmgr, xmitq=xmitq)
        return Hop(place, plan, endings=[(left, 1.0)])
    return Hop(place, plan, onward=[(Place(other, name, for_qmgr), 1.0)])


def _by_routes(place: Place, plan: Row, routes: Sequence[Row], network: Network) -> Hop:
    """A place whose messages go through a cluster."""
    name = plan[c.RESOLVED_OBJECT]
    asked_for = plan[c.RESOLVED_QMGR] if plan[c.KIND] == PlanKind.QMGR else ""
    to_host = plan[c.CLROUTE] == ClusterRoute.TOPICHOST
    if to_host:
        name, asked_for = place.object_name, place.qmgr
    onward: dict[Place, float] = {}
    endings: list[tuple[Ending, float]] = []
    for route in routes:
        ending = _ending(place, route, asked_for, network, to_host=to_host)
        if ending is not None:
            endings.append((ending, route[EXPECTED_SHARE]))
        else:
            to = Place(route[c.DEST_QMGR], name, asked_for, Via.CLUSTER.value, place.object_type)
            onward[to] = onward.get(to, 0.0) + route[EXPECTED_SHARE]
    going = [(to, share) for to, share in onward.items() if share > 0]
    return Hop(place, plan, routes, going, [(x, share) for x, share in endings if share > 0])


def _ending(
    place: Place, route: Row, asked_for: str, network: Network, *, to_host: bool
) -> Ending | None:
    """How a route's messages end, or None where they are put again at its other end."""
    dest, name = route[c.DEST_QMGR], route[c.DEST_OBJECT]
    is_topic = place.object_type == ObjectType.TOPIC
    if route[c.IS_LOCAL] or (is_topic and not to_host):
        return Ending(_kept(place), dest, name)
    if dest in network.defined:
        return None
    if is_topic:
        return Ending(End.TOPIC, dest, name)
    if asked_for:
        return Ending(End.LEAVES, place.qmgr, name, asked_for, xmitq=route[c.XMITQ])
    return Ending(End.QUEUE, dest, name)


def _kept(place: Place) -> End:
    return End.TOPIC if place.object_type == ObjectType.TOPIC else End.QUEUE
