"""PUBSCOPE and SUBSCOPE of cluster topics, and the proxy subscriptions that they save.

Source: SEMANTICS 9 (scope), P38, P39; Hughson's deck, "Cluster Topics".
"""

from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import SubType
from clwl_spark.studies.topics.conflicts import AS_PARENT
from clwl_spark.studies.topics.costs import (
    FORCED,
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
from clwl_spark.tables.publishing import IS_HOST, MEMBERS

Row = dict[str, Any]
_HOSTS: Final = "hosts"
_AT_HOST: Final = "at_host"


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
    hosts = definitions.select(*OF_TOPIC, c.QMGR).join(members, [*OF_CLUSTER, c.QMGR], "left_semi")
    sizes = members.groupBy(*OF_CLUSTER).agg(F.count(F.lit(1)).alias(MEMBERS))
    saying = [_said(definitions, x).alias(x) for x in (c.PUB_SCOPE, c.SUB_SCOPE)]
    stays, forced = F.col(STAYS), F.col(FORCED)
    rows = (
        definitions.groupBy(*OF_TOPIC)
        .agg(*saying)
        .join(topics.select(*OF_TOPIC, FORCED), list(OF_TOPIC))
        .join(sizes, list(OF_CLUSTER), "left")
        .join(hosts.groupBy(*OF_TOPIC).agg(F.count(F.lit(1)).alias(_HOSTS)), list(OF_TOPIC), "left")
        .join(_counts(asked, hosts), list(OF_TOPIC), "left")
        .join(_held(topics, members, subscriptions), list(OF_TOPIC), "left")
        .fillna(0)
        # With PROXYSUB(FORCE) a queue manager asks for all, whatever its subscriptions do.
        .withColumn("saved_direct", F.when(forced, 0).otherwise(stays * (F.col(MEMBERS) - 1)))
        .withColumn(
            "saved_topichost", F.when(forced, 0).otherwise(stays * F.col(_HOSTS) - F.col(_AT_HOST))
        )
        .orderBy(c.CLUSTER, c.TOPIC)
    )
    names = (c.CLUSTER, c.TOPIC, c.PUB_SCOPE, c.SUB_SCOPE, "asked", STAYS)
    more = ("saved_direct", "saved_topichost", "held")
    return [row.asDict() for row in rows.select(*names, *more).collect()]


def _counts(asked: DataFrame, hosts: DataFrame) -> DataFrame:
    """Strings that are asked for, by topic: all, those that stay, and those that stay on a host.

    Args:
        asked: `costs.asked_strings`.
        hosts: (snapshot_id, cluster, topic, qmgr); a host does not hold what it asks for itself.
    """
    told = asked.join(hosts.withColumn(IS_HOST, F.lit(True)), [*OF_TOPIC, c.QMGR], "left")
    stays = F.col(STAYS)
    return told.groupBy(*OF_TOPIC).agg(
        F.count(F.lit(1)).alias("asked"),
        F.count_if(stays).alias(STAYS),
        F.count_if(stays & F.col(IS_HOST).isNotNull()).alias(_AT_HOST),
    )


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
