"""What queue managers know in a snapshot, brought to the driver: names, topics, subscriptions.

Source: SEMANTICS 1 (S2, S3), 2, P3, P17 to P19.
"""

from collections import defaultdict
from collections.abc import Collection
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Edition, PlanKind, QueueType, SubType
from clwl_spark.planning.names import (
    DEFINITION,
    NAME,
    Row,
    knowledge,
    own_definitions,
    seen_qmgrs,
    seen_queues,
)
from clwl_spark.snapshots.first_opens import (
    CHANNELS_FULL_IN,
    QUEUES_FULL_IN,
    with_first_opens,
    without_asking,
)
from clwl_spark.snapshots.views import VIEWER, Topology, viewers
from clwl_spark.spark.frames import frame_from_rows, to_arrow
from clwl_spark.spark.materialize import inline
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.studies.explain.ends import Names, Viewpoint
from clwl_spark.tables import columns as c

_OBJECTS: Final = (c.TOPIC, c.TOPICSTR)
_ASKS: Final = "asks"


def viewpoints(
    qmgrs: Collection[str],
    snapshot_id: str,
    topology: Topology,
    names: Names,
    edition: Edition,
) -> dict[str, Viewpoint]:
    """What each of some queue managers knows.

    Args:
        qmgrs: which; one that the topology does not have knows nothing.
        snapshot_id: of the topology.
        topology: one snapshot.
        names: its names.
        edition: of SEMANTICS.
    """
    spark = topology.queues.sparkSession
    keys = f"{c.SNAPSHOT_ID} string, {VIEWER} string"
    of = frame_from_rows(spark, [(snapshot_id, qmgr) for qmgr in qmgrs], keys)
    known = inline(with_first_opens(viewers(of, topology), topology, edition))
    looking = without_asking(known)
    frames = (
        known.select(VIEWER, c.DEFXMITQ, _asks().alias(_ASKS)),
        own_definitions(known, topology).select(VIEWER, NAME, *DEFINITION),
        seen_queues(looking, topology),
        seen_qmgrs(looking, topology),
        _patterns(known, topology, edition),
    )
    senders, definitions, queues, seen, patterns = run_parallel(spark, _by_viewer, frames)
    return {
        qmgr: Viewpoint(
            knowledge(senders[qmgr][0], definitions[qmgr], queues[qmgr], seen[qmgr]),
            names,
            frozenset((x[c.TOPICSTR], x[c.WSCHEMA]) for x in patterns[qmgr]),
            edition,
            bool(senders[qmgr][0][_ASKS]),
        )
        for qmgr in qmgrs
    }


def names_of(topology: Topology, edition: Edition) -> Names:
    """The names of a snapshot; of the first edition, in which nobody asks for names, its topics."""
    rows = topology.topics.select(*_OBJECTS).distinct().collect()
    topics, strings = (frozenset(row[at] for row in rows) for at in range(len(_OBJECTS)))
    if edition == Edition.FIRST:
        return Names(topics, strings)
    is_alias = (F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.col(c.RNAME) == "")
    queues, channels = topology.queues, topology.cluster_channels
    of_kinds = (
        (PlanKind.QUEUE, queues.select(c.QUEUE)),
        (PlanKind.QMGR, queues.where(is_alias).select(c.QUEUE)),
        (PlanKind.QMGR, channels.select(c.QMGR)),
    )
    found = (frame.select(F.lit(kind.value), "*") for kind, frame in of_kinds)
    chosen = reduce(DataFrame.union, found).distinct().collect()
    return Names(topics, strings, frozenset((kind, name) for kind, name in chosen))


def _asks() -> Column:
    """Whether a viewer may ask for what its own view lacks."""
    return F.col(QUEUES_FULL_IN).isNotNull() | F.col(CHANNELS_FULL_IN).isNotNull()


def _by_viewer(frame: DataFrame) -> dict[str, list[Row]]:
    found = defaultdict(list)
    for row in to_arrow(frame).to_pylist():
        found[row[VIEWER]].append(row)
    return found


def _patterns(known: DataFrame, topology: Topology, edition: Edition) -> DataFrame:
    """(viewer, topicstr, wschema) of the subscriptions that tell who wants publications."""
    proxies = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.PROXY.value)
    held = proxies.select(F.col(c.QMGR).alias(VIEWER), c.TOPICSTR, c.WSCHEMA).distinct()
    found = held.join(known.select(VIEWER), VIEWER, "left_semi")
    if edition == Edition.FIRST:
        return found
    users = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.USER.value)
    strings = users.select(c.TOPICSTR, c.WSCHEMA).distinct()
    without = known.select(VIEWER).join(held, VIEWER, "left_anti")
    return found.union(without.crossJoin(strings))
