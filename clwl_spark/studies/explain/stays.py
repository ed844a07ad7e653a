"""Why a publication stays where it is published: a note of an explanation.

Source: SEMANTICS 9, P17, P18, P38, P39.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql.types import LongType, StringType, StructField, StructType

from clwl_spark.algorithm.request import REQUEST, Request
from clwl_spark.mq.vocabulary import Edition, ObjectType, PlanKind, Reach, Via
from clwl_spark.planning.scopes import REACH, STRING, scopes_said
from clwl_spark.planning.topics import matching_topics, published
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.planned import Planned
from clwl_spark.tables import columns as c

_ASKED: Final = StructType(
    [
        StructField(c.PLAN_ID, LongType()),
        *(StructField(VIEWER if x == c.QMGR else x, StringType()) for x in REQUEST),
    ]
)


def stays_note(asked: Request, found: Planned, topology: Topology, edition: Edition) -> str:
    """Say why a publication stays on its queue manager; '' where it does not, and for queues.

    Args:
        asked: the put.
        found: what it comes to.
        topology: of the snapshot.
        edition: of SEMANTICS.
    """
    is_topic = asked.object_type == ObjectType.TOPIC
    if not is_topic or found.plan[c.KIND] != PlanKind.LOCAL or found.plan[c.REASON] != 0:
        return ""
    if edition != Edition.FIRST and asked.scope == Reach.QMGR:
        return f"scope QMGR: it goes to subscribers of {asked.qmgr} alone"
    publication = frame_from_rows(topology.queues.sparkSession, [(0, *asked)], _ASKED)
    known = viewers(publication.select(*VIEW_KEY), topology)
    if edition != Edition.FIRST and asked.via == Via.LOCAL:
        said = _scope(asked, publication, known, topology)
        if said:
            return said
    return _no_way(asked, matching_topics(published(publication), known, topology).collect())


def _scope(asked: Request, publication: DataFrame, known: DataFrame, topology: Topology) -> str:
    """Which topic object keeps it; '' = none does."""
    strings = publication.withColumnRenamed(c.OBJECT_NAME, STRING).select(*VIEW_KEY, STRING)
    rows = scopes_said(strings, known, topology, c.PUB_SCOPE).collect()
    if not rows or rows[0][REACH] != Reach.QMGR:
        return ""
    return (
        f"PUBSCOPE(QMGR) of topic {_named(rows[0])}: it goes to subscribers of {asked.qmgr} alone"
    )


def _no_way(asked: Request, met: Sequence[Row]) -> str:
    """Why no queue manager gets a copy, though no scope keeps it."""
    met = [x for x in met if x["is_shared"]]
    if not met:
        return f"no topic object of {asked.qmgr}'s clusters is at or above {asked.object_name}"
    topic = met[0][c.TOPIC]
    if not met[0]["is_host_routed"]:
        return f"topic {topic} is CLROUTE(DIRECT), and no other queue manager subscribes to it"
    if asked.via == Via.CLUSTER:
        return f"it came over a cluster channel, and stays at {asked.qmgr}, a topic host of {topic}"
    return f"{asked.qmgr} is itself a topic host of {topic}: it makes no choice"


def _named(row: Row) -> str:
    where = f"in cluster {row[c.CLUSTER]}" if row[c.CLUSTER] else "not shared"
    return f"{row[c.TOPIC]} of {row[c.QMGR]} ({where})"
