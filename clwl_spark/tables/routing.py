"""Messages, outcomes and the plans that lead from one to the other."""

from dataclasses import replace
from typing import Final

from clwl_spark.mq import vocabulary as v
from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, text, word

_MESSAGE = (
    Column(c.MESSAGE_ID, "binary", "MQMD.MsgId; may repeat"),
    Column(c.PUT_TIME, "timestamp", "When the message was put"),
    text(c.OBJECT_TYPE, "QUEUE or TOPIC; null = QUEUE"),
    text(c.OBJECT_NAME, "Queue name, or topic string"),
    text(c.OBJECT_QMGR, "Object queue manager; blank = none named"),
    text(c.BIND, "AS_Q_DEF, ON_OPEN, NOT_FIXED, ON_GROUP; null = AS_Q_DEF"),
    Column(c.OPEN_ID, "bigint", "The open that the put belongs to"),
    Column(c.GROUP_ID, "binary", "MQMD.GroupId"),
    flag(c.LOGICAL_ORDER, "MQPMO_LOGICAL_ORDER; null = false"),
    text(c.VIA, "LOCAL = by an application, CLUSTER = over a cluster channel; null = LOCAL"),
    flag(c.PERSISTENT, "Persistent"),
    Column(c.MSG_LENGTH, "int", "Bytes"),
    replace(text(c.SCOPE, "How far a publication goes: ALL or QMGR; null = ALL"), optional=True),
    replace(
        flag(c.SYNTHETIC, "Made from a count by `clwl load --synthesize`; null = false"),
        optional=True,
    ),
)
_MUST_BE_THERE: Final = (c.PUT_TIME, c.OBJECT_NAME)
"""Beside the key; whoever puts nothing but plain messages needs no other column."""
MESSAGES: Final = Table(
    "messages",
    "One row per put; (qmgr, put_seq) identifies it",
    (
        Column(c.QMGR, "string", "Queue manager where the message is put", True, nullable_key=True),
        Column(
            c.PUT_SEQ, "bigint", "Grows per queue manager in put order", True, nullable_key=True
        ),
        *(x if x.name in _MUST_BE_THERE else replace(x, optional=True) for x in _MESSAGE),
    ),
    by_anyone=True,
)
OUTCOMES: Final = Table(
    "outcomes",
    "One row per routed message; one per copy of a publication with CLROUTE(DIRECT)",
    (
        key(c.QMGR, "Queue manager where the message was put"),
        key(c.PUT_SEQ, "Of the message", "bigint"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(c.PUT_TIME, "timestamp", "Of the message"),
        text(c.OBJECT_TYPE, "Of the message, after defaults"),
        text(c.OBJECT_NAME, "Of the message"),
        text(c.OBJECT_QMGR, "Of the message, after defaults"),
        text(c.SNAPSHOT_ID, "Snapshot in force at put_time"),
        Column(c.PLAN_ID, "bigint", "The plan that answered it (route_plans)"),
        Column(c.REASON, "int", "0, or the MQRC that the put ended with"),
        text(c.DEST_QMGR, "Queue manager it goes to; null = reason is not 0"),
        text(c.DEST_OBJECT, "Object it goes to"),
        text(c.CHANNEL, "Channel; null = local, or a transmission queue named by definition"),
        text(c.CLUSTER, "Cluster of the route"),
        text(c.XMITQ, "Transmission queue it waits on; null = local"),
        flag(c.IS_LOCAL, "It stays on qmgr"),
        flag(c.BOUND, "It followed an earlier message's choice"),
        flag(c.OUT_OF_ORDER, "Its put_seq came after a greater one"),
    ),
    # Files hold rows of many queue managers and channels, whose extremes let no reader pass one
    # over; all columns' statistics would be a third of the time of writing.
    skipped_by=(c.QMGR, c.PUT_SEQ, c.PUT_TIME, c.SNAPSHOT_ID, c.REASON),
)
REJECTED_MESSAGES: Final = Table(
    "rejected_messages",
    "One row per message that could not be routed at all",
    (
        text(c.QMGR, "As in messages"),
        Column(c.PUT_SEQ, "bigint", "As in messages"),
        *_MESSAGE,
        word(
            c.ERROR,
            v.RejectError,
            "Why; a number or moment that cannot be read is null here, a text has U+FFFD for what "
            "is not UTF-8. DUPLICATE = a message of its qmgr, put_seq and message_id is routed",
        ),
        Column(c.REJECTED_AT, "timestamp", "When the run that set it aside started"),
    ),
)
ROUTE_PLANS: Final = Table(
    "route_plans",
    "One row per distinct request (snapshot, queue manager, object, via): what it resolves to",
    (
        key(c.PLAN_ID, "Hash of the request", "bigint"),
        text(c.SNAPSHOT_ID, "Of the request"),
        text(c.QMGR, "Of the request"),
        text(c.OBJECT_TYPE, "Of the request"),
        text(c.OBJECT_NAME, "Of the request"),
        text(c.OBJECT_QMGR, "Of the request"),
        text(c.VIA, "Of the request"),
        word(c.KIND, v.PlanKind, "What is chosen"),
        Column(c.REASON, "int", "0, or the MQRC that every such put ends with"),
        text(c.RESOLVED_OBJECT, "Object after name resolution (a topic object for TOPIC)"),
        text(c.RESOLVED_QMGR, "Object queue manager after name resolution"),
        Column(c.RESOLUTION_PATH, "array<string>", "Objects passed, as NAME or NAME@QMGR"),
        word(c.BIND_DEFAULT, v.DefBind, "DEFBIND that AS_Q_DEF means here"),
        Column(c.RESET_EPOCH, "bigint", "Resets of the history before this snapshot's messages"),
        text(c.XMITQ, "Transmission queue, kind XMITQ"),
        Column("choices", "int", "Choices a message makes: copies of a publication, else 1"),
        replace(
            flag(c.FIRST_OPEN, "Rows of a first open are in it; null = of edition 1"), optional=True
        ),
        replace(word(c.SCOPE, v.Reach, "Of the request; null = ALL"), optional=True),
        replace(
            word(
                c.CLROUTE,
                v.ClusterRoute,
                "Of a publication: one copy to a topic host (TOPICHOST), or one to each queue "
                "manager that wants it (DIRECT); null = kind is not TOPIC, or of edition 1",
            ),
            optional=True,
        ),
    ),
)
ROUTE_CANDIDATES: Final = Table(
    "route_candidates",
    "One row per instance, channel, instance cluster and channel cluster of a plan's choice",
    (
        Column(c.PLAN_ID, "bigint", "The plan (route_plans)"),
        Column(c.CHOICE, "int", "Copy of a DIRECT publication, from 0; else 0"),
        text(c.KIND, "Kind of the plan: QUEUE, QMGR or TOPIC"),
        text(c.DEST_QMGR, "Queue manager of the instance"),
        text(c.DEST_OBJECT, "Name of the instance"),
        text(c.CHANNEL, "CLUSRCVR of dest_qmgr"),
        text(c.INSTANCE_CLUSTER, "Cluster that the instance is shared in"),
        text(c.CHANNEL_CLUSTER, "Cluster of the channel row"),
        flag(c.IS_LOCAL, "dest_qmgr is the putting queue manager"),
        flag(c.IS_ALIAS, "The instance is a queue manager alias"),
        flag(c.INSTANCE_SHARED, "The putting queue manager is in instance_cluster (rule 1)"),
        flag(c.CHANNEL_SHARED, "The putting queue manager is in channel_cluster (rule 1)"),
        Column(c.CHANNEL_RANK, "int", "CLWLRANK of the channel, or of the alias (rule 3)"),
        Column(c.QUEUE_RANK, "int", "CLWLRANK of the queue (rule 4)"),
        flag(c.PUT_ENABLED, "PUT or PUB of the instance (rule 5)"),
        flag(c.USES_LOCAL, "A local row here takes all (rule 6)"),
        flag(c.SUSPENDED, "dest_qmgr is suspended in channel_cluster (rule 7)"),
        text(c.STATUS, "Channel status (rules 8-11)"),
        Column(c.STATUS_TIER, "int", "1 = best (rules 8-11)"),
        Column(c.NETPRTY, "int", "NETPRTY (rule 12)"),
        Column(c.CHANNEL_PRTY, "int", "CLWLPRTY of the channel, or of the alias (rule 13)"),
        Column(c.QUEUE_PRTY, "int", "CLWLPRTY of the queue (rule 14)"),
        Column(c.CLWLWGHT, "int", "CLWLWGHT (balancing)"),
        Column(c.ELIMINATED_BY, "int", "Rule that eliminated the row; 100 = exit; null = a route"),
    ),
)
