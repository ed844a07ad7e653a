"""How far publications and subscriptions go: PUBSCOPE and SUBSCOPE of the nearest topic object.

Source: SEMANTICS 9 (edition 2), P38, P39.
"""

from typing import Final

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Reach
from clwl_spark.planning.topic_strings import ancestors
from clwl_spark.snapshots.views import (
    CLUSTERS,
    TOPICS_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    others_rows,
    own_rows,
)
from clwl_spark.spark.frames import rows_at_hand
from clwl_spark.tables import columns as c

STRING: Final = "string"
REACH: Final = "reach"
_WORDS: Final = tuple(x.value for x in Reach)
_IS_OTHERS: Final = "is_others"
_ORDER: Final = (_IS_OTHERS, c.TOPIC, c.CLUSTER, c.QMGR)
"""Of topic objects with one TOPICSTR."""


def scopes_above(asked: DataFrame, known: DataFrame, topology: Topology, scope: str) -> DataFrame:
    """The effective scope of topic strings, where a topic object has one.

    Args:
        asked: (snapshot_id, viewer, string), distinct.
        known: `views.viewers` of the viewers.
        topology: the tables.
        scope: column `pub_scope` or `sub_scope`.

    Grain: one row per row of `asked` that has one: its columns and `reach`.
    """
    return scopes_said(asked, known, topology, scope).select(*VIEW_KEY, STRING, REACH)


def scopes_said(asked: DataFrame, known: DataFrame, topology: Topology, scope: str) -> DataFrame:
    """As `scopes_above`, and which topic object says so.

    Grain: one row per row of `scopes_above`: its columns, and `topic`, `cluster` and `qmgr` of the
    row of the topic object.
    """
    strings = asked.withColumn(c.TOPICSTR, F.explode(ancestors(F.col(STRING))))
    sight = known.select(*VIEW_KEY, TOPICS_SEEN_BY, F.explode(CLUSTERS).alias(c.CLUSTER))
    looking = strings.join(sight, list(VIEW_KEY))
    others = others_rows(looking, topology.topics, TOPICS_SEEN_BY, (c.CLUSTER, c.TOPICSTR))
    own = own_rows(known, topology.topics, (c.TOPIC, c.CLUSTER))
    mine = strings.join(own, [*VIEW_KEY, c.TOPICSTR])
    columns = (*VIEW_KEY, STRING, c.TOPICSTR, c.TOPIC, c.CLUSTER, F.col(scope).alias(REACH))
    met = others.select(*columns, c.QMGR, F.lit(1).alias(_IS_OTHERS)).unionByName(
        mine.select(*columns, F.col(VIEWER).alias(c.QMGR), F.lit(0).alias(_IS_OTHERS))
    )
    met = met.where(F.col(REACH).isin(*_WORDS) & (F.col(c.TOPICSTR) != ""))
    nearest = F.min(F.struct((-F.length(c.TOPICSTR)).alias("length"), *_ORDER, REACH))
    found = met.groupBy(*VIEW_KEY, STRING).agg(nearest.alias("nearest"))
    said = (F.col(f"nearest.{x}").alias(x) for x in (REACH, c.TOPIC, c.CLUSTER, c.QMGR))
    return found.select(*VIEW_KEY, STRING, *said)


def is_said_nowhere(topology: Topology, scope: str) -> bool:
    """Whether no topic object is seen to say how far publications or subscriptions go.

    Args:
        topology: the tables.
        scope: column `pub_scope` or `sub_scope`.
    """
    rows = rows_at_hand(topology.topics)
    return rows is not None and not {*_WORDS}.intersection(pc.unique(rows[scope]).to_pylist())


def kept_local(asked: DataFrame, known: DataFrame, topology: Topology) -> DataFrame:
    """The publications that their scope keeps on their queue manager: (plan_id).

    Args:
        asked: (plan_id, snapshot_id, viewer, object_name = topic string, scope).
        known: `views.viewers` of the senders.
        topology: the tables.
    """
    own = asked.where(F.col(c.SCOPE) == Reach.QMGR.value).select(c.PLAN_ID)
    if is_said_nowhere(topology, c.PUB_SCOPE):
        return own
    named = asked.withColumnRenamed(c.OBJECT_NAME, STRING)
    strings = named.select(*VIEW_KEY, STRING).distinct()
    scoped = scopes_above(strings, known, topology, c.PUB_SCOPE)
    limited = scoped.where(F.col(REACH) == Reach.QMGR.value)
    by_topic = named.join(limited, [*VIEW_KEY, STRING], "left_semi").select(c.PLAN_ID)
    return own.union(by_topic).distinct()
