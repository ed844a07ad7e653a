"""What a cluster topic costs each queue manager of its cluster: proxy subscriptions and channels.

With n queue managers in the cluster, of which h define the topic, and d(q) topic strings that the
subscriptions of queue manager q ask for at or below the topic:

| | CLROUTE(DIRECT) | CLROUTE(TOPICHOST), a host | another |
|---|---|---|---|
| proxy subscriptions held on q | all d but its own | all d but its own | 0 |
| channels to and from q | 2 (n - 1) | 2 (n - 1) | 2 h |

DIRECT makes channels between all queue managers as soon as a topic is shared, and fans each
subscribed string out to all of them. By topic hosts only they hold subscriptions, and the others
need channels to and from them alone; every queue manager is taken to publish or subscribe.
PROXYSUB(FORCE) makes every queue manager ask for one string, the wildcard that covers the topic,
instead of its own (MQ 8.0 and later). SUBSCOPE(QMGR), of the subscription or else of the topic,
keeps a subscription at home.

Source: Hughson's deck, "Cluster Topics", "Pub/Sub Cluster Architecture 2", "How big can a cluster
be?".
"""

from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import ClusterRoute, ProxySub, Reach, SubType, WildcardSchema
from clwl_spark.planning.topic_strings import PATTERN
from clwl_spark.studies.topics.strings import reaching
from clwl_spark.tables import TOPIC_COSTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.publishing import (
    DIRECT_CHANNELS,
    DIRECT_PROXIES,
    HOST_CHANNELS,
    HOST_PROXIES,
    IS_HOST,
    MEMBERS,
    SUBSCRIBED,
)

OF_CLUSTER: Final = (c.SNAPSHOT_ID, c.CLUSTER)
OF_TOPIC: Final = (*OF_CLUSTER, c.TOPIC)
FORCED: Final = "forced"
_AT_HOME: Final = "at_home"
STAYS: Final = "stays"


@dataclass(frozen=True, slots=True)
class TopicCost:
    """A topic's cost in sum, and at its most burdened queue manager.

    Attributes:
        cluster, topic, topicstr, clroute: of the topic.
        members: queue managers of the cluster.
        hosts: those that define the topic.
        subscribers: those that ask the others for something.
        strings: what all of them ask for, together.
        proxies: held in all, and at most on one queue manager; (sum, most) by CLROUTE.
        channels: in the cluster, and at most at one queue manager; (sum, most) by CLROUTE.
    """

    cluster: str
    topic: str
    topicstr: str
    clroute: str
    members: int
    hosts: int
    subscribers: int
    strings: int
    proxies: dict[str, tuple[int, int]]
    channels: dict[str, tuple[int, int]]

    def to_json(self) -> dict[str, Any]:
        """The topic's document: for each CLROUTE the sums, and the most at one queue manager."""
        own = ("cluster", "topic", "topicstr", "clroute", "members", "hosts", "subscribers")
        return {name: getattr(self, name) for name in (*own, "strings")} | {
            route: {
                "proxies": self.proxies[route][0],
                "most_proxies": self.proxies[route][1],
                "channels": self.channels[route][0],
                "most_channels": self.channels[route][1],
            }
            for route in self.proxies
        }

    def grown_to(self, members: int) -> "TopicCost":
        """The same design in a cluster of another size: as many hosts, strings in proportion."""
        hosts = min(self.hosts, members)
        strings = round(self.strings * members / self.members)
        subscribers = round(self.subscribers * members / self.members)
        direct, hosted = ClusterRoute.DIRECT.value, ClusterRoute.TOPICHOST.value
        most = strings if subscribers < members else strings - strings // members
        # What a queue manager asks for itself is not held there: each string is missing once.
        held = {direct: strings * (members - 1), hosted: strings * hosts}
        held[hosted] -= round(strings * hosts / members)
        others = members - hosts
        return TopicCost(
            self.cluster, self.topic, self.topicstr, self.clroute, members, hosts, subscribers,
            strings,
            {direct: (held[direct], most), hosted: (held[hosted], most if hosts else 0)},
            {
                direct: (members * (members - 1), 2 * (members - 1)),
                hosted: (
                    hosts * (members - 1) + hosts * others,
                    2 * (members - 1) if hosts else 0,
                ),
            },
        )  # fmt: skip


def topic_costs(definitions: DataFrame, channels: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """The cost of each cluster topic on each queue manager of its cluster, by either CLROUTE.

    Args:
        definitions: `conflicts.cluster_definitions`.
        channels: rows of `cluster_channels`: who is in which cluster.
        subscriptions: rows of `subscriptions`; proxies are not counted, but worked out.

    Grain: one row per (snapshot_id, cluster, topic, qmgr), columns of `schemas.TOPIC_COSTS`.
    """
    members = members_of(channels)
    topics = one_row_each(definitions)
    hosts = definitions.select(*OF_TOPIC, c.QMGR, F.lit(True).alias(IS_HOST))
    asked = _asked(topics, members, subscriptions)
    size = Window.partitionBy(*OF_CLUSTER)
    of_topic = Window.partitionBy(*OF_TOPIC)
    wanted = F.when(F.col(FORCED), 1).otherwise(F.col(SUBSCRIBED))
    rows = (
        members.withColumn(MEMBERS, F.count(F.lit(1)).over(size))
        .join(topics, list(OF_CLUSTER))
        .join(hosts, [*OF_TOPIC, c.QMGR], "left")
        .join(asked, [*OF_TOPIC, c.QMGR], "left")
        .fillna({IS_HOST: False, SUBSCRIBED: 0})
        .withColumn(SUBSCRIBED, wanted.cast("bigint"))
    )
    others = F.sum(SUBSCRIBED).over(of_topic) - F.col(SUBSCRIBED)
    to_all = 2 * (F.col(MEMBERS) - 1)
    to_hosts = 2 * F.count_if(IS_HOST).over(of_topic)
    return rows.withColumns(
        {
            DIRECT_PROXIES: others,
            DIRECT_CHANNELS: to_all,
            HOST_PROXIES: F.when(F.col(IS_HOST), others).otherwise(0),
            HOST_CHANNELS: F.when(F.col(IS_HOST), to_all).otherwise(to_hosts),
        }
    ).select(*TOPIC_COSTS.names)


def summed(costs: DataFrame) -> list[TopicCost]:
    """The costs of each topic in sum, by cluster and topic."""
    sums = {name: (F.sum(name), F.max(name)) for name in _SUMMED}
    rows = (
        costs.groupBy(c.CLUSTER, c.TOPIC, c.TOPICSTR, c.CLROUTE, MEMBERS)
        .agg(
            F.count_if(IS_HOST).alias("hosts"),
            F.count_if(F.col(SUBSCRIBED) > 0).alias("subscribers"),
            F.sum(SUBSCRIBED).alias("strings"),
            *(F.struct(*pair).alias(name) for name, pair in sums.items()),
        )
        .orderBy(c.CLUSTER, c.TOPIC)
        .collect()
    )
    direct, hosted = ClusterRoute.DIRECT.value, ClusterRoute.TOPICHOST.value
    return [
        TopicCost(
            row[c.CLUSTER], row[c.TOPIC], row[c.TOPICSTR], row[c.CLROUTE], row[MEMBERS],
            row["hosts"], row["subscribers"], row["strings"],
            {direct: tuple(row[DIRECT_PROXIES]), hosted: tuple(row[HOST_PROXIES])},
            {direct: _channels(row[DIRECT_CHANNELS]), hosted: _channels(row[HOST_CHANNELS])},
        )
        for row in rows
    ]  # fmt: skip


_SUMMED: Final = (DIRECT_PROXIES, DIRECT_CHANNELS, HOST_PROXIES, HOST_CHANNELS)


def _channels(found: tuple[int, int]) -> tuple[int, int]:
    """Sum and most; in the sum each channel counts once, not at both its ends."""
    total, most = found
    return total // 2, most


def one_row_each(definitions: DataFrame) -> DataFrame:
    """One row per (snapshot_id, cluster, topic); where definitions differ, as routing takes them.

    TOPICHOST where any says so (SEMANTICS P17), FORCE likewise (P18), the lowest topic string.
    """
    hosted = F.col(c.CLROUTE) == ClusterRoute.TOPICHOST.value
    route = F.when(F.bool_or(hosted), ClusterRoute.TOPICHOST.value)
    at_home = F.lit(False)
    if c.SUB_SCOPE in definitions.columns:
        at_home = F.col(c.SUB_SCOPE) == Reach.QMGR.value
    return definitions.groupBy(*OF_TOPIC).agg(
        F.min(c.TOPICSTR).alias(c.TOPICSTR),
        F.coalesce(route, F.lit(ClusterRoute.DIRECT.value)).alias(c.CLROUTE),
        F.bool_or(F.col(c.PROXYSUB) == ProxySub.FORCE.value).alias(FORCED),
        F.bool_or(at_home).alias(_AT_HOME),
    )


def _asked(topics: DataFrame, members: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """How many different topic strings each queue manager's own subscriptions ask a topic for.

    Grain: one row per (snapshot_id, cluster, topic, qmgr) with subscriptions that go to others.
    """
    strings = asked_strings(topics, members, subscriptions).where(~F.col(STAYS))
    return strings.groupBy(*OF_TOPIC, c.QMGR).agg(F.count(F.lit(1)).alias(SUBSCRIBED))


def asked_strings(topics: DataFrame, members: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """The different topic strings that each queue manager's own subscriptions ask a topic for.

    A subscription below two topics, one of them below the other, is one of the lower topic. It
    `stays` at home by its own SUBSCOPE, or by the topic's where it has none.

    Args:
        topics: `one_row_each`.
        members: (snapshot_id, cluster, qmgr), distinct.
        subscriptions: rows of `subscriptions`.

    Grain: one row per (snapshot_id, cluster, topic, qmgr, topic string).
    """
    own = F.coalesce(c.SUBTYPE, F.lit(SubType.USER.value)) == SubType.USER.value
    scope = F.lit(None).cast("string")
    if c.SUB_SCOPE in subscriptions.columns:
        scope = F.col(c.SUB_SCOPE)
    strings = (
        subscriptions.where(own)
        .withColumns({**pattern_of(subscriptions), "scope": scope})
        .groupBy(c.SNAPSHOT_ID, c.QMGR, PATTERN, c.WSCHEMA)
        .agg(
            F.bool_or(F.coalesce(F.col("scope") == Reach.ALL.value, F.lit(False))).alias("goes"),
            F.bool_or(F.col("scope").isNull()).alias("follows"),
        )
    )
    string, pattern = F.col(c.TOPICSTR), F.col(PATTERN)
    is_below = (pattern == string) | F.startswith(pattern, F.concat(string, F.lit("/")))
    nearest = F.max(F.when(is_below, F.length(string))).over(
        Window.partitionBy(*OF_CLUSTER, c.QMGR, PATTERN, c.WSCHEMA)
    )
    pairs = strings.join(members, [c.SNAPSHOT_ID, c.QMGR]).join(
        topics.select(*OF_TOPIC, c.TOPICSTR, _AT_HOME), list(OF_CLUSTER)
    )
    return (
        reaching(pairs)
        .withColumn("nearest", nearest)
        .where(F.length(string) >= F.coalesce("nearest", F.lit(0)))
        .withColumn(STAYS, ~F.col("goes") & ~(F.col("follows") & ~F.col(_AT_HOME)))
        .select(*OF_TOPIC, c.QMGR, PATTERN, STAYS)
    )


def pattern_of(subscriptions: DataFrame) -> dict[str, Column]:
    """The string of subscriptions and how its wildcards are meant, by name."""
    has_schema = c.WSCHEMA in subscriptions.columns
    schema = F.col(c.WSCHEMA) if has_schema else F.lit(None).cast("string")
    usual = F.lit(WildcardSchema.TOPIC.value)
    return {PATTERN: F.coalesce(c.TOPICSTR, F.lit("")), c.WSCHEMA: F.coalesce(schema, usual)}


def members_of(channels: DataFrame) -> DataFrame:
    """The queue managers of each cluster, distinct."""
    shared = channels.where(F.col(c.CLUSTER) != "")
    return shared.select(*OF_CLUSTER, c.QMGR).distinct()
