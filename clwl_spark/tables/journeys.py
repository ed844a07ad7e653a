"""Messages on their way over several queue managers: hops, and what transmission queues lead to.

Source: Hughson's deck, "Routing Into and Out of clusters" and "Rank and Overlapping Clusters";
CONTRACT, `clwl trace`. `hops` is this package's own table.
"""

from enum import StrEnum
from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, text, word

HOP: Final = "hop"
AT_QMGR: Final = "at_qmgr"
AT_SEQ: Final = "at_seq"
CAME_BACK: Final = "came_back"
ENDS: Final = "ends"
BATCH_ID: Final = "batch_id"
QUERY_ID: Final = "query_id"
OUTCOMES_ID: Final = "outcomes_id"
OUTCOMES_FROM: Final = "outcomes_from"
OUTCOMES_VERSION: Final = "outcomes_version"


class End(StrEnum):
    """How a message's way ends. LOOP and MORE_HOPS say why it was not followed any further."""

    QUEUE = "QUEUE"
    TOPIC = "TOPIC"
    DEAD_END = "DEAD_END"
    LEAVES = "LEAVES"
    LOOP = "LOOP"
    MORE_HOPS = "MORE_HOPS"


CUT_OFF: Final = (End.LOOP, End.MORE_HOPS)
"""Ends that following more hops may change."""

HOPS: Final = Table(
    "hops",
    "One row per message and queue manager on its way; one per copy of a DIRECT publication",
    (
        key(c.QMGR, "Queue manager where the message was first put"),
        key(c.PUT_SEQ, "Of the message, there", "bigint"),
        key(HOP, "1 = where it was first put", "int"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(c.PUT_TIME, "timestamp", "Of the message"),
        text(AT_QMGR, "Queue manager of this hop"),
        Column(AT_SEQ, "bigint", "Its put_seq there: the order in which messages come"),
        text(c.OBJECT_TYPE, "QUEUE or TOPIC"),
        text(c.OBJECT_NAME, "What it is put to there"),
        text(
            c.OBJECT_QMGR,
            "Object queue manager; blank = none named; of a publication at a topic host the queue "
            "manager that it came from",
        ),
        text(c.SNAPSHOT_ID, "Snapshot in force at put_time"),
        Column(c.PLAN_ID, "bigint", "The plan (route_plans; of hop n route_plans_hop<n>)"),
        Column(c.REASON, "int", "0, or the MQRC that the put ends with"),
        text(c.DEST_QMGR, "Queue manager it goes to from here; null = reason is not 0"),
        text(c.DEST_OBJECT, "Object it goes to"),
        text(c.CHANNEL, "Channel; null = local, or a transmission queue named by definition"),
        text(c.CLUSTER, "Cluster of the route"),
        text(c.XMITQ, "Transmission queue; null = local"),
        flag(c.IS_LOCAL, "It stays here"),
        flag(CAME_BACK, "It was put to the same object on the same queue manager before"),
        word(ENDS, End, "How its way ends here; null = it goes on with the next hop"),
    ),
)
HOP_BATCHES: Final = Table(
    "hop_batches",
    "One row per hop and batch of outcomes that was followed on",
    (
        key(HOP, "The hop whose outcomes they are", "int"),
        key(BATCH_ID, "Batch of that hop, from 0", "bigint"),
        text(QUERY_ID, "Names what counts the batches of the hop"),
        Column(
            OUTCOMES_ID,
            "string",
            "Delta's id of the hop's outcomes; null = a checkpoint knows",
            optional=True,
        ),
        Column(OUTCOMES_FROM, "bigint", "Their version before; -1 = none", optional=True),
        Column(OUTCOMES_VERSION, "bigint", "Their version that is followed then", optional=True),
    ),
)
XMITQ_LINKS: Final = Table(
    "xmitq_links",
    "One row per transmission queue of a point-to-point channel whose name is not the queue "
    "manager's that it leads to; in all snapshots",
    (
        key(c.QMGR, "Queue manager that has the transmission queue"),
        key(c.XMITQ, "Transmission queue"),
        text(c.REMOTE_QMGR, "Queue manager at the other end of its channel"),
    ),
)
