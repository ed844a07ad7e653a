"""Snapshots, the topology and what was not understood of it."""

from dataclasses import replace
from typing import Final

from clwl_spark.mq import vocabulary as v
from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, number, text, word

_SNAPSHOT = key(c.SNAPSHOT_ID, "The snapshot that the row belongs to")
_OBSERVER = key(c.OBSERVER, "Queue manager that sees the object so; * = full repositories")
_OWNER = key(c.QMGR, "Queue manager that owns the object")
_RANK = number(c.CLWLRANK, 0, v.MAX_RANK, "CLWLRANK, 0-9; null = 0")
_PRTY = number(c.CLWLPRTY, 0, v.MAX_RANK, "CLWLPRTY, 0-9; null = 0")
_READ_FROM: Final = (
    Column(c.SOURCE, "string", "File and line that the row was read from", optional=True),
    Column(c.ALTERED, "string", "When MQ says the object changed: date and time", optional=True),
)
"""What MQ's texts tell of a row besides its values; null in rows that nobody read from a text."""


def _scope(name: str, comment: str) -> Column:
    return replace(word(name, v.Reach, comment), optional=True)


SNAPSHOTS: Final = Table(
    "snapshots",
    "One row per state of the cluster, in force from valid_from until the next valid one",
    (
        key(c.SNAPSHOT_ID, "Name of the snapshot"),
        Column(c.VALID_FROM, "timestamp", "In force from this moment"),
        word(c.STATUS, v.SnapshotStatus, "VALID = routing uses it; QUARANTINED = a gate refused"),
        text(c.SOURCE, "Where it was read from"),
        Column(c.LOADED_AT, "timestamp", "When it was written"),
        Column(c.BASE, "string", "The snapshot that it is a change to", optional=True),
        Column(
            c.BEING_WRITTEN,
            "boolean",
            "True = withdrawn while its rows are replaced, and not by a gate",
            optional=True,
        ),
        Column(
            c.BASE_LOADED_AT,
            "timestamp",
            "loaded_at of base when this was made of it; null = not known",
            optional=True,
        ),
        Column(
            c.CHANGED_TABLES,
            "string",
            "Tables in which it differs from base, with commas: its other rows are those of base, "
            "and these in snapshot_changes; null = its rows are all in their own tables",
            optional=True,
        ),
    ),
    change_feed=True,
)
QUEUE_MANAGERS: Final = Table(
    "queue_managers",
    "One row per queue manager and observer",
    (
        _SNAPSHOT,
        _OBSERVER,
        key(c.QMGR, "Name of the queue manager"),
        text(c.QMID, "QMID, the identity that a rename keeps"),
        word(c.CLWLUSEQ, (v.UseQueue.LOCAL, v.UseQueue.ANY), "CLWLUSEQ; null = LOCAL"),
        number(c.CLWLMRUC, 1, v.DEFAULT_MRUC, "CLWLMRUC; null = 999999999"),
        word(c.DEFCLXQ, v.DefaultTransmissionQueue, "DEFCLXQ; null = SCTQ"),
        text(c.DEFXMITQ, "DEFXMITQ, default transmission queue; blank = none"),
        text(c.QSGNAME, "Queue-sharing group"),
        *_READ_FROM,
    ),
    change_feed=True,
)
CLUSTER_CHANNELS: Final = Table(
    "cluster_channels",
    "One row per CLUSRCVR, cluster and observer (namelists are expanded)",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        key(c.CHANNEL, "Name of the CLUSRCVR"),
        key(c.CLUSTER, "Cluster that the channel is shared in"),
        _RANK,
        _PRTY,
        number(c.CLWLWGHT, 1, v.MAX_WEIGHT, "CLWLWGHT, 1-99; null = 50"),
        number(c.NETPRTY, 0, v.MAX_RANK, "NETPRTY, 0-9; null = 0"),
        flag(c.SUSPENDED, "The queue manager is suspended in this cluster; null = false"),
        text(c.CONNAME, "CONNAME"),
        word(c.QMTYPE, v.QmType, "REPOS = full repository of this cluster"),
        *_READ_FROM,
    ),
    change_feed=True,
)
CHANNEL_STATUS: Final = Table(
    "channel_status",
    "One row per channel instance, as seen on qmgr",
    (
        _SNAPSHOT,
        key(c.QMGR, "Queue manager that the status is seen on"),
        key(c.CHANNEL, "Name of the channel"),
        Column(
            c.CHLTYPE,
            "string",
            "CLUSSDR or CLUSRCVR",
            True,
            "chltype IN ('CLUSSDR', 'CLUSRCVR')",
            "is not one of 'CLUSSDR', 'CLUSRCVR'",
        ),
        key(c.REMOTE_QMGR, "Queue manager at the other end"),
        word(c.STATUS, tuple(v.STATUS_TIERS), "STATUS; null = INACTIVE"),
        text(c.XMITQ, "Transmission queue that the channel is associated with now"),
        *_READ_FROM,
        Column(
            c.BACKLOG,
            "bigint",
            "XQMSGSA: messages that wait for the channel; null = not known",
            check=f"{c.BACKLOG} IS NULL OR {c.BACKLOG} >= 0",
            reason="is below 0",
            optional=True,
        ),
    ),
    change_feed=True,
)
QUEUES: Final = Table(
    "queues",
    "One row per queue, cluster and observer; cluster '' = not shared",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        key(c.QUEUE, "Name of the queue"),
        key(c.CLUSTER, "Cluster that the queue is shared in; '' = none"),
        word(c.QTYPE, v.QueueType, "QTYPE"),
        flag(c.PUT_ENABLED, "PUT(ENABLED); null = true"),
        _RANK,
        _PRTY,
        word(c.CLWLUSEQ, v.UseQueue, "CLWLUSEQ; null = QMGR"),
        word(c.DEFBIND, v.DefBind, "DEFBIND; null = OPEN"),
        text(c.TARGET, "TARGET of a QALIAS"),
        text(c.RNAME, "RNAME of a QREMOTE; blank = a queue manager alias"),
        text(c.RQMNAME, "RQMNAME of a QREMOTE"),
        text(c.XMITQ, "XMITQ of a QREMOTE"),
        word(c.USAGE, v.Usage, "USAGE; null = NORMAL"),
        text(c.CLCHNAME, "CLCHNAME: channels whose messages this transmission queue takes"),
        text(c.QSGDISP, "QSGDISP (z/OS)"),
        *_READ_FROM,
    ),
    change_feed=True,
)
TOPICS: Final = Table(
    "topics",
    "One row per topic object, cluster and observer",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        key(c.TOPIC, "Name of the topic object"),
        key(c.CLUSTER, "Cluster that the topic is shared in; '' = none"),
        text(c.TOPICSTR, "TOPICSTR"),
        word(c.CLROUTE, v.ClusterRoute, "CLROUTE; null = DIRECT"),
        flag(c.PUB_ENABLED, "PUB(ENABLED); null = true"),
        flag(c.SUB_ENABLED, "SUB(ENABLED); null = true"),
        word(c.PROXYSUB, v.ProxySub, "PROXYSUB; null = FIRSTUSE"),
        *_READ_FROM,
        _scope(c.PUB_SCOPE, "PUBSCOPE; null = ASPARENT"),
        _scope(c.SUB_SCOPE, "SUBSCOPE; null = ASPARENT"),
    ),
    change_feed=True,
)
SUBSCRIPTIONS: Final = Table(
    "subscriptions",
    "One row per subscription on qmgr",
    (
        _SNAPSHOT,
        key(c.QMGR, "Queue manager that holds the subscription"),
        key(c.SUB_NAME, "Name of the subscription"),
        text(c.TOPICSTR, "Topic string, with wildcards as WSCHEMA says"),
        word(c.SUBTYPE, v.SubType, "SUBTYPE; null = USER"),
        text(c.DEST, "Destination queue"),
        text(c.DEST_QMGR, "Destination queue manager; of a PROXY the one it stands for"),
        *_READ_FROM,
        replace(
            text(c.WSCHEMA, "WSCHEMA: TOPIC, wildcards are levels, or CHAR; null = TOPIC"),
            optional=True,
        ),
        _scope(c.SUB_SCOPE, "SUBSCOPE; null = that of the topic"),
    ),
    change_feed=True,
)
VIEWS: Final = Table(
    "views",
    "One row per observer and topology table: are the observer's rows there all that it knows",
    (
        _SNAPSHOT,
        key(c.OBSERVER, "Queue manager whose view it is"),
        key(c.TABLE, "Topology table"),
        flag(c.WHOLE, "True = the observer knows no other rows; null = false"),
    ),
    change_feed=True,
)
CLUSTER_SENDERS: Final = Table(
    "cluster_senders",
    "One row per manually defined CLUSSDR and cluster; its CLWL attributes never count",
    (
        _SNAPSHOT,
        _OWNER,
        key(c.CHANNEL, "Name of the CLUSSDR"),
        key(c.CLUSTER, "Cluster"),
        text(c.CONNAME, "CONNAME"),
        Column(c.CLWLRANK, "int", "CLWLRANK as defined; no effect"),
        Column(c.CLWLPRTY, "int", "CLWLPRTY as defined; no effect"),
        Column(c.CLWLWGHT, "int", "CLWLWGHT as defined; no effect"),
        Column(c.NETPRTY, "int", "NETPRTY as defined; no effect"),
        *_READ_FROM,
    ),
    change_feed=True,
)
INGEST_REJECTS: Final = Table(
    "ingest_rejects",
    "One row per piece of a text that could not be used",
    (
        text(c.SNAPSHOT_ID, "The snapshot that was being ingested"),
        text("file", "File"),
        Column("line", "int", "Line, from 1"),
        text("text", "The piece"),
        text(c.REASON, "Why it could not be used"),
    ),
)
