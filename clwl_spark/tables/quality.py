"""What gates leave behind, and counts that were observed."""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, text, word

_VALIDATION = key("validation_id", "The validation")
_GATE = key("gate", "The gate")
_SEVERITY = word("severity", ("error", "warn"), "What it means if the gate fails")

GATE_RESULTS: Final = Table(
    "gate_results",
    "One row per gate of a validation: what it found",
    (
        _VALIDATION,
        _GATE,
        word("scope", ("topology", "outcomes", "observed"), "What was judged"),
        text(c.SNAPSHOT_ID, "The snapshot that was judged; null = none"),
        text("suite", "The suite that has the gate"),
        _SEVERITY,
        word("verdict", ("PASSED", "FAILED", "ERROR"), "ERROR = it could not be evaluated"),
        Column("checked", "bigint", "Rows looked at; null = not counted"),
        Column("failing", "bigint", "Rows or groups of rows that break it"),
        text("title", "What has to hold"),
        text("why", "What goes wrong where it does not"),
        text("remedy", "What to do"),
        text(c.ERROR, "Why it could not be evaluated; blank = it was"),
        text("engine", "pandas, sqlite or spark"),
        Column("seconds", "double", "Time it took"),
        Column("judged_at", "timestamp", "When"),
    ),
)
GATE_FAILURES: Final = Table(
    "gate_failures",
    "One row per failing row that a gate found, the first 1000 of each",
    (
        _VALIDATION,
        _GATE,
        key("row_no", "Counts the gate's rows, from 1", "int"),
        text(c.SNAPSHOT_ID, "The snapshot that was judged; null = none"),
        _SEVERITY,
        text("detail", "What is wrong, in words"),
        text("failing_row", "The row's columns as JSON"),
    ),
)
OBSERVED_COUNTS: Final = Table(
    "observed_counts",
    "One row per count that MQ gave of messages on a channel, or to a queue, in a time",
    (
        key(c.QMGR, "Queue manager that counted"),
        Column(
            c.OBJECT_TYPE,
            "string",
            "CHANNEL = messages sent over a CLUSSDR (CHSTATUS MSGS); QUEUE = put to a queue",
            True,
            "object_type IN ('CHANNEL', 'QUEUE')",
            "is not one of 'CHANNEL', 'QUEUE'",
        ),
        key(c.OBJECT_NAME, "Channel or queue"),
        key(c.REMOTE_QMGR, "Of a channel the other end; blank = not known, or a queue"),
        key("from_time", "Counted from", "timestamp"),
        key("to_time", "Counted until, this moment not included", "timestamp"),
        Column(
            "messages",
            "bigint",
            "How many",
            False,
            "messages IS NULL OR messages >= 0",
            "is below 0",
        ),
        text(c.SOURCE, "Where the count is from"),
    ),
)
