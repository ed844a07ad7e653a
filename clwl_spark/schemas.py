"""Every table of the lake, declared: columns, types, keys, ranges and what they mean.

Source: CONTRACT.md. Columns that the contract does not name are additions of this package.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyspark.sql.types import StructField, StructType, _parse_datatype_string

from clwl_spark import columns as c
from clwl_spark import vocabulary as v


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, Spark type, meaning, and the CHECK that MQ's ranges give it."""

    name: str
    type: str
    comment: str
    key: bool = False
    check: str | None = None
    reason: str = ""
    nullable_key: bool = False

    @property
    def required(self) -> bool:
        """NOT NULL: key columns, but for those whose absence is a reason to reject a row."""
        return self.key and not self.nullable_key


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its name, meaning and columns, in order."""

    name: str
    comment: str
    columns: tuple[Column, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(column.name for column in self.columns if column.key)

    @property
    def schema(self) -> StructType:
        """The Spark schema; required columns are not nullable."""
        fields = [
            StructField(
                x.name, _parse_datatype_string(x.type), not x.required, {"comment": x.comment}
            )
            for x in self.columns
        ]
        return StructType(fields)

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [column.name for column in self.columns]


def _key(name: str, comment: str, type_: str = "string") -> Column:
    return Column(name, type_, comment, key=True)


def _word(name: str, words: type[StrEnum] | tuple[str, ...], comment: str) -> Column:
    values = ", ".join(f"'{word}'" for word in words)
    check = f"{name} IS NULL OR {name} IN ({values})"
    return Column(name, "string", comment, check=check, reason=f"is not one of {values}")


def _number(name: str, low: int, high: int, comment: str) -> Column:
    check = f"{name} IS NULL OR {name} BETWEEN {low} AND {high}"
    return Column(name, "int", comment, False, check, f"is out of range {low}..{high}")


def _text(name: str, comment: str) -> Column:
    return Column(name, "string", comment)


def _flag(name: str, comment: str) -> Column:
    return Column(name, "boolean", comment)


_SNAPSHOT = _key(c.SNAPSHOT_ID, "The snapshot that the row belongs to")
_OBSERVER = _key(c.OBSERVER, "Queue manager that sees the object so; * = full repositories")
_OWNER = _key(c.QMGR, "Queue manager that owns the object")
_RANK = _number(c.CLWLRANK, 0, v.MAX_RANK, "CLWLRANK, 0-9; null = 0")
_PRTY = _number(c.CLWLPRTY, 0, v.MAX_RANK, "CLWLPRTY, 0-9; null = 0")

SNAPSHOTS: Final = Table(
    "snapshots",
    "One row per state of the cluster, in force from valid_from until the next valid one",
    (
        _key(c.SNAPSHOT_ID, "Name of the snapshot"),
        Column(c.VALID_FROM, "timestamp", "In force from this moment"),
        _word(c.STATUS, v.SnapshotStatus, "VALID = routing uses it; QUARANTINED = a gate refused"),
        _text(c.SOURCE, "Where it was read from"),
        Column(c.LOADED_AT, "timestamp", "When it was written"),
    ),
)
QUEUE_MANAGERS: Final = Table(
    "queue_managers",
    "One row per queue manager and observer",
    (
        _SNAPSHOT,
        _OBSERVER,
        _key(c.QMGR, "Name of the queue manager"),
        _text(c.QMID, "QMID, the identity that a rename keeps"),
        _word(c.CLWLUSEQ, (v.UseQueue.LOCAL, v.UseQueue.ANY), "CLWLUSEQ; null = LOCAL"),
        _number(c.CLWLMRUC, 1, v.DEFAULT_MRUC, "CLWLMRUC; null = 999999999"),
        _word(c.DEFCLXQ, v.DefaultTransmissionQueue, "DEFCLXQ; null = SCTQ"),
        _text(c.DEFXMITQ, "DEFXMITQ, default transmission queue; blank = none"),
        _text(c.QSGNAME, "Queue-sharing group"),
    ),
)
CLUSTER_CHANNELS: Final = Table(
    "cluster_channels",
    "One row per CLUSRCVR, cluster and observer (namelists are expanded)",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        _key(c.CHANNEL, "Name of the CLUSRCVR"),
        _key(c.CLUSTER, "Cluster that the channel is shared in"),
        _RANK,
        _PRTY,
        _number(c.CLWLWGHT, 1, v.MAX_WEIGHT, "CLWLWGHT, 1-99; null = 50"),
        _number(c.NETPRTY, 0, v.MAX_RANK, "NETPRTY, 0-9; null = 0"),
        _flag(c.SUSPENDED, "The queue manager is suspended in this cluster; null = false"),
        _text(c.CONNAME, "CONNAME"),
        _word(c.QMTYPE, v.QmType, "REPOS = full repository of this cluster"),
    ),
)
CHANNEL_STATUS: Final = Table(
    "channel_status",
    "One row per channel instance, as seen on qmgr",
    (
        _SNAPSHOT,
        _key(c.QMGR, "Queue manager that the status is seen on"),
        _key(c.CHANNEL, "Name of the channel"),
        Column(
            c.CHLTYPE,
            "string",
            "CLUSSDR or CLUSRCVR",
            True,
            "chltype IN ('CLUSSDR', 'CLUSRCVR')",
            "is not one of 'CLUSSDR', 'CLUSRCVR'",
        ),
        _key(c.REMOTE_QMGR, "Queue manager at the other end"),
        _word(c.STATUS, tuple(v.STATUS_TIERS), "STATUS; null = INACTIVE"),
        _text(c.XMITQ, "Transmission queue that the channel is associated with now"),
    ),
)
QUEUES: Final = Table(
    "queues",
    "One row per queue, cluster and observer; cluster '' = not shared",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        _key(c.QUEUE, "Name of the queue"),
        _key(c.CLUSTER, "Cluster that the queue is shared in; '' = none"),
        _word(c.QTYPE, v.QueueType, "QTYPE"),
        _flag(c.PUT_ENABLED, "PUT(ENABLED); null = true"),
        _RANK,
        _PRTY,
        _word(c.CLWLUSEQ, v.UseQueue, "CLWLUSEQ; null = QMGR"),
        _word(c.DEFBIND, v.DefBind, "DEFBIND; null = OPEN"),
        _text(c.TARGET, "TARGET of a QALIAS"),
        _text(c.RNAME, "RNAME of a QREMOTE; blank = a queue manager alias"),
        _text(c.RQMNAME, "RQMNAME of a QREMOTE"),
        _text(c.XMITQ, "XMITQ of a QREMOTE"),
        _word(c.USAGE, v.Usage, "USAGE; null = NORMAL"),
        _text(c.CLCHNAME, "CLCHNAME: channels whose messages this transmission queue takes"),
        _text(c.QSGDISP, "QSGDISP (z/OS)"),
    ),
)
TOPICS: Final = Table(
    "topics",
    "One row per topic object, cluster and observer",
    (
        _SNAPSHOT,
        _OBSERVER,
        _OWNER,
        _key(c.TOPIC, "Name of the topic object"),
        _key(c.CLUSTER, "Cluster that the topic is shared in; '' = none"),
        _text(c.TOPICSTR, "TOPICSTR"),
        _word(c.CLROUTE, v.ClusterRoute, "CLROUTE; null = DIRECT"),
        _flag(c.PUB_ENABLED, "PUB(ENABLED); null = true"),
        _flag(c.SUB_ENABLED, "SUB(ENABLED); null = true"),
        _word(c.PROXYSUB, v.ProxySub, "PROXYSUB; null = FIRSTUSE"),
    ),
)
SUBSCRIPTIONS: Final = Table(
    "subscriptions",
    "One row per subscription on qmgr",
    (
        _SNAPSHOT,
        _key(c.QMGR, "Queue manager that holds the subscription"),
        _key(c.SUB_NAME, "Name of the subscription"),
        _text(c.TOPICSTR, "Topic string, with wildcards + and #"),
        _word(c.SUBTYPE, v.SubType, "SUBTYPE; null = USER"),
        _text(c.DEST, "Destination queue"),
        _text(c.DEST_QMGR, "Destination queue manager; of a PROXY the one it stands for"),
    ),
)
CLUSTER_SENDERS: Final = Table(
    "cluster_senders",
    "One row per manually defined CLUSSDR and cluster; its CLWL attributes never count",
    (
        _SNAPSHOT,
        _OWNER,
        _key(c.CHANNEL, "Name of the CLUSSDR"),
        _key(c.CLUSTER, "Cluster"),
        _text(c.CONNAME, "CONNAME"),
        Column(c.CLWLRANK, "int", "CLWLRANK as defined; no effect"),
        Column(c.CLWLPRTY, "int", "CLWLPRTY as defined; no effect"),
        Column(c.CLWLWGHT, "int", "CLWLWGHT as defined; no effect"),
        Column(c.NETPRTY, "int", "NETPRTY as defined; no effect"),
    ),
)
INGEST_REJECTS: Final = Table(
    "ingest_rejects",
    "One row per piece of a text that could not be used",
    (
        _text(c.SNAPSHOT_ID, "The snapshot that was being ingested"),
        _text("file", "File"),
        Column("line", "int", "Line, from 1"),
        _text("text", "The piece"),
        _text(c.REASON, "Why it could not be used"),
    ),
)
_MESSAGE_COLUMNS = (
    Column(c.MESSAGE_ID, "binary", "MQMD.MsgId; may repeat"),
    Column(c.PUT_TIME, "timestamp", "When the message was put"),
    _text(c.OBJECT_TYPE, "QUEUE or TOPIC; null = QUEUE"),
    _text(c.OBJECT_NAME, "Queue name, or topic string"),
    _text(c.OBJECT_QMGR, "Object queue manager; blank = none named"),
    _text(c.BIND, "AS_Q_DEF, ON_OPEN, NOT_FIXED, ON_GROUP; null = AS_Q_DEF"),
    Column(c.OPEN_ID, "bigint", "The open that the put belongs to"),
    Column(c.GROUP_ID, "binary", "MQMD.GroupId"),
    _flag(c.LOGICAL_ORDER, "MQPMO_LOGICAL_ORDER; null = false"),
    _text(c.VIA, "LOCAL = by an application, CLUSTER = over a cluster channel; null = LOCAL"),
    _flag(c.PERSISTENT, "Persistent"),
    Column(c.MSG_LENGTH, "int", "Bytes"),
)
MESSAGES: Final = Table(
    "messages",
    "One row per put; (qmgr, put_seq) identifies it",
    (
        Column(c.QMGR, "string", "Queue manager where the message is put", True, nullable_key=True),
        Column(
            c.PUT_SEQ, "bigint", "Grows per queue manager in put order", True, nullable_key=True
        ),
        *_MESSAGE_COLUMNS,
    ),
)
OUTCOMES: Final = Table(
    "outcomes",
    "One row per routed message; one per copy of a publication with CLROUTE(DIRECT)",
    (
        _key(c.QMGR, "Queue manager where the message was put"),
        _key(c.PUT_SEQ, "Of the message", "bigint"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(c.PUT_TIME, "timestamp", "Of the message"),
        _text(c.OBJECT_TYPE, "Of the message, after defaults"),
        _text(c.OBJECT_NAME, "Of the message"),
        _text(c.OBJECT_QMGR, "Of the message, after defaults"),
        _text(c.SNAPSHOT_ID, "Snapshot in force at put_time"),
        Column(c.PLAN_ID, "bigint", "The plan that answered it (route_plans)"),
        Column(c.REASON, "int", "0, or the MQRC that the put ended with"),
        _text(c.DEST_QMGR, "Queue manager it goes to; null = reason is not 0"),
        _text(c.DEST_OBJECT, "Object it goes to"),
        _text(c.CHANNEL, "Channel; null = local, or a transmission queue named by definition"),
        _text(c.CLUSTER, "Cluster of the route"),
        _text(c.XMITQ, "Transmission queue it waits on; null = local"),
        _flag(c.IS_LOCAL, "It stays on qmgr"),
        _flag(c.BOUND, "It followed an earlier message's choice"),
        _flag(c.OUT_OF_ORDER, "Its put_seq came after a greater one"),
    ),
)
REJECTED_MESSAGES: Final = Table(
    "rejected_messages",
    "One row per message that could not be routed at all",
    (
        _text(c.QMGR, "As in messages"),
        Column(c.PUT_SEQ, "bigint", "As in messages"),
        *_MESSAGE_COLUMNS,
        _word(c.ERROR, v.RejectError, "Why"),
        Column(c.REJECTED_AT, "timestamp", "When the run that set it aside started"),
    ),
)
ROUTE_PLANS: Final = Table(
    "route_plans",
    "One row per distinct request (snapshot, queue manager, object, via): what it resolves to",
    (
        _key(c.PLAN_ID, "Hash of the request", "bigint"),
        _text(c.SNAPSHOT_ID, "Of the request"),
        _text(c.QMGR, "Of the request"),
        _text(c.OBJECT_TYPE, "Of the request"),
        _text(c.OBJECT_NAME, "Of the request"),
        _text(c.OBJECT_QMGR, "Of the request"),
        _text(c.VIA, "Of the request"),
        _word(c.KIND, v.PlanKind, "What is chosen"),
        Column(c.REASON, "int", "0, or the MQRC that every such put ends with"),
        _text(c.RESOLVED_OBJECT, "Object after name resolution (a topic object for TOPIC)"),
        _text(c.RESOLVED_QMGR, "Object queue manager after name resolution"),
        Column(c.RESOLUTION_PATH, "array<string>", "Objects passed, as NAME or NAME@QMGR"),
        _word(c.BIND_DEFAULT, v.DefBind, "DEFBIND that AS_Q_DEF means here"),
        Column(c.RESET_EPOCH, "bigint", "Resets of the history before this snapshot's messages"),
        _text(c.XMITQ, "Transmission queue, kind XMITQ"),
        Column("choices", "int", "Choices a message makes: copies of a publication, else 1"),
    ),
)
ROUTE_CANDIDATES: Final = Table(
    "route_candidates",
    "One row per instance, channel, instance cluster and channel cluster of a plan's choice",
    (
        Column(c.PLAN_ID, "bigint", "The plan (route_plans)"),
        Column(c.CHOICE, "int", "Copy of a DIRECT publication, from 0; else 0"),
        _text(c.KIND, "Kind of the plan: QUEUE, QMGR or TOPIC"),
        _text(c.DEST_QMGR, "Queue manager of the instance"),
        _text(c.DEST_OBJECT, "Name of the instance"),
        _text(c.CHANNEL, "CLUSRCVR of dest_qmgr"),
        _text(c.INSTANCE_CLUSTER, "Cluster that the instance is shared in"),
        _text(c.CHANNEL_CLUSTER, "Cluster of the channel row"),
        _flag(c.IS_LOCAL, "dest_qmgr is the putting queue manager"),
        _flag(c.IS_ALIAS, "The instance is a queue manager alias"),
        _flag(c.INSTANCE_SHARED, "The putting queue manager is in instance_cluster (rule 1)"),
        _flag(c.CHANNEL_SHARED, "The putting queue manager is in channel_cluster (rule 1)"),
        Column(c.CHANNEL_RANK, "int", "CLWLRANK of the channel, or of the alias (rule 3)"),
        Column(c.QUEUE_RANK, "int", "CLWLRANK of the queue (rule 4)"),
        _flag(c.PUT_ENABLED, "PUT or PUB of the instance (rule 5)"),
        _flag(c.USES_LOCAL, "A local row here takes all (rule 6)"),
        _flag(c.SUSPENDED, "dest_qmgr is suspended in channel_cluster (rule 7)"),
        _text(c.STATUS, "Channel status (rules 8-11)"),
        Column(c.STATUS_TIER, "int", "1 = best (rules 8-11)"),
        Column(c.NETPRTY, "int", "NETPRTY (rule 12)"),
        Column(c.CHANNEL_PRTY, "int", "CLWLPRTY of the channel, or of the alias (rule 13)"),
        Column(c.QUEUE_PRTY, "int", "CLWLPRTY of the queue (rule 14)"),
        Column(c.CLWLWGHT, "int", "CLWLWGHT (balancing)"),
        Column(c.ELIMINATED_BY, "int", "Rule that eliminated the row; 100 = exit; null = a route"),
    ),
)
BALANCE_HISTORY: Final = Table(
    "balance_history",
    "One row per channel that a queue manager ever chose, after the last routed batch",
    (
        _key(c.QMGR, "Queue manager that chose"),
        _key(c.DEST_QMGR, "Queue manager that the channel leads to"),
        _key(c.CHANNEL, "Channel"),
        Column(c.DEST_SEQ_NUMBER, "bigint", "MQWDR.DestSeqNumber"),
        Column(c.DEST_SEQ_FACTOR, "bigint", "MQWDR.DestSeqFactor"),
    ),
)
SNAPSHOT_RESETS: Final = Table(
    "snapshot_resets",
    "One row per queue manager and pair of neighbouring valid snapshots: is its history reset",
    (
        _key(c.QMGR, "Queue manager whose history it is"),
        _key(c.SNAPSHOT_ID, "The later snapshot"),
        _key(c.PREVIOUS_ID, "The valid snapshot before it"),
        _flag(c.IS_RESET, "SEMANTICS C1 says so"),
    ),
)
RUNS: Final = Table(
    "runs",
    "One row per run of routing",
    (
        _key(c.RUN_ID, "The run"),
        Column("started_at", "timestamp", "Start"),
        Column("finished_at", "timestamp", "End; null = running, or killed"),
        _text(c.STATUS, "RUNNING or DONE"),
        Column("batch_id", "bigint", "Micro-batch that the run routes, from 0"),
        Column("snapshots", "array<string>", "Valid snapshots the run uses, in order of validity"),
        Column("messages", "bigint", "Messages taken"),
        Column("outcomes", "bigint", "Outcome rows written"),
        Column("rejected", "bigint", "Messages set aside"),
        Column("out_of_order", "bigint", "Outcomes with out_of_order"),
        Column("by_reason", "map<string,bigint>", "Outcomes by reason code"),
        Column("seconds", "double", "Wall-clock time"),
        Column("worker_peak_mib", "double", "Largest Python worker, MiB"),
        _text("algorithm", "v9 or v7: the lake's, from the first run on"),
        _text("router_id", "Names the checkpoint that belongs to this lake"),
        Column("versions", "map<string,string>", "Versions of package, Spark, Delta, Python"),
    ),
)

TOPOLOGY: Final = (
    QUEUE_MANAGERS,
    CLUSTER_CHANNELS,
    CHANNEL_STATUS,
    QUEUES,
    TOPICS,
    SUBSCRIPTIONS,
)
TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        SNAPSHOTS,
        *TOPOLOGY,
        CLUSTER_SENDERS,
        INGEST_REJECTS,
        MESSAGES,
        OUTCOMES,
        REJECTED_MESSAGES,
        ROUTE_PLANS,
        ROUTE_CANDIDATES,
        BALANCE_HISTORY,
        SNAPSHOT_RESETS,
        RUNS,
    )
}
