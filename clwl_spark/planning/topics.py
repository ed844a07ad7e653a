"""Which topic object a publication meets, and who gets it.

Source: SEMANTICS 9, P17 to P19.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import (
    ClusterRoute,
    DefBind,
    PlanKind,
    ProxySub,
    SubType,
    WildcardSchema,
)
from clwl_spark.snapshots.views import (
    CLUSTERS,
    TOPICS_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    others_rows,
    own_rows,
)
from clwl_spark.tables import columns as c

_TOPIC_COLUMNS: Final = (
    *VIEW_KEY,
    c.QMGR,
    c.TOPIC,
    c.CLUSTER,
    c.TOPICSTR,
    c.CLROUTE,
    c.PUB_ENABLED,
    c.PROXYSUB,
)
_CHARACTERS: Final = {"*": ".*", "?": "."}
"""Wildcards of WSCHEMA(CHAR) as regular expressions."""
IS_COPY: Final = "is_copy"
IS_SHARED: Final = "is_shared"
HOSTS_COLUMNS: Final = (
    c.PLAN_ID,
    *VIEW_KEY,
    c.QMGR,
    c.TOPIC,
    c.CLUSTER,
    c.PUB_ENABLED,
    IS_COPY,
)


def matching_topics(asked: DataFrame, known: DataFrame, topology: Topology) -> DataFrame:
    """The rows of the topic object that each publication meets.

    Args:
        asked: (plan_id, snapshot_id, viewer, object_name = topic string).
        known: `views.viewers` of the senders.
        topology: the tables.

    The object is chosen among rows in clusters of the viewer's; hosts in other clusters are rows
    too, which rule 1 eliminates (P4), but say nothing about the object.

    Grain: one row per (plan_id, row of the topic object), with `is_shared` (a cluster of the
    viewer's), and `is_host_routed` and `forced`, the same in all rows of a plan.
    """
    looking = known.select(*VIEW_KEY, CLUSTERS, TOPICS_SEEN_BY)
    others = others_rows(looking, topology.topics, TOPICS_SEEN_BY).where(F.col(c.CLUSTER) != "")
    mine = (
        own_rows(known, topology.topics, (c.TOPIC, c.CLUSTER))
        .join(known.select(*VIEW_KEY, CLUSTERS), list(VIEW_KEY))
        .where(in_clusters(c.CLUSTER))
    )
    is_shared = in_clusters(c.CLUSTER).alias(IS_SHARED)
    seen = others.select(*_TOPIC_COLUMNS, is_shared).unionByName(
        mine.select(*_TOPIC_COLUMNS, is_shared)
    )
    ancestors = asked.withColumn(c.TOPICSTR, F.explode(_ancestors(F.col(c.OBJECT_NAME))))
    met = ancestors.join(seen, [*VIEW_KEY, c.TOPICSTR])
    of_plan = Window.partitionBy(c.PLAN_ID)
    # Longest topic string first, then the lowest name.
    order = F.struct(-F.length(c.TOPICSTR), F.col(c.TOPIC))
    lowest = F.min(F.when(F.col(IS_SHARED), order)).over(of_plan)
    best = met.withColumn("best", lowest).where(F.col("best") == order)
    return best.select(
        "*",
        F.bool_or(F.col(IS_SHARED) & _is_host()).over(of_plan).alias("is_host_routed"),
        F.bool_or(F.col(IS_SHARED) & _is_forced()).over(of_plan).alias("forced"),
    ).drop("best")


def destinations(matched: DataFrame, channels: DataFrame, topology: Topology) -> DataFrame:
    """Topic hosts of TOPICHOST plans that choose, and the queue managers that get DIRECT copies.

    Args:
        matched: `matching_topics`.
        channels: `channels.channels_asked`.
        topology: the tables.

    Grain: one row per (plan_id, qmgr, cluster), columns `HOSTS_COLUMNS`.
    """
    hosts = matched.where(F.col("is_host_routed") & _is_host())
    own_host = hosts.where(F.col(c.QMGR) == F.col(VIEWER)).select(c.PLAN_ID).distinct()
    choosing = hosts.join(own_host, c.PLAN_ID, "left_anti").withColumn(IS_COPY, F.lit(False))
    return choosing.select(*HOSTS_COLUMNS).unionByName(_copies(matched, channels, topology))


def topic_resolutions(asked: DataFrame, matched: DataFrame, chosen: DataFrame) -> DataFrame:
    """What each publication resolves to: a choice (TOPIC), or the local queue manager (LOCAL).

    Grain: one row per row of `asked`.
    """
    met = matched.groupBy(c.PLAN_ID).agg(F.first(c.TOPIC).alias(c.TOPIC))
    choosing = chosen.groupBy(c.PLAN_ID).agg(F.lit(PlanKind.TOPIC.value).alias(c.KIND))
    return (
        asked.join(met, c.PLAN_ID, "left")
        .join(choosing, c.PLAN_ID, "left")
        .select(
            c.PLAN_ID,
            F.coalesce(c.KIND, F.lit(PlanKind.LOCAL.value)).alias(c.KIND),
            F.lit(0).alias(c.REASON),
            F.coalesce(c.TOPIC, c.OBJECT_NAME).alias(c.RESOLVED_OBJECT),
            F.lit("").alias(c.RESOLVED_QMGR),
            F.array(c.OBJECT_NAME).alias(c.RESOLUTION_PATH),
            F.lit(DefBind.OPEN.value).alias(c.BIND_DEFAULT),
            F.lit(None).cast("string").alias(c.XMITQ),
        )
    )


def topic_matches(pattern: str, wschema: str, topic: str) -> bool:
    """Whether a subscription's topic string matches.

    Args:
        pattern: the subscription's string.
        wschema: CHAR: `*` is any run of characters and `?` one, a `/` like any other. TOPIC: `+`
            is one level, and `#` any number of them, also none.
        topic: the publication's string.

    Source: SEMANTICS P19.
    """
    if wschema == WildcardSchema.CHAR.value:
        return _by_characters(pattern).fullmatch(topic) is not None
    return _levels_match(pattern.split("/"), topic.split("/"))


@lru_cache(maxsize=1024)
def _by_characters(pattern: str) -> re.Pattern[str]:
    parts = (_CHARACTERS.get(x) or re.escape(x) for x in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _levels_match(pattern: list[str], levels: list[str]) -> bool:
    reachable = {0}
    for part in pattern:
        if part == "#":
            reachable = set(range(min(reachable), len(levels) + 1)) if reachable else set()
        else:
            reachable = {
                at + 1 for at in reachable if at < len(levels) and part in ("+", levels[at])
            }
    return len(levels) in reachable


def _copies(matched: DataFrame, channels: DataFrame, topology: Topology) -> DataFrame:
    """The queue managers that get a copy of a DIRECT publication, by cluster of the topic."""
    direct = matched.where(~F.col("is_host_routed") & F.col(IS_SHARED))
    topic_clusters = direct.select(
        c.PLAN_ID, *VIEW_KEY, c.OBJECT_NAME, c.TOPIC, "forced", c.CLUSTER
    ).distinct()
    # Who is a member is not asked for (P37).
    seen = channels.where(~F.col(c.FIRST_OPEN))
    receivers = seen.select(*VIEW_KEY, c.QMGR, c.CLUSTER).distinct()
    reached = topic_clusters.join(receivers, [*VIEW_KEY, c.CLUSTER]).where(
        F.col(c.QMGR) != F.col(VIEWER)
    )
    subscribed = _subscribed(direct, topology).withColumn("subscribed", F.lit(True))
    return (
        reached.join(subscribed, [c.PLAN_ID, c.QMGR], "left")
        .where(F.col("forced") | F.col("subscribed"))
        .withColumn(c.PUB_ENABLED, F.lit(True))
        .withColumn(IS_COPY, F.lit(True))
        .select(*HOSTS_COLUMNS)
    )


def _subscribed(direct: DataFrame, topology: Topology) -> DataFrame:
    """(plan_id, qmgr): the viewer holds a proxy subscription of qmgr that matches."""
    proxies = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.PROXY.value).select(
        c.SNAPSHOT_ID,
        F.col(c.QMGR).alias(VIEWER),
        F.col(c.DEST_QMGR).alias(c.QMGR),
        F.col(c.TOPICSTR).alias("pattern"),
        c.WSCHEMA,
    )
    asked = direct.select(c.PLAN_ID, *VIEW_KEY, c.OBJECT_NAME).distinct()
    pairs = asked.join(proxies, list(VIEW_KEY))
    return pairs.mapInPandas(_matching_pairs, pairs.schema).select(c.PLAN_ID, c.QMGR).distinct()


def _matching_pairs(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        pairs = zip(*(frame[x] for x in ("pattern", c.WSCHEMA, c.OBJECT_NAME)), strict=True)
        yield frame[[topic_matches(*pair) for pair in pairs]]


def _is_host() -> Column:
    return F.col(c.CLROUTE) == ClusterRoute.TOPICHOST.value


def _is_forced() -> Column:
    return F.col(c.PROXYSUB) == ProxySub.FORCE.value


def _ancestors(topic: Column) -> Column:
    """The topic string and its ancestors by `/` levels; '' is one of '/a', not of 'a'."""
    levels = F.split(topic, "/")
    return F.transform(
        F.sequence(F.lit(1), F.size(levels)),
        lambda n: F.concat_ws("/", F.slice(levels, F.lit(1), n)),
    )
