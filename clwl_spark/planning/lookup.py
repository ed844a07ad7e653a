"""Requests of each object type, looked up: how their names end, and what they choose from.

Source: SEMANTICS 2, 3, 9, P36.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Edition, ObjectType, PlanKind
from clwl_spark.planning.candidates import candidates
from clwl_spark.planning.instances import qmgr_instances, queue_instances, topic_instances
from clwl_spark.planning.names import resolutions
from clwl_spark.planning.topics import (
    destinations,
    matching_topics,
    not_kept_local,
    published,
    topic_ends,
    topic_resolutions,
)
from clwl_spark.snapshots.channels import channels_asked, with_channel_status
from clwl_spark.snapshots.views import VIEW_KEY, Topology
from clwl_spark.spark.frames import rows_at_hand
from clwl_spark.spark.materialize import Materialize, broadcast_if_small
from clwl_spark.tables import columns as c

_RESOLVED: Final = (
    c.PLAN_ID,
    c.KIND,
    c.REASON,
    c.RESOLVED_OBJECT,
    c.RESOLVED_QMGR,
    c.RESOLUTION_PATH,
    c.BIND_DEFAULT,
    c.XMITQ,
)


@dataclass(frozen=True, slots=True)
class Looking:
    """What requests of every type are looked up in: the senders, the tables, and how."""

    known: DataFrame
    topology: Topology
    edition: Edition
    is_onward: bool
    keep: Materialize

    def channels(self, known: DataFrame, ends: DataFrame) -> DataFrame:
        """`channels_asked` with status."""
        in_view = channels_asked(known, self.topology, ends)
        return self.keep(with_channel_status(in_view, self.topology, ends))


@dataclass(frozen=True, slots=True)
class Met:
    """What requests of one type come to.

    Attributes:
        resolved: one row per request, as name resolution ends.
        candidates: that they have to choose from.
        opened: (plan_id), those that have something by a first open; some may be there twice.
    """

    resolved: DataFrame
    candidates: DataFrame
    opened: DataFrame


def _queues_met(asked: DataFrame, looking: Looking) -> Met:
    """Puts to queues."""
    known, topology, keep = looking.known, looking.topology, looking.keep
    queues = keep(_resolved_queues(asked, known, topology, keep))
    found = [
        instances_of(queues.where(F.col(c.KIND) == kind).drop(c.KIND), known, topology)
        for kind, instances_of in _of_kinds(queues).items()
    ]
    instances = keep(reduce(DataFrame.unionByName, found))
    # Of all that a sender sees, only what hosts an instance: a thousand senders of a thousand
    # queue managers see a million channels.
    ends = instances.select(*VIEW_KEY, F.col(c.DEST_QMGR).alias(c.QMGR)).distinct()
    ends = broadcast_if_small(ends, keep)
    channels = looking.channels(known, ends)
    return Met(
        queues.select(*_RESOLVED, F.lit(None).cast("string").alias(c.CLROUTE)),
        candidates(instances, channels),
        _opened(instances, channels),
    )


def _of_kinds(queues: DataFrame) -> Mapping[str, Callable[..., DataFrame]]:
    """What makes the instances of each kind, of those that there may be; of one at least."""
    of_kinds = {PlanKind.QUEUE.value: queue_instances, PlanKind.QMGR.value: qmgr_instances}
    rows = rows_at_hand(queues)
    if rows is None:
        return of_kinds
    there = {PlanKind.QUEUE.value, *rows[c.KIND].to_pylist()}
    return {kind: makes for kind, makes in of_kinds.items() if kind in there}


def _topics_met(asked: DataFrame, looking: Looking) -> Met:
    """Publications."""
    topology, edition = looking.topology, looking.edition
    known = looking.known.join(asked.select(*VIEW_KEY).distinct(), list(VIEW_KEY), "left_semi")
    asked = published(asked, is_onward=looking.is_onward)
    matched = looking.keep(matching_topics(asked, known, topology))
    ends = broadcast_if_small(topic_ends(matched, topology), looking.keep)
    channels = looking.channels(known, ends)
    going = not_kept_local(asked, matched, known, topology, edition)
    chosen = looking.keep(destinations(going, channels, topology, edition, looking.keep))
    instances = topic_instances(chosen)
    return Met(
        topic_resolutions(asked, matched, chosen),
        candidates(instances, channels),
        _opened(instances, channels),
    )


def _opened(instances: DataFrame, channels: DataFrame) -> DataFrame:
    """(plan_id) of those whose instances, or channels to them, are there by a first open (P36)."""
    hosts = channels.where(F.col(c.FIRST_OPEN)).select(*VIEW_KEY, F.col(c.QMGR).alias(c.DEST_QMGR))
    by_host = instances.join(hosts.distinct(), [*VIEW_KEY, c.DEST_QMGR], "left_semi")
    return instances.where(F.col(c.FIRST_OPEN)).select(c.PLAN_ID).union(by_host.select(c.PLAN_ID))


def _resolved_queues(
    asked: DataFrame, known: DataFrame, topology: Topology, keep: Materialize
) -> DataFrame:
    """Requests for queues with their resolution."""
    names = asked.select(*VIEW_KEY, c.OBJECT_NAME, c.OBJECT_QMGR).distinct()
    found = resolutions(names, known, topology, keep)
    return asked.join(found, [*VIEW_KEY, c.OBJECT_NAME, c.OBJECT_QMGR])


MET_BY: Final[Mapping[ObjectType, Callable[[DataFrame, Looking], Met]]] = {
    ObjectType.QUEUE: _queues_met,
    ObjectType.TOPIC: _topics_met,
}
"""How requests of each object type are looked up; the frame has `qmgr` called viewer."""
