"""Puts that counts could stand for, where nobody recorded the puts themselves.

A count says how many messages were put to a queue in a time, not when each was: moments are drawn
evenly over it, as those of many independent putters are. Every such message says that it is
synthetic.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from clwl_spark.studies.load.counting import COUNT, FROM, TO
from clwl_spark.studies.load.series import MESSAGE_ID_BYTES
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

_OF_THE_QUEUE_MANAGER: Final = "SYSTEM."
"""Queues that begin so are the queue manager's own: transmission queues and the like."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def is_usable(count: Mapping[str, Any]) -> bool:
    """Whether a row of `observed_counts` says how many puts applications made to a queue."""
    return bool(
        count[c.OBJECT_TYPE] == "QUEUE"
        and not count[c.OBJECT_NAME].startswith(_OF_THE_QUEUE_MANAGER)
        and count[COUNT]
        and count[FROM] < count[TO]
    )


def identity(count: Mapping[str, Any]) -> str:
    """What the puts of a count are known by, in `loads`; the same whatever it counts."""
    parts = (count[c.QMGR], count[c.OBJECT_NAME], _micros(count[FROM]), _micros(count[TO]))
    return hashlib.sha256(repr(("synthetic", *parts)).encode()).hexdigest()


def puts_of(counts: Iterable[Mapping[str, Any]], seed: int) -> pa.Table:
    """Messages, as many as each count says.

    Args:
        counts: usable rows of `observed_counts`.
        seed: another one draws other moments.

    Grain: one row per message, `put_seq` null, in put order within a count.
    """
    parts = [_puts(count, seed) for count in counts]
    return pa.concat_tables([MESSAGES.arrow(MESSAGES.names).empty_table(), *parts])


def _puts(count: Mapping[str, Any], seed: int) -> pa.Table:
    known_by = bytes.fromhex(identity(count))
    drawn = np.random.default_rng([seed, int.from_bytes(known_by[:8])])
    times = np.sort(drawn.integers(_micros(count[FROM]), _micros(count[TO]), count[COUNT]))
    prefix = known_by[: MESSAGE_ID_BYTES - 8]
    size = len(times)
    columns: dict[str, pa.Array] = {
        c.QMGR: pa.repeat(count[c.QMGR], size),
        c.MESSAGE_ID: pa.array([prefix + at.to_bytes(8) for at in range(size)], pa.binary()),
        c.PUT_TIME: pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC")),
        c.OBJECT_TYPE: pa.repeat(count[c.OBJECT_TYPE], size),
        c.OBJECT_NAME: pa.repeat(count[c.OBJECT_NAME], size),
        c.SYNTHETIC: pa.repeat(pa.scalar(value=True), size),
    }
    schema = MESSAGES.arrow(MESSAGES.names)
    cells = [columns.get(x.name, pa.nulls(size, x.type)) for x in schema]
    return pa.Table.from_arrays(
        [x.cast(y.type) for x, y in zip(cells, schema, strict=True)], schema=schema
    )


def _micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
