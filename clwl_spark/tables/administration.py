"""What administrators look at and routing does not: the status of queues."""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, number

MOST: Final = 999_999_999
"""The greatest MAXDEPTH of a queue."""

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
        Column(c.SOURCE, "string", "File and line that the row was read from", optional=True),
    ),
    change_feed=True,
)
