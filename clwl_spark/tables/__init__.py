"""Every table of the lake, declared: columns, types, keys, ranges and what they mean.

Source: CONTRACT.md. Columns that the contract does not name are additions of this package.
"""

from typing import Final

from clwl_spark.tables.administration import ACTIONS, AUTHORITIES, MESSAGE_CHANNELS, QUEUE_STATUS
from clwl_spark.tables.declare import Column, Table
from clwl_spark.tables.journeys import HOP_BATCHES, HOPS, XMITQ_LINKS
from clwl_spark.tables.loading import (
    CONFIG_EVENTS,
    COUNTER_READINGS,
    LOAD_REJECTS,
    LOADS,
    OBSERVED_ROUTES,
    STATUS_EVENTS,
)
from clwl_spark.tables.publishing import TOPIC_CONFLICTS, TOPIC_COSTS
from clwl_spark.tables.quality import GATE_FAILURES, GATE_RESULTS, OBSERVED_COUNTS
from clwl_spark.tables.routing import (
    MESSAGES,
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
)
from clwl_spark.tables.runs import BALANCE_HISTORY, ROUTER_MEMORY, RUNS, SNAPSHOT_RESETS
from clwl_spark.tables.stored_changes import SNAPSHOT_CHANGES
from clwl_spark.tables.topology import (
    CHANNEL_STATUS,
    CLUSTER_CHANNELS,
    CLUSTER_SENDERS,
    INGEST_REJECTS,
    QUEUE_MANAGERS,
    QUEUES,
    SNAPSHOTS,
    SUBSCRIPTIONS,
    TOPICS,
    VIEWS,
)
from clwl_spark.tables.waiting import (
    CHANNEL_EVENTS,
    REALLOCATION_CHOICES,
    REALLOCATION_EVENTS,
    REALLOCATIONS,
    SWITCHED_MESSAGES,
    SWITCHES,
)

__all__ = [
    "ACTIONS",
    "ADMINISTRATION",
    "AUTHORITIES",
    "BALANCE_HISTORY",
    "CHANNEL_EVENTS",
    "CHANNEL_STATUS",
    "CLUSTER_CHANNELS",
    "CLUSTER_SENDERS",
    "CONFIG_EVENTS",
    "COUNTER_READINGS",
    "GATE_FAILURES",
    "GATE_RESULTS",
    "HOPS",
    "HOP_BATCHES",
    "INGEST_REJECTS",
    "LOADS",
    "LOAD_REJECTS",
    "MESSAGES",
    "MESSAGE_CHANNELS",
    "OBSERVED_COUNTS",
    "OBSERVED_ROUTES",
    "OUTCOMES",
    "QUEUES",
    "QUEUE_MANAGERS",
    "QUEUE_STATUS",
    "REALLOCATIONS",
    "REALLOCATION_CHOICES",
    "REALLOCATION_EVENTS",
    "REJECTED_MESSAGES",
    "ROUTER_MEMORY",
    "ROUTE_CANDIDATES",
    "ROUTE_PLANS",
    "RUNS",
    "SNAPSHOTS",
    "SNAPSHOT_CHANGES",
    "SNAPSHOT_CONTENT",
    "SNAPSHOT_RESETS",
    "STATUS_EVENTS",
    "SUBSCRIPTIONS",
    "SWITCHED_MESSAGES",
    "SWITCHES",
    "TABLES",
    "TOPICS",
    "TOPIC_CONFLICTS",
    "TOPIC_COSTS",
    "TOPOLOGY",
    "VIEWS",
    "XMITQ_LINKS",
    "Column",
    "Table",
]

TOPOLOGY: Final = (
    QUEUE_MANAGERS,
    CLUSTER_CHANNELS,
    CHANNEL_STATUS,
    QUEUES,
    TOPICS,
    SUBSCRIPTIONS,
    VIEWS,
)
ADMINISTRATION: Final = (QUEUE_STATUS, AUTHORITIES, MESSAGE_CHANNELS, ACTIONS)
"""Tables of a snapshot that routing has no use for: made where a text gives rows of them."""
SNAPSHOT_CONTENT: Final = (*TOPOLOGY, CLUSTER_SENDERS, *ADMINISTRATION)
"""The tables whose rows are a snapshot's content."""

TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        SNAPSHOTS,
        *TOPOLOGY,
        CLUSTER_SENDERS,
        *ADMINISTRATION,
        INGEST_REJECTS,
        SNAPSHOT_CHANGES,
        MESSAGES,
        OUTCOMES,
        REJECTED_MESSAGES,
        ROUTE_PLANS,
        ROUTE_CANDIDATES,
        BALANCE_HISTORY,
        ROUTER_MEMORY,
        SNAPSHOT_RESETS,
        RUNS,
        REALLOCATIONS,
        REALLOCATION_EVENTS,
        REALLOCATION_CHOICES,
        CHANNEL_EVENTS,
        SWITCHES,
        SWITCHED_MESSAGES,
        HOPS,
        HOP_BATCHES,
        XMITQ_LINKS,
        TOPIC_COSTS,
        TOPIC_CONFLICTS,
        GATE_RESULTS,
        GATE_FAILURES,
        OBSERVED_COUNTS,
        LOADS,
        LOAD_REJECTS,
        OBSERVED_ROUTES,
        STATUS_EVENTS,
        CONFIG_EVENTS,
        COUNTER_READINGS,
    )
}
