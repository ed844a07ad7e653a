"""Runs, and what they remember for the next one."""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, text

_NULL_OPEN_ID: Final = (
    "What messages put ON_OPEN without an open_id belong to: own or shared, as the algorithm; "
    "null = own"
)
BALANCE_HISTORY: Final = Table(
    "balance_history",
    "One row per channel that a queue manager ever chose, after the last routed batch",
    (
        key(c.QMGR, "Queue manager that chose"),
        key(c.DEST_QMGR, "Queue manager that the channel leads to"),
        key(c.CHANNEL, "Channel"),
        Column(c.DEST_SEQ_NUMBER, "bigint", "MQWDR.DestSeqNumber"),
        Column(c.DEST_SEQ_FACTOR, "bigint", "MQWDR.DestSeqFactor"),
    ),
)
SNAPSHOT_RESETS: Final = Table(
    "snapshot_resets",
    "One row per queue manager and pair of neighbouring valid snapshots: is its history reset",
    (
        key(c.QMGR, "Queue manager whose history it is"),
        key(c.SNAPSHOT_ID, "The later snapshot"),
        key(c.PREVIOUS_ID, "The valid snapshot before it"),
        flag(c.IS_RESET, "SEMANTICS C1 says so"),
    ),
)
RUNS: Final = Table(
    "runs",
    "One row per run of routing",
    (
        key(c.RUN_ID, "The run"),
        Column("started_at", "timestamp", "Start"),
        Column("finished_at", "timestamp", "End; null = running, or killed"),
        text(c.STATUS, "RUNNING or DONE"),
        Column("batch_id", "bigint", "Micro-batch that the run routes, from 0"),
        Column("snapshots", "array<string>", "Valid snapshots the run uses, in order of validity"),
        Column("messages", "bigint", "Messages taken"),
        Column("outcomes", "bigint", "Outcome rows written"),
        Column("rejected", "bigint", "Messages set aside"),
        Column("out_of_order", "bigint", "Outcomes with out_of_order"),
        Column("by_reason", "map<string,bigint>", "Outcomes by reason code"),
        Column("seconds", "double", "Wall-clock time"),
        Column("worker_peak_mib", "double", "Largest Python worker, MiB"),
        text("algorithm", "v9 or v7: the lake's, from the first run on"),
        Column("edition", "int", "Of SEMANTICS, 1 or 2, as the algorithm; null = 1", optional=True),
        text("router_id", "Names the checkpoint that belongs to this lake"),
        Column("versions", "map<string,string>", "Versions of package, Spark, Delta, Python"),
        Column(
            "engine", "string", "What it was routed with: embedded, arrow or spark", optional=True
        ),
        Column("messages_id", "string", "Delta's id of the table messages", optional=True),
        Column(
            "messages_from",
            "bigint",
            "Version of messages that the batches before took whole; -1 = nothing, -2 = by key",
            optional=True,
        ),
        Column(
            "messages_version",
            "bigint",
            "Version of messages up to which this batch took all; null = the checkpoint knows",
            optional=True,
        ),
        Column(
            "memory_version",
            "bigint",
            "Version of router_memory that the batch began with",
            optional=True,
        ),
        Column(
            "checkpoint",
            "string",
            "Spark's checkpoint that the batch went through; null = none",
            optional=True,
        ),
        Column(
            "outcomes_version",
            "bigint",
            "Version of outcomes whose messages are not routed again: they are set aside as "
            "DUPLICATE; null = duplicates are kept",
            optional=True,
        ),
        Column("null_open_id", "string", _NULL_OPEN_ID, optional=True),
        Column(
            "own_opens",
            "bigint",
            "Messages put ON_OPEN without an open_id, each an open of its own; null = not counted",
            optional=True,
        ),
        Column(
            "stream",
            "map<string,bigint>",
            "What Spark's stream says of the batch, by Spark's words; null = no stream routed it",
            optional=True,
        ),
    ),
)
ROUTER_MEMORY: Final = Table(
    "router_memory",
    "One row per queue manager that ever sent: what it remembers after the last routed batch",
    (
        key(c.QMGR, "Queue manager whose memory it is"),
        Column("batch_id", "bigint", "Batch after which it is so (runs)"),
        Column("version", "int", "Form of the payload"),
        Column(
            "payload",
            "binary",
            "History of the channels, highest put_seq, brought resets, bindings",
        ),
    ),
    skipped_by=(c.QMGR,),
)
