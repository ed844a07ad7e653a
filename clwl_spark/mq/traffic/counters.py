"""What counters showed at a moment: rows of `counter_readings`, from which counts are made.

A count needs two readings of the same counter, which may be in different files, or the moment when
the counter began.
"""

from dataclasses import dataclass
from datetime import datetime

from clwl_spark.mq.traffic.records import LocalMoment, Record

READINGS = "counter_readings"

Moment = datetime | LocalMoment


@dataclass(frozen=True, slots=True)
class Counter:
    """What a counter counts.

    Attributes:
        qmgr: queue manager; None = the text does not tell.
        object_type: CHANNEL or QUEUE.
        object_name: its name.
        remote_qmgr: of a channel the other end; "" = not known, or a queue.
        counter: tells counters of one object apart.
    """

    qmgr: str | None
    object_type: str
    object_name: str
    remote_qmgr: str
    counter: str


def reading(
    of: Counter, at: Moment, value: int, began: Moment | None = None, *, since_last: bool = False
) -> Record:
    """A row of `counter_readings`.

    Args:
        of: the counter.
        at: when it was read.
        value: what it showed, messages.
        began: when it was 0; None = not known.
        since_last: whether it counts from the reading before, not from its beginning.
    """
    return Record(
        READINGS,
        {
            "qmgr": of.qmgr,
            "object_type": of.object_type,
            "object_name": of.object_name,
            "remote_qmgr": of.remote_qmgr,
            "counter": of.counter,
            "at": at,
            "value": value,
            "began": began,
            "since_last": since_last,
        },
    )
