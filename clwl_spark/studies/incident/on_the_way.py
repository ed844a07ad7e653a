"""Which changes of the topology are changes on the ways of an incident's puts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import ObjectType, PlanKind
from clwl_spark.planning.topic_strings import PATTERN, matching
from clwl_spark.snapshots.diff import KEY, TABLE
from clwl_spark.snapshots.views import Topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.planned import Planned
from clwl_spark.studies.incident.model import Put
from clwl_spark.tables import SUBSCRIPTIONS
from clwl_spark.tables import columns as c

Change = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OnTheWay:
    """What the ways of puts lead over.

    Attributes:
        qmgrs: those that put, and those that messages go to.
        channels: of the ways.
        queues: names that are put to, that aliases lead to, and of instances.
        topics: topic objects that publications meet.
        subscriptions: (queue manager, name) of those whose topic string matches a publication's.
    """

    qmgrs: frozenset[str]
    channels: frozenset[str]
    queues: frozenset[str]
    topics: frozenset[str]
    subscriptions: frozenset[tuple[str, str]]

    def concerns(self, change: Change) -> bool:
        """Whether a change, as `clwl diff` has it, is one of these."""
        table, key = change[TABLE], change[KEY]
        own = key.get(c.QMGR) in self.qmgrs
        if table in ("cluster_channels", "channel_status"):
            return own and key[c.CHANNEL] in self.channels
        if table == "queues":
            return own and key[c.QUEUE] in self.queues
        if table == "topics":
            # Whose definition it is does not matter: any of them sets CLROUTE.
            return key[c.TOPIC] in self.topics
        if table == "subscriptions":
            return (key[c.QMGR], key[c.SUB_NAME]) in self.subscriptions
        return table == "queue_managers" and own


def on_the_way(
    topology: Topology,
    object_name: str,
    puts: Sequence[Put],
    plans: Sequence[Planned],
    changes: Sequence[Change],
) -> OnTheWay:
    """What puts lead over, in either snapshot.

    Args:
        topology: of the snapshots before and after.
        object_name: that is asked about.
        puts: with their ways.
        plans: of the puts, in both snapshots.
        changes: of the topology; subscriptions are looked at only where some are among them.
    """
    strings = {x.object_name for x in puts if x.object_type == ObjectType.TOPIC.value}
    is_asked = any(x[TABLE] == SUBSCRIPTIONS.name for x in changes)
    return OnTheWay(
        qmgrs=frozenset({x.qmgr for x in puts} | {y.dest_qmgr for x in puts for y in x.ways}),
        channels=frozenset(y.channel for x in puts for y in x.ways),
        queues=frozenset({object_name, *(y for x in plans for y in _queues(x))}),
        topics=frozenset(
            x.plan[c.RESOLVED_OBJECT] for x in plans if x.plan[c.KIND] == PlanKind.TOPIC.value
        ),
        subscriptions=_subscriptions(topology, strings) if is_asked else frozenset(),
    )


def _queues(planned: Planned) -> Iterator[str]:
    """The names that a put's resolution passes, the queue manager's among them, and instances'."""
    for place in planned.plan[c.RESOLUTION_PATH] or ():
        yield from place.split("@")
    yield from (x[c.DEST_OBJECT] for x in planned.candidates)


def _subscriptions(topology: Topology, strings: Collection[str]) -> frozenset[tuple[str, str]]:
    """Subscriptions that match one of the topic strings."""
    if not strings:
        return frozenset()
    there = topology.subscriptions
    patterns = there.select(c.QMGR, c.SUB_NAME, F.col(c.TOPICSTR).alias(PATTERN), c.WSCHEMA)
    rows = [(x,) for x in sorted(strings)]
    published = frame_from_rows(there.sparkSession, rows, f"{c.OBJECT_NAME} string")
    found = matching(patterns.distinct().crossJoin(published)).select(c.QMGR, c.SUB_NAME)
    return frozenset((row[c.QMGR], row[c.SUB_NAME]) for row in found.distinct().collect())
