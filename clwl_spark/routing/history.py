"""What a queue manager remembers between batches, and its bytes in the state store.

The state's schema can never change, so it is (version, payload): two Arrow streams, the history
of the channels (with the scalars in its metadata) and the bindings.

Source: SEMANTICS 5 (history), C1 (resets), 6 (bindings).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.blocks import from_ipc, to_ipc

STATE_SCHEMA: Final = "version int, payload binary"
VERSION: Final = 1
_LENGTH_BYTES: Final = 8
_META: Final = b"clwl"

Route = tuple[str, str, str, str, bool]
"""(dest_qmgr, dest_object, channel, cluster, is_local): what a binding holds on to (P16)."""
Key = tuple[bool, int | bytes, str, str]
"""(by group, open_id or group_id, object_name, object_qmgr)."""

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


def to_state(memory: Memory) -> tuple[int, bytes]:
    """The memory as a row of the state store."""
    meta = {
        "counter": memory.counter,
        "highest_put_seq": memory.highest_put_seq,
        "brought": sorted(memory.brought),
    }
    history = history_table(memory).replace_schema_metadata({_META: json.dumps(meta)})
    first = to_ipc(history)
    bindings = [
        (None if by_group else of, of if by_group else None, name, qmgr, *route, at)
        for (by_group, of, name, qmgr), (route, at) in memory.bindings.items()
    ]
    second = to_ipc(_table(bindings, _BINDINGS))
    return VERSION, len(first).to_bytes(_LENGTH_BYTES, "little") + first + second


def from_state(version: int, payload: bytes) -> Memory:
    """The memory of a row of the state store.

    Raises:
        LakeStateError: the row was written by another version of this package.
    """
    if version != VERSION:
        raise LakeStateError(
            f"routing state has version {version}, this package writes {VERSION}: "
            "use the package that wrote it"
        )
    end = _LENGTH_BYTES + int.from_bytes(payload[:_LENGTH_BYTES], "little")
    history = from_ipc(payload[_LENGTH_BYTES:end])
    meta: dict[str, Any] = json.loads(history.schema.metadata[_META])
    bindings: dict[Key, tuple[Route, int]] = {}
    for row in zip(*(column.to_pylist() for column in from_ipc(payload[end:])), strict=True):
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


def history_table(memory: Memory) -> pa.Table:
    """The channels ever chosen, with number and factor.

    Grain: one row per (dest_qmgr, channel) with a number above 0.
    """
    chosen = [(*key, *value) for key, value in sorted(memory.balance.items()) if value[0] > 0]
    return _table(chosen, _HISTORY)


def balance_array(memory: Memory, channels: list[tuple[str, str]]) -> NDArray[np.int64]:
    """(channels, 2) number and factor of each channel, 0 where it was never chosen."""
    values = [memory.balance.get(channel, (0, 0)) for channel in channels]
    return np.array(values, dtype=np.int64).reshape(len(channels), 2)


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(x, type=f.type) for x, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
