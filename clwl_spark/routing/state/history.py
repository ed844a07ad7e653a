"""What queue managers remember between batches, and its bytes in the state store.

A state is a bucket's: the memories of its queue managers. Its schema can never change, so it is
(version, payload), and the payload an Arrow stream of (qmgr, memory). A memory is two Arrow
streams, the history of the channels (with the scalars in its metadata) and the bindings, if any.
Those of queue managers without messages in a batch stay unread. A seal behind it, a hash of all its
bytes, tells whether it is as it was written; earlier versions of this package wrote none.

Source: SEMANTICS 5 (history), C1 (resets), 6 (bindings).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from clwl_spark.errors import DamagedMemoryError, LakeStateError
from clwl_spark.routing.intake.blocks import from_ipc, to_ipc
from clwl_spark.tables import columns as c

STATE_SCHEMA: Final = "version int, payload binary"
VERSION: Final = 2
_OF_ONE_QMGR: Final = 1
"""The version of which a state was one queue manager's, and named by it."""
_LENGTH_BYTES: Final = 8
_META: Final = b"clwl"
_SEAL: Final = b"seal"
"""Comes before the hash."""
_SEAL_BYTES: Final = len(_SEAL) + xxhash.xxh64().digest_size

Route = tuple[str, str, str, str, bool]
"""(dest_qmgr, dest_object, channel, cluster, is_local): what a binding holds on to (P16)."""
Key = tuple[bool, int | bytes | None, str, str]
"""(by group, open_id or group_id, object_name, object_qmgr); None = the open without an open_id."""

MEMORY: Final = "memory"
_STATE: Final = pa.schema([(c.QMGR, pa.string()), (MEMORY, pa.large_binary())])
_HISTORY: Final = pa.schema(
    [
        (c.DEST_QMGR, pa.string()),
        (c.CHANNEL, pa.string()),
        (c.DEST_SEQ_NUMBER, pa.int64()),
        (c.DEST_SEQ_FACTOR, pa.int64()),
    ]
)
_BINDINGS: Final = pa.schema(
    [
        (c.OPEN_ID, pa.int64()),
        (c.GROUP_ID, pa.binary()),
        (c.OBJECT_NAME, pa.string()),
        (c.OBJECT_QMGR, pa.string()),
        (c.DEST_QMGR, pa.string()),
        (c.DEST_OBJECT, pa.string()),
        (c.CHANNEL, pa.string()),
        (c.CLUSTER, pa.string()),
        (c.IS_LOCAL, pa.bool_()),
        (c.PUT_TIME, pa.int64()),
    ]
)


@dataclass
class Memory:
    """The memory of one queue manager.

    Attributes:
        counter: choices ever made.
        highest_put_seq: of all messages routed so far.
        brought: snapshots whose resets were brought (P21).
        balance: (dest_qmgr, channel) -> (dest_seq_number, dest_seq_factor).
        bindings: key -> (route, greatest put_time in microseconds).
    """

    counter: int = 0
    highest_put_seq: int = -(2**63)
    brought: set[str] = field(default_factory=set)
    balance: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    bindings: dict[Key, tuple[Route, int]] = field(default_factory=dict)


def to_state(memories: Mapping[str, bytes]) -> tuple[int, bytes]:
    """Memories by queue manager as a row of the state store."""
    columns = [list(memories), list(memories.values())]
    arrays = [pa.array(x, type=f.type) for x, f in zip(columns, _STATE, strict=True)]
    return VERSION, to_ipc(pa.Table.from_arrays(arrays, schema=_STATE))


def from_state(bucket: str, version: int, payload: bytes) -> dict[str, bytes]:
    """The memories of a row of the state store, by queue manager.

    Args:
        bucket: whose state it is.
        version: as `to_state` gave it.
        payload: as `to_state` gave it.

    Raises:
        LakeStateError: the row was written by a version of this package that is not known.
    """
    if version == _OF_ONE_QMGR:
        return {bucket: payload}
    if version != VERSION:
        raise LakeStateError(
            f"routing state has version {version}, this package writes {VERSION}: "
            "use the package that wrote it"
        )
    qmgrs, memories = (column.to_pylist() for column in from_ipc(payload))
    return dict(zip(qmgrs, memories, strict=True))


def to_bytes(memory: Memory, chosen: pa.Table | None = None) -> bytes:
    """A queue manager's memory as it is kept.

    Args:
        memory: of the queue manager.
        chosen: its `chosen_channels`, where they are at hand.
    """
    meta = {
        "counter": memory.counter,
        "highest_put_seq": memory.highest_put_seq,
        "brought": sorted(memory.brought),
    }
    table = chosen_channels(memory) if chosen is None else chosen
    history = table.replace_schema_metadata({_META: json.dumps(meta)})
    first = to_ipc(history)
    bindings = [
        (None if by_group else of, of if by_group else None, name, qmgr, *route, at)
        for (by_group, of, name, qmgr), (route, at) in sorted(memory.bindings.items(), key=_place)
    ]
    second = to_ipc(table_of(bindings, _BINDINGS)) if bindings else b""
    body = len(first).to_bytes(_LENGTH_BYTES, "little") + first + second
    return body + _seal(body)


def _place(binding: tuple[Key, object]) -> tuple[bool, bool, int | bytes, str, str]:
    """What bindings are in the order of; that of the open without an open_id comes first."""
    by_group, of, name, qmgr = binding[0]
    return by_group, of is not None, 0 if of is None else of, name, qmgr


def _seal(body: bytes) -> bytes:
    return _SEAL + xxhash.xxh64_digest(body)


def _unsealed(payload: bytes) -> bytes:
    """A memory without its seal.

    Raises:
        ValueError: it is not as it was when it was sealed.
    """
    body, seal = payload[:-_SEAL_BYTES], payload[-_SEAL_BYTES:]
    if not seal.startswith(_SEAL):
        return payload
    if seal != _seal(body):
        raise ValueError(seal)
    return body


def is_damaged(payload: bytes | None) -> bool:
    """Whether a queue manager's memory is not as it was written."""
    try:
        from_bytes(payload)
    except DamagedMemoryError:
        return True
    return False


def from_bytes(payload: bytes | None, qmgr: str = "") -> Memory:
    """A queue manager's memory.

    Args:
        payload: as `to_bytes` gave it.
        qmgr: whose it is, for the error; '' = not known.

    Raises:
        DamagedMemoryError: it is not as it was written.
    """
    try:
        return _from_bytes(_unsealed(payload or b""))
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        whose = f"of {qmgr} " if qmgr else ""
        raise DamagedMemoryError(
            f"the row {whose}in table router_memory is damaged: `clwl state repair` routes the "
            "batch that wrote it again, to the same row"
        ) from error


def _from_bytes(payload: bytes) -> Memory:
    end = _LENGTH_BYTES + int.from_bytes(payload[:_LENGTH_BYTES], "little")
    history = from_ipc(payload[_LENGTH_BYTES:end])
    history.validate(full=True)
    meta: dict[str, Any] = json.loads(history.schema.metadata[_META])
    bindings: dict[Key, tuple[Route, int]] = {}
    kept = from_ipc(payload[end:]) if end < len(payload) else table_of([], _BINDINGS)
    kept.validate(full=True)
    for row in zip(*(column.to_pylist() for column in kept), strict=True):
        open_id, group_id, name, qmgr, *route, at = row
        by_group = group_id is not None
        key: Key = (by_group, group_id if by_group else open_id, name, qmgr)
        bindings[key] = (tuple(route), at)
    rows = zip(*(column.to_pylist() for column in history), strict=True)
    return Memory(
        counter=meta["counter"],
        highest_put_seq=meta["highest_put_seq"],
        brought=set(meta["brought"]),
        balance={(to, channel): (number, factor) for to, channel, number, factor in rows},
        bindings=bindings,
    )


def history_table(qmgr: str, chosen: pa.Table) -> pa.Table:
    """The channels that a queue manager ever chose, with number and factor.

    Grain: one row per (qmgr, dest_qmgr, channel) with a number above 0.
    """
    return chosen.add_column(0, c.QMGR, pa.repeat(pa.scalar(qmgr, pa.string()), chosen.num_rows))


def chosen_channels(memory: Memory) -> pa.Table:
    """The channels that were ever chosen, with number and factor.

    Grain: one row per (dest_qmgr, channel) with a number above 0.
    """
    chosen = [(*key, *value) for key, value in sorted(memory.balance.items()) if value[0] > 0]
    return table_of(chosen, _HISTORY)


def balance_array(memory: Memory, channels: list[tuple[str, str]]) -> NDArray[np.int64]:
    """(channels, 2) number and factor of each channel, 0 where it was never chosen."""
    values = [memory.balance.get(channel, (0, 0)) for channel in channels]
    return np.array(values, dtype=np.int64).reshape(len(channels), 2)


def table_of(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Tuples as rows of a table, which may have none."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(x, type=f.type) for x, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
