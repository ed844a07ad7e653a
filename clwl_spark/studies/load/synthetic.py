"""Puts that counts could stand for, where nobody recorded the puts themselves.

A count says how many messages were put to a queue in a time, not when each was: moments are drawn
evenly over it, as those of many independent putters are. Every such message says that it is
synthetic.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.studies.load.counting import COUNT, FROM, TO
from clwl_spark.studies.load.series import MESSAGE_ID_BYTES
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

_OF_THE_QUEUE_MANAGER: Final = "SYSTEM."
"""Queues that begin so are the queue manager's own: transmission queues and the like."""
_NONE: Final = np.empty(0, np.int64)
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
    used = list(counts)
    known_by = [bytes.fromhex(identity(x)) for x in used]
    drawn = [_moments(x, y, seed) for x, y in zip(used, known_by, strict=True)]
    sizes = [len(x) for x in drawn]
    at = pa.array(np.repeat(np.arange(len(used)), sizes))
    rows = len(at)
    columns: dict[str, pa.Array] = {
        c.QMGR: pa.array([x[c.QMGR] for x in used], pa.string()).take(at),
        c.MESSAGE_ID: _identifiers(known_by, sizes),
        c.PUT_TIME: pa.array(np.concatenate([_NONE, *drawn])).cast(pa.timestamp("us", "UTC")),
        c.OBJECT_TYPE: pa.array([x[c.OBJECT_TYPE] for x in used], pa.string()).take(at),
        c.OBJECT_NAME: pa.array([x[c.OBJECT_NAME] for x in used], pa.string()).take(at),
        c.SYNTHETIC: pa.repeat(pa.scalar(value=True), rows),
    }
    schema = MESSAGES.arrow(MESSAGES.names)
    cells = [columns.get(x.name, pa.nulls(rows, x.type)).cast(x.type) for x in schema]
    return pa.Table.from_arrays(cells, schema=schema)


def _moments(count: Mapping[str, Any], known_by: bytes, seed: int) -> NDArray[np.int64]:
    """(messages,) microseconds since 1970, in order."""
    random = np.random.default_rng([seed, int.from_bytes(known_by[:8])])
    begin, end = _micros(count[FROM]), _micros(count[TO])
    return np.sort(random.integers(begin, end, count[COUNT]))


def _identifiers(known_by: Sequence[bytes], sizes: Sequence[int]) -> pa.Array:
    """Identifiers of messages: what their count is known by, and their place in it."""
    size = MESSAGE_ID_BYTES - 8
    prefixes = np.frombuffer(b"".join(x[:size] for x in known_by), np.uint8).reshape(-1, size)
    places = np.concatenate([_NONE, *map(np.arange, sizes)]).astype(">u8")
    found = np.empty((len(places), MESSAGE_ID_BYTES), np.uint8)
    found[:, :size] = np.repeat(prefixes, sizes, axis=0)
    found[:, size:] = places.view(np.uint8).reshape(-1, 8)
    buffers = [None, pa.py_buffer(found.tobytes())]
    kind = pa.binary(MESSAGE_ID_BYTES)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(places), buffers)


def _micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
