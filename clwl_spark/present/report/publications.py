"""Publications followed through their topic hosts to the subscriptions that get them.

Outcomes say which way each publication went from where it was put. What a topic host sends on is
no choice: every queue manager that subscribes gets a copy, so its counts follow from them.

Source: SEMANTICS 9, P18.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import ClusterRoute, ObjectType, Via
from clwl_spark.planning.plans import Ladder
from clwl_spark.present.report.aggregate import COUNT, Aggregate
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.trace.places import Hop, Network, Place, hops_at
from clwl_spark.studies.trace.subscriptions import Arrival, Subscription, subscriptions_at
from clwl_spark.studies.trace.trace import network_of
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End

TOP_TOPICS: Final = 12
TOP_SNAPSHOTS: Final = 5
_LOCAL: Final = ""


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of publications that go one way.

    Attributes:
        at_qmgr: from here: where it was published, or a topic host.
        dest_qmgr: to there; the same one = they stay.
        channel: None = none.
        messages: how many.
        is_sent_on: dest_qmgr is a topic host, which hands them on to others.
        subscriptions: user subscriptions there that get them.
    """

    at_qmgr: str
    dest_qmgr: str
    channel: str | None
    messages: int
    is_sent_on: bool = False
    subscriptions: tuple[Subscription, ...] = ()


@dataclass(frozen=True, slots=True)
class Publication:
    """What one queue manager published to one topic string under one snapshot.

    Attributes:
        qmgr: the queue manager.
        topic: the topic string.
        snapshot_id: the snapshot in force.
        outcomes: choices that were made.
        copies: where they go, hop by hop.
        own: subscriptions of the publishing queue manager, which get each without a choice.
    """

    qmgr: str
    topic: str
    snapshot_id: str
    outcomes: int
    copies: tuple[Copies, ...]
    own: tuple[Subscription, ...] = ()


@dataclass
class _Published:
    """The outcomes of one publisher, topic string and snapshot: (destination, channel, count)."""

    key: tuple[str, str, str]
    ways: list[tuple[str, str | None, int]] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """The first put."""
        _, qmgr, topic = self.key
        return Place(qmgr, topic, object_type=ObjectType.TOPIC.value)

    @property
    def outcomes(self) -> int:
        """All of them."""
        return sum(count for _, _, count in self.ways)


def publications(lake: Lake, aggregate: Aggregate) -> tuple[Publication, ...]:
    """The publications with most outcomes, at most `TOP_TOPICS` of at most `TOP_SNAPSHOTS`.

    Args:
        lake: where the topology is.
        aggregate: the outcomes' sums.
    """
    by_snapshot = defaultdict[str, list[_Published]](list)
    for one in _busiest(aggregate):
        by_snapshot[one.key[0]].append(one)
    found = [
        told
        for snapshot_id, asked in list(by_snapshot.items())[:TOP_SNAPSHOTS]
        for told in _followed(lake, snapshot_id, asked, aggregate)
    ]
    return tuple(sorted(found, key=lambda x: (-x.outcomes, x.qmgr, x.topic, x.snapshot_id)))


def _busiest(aggregate: Aggregate) -> list[_Published]:
    """Those with most outcomes, the most first."""
    key = (c.SNAPSHOT_ID, c.QMGR, c.OBJECT_NAME)
    arrived = aggregate.rows.where(
        (F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value)
        & (F.col(c.REASON) == 0)
        & F.col(c.DEST_QMGR).isNotNull()
        & F.col(c.SNAPSHOT_ID).isNotNull()
    )
    total = F.sum(COUNT).alias(COUNT)
    top = arrived.groupBy(*key).agg(total).orderBy(F.desc(COUNT), *key).limit(TOP_TOPICS)
    ways = arrived.join(F.broadcast(top.drop(COUNT)), list(key))
    rows = ways.groupBy(*key, c.DEST_QMGR, c.CHANNEL).agg(total).collect()
    found: dict[tuple[str, str, str], _Published] = {}
    for row in sorted(rows, key=lambda x: (x[c.DEST_QMGR], x[c.CHANNEL] or _LOCAL)):
        at = (row[c.SNAPSHOT_ID], row[c.QMGR], row[c.OBJECT_NAME])
        way = (row[c.DEST_QMGR], row[c.CHANNEL], row[COUNT])
        found.setdefault(at, _Published(at)).ways.append(way)
    return sorted(found.values(), key=lambda x: (-x.outcomes, x.key))


def _followed(
    lake: Lake, snapshot_id: str, asked: Sequence[_Published], aggregate: Aggregate
) -> list[Publication]:
    """The publications of one snapshot, with what topic hosts send on."""
    network = network_of(lake, snapshot_id, {}, aggregate.keep)
    ladder = Ladder(semantics_of(lake))
    first = {hop.place: hop for hop in hops_at([x.place for x in asked], network, ladder)}
    hosts = {_at_host(x, dest): None for x in asked for dest in _hosts(x, first[x.place], network)}
    onward = {hop.place: hop for hop in hops_at(list(hosts), network, ladder)} if hosts else {}
    told = [(x, _copies(x, onward)) for x in asked]
    arrivals = {
        _arrival(x, qmgr)
        for x, copies in told
        for qmgr in (x.key[1], *(y.dest_qmgr for y in copies))
    }
    given = subscriptions_at(arrivals, network.topology, aggregate.keep)
    return [_with_subscriptions(x, copies, given) for x, copies in told]


def _arrival(one: _Published, qmgr: str) -> Arrival:
    """A publication of these at a queue manager."""
    snapshot_id, publisher, topic = one.key
    return Arrival(snapshot_id, qmgr, topic, qmgr == publisher)


def _hosts(one: _Published, hop: Hop, network: Network) -> list[str]:
    """The topic hosts that its publications go to, as far as their definitions are known."""
    if hop.plan[c.CLROUTE] != ClusterRoute.TOPICHOST:
        return []
    dests = dict.fromkeys(dest for dest, _, _ in one.ways)
    return [x for x in dests if x != one.place.qmgr and x in network.defined]


def _at_host(one: _Published, host: str) -> Place:
    """The put at a topic host of what came from the publisher."""
    topic = ObjectType.TOPIC.value
    return Place(host, one.place.object_name, one.place.qmgr, Via.CLUSTER.value, topic)


def _copies(one: _Published, onward: dict[Place, Hop]) -> tuple[Copies, ...]:
    """Where the outcomes go, and then what the topic hosts among their destinations send on."""
    came = Counter[str]()
    copies = []
    for dest, channel, count in one.ways:
        is_sent_on = _at_host(one, dest) in onward
        copies.append(Copies(one.place.qmgr, dest, channel, count, is_sent_on))
        came[dest] += count if is_sent_on else 0
    for host, count in came.items():
        if count:
            copies += _sent_on(onward[_at_host(one, host)], count)
    return tuple(copies)


def _sent_on(hop: Hop, count: int) -> list[Copies]:
    """A copy of each for every queue manager that the host knows to subscribe."""
    over = {row[c.DEST_QMGR]: row[c.CHANNEL] for row in reversed(list(hop.routes))}
    dests = {x.qmgr for x, _ in hop.endings if x.end == End.TOPIC and x.qmgr != hop.place.qmgr}
    return [Copies(hop.place.qmgr, x, over.get(x), count) for x in sorted(dests)]


def _with_subscriptions(
    one: _Published, copies: Sequence[Copies], given: Mapping[Arrival, Sequence[Subscription]]
) -> Publication:
    """The publication, with who gets it where; what is served where it was put is told apart."""
    snapshot_id, qmgr, topic = one.key
    at = {x: tuple(given.get(_arrival(one, x), ())) for x in (qmgr, *(y.dest_qmgr for y in copies))}
    told = tuple(
        replace(x, subscriptions=at[x.dest_qmgr]) if x.dest_qmgr != qmgr else x for x in copies
    )
    return Publication(qmgr, topic, snapshot_id, one.outcomes, told, at[qmgr])
