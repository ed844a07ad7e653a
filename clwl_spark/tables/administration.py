"""What routing does not look at: status of queues, authorities, other channels, REFRESH, RESET."""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, number, text

MOST: Final = 999_999_999
"""The greatest MAXDEPTH of a queue."""

_SOURCE: Final = Column(
    c.SOURCE, "string", "File and line that the row was read from", optional=True
)

QUEUE_STATUS: Final = Table(
    "queue_status",
    "One row per queue of qmgr of which a text shows the depth or the open handles",
    (
        key(c.SNAPSHOT_ID, "The snapshot that the row belongs to"),
        key(c.QMGR, "Queue manager that the queue is on"),
        key(c.QUEUE, "Name of the queue"),
        number(c.CURDEPTH, 0, MOST, "CURDEPTH: messages on the queue; null = not known"),
        number(c.IPPROCS, 0, MOST, "IPPROCS: handles open for input; null = not known"),
        number(c.OPPROCS, 0, MOST, "OPPROCS: handles open for output; null = not known"),
        _SOURCE,
    ),
    change_feed=True,
)
AUTHORITIES: Final = Table(
    "authorities",
    "One row per authority record of qmgr: profile, type of object, and a principal or group",
    (
        key(c.SNAPSHOT_ID, "The snapshot that the row belongs to"),
        key(c.QMGR, "Queue manager whose record it is"),
        key(c.PROFILE, "PROFILE: an object's name, or one with wildcards; '' = of no object"),
        key(c.OBJTYPE, "OBJTYPE: QUEUE, QMGR and others"),
        Column(
            c.ENTITY_TYPE,
            "string",
            "PRINCIPAL or GROUP",
            True,
            "entity_type IN ('PRINCIPAL', 'GROUP')",
            "is not one of 'PRINCIPAL', 'GROUP'",
        ),
        key(c.ENTITY, "Name of the principal or group"),
        text(c.AUTHORITIES, "What it may, in order, with commas: GET,PUT; '' = nothing"),
        _SOURCE,
    ),
    change_feed=True,
)
MESSAGE_CHANNELS: Final = Table(
    "message_channels",
    "One row per sender or server channel of qmgr, which is in no cluster",
    (
        key(c.SNAPSHOT_ID, "The snapshot that the row belongs to"),
        key(c.QMGR, "Queue manager that owns the channel"),
        key(c.CHANNEL, "Name of the channel"),
        Column(
            c.CHLTYPE,
            "string",
            "SDR, a sender, or SVR, a server",
            check="chltype IS NOT NULL AND chltype IN ('SDR', 'SVR')",
            reason="is not one of 'SDR', 'SVR'",
        ),
        text(c.XMITQ, "XMITQ: the transmission queue that it takes messages from; null = blank"),
        text(c.CONNAME, "CONNAME; null = blank, as a server channel may have it"),
        _SOURCE,
        Column(
            c.ALTERED, "string", "When MQ says the object changed: date and time", optional=True
        ),
    ),
    change_feed=True,
)
ACTIONS: Final = Table(
    "actions",
    "One row per REFRESH or RESET command in the texts of qmgr, as it stands there",
    (
        key(c.SNAPSHOT_ID, "The snapshot that the row belongs to"),
        key(c.QMGR, "Queue manager whose text has the command"),
        key(c.COMMAND, "The command, with one blank for several and for ends of lines"),
        text(c.ACTION, "What is done to what: REFRESH CLUSTER, RESET CHANNEL and others"),
        text(c.OBJECT, "The cluster, channel or other object that it names; null = none"),
        _SOURCE,
    ),
    change_feed=True,
)
