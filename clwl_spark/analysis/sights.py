"""What queue managers know in a snapshot, brought to the driver: names, topics, subscriptions.

Source: SEMANTICS 1 (S2, S3), 2, P3, P17 to P19.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.analysis.ends import Sight, Topics
from clwl_spark.keeping import at_hand
from clwl_spark.plan.names import NAME, own_definitions
from clwl_spark.plan.resolve import Definition, Knowledge
from clwl_spark.storage import together
from clwl_spark.topology.views import (
    CHANNELS_SEEN_BY,
    CLUSTERS,
    QUEUES_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    others_rows,
    viewers,
)
from clwl_spark.vocabulary import QueueType, SubType

Row = dict[str, Any]
_DEFINITION: Final = (
    c.QTYPE, "shared", c.PUT_ENABLED, c.DEFBIND, c.TARGET, c.RNAME, c.RQMNAME, c.XMITQ, c.USAGE,
)  # fmt: skip
_OBJECTS: Final = (c.TOPIC, c.TOPICSTR)


def sights(
    qmgrs: Collection[str], snapshot_id: str, topology: Topology, topics: Topics
) -> dict[str, Sight]:
    """What each of some queue managers knows.

    Args:
        qmgrs: which; one that the topology does not have knows nothing.
        snapshot_id: of the topology.
        topology: one snapshot.
        topics: its topics.
    """
    spark = topology.queues.sparkSession
    keys = f"{c.SNAPSHOT_ID} string, {VIEWER} string"
    of = spark.createDataFrame([(snapshot_id, qmgr) for qmgr in qmgrs], keys)
    known = at_hand(viewers(of, topology))
    frames = (
        known.select(VIEWER, c.DEFXMITQ),
        own_definitions(known, topology).select(VIEWER, NAME, *_DEFINITION),
        _seen_queues(known, topology),
        _seen_qmgrs(known, topology),
        _patterns(known, topology),
    )
    senders, definitions, queues, seen, patterns = together(spark, _by_viewer, frames)
    return {
        qmgr: Sight(
            Knowledge(
                qmgr,
                {x[NAME]: Definition(**{y: x[y] for y in _DEFINITION}) for x in definitions[qmgr]},
                {x[NAME]: x[c.DEFBIND] for x in queues[qmgr]},
                frozenset(x[NAME] for x in seen[qmgr]),
                senders[qmgr][0][c.DEFXMITQ],
            ),
            topics,
            frozenset(x[c.TOPICSTR] for x in patterns[qmgr]),
        )
        for qmgr in qmgrs
    }


def topics_of(topology: Topology) -> Topics:
    """The topics of a snapshot."""
    rows = topology.topics.select(*_OBJECTS).distinct().collect()
    return Topics(frozenset(row[0] for row in rows), frozenset(row[1] for row in rows))


def _by_viewer(frame: DataFrame) -> dict[str, list[Row]]:
    found = defaultdict(list)
    for row in frame.toArrow().to_pylist():
        found[row[VIEWER]].append(row)
    return found


def _others_queues(known: DataFrame, topology: Topology) -> DataFrame:
    """The rows of others' queues in the viewer's clusters, with `is_alias` of queue managers."""
    looking = known.select(*VIEW_KEY, CLUSTERS, QUEUES_SEEN_BY)
    is_alias = (F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.col(c.RNAME) == "")
    seen = others_rows(looking, topology.queues, QUEUES_SEEN_BY).where(in_clusters(c.CLUSTER))
    return seen.withColumn(c.IS_ALIAS, is_alias)


def _seen_queues(known: DataFrame, topology: Topology) -> DataFrame:
    """(viewer, name, defbind): queues on others, with the DEFBIND of the lowest (qmgr, cluster)."""
    lowest = F.min_by(c.DEFBIND, F.struct(c.QMGR, c.CLUSTER)).alias(c.DEFBIND)
    queues = _others_queues(known, topology).where(~F.col(c.IS_ALIAS))
    return queues.groupBy(VIEWER, F.col(c.QUEUE).alias(NAME)).agg(lowest)


def _seen_qmgrs(known: DataFrame, topology: Topology) -> DataFrame:
    """(viewer, name): queue managers, and aliases of them on others."""
    aliases = _others_queues(known, topology).where(c.IS_ALIAS)
    looking = known.select(*VIEW_KEY, CLUSTERS, CHANNELS_SEEN_BY)
    channels = others_rows(looking, topology.cluster_channels, CHANNELS_SEEN_BY)
    qmgrs = channels.where(in_clusters(c.CLUSTER))
    found = aliases.select(VIEWER, F.col(c.QUEUE).alias(NAME))
    return found.union(qmgrs.select(VIEWER, F.col(c.QMGR).alias(NAME))).distinct()


def _patterns(known: DataFrame, topology: Topology) -> DataFrame:
    """(viewer, topicstr) of proxy subscriptions."""
    proxies = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.PROXY.value)
    held = proxies.select(F.col(c.QMGR).alias(VIEWER), c.TOPICSTR).distinct()
    return held.join(known.select(VIEWER), VIEWER, "left_semi")
