"""What was loaded, what could not be, and what MQ recorded: tables of `clwl load`.

Source: CONTRACT, `clwl load`. `loads` is this package's own table.
"""

from typing import Final

from clwl_spark.mq import vocabulary as v
from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, flag, key, text, word

CONTENT: Final = "content"
BYTES: Final = "bytes"
FILE: Final = "file"
LINE: Final = "line"
TEXT: Final = "text"
ROWS: Final = "rows"
LOAD_ID: Final = "load_id"
WHOLE: Final = "whole"
SINCE: Final = "since"
UNTIL: Final = "until"
AT: Final = "at"
RESOLVED: Final = "resolved_object"
COUNTER: Final = "counter"
VALUE: Final = "value"
BEGAN: Final = "began"
SINCE_LAST: Final = "since_last"

LOADS: Final = Table(
    "loads",
    "One row per content of a file that was loaded, and table; a file that grew has several",
    (
        key(CONTENT, "SHA-256 of the file's first `bytes` bytes, in hexadecimal"),
        key(c.TABLE, "Table that it gave rows of; blank = of none"),
        Column(BYTES, "bigint", "How many bytes were loaded by then"),
        text(FILE, "The file, as it was named"),
        Column(ROWS, "bigint", "Rows that it gave"),
        Column(c.LOADED_AT, "timestamp", "When it was loaded"),
        text(LOAD_ID, "The run that loaded it: the transaction of its append to the table"),
        Column(
            WHOLE,
            "string",
            "SHA-256 of the bytes of which only rows between `since` and `until` were loaded, by "
            "which `content` is another one; null = all of them were",
            optional=True,
        ),
        Column(SINCE, "timestamp", "Rows of before were left out; null = none were", optional=True),
        Column(UNTIL, "timestamp", "Rows from then on were left out; null = none", optional=True),
    ),
)
LOAD_REJECTS: Final = Table(
    "load_rejects",
    "One row per piece of a file that could not be loaded",
    (
        text(FILE, "The file, as it was named"),
        Column(LINE, "bigint", "Its line; of a table without lines, the row, from 1"),
        text(TEXT, "The piece, shortened"),
        text(c.REASON, "Why it was not usable"),
    ),
)
OBSERVED_ROUTES: Final = Table(
    "observed_routes",
    "One row per record of where a message went; null = the record does not tell",
    (
        text(c.QMGR, "Queue manager of the put"),
        text(c.OBJECT_TYPE, "QUEUE or TOPIC"),
        text(c.OBJECT_NAME, "What was put to"),
        text(c.OBJECT_QMGR, "Object queue manager that the put named"),
        Column(c.PUT_TIME, "timestamp", "When it was put"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(c.PUT_SEQ, "bigint", "Of its row in messages; null = it has none there"),
        Column(c.REASON, "int", "0, or the MQRC that the put ended with"),
        text(RESOLVED, "Object that the name was resolved to"),
        text(c.DEST_QMGR, "Queue manager that it went to"),
        text(c.CHANNEL, "Channel that it went by"),
        text(c.XMITQ, "Transmission queue that it was put on"),
        text(c.SOURCE, "Where the record is from"),
    ),
)
STATUS_EVENTS: Final = Table(
    "status_events",
    "One row per change of a channel's status: it has it from then on",
    (
        key(c.QMGR, "Queue manager that reports it"),
        key(AT, "When the status began", "timestamp"),
        key(c.CHANNEL, "Name of the channel"),
        text(c.CHLTYPE, "The channel's type; null = the record does not tell"),
        text(c.REMOTE_QMGR, "Queue manager at the other end; null = the record does not tell"),
        word(c.STATUS, tuple(v.STATUS_TIERS), "The new STATUS"),
        text(c.REASON, "Why"),
        text(c.SOURCE, "Where the record is from"),
    ),
)
ATTRIBUTES: Final = "attributes"
CHANGE: Final = "change"

CONFIG_EVENTS: Final = Table(
    "config_events",
    "One row per object of a queue manager and moment at which it was created, changed or deleted",
    (
        key(c.QMGR, "Queue manager whose object it is"),
        key(AT, "When", "timestamp"),
        key(c.OBJECT_TYPE, "QUEUE, CHANNEL (a CLUSRCVR) or QMGR"),
        key(c.OBJECT_NAME, "Its name; blank = the queue manager itself"),
        word(CHANGE, ("CREATED", "CHANGED", "DELETED"), "What became of it"),
        text(ATTRIBUTES, "JSON: columns of its table that the event tells, as they are then"),
        text(c.SOURCE, "Where the record is from"),
    ),
)
COUNTER_READINGS: Final = Table(
    "counter_readings",
    "One row per counter of messages and moment at which it was read; two of them give a count",
    (
        key(c.QMGR, "Queue manager that counts"),
        key(c.OBJECT_TYPE, "CHANNEL or QUEUE, as in observed_counts"),
        key(c.OBJECT_NAME, "Channel or queue"),
        key(c.REMOTE_QMGR, "Of a channel the other end; blank = not known, or a queue"),
        key(COUNTER, "Tells counters of the same object apart: metric, and job of the channel"),
        key(AT, "When it was read", "timestamp"),
        Column(VALUE, "bigint", "What it showed"),
        Column(BEGAN, "timestamp", "When it was 0; null = not known"),
        flag(SINCE_LAST, "Whether it counts from the reading before, not from its beginning"),
        text(c.SOURCE, "Where the record is from"),
    ),
)
