"""A snapshot's cluster topics: conflicts and costs, read from a lake."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import SubType
from clwl_spark.planning.proxies import with_scopes
from clwl_spark.planning.scopes import REACH
from clwl_spark.planning.topic_strings import PATTERN
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.views import Topology, read_topology
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.topics.conflicts import cluster_definitions, conflicts
from clwl_spark.studies.topics.costs import TopicCost, summed, topic_costs
from clwl_spark.studies.topics.scopes import topic_scopes
from clwl_spark.studies.topics.strings import check_topic_string
from clwl_spark.tables import (
    CLUSTER_CHANNELS,
    SUBSCRIPTIONS,
    TOPIC_CONFLICTS,
    TOPIC_COSTS,
    TOPICS,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables.publishing import DIRECT_PROXIES

LARGEST: Final = 100_000
Row = dict[str, Any]
Name = tuple[str, str]
"""Cluster and topic object."""


@dataclass(frozen=True, slots=True)
class TopicQuestion:
    """What of a snapshot's topics is asked for.

    Attributes:
        snapshot_id: default the last valid one.
        topic_string: only the topic that a publication to this string meets; blank = all.
        qmgr: only the costs of this queue manager; blank = all.
        sizes: also the costs if the cluster had so many queue managers.
    """

    snapshot_id: str | None = None
    topic_string: str = ""
    qmgr: str = ""
    sizes: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class TopicDesign:
    """The answer.

    Attributes:
        snapshot_id: the snapshot that was looked at.
        topics: each topic's cost in sum.
        conflicts: rows of `topic_conflicts`.
        costs: rows of `topic_costs`, the most burdened queue managers first.
        sizes: each topic at each size that was asked for.
        scopes: PUBSCOPE and SUBSCOPE of each topic, and what they do (`scopes.topic_scopes`).
    """

    snapshot_id: str
    topics: Sequence[TopicCost]
    conflicts: Sequence[Row]
    costs: Sequence[Row]
    sizes: Sequence[TopicCost] = ()
    scopes: Sequence[Row] = ()

    def to_json(self) -> Row:
        """The document of `clwl topics --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "topics": [topic.to_json() for topic in self.topics],
            "conflicts": list(self.conflicts),
            "costs": list(self.costs),
            "sizes": [topic.to_json() for topic in self.sizes],
            "scopes": list(self.scopes),
        }


def design_of(lake: Lake, question: TopicQuestion) -> TopicDesign:
    """Look at a snapshot's cluster topics.

    Raises:
        UsageError: no topic string, no topic for it, or no possible size.
        UnknownQueueManagerError: the snapshot has no such queue manager.
        MissingSnapshotError: no such snapshot, or no valid one.
    """
    _check(question)
    snapshot_id = chosen_snapshot(lake, question.snapshot_id)
    topology = read_topology(lake, [snapshot_id])
    frames = _frames(lake, snapshot_id, topology)
    if question.qmgr:
        known = names_defined(topology)
        check_qmgr(question.qmgr, known, snapshot_id)
    definitions = checkpoint(cluster_definitions(frames[TOPICS.name]))
    string = question.topic_string
    # What a topic costs depends on those below it: all are looked at, whatever is shown.
    asked = _met(definitions, string, snapshot_id) if string else frozenset[Name]()
    others = (frames[CLUSTER_CHANNELS.name], frames[SUBSCRIPTIONS.name])
    costs = checkpoint(_of(topic_costs(definitions, *others), asked))
    topics = summed(costs)
    found = _of(conflicts(definitions), asked).orderBy(*TOPIC_CONFLICTS.keys).collect()
    shown = costs.where(F.col(c.QMGR) == question.qmgr) if question.qmgr else costs
    rows = shown.orderBy(c.CLUSTER, c.TOPIC, F.desc(DIRECT_PROXIES), c.QMGR).collect()
    return TopicDesign(
        snapshot_id,
        topics,
        [row.asDict() for row in found],
        [row.asDict() for row in rows],
        [topic.grown_to(size) for topic in topics for size in question.sizes],
        [x for x in topic_scopes(definitions, *others) if not asked or _name(x) in asked],
    )


def save(lake: Lake, snapshot_id: str) -> None:
    """Write a snapshot's conflicts and costs to their tables, in place of those there."""
    frames = _frames(lake, snapshot_id, read_topology(lake, [snapshot_id]))
    definitions = checkpoint(cluster_definitions(frames[TOPICS.name]))
    costs = topic_costs(definitions, frames[CLUSTER_CHANNELS.name], frames[SUBSCRIPTIONS.name])
    lake.create([TOPIC_COSTS, TOPIC_CONFLICTS])
    lake.replace(TOPIC_COSTS.name, costs, c.SNAPSHOT_ID, [snapshot_id])
    lake.replace(TOPIC_CONFLICTS.name, conflicts(definitions), c.SNAPSHOT_ID, [snapshot_id])


def _check(question: TopicQuestion) -> None:
    """Refuse what cannot be answered."""
    if question.topic_string:
        check_topic_string(question.topic_string)
    for size in question.sizes:
        if not 1 <= size <= LARGEST:
            raise UsageError(f"--size {size}: give a number of queue managers, 1 to {LARGEST}")


def _frames(lake: Lake, snapshot_id: str, topology: Topology) -> dict[str, DataFrame]:
    """The snapshot's rows; of user subscriptions sub_scope is the effective one (P39)."""
    names = (TOPICS.name, CLUSTER_CHANNELS.name)
    found = {name: lake.read_or_empty(name, c.SNAPSHOT_ID, [snapshot_id]) for name in names}
    is_user = F.col(c.SUBTYPE) == SubType.USER.value
    held = topology.subscriptions.withColumn(PATTERN, F.col(c.TOPICSTR))
    told = with_scopes(held.where(is_user), topology, checkpoint)
    users = told.withColumn(c.SUB_SCOPE, F.col(REACH)).select(*topology.subscriptions.columns)
    found[SUBSCRIPTIONS.name] = users.unionByName(topology.subscriptions.where(~is_user))
    return found


def _met(definitions: DataFrame, string: str, snapshot_id: str) -> frozenset[Name]:
    """The topic that a publication meets, in each cluster (SEMANTICS 9).

    Its definitions may have other strings as well.
    """
    levels = string.split("/")
    ancestors = ["/".join(levels[: n + 1]) for n in range(len(levels))]
    rows = definitions.where(F.col(c.TOPICSTR).isin(ancestors)).collect()
    if not rows:
        raise UsageError(
            f"no cluster topic at or above '{string}' in snapshot {snapshot_id}: publications to "
            "it stay on their queue manager; leave out --topic to see all topics"
        )
    longest = max(len(row[c.TOPICSTR]) for row in rows)
    return frozenset(_name(row.asDict()) for row in rows if len(row[c.TOPICSTR]) == longest)


def _name(row: Row) -> Name:
    return row[c.CLUSTER], row[c.TOPIC]


def _of(rows: DataFrame, asked: frozenset[Name]) -> DataFrame:
    """The rows of the topics that are asked for; none = of all."""
    if not asked:
        return rows
    wanted = ((F.col(c.CLUSTER) == name) & (F.col(c.TOPIC) == topic) for name, topic in asked)
    return rows.where(reduce(or_, wanted))
