"""PUBSCOPE and SUBSCOPE of cluster topics, and the proxy subscriptions that they save.

Source: SEMANTICS 9 (scope), P38, P39; Hughson's deck, "Cluster Topics".
"""

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import SubType
from clwl_spark.studies.topics.conflicts import AS_PARENT
from clwl_spark.studies.topics.costs import (
    OF_CLUSTER,
    OF_TOPIC,
    STAYS,
    asked_strings,
    members_of,
    one_row_each,
    pattern_of,
)
from clwl_spark.studies.topics.strings import reaching
from clwl_spark.tables import columns as c
from clwl_spark.tables.publishing import MEMBERS

Row = dict[str, Any]


def topic_scopes(
    definitions: DataFrame, channels: DataFrame, subscriptions: DataFrame
) -> list[Row]:
    """What PUBSCOPE and SUBSCOPE do to each cluster topic, and the proxies that the snapshot has.

    Args:
        definitions: `conflicts.cluster_definitions`.
        channels: rows of `cluster_channels`.
        subscriptions: rows of `subscriptions`, proxies among them.

    Returns:
        cluster, topic, pub_scope and sub_scope (ASPARENT where none is set; `and` where definitions
        differ), strings asked for, how many of them stay at home, the proxies that these save by
        each CLROUTE, and proxy subscriptions of the snapshot that reach the topic.
    """
    topics = one_row_each(definitions)
    members = members_of(channels)
    asked = asked_strings(topics, members, subscriptions)
    stays = F.count_if(F.col(STAYS))
    counts = asked.groupBy(*OF_TOPIC).agg(F.count(F.lit(1)).alias("asked"), stays.alias(STAYS))
    sizes = members.groupBy(*OF_CLUSTER).agg(F.count(F.lit(1)).alias(MEMBERS))
    saying = [_said(definitions, x).alias(x) for x in (c.PUB_SCOPE, c.SUB_SCOPE)]
    said = definitions.groupBy(*OF_TOPIC).agg(*saying, F.count_distinct(c.QMGR).alias("hosts"))
    rows = (
        said.join(sizes, list(OF_CLUSTER), "left")
        .join(counts, list(OF_TOPIC), "left")
        .join(_held(topics, members, subscriptions), list(OF_TOPIC), "left")
        .fillna(0)
        .withColumn("saved_direct", F.col(STAYS) * F.greatest(F.col(MEMBERS) - 1, F.lit(0)))
        .withColumn("saved_topichost", F.col(STAYS) * F.col("hosts"))
        .orderBy(c.CLUSTER, c.TOPIC)
    )
    names = (c.CLUSTER, c.TOPIC, c.PUB_SCOPE, c.SUB_SCOPE, "asked", STAYS)
    more = ("saved_direct", "saved_topichost", "held")
    return [row.asDict() for row in rows.select(*names, *more).collect()]


def _said(definitions: DataFrame, scope: str) -> Column:
    """A scope as the definitions of a topic have it."""
    if scope not in definitions.columns:
        return F.max(F.lit(AS_PARENT))
    return F.concat_ws(" and ", F.sort_array(F.collect_set(scope)))


def _held(topics: DataFrame, members: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """Proxy subscriptions of the snapshot that reach each topic.

    Grain: one row per topic that has some: (snapshot_id, cluster, topic, held).
    """
    proxies = subscriptions.where(F.col(c.SUBTYPE) == SubType.PROXY.value)
    told = (x.alias(name) for name, x in pattern_of(subscriptions).items())
    pairs = (
        proxies.select(c.SNAPSHOT_ID, c.QMGR, *told)
        .join(members, [c.SNAPSHOT_ID, c.QMGR])
        .join(topics.select(*OF_TOPIC, c.TOPICSTR), list(OF_CLUSTER))
    )
    return reaching(pairs).groupBy(*OF_TOPIC).agg(F.count(F.lit(1)).alias("held"))
