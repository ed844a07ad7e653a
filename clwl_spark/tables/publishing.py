"""What a design of topics costs, and where its definitions contradict one another.

Source: Hughson's deck, "Cluster Topics" and "Cluster Topic Hosts". Both tables are this package's
own.
"""

from enum import StrEnum
from typing import Final

from clwl_spark.mq import vocabulary as v
from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, text, word

MEMBERS: Final = "members"
IS_HOST: Final = "is_host"
SUBSCRIBED: Final = "subscribed"
DIRECT_PROXIES: Final = "direct_proxies"
DIRECT_CHANNELS: Final = "direct_channels"
HOST_PROXIES: Final = "topichost_proxies"
HOST_CHANNELS: Final = "topichost_channels"
ATTRIBUTE: Final = "attribute"
VALUE: Final = "value"
CODE: Final = "code"


class ConflictCode(StrEnum):
    """MQ's message: of the definition that differs, and of those that were there before."""

    NEWER = "AMQ9465"
    EARLIER = "AMQ9466"


TOPIC_COSTS: Final = Table(
    "topic_costs",
    "One row per cluster topic and queue manager of its cluster: its load by either CLROUTE",
    (
        key(c.SNAPSHOT_ID, "The snapshot"),
        key(c.CLUSTER, "Cluster that the topic is shared in"),
        key(c.TOPIC, "Name of the topic object"),
        key(c.QMGR, "Queue manager of the cluster"),
        text(c.TOPICSTR, "TOPICSTR"),
        word(c.CLROUTE, v.ClusterRoute, "CLROUTE as defined"),
        Column(MEMBERS, "bigint", "Queue managers of the cluster"),
        flag(IS_HOST, "It defines the topic"),
        Column(SUBSCRIBED, "bigint", "Topic strings that it asks the others for"),
        Column(DIRECT_PROXIES, "bigint", "Proxy subscriptions it holds with CLROUTE(DIRECT)"),
        Column(DIRECT_CHANNELS, "bigint", "Channels to and from it with CLROUTE(DIRECT)"),
        Column(HOST_PROXIES, "bigint", "Proxy subscriptions it holds with CLROUTE(TOPICHOST)"),
        Column(HOST_CHANNELS, "bigint", "Channels to and from it with CLROUTE(TOPICHOST)"),
    ),
)
TOPIC_CONFLICTS: Final = Table(
    "topic_conflicts",
    "One row per definition of a cluster topic whose attribute differs from another definition's",
    (
        key(c.SNAPSHOT_ID, "The snapshot"),
        key(c.CLUSTER, "Cluster that the topic is shared in"),
        key(c.TOPIC, "Name of the topic object"),
        key(ATTRIBUTE, "MQ's name of the attribute that differs"),
        key(c.QMGR, "Queue manager that defines it so"),
        text(VALUE, "The value there"),
        word(CODE, ConflictCode, "What MQ writes to its error log"),
    ),
)
