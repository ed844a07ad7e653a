"""A window of a bucket's messages, in the order in which they are routed; no Spark.

Source: SEMANTICS C2, P25.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.routing.intake.blocks import BlockForm, message_order, order_within
from clwl_spark.routing.state.spool import Slice, Spool
from clwl_spark.tables import columns as c

_NO_ID: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class Window:
    """Messages, an entry of each array for each; `of_slices` puts them in order.

    Attributes:
        sender: place of the queue manager.
        put_seq: of the message.
        put_time: microseconds.
        plan: place of the plan.
        key: what binds it (`Bindings.key_of`).
        block: that it came in.
        row: of the block.
    """

    sender: NDArray[np.int32]
    put_seq: NDArray[np.int64]
    put_time: NDArray[np.int64]
    plan: NDArray[np.int32]
    key: NDArray[np.int32]
    block: NDArray[np.int32]
    row: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        slices: Sequence[Slice],
        sender: NDArray[np.int32],
        plan: NDArray[np.int32],
        key: NDArray[np.int32],
    ) -> "Window":
        """The messages of slices, one slice's behind the other's, with what is known of each."""
        keys = [x.keys for x in slices]
        rows = (np.arange(x.start, x.start + x.keys.num_rows, dtype=np.int32) for x in slices)
        return cls(
            sender,
            np.concatenate([x[c.PUT_SEQ].to_numpy() for x in keys]),
            np.concatenate([x[c.PUT_TIME].to_numpy() for x in keys]),
            plan,
            key,
            np.concatenate([np.full(x.keys.num_rows, x.block, np.int32) for x in slices]),
            np.concatenate([*rows]),
        )

    def taken(self, which: NDArray[Any] | slice) -> "Window":
        """Some of the messages: their places, or (messages,) whether each is one."""
        return Window(*(getattr(self, x.name)[which] for x in fields(self)))


@dataclass(frozen=True, slots=True)
class Payloads:
    """What came with the blocks beside their keys.

    Attributes:
        spool: has the blocks.
        form: of the blocks.
    """

    spool: Spool
    form: BlockForm

    def ids(self, block: int) -> pa.Array:
        """The message ids of a block."""
        return self._passed(block, [c.MESSAGE_ID])[c.MESSAGE_ID].combine_chunks()

    def ids_of(self, window: Window) -> pa.Array:
        """(messages,) the message ids of a window; none and an empty one are the same (P25)."""
        return self.passed_of(window, [c.MESSAGE_ID])[c.MESSAGE_ID].combine_chunks()

    def passed_of(self, window: Window, names: Sequence[str]) -> pa.Table:
        """(messages) columns of a window's messages; a message id that is null is an empty one."""
        order = np.argsort(window.block, kind="stable")
        starts = np.flatnonzero(np.diff(window.block[order], prepend=-1))
        found = [
            self._passed(int(window.block[x[0]]), names).take(pa.array(window.row[x]))
            for x in np.split(order, starts[1:])
        ]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        table = pa.concat_tables(found).take(pa.array(back))
        at = table.schema.get_field_index(c.MESSAGE_ID)
        return table.set_column(at, c.MESSAGE_ID, pc.fill_null(table[c.MESSAGE_ID], b""))

    def _passed(self, block: int, names: Sequence[str]) -> pa.Table:
        """(messages) columns of a block's messages."""
        where = self.spool.blocks[block]
        return self.form.passed(where.split, self.spool.payload(block), names)

    def rows_of(self, block: int, rows: NDArray[np.int32]) -> pa.Table | None:
        """What says which rows of a block are set aside; None = the block cannot say it yet."""
        return self.form.set_aside(self.spool.payload(block), rows)


def in_order(window: Window, slices: Sequence[Slice], payloads: Payloads) -> Window:
    """The window's messages by queue manager and put_seq.

    Equal ones are ordered by message id, then by what else differs in what routing looks at (P25).

    Args:
        window: of the slices, one behind the other.
        slices: of blocks.
        payloads: of the blocks.
    """
    if is_ascending(window):
        return window
    order = order_within(window.sender, window.put_seq)
    ordered = window.taken(order)
    if is_ascending(ordered):
        return ordered
    keys = [x.keys for x in slices]
    ids = pa.chunked_array(
        [payloads.ids(x.block).slice(x.start, x.keys.num_rows) for x in slices], pa.binary()
    )
    groups = pa.chunked_array([pc.cast(x[c.GROUP_ID].combine_chunks(), pa.binary()) for x in keys])
    last = (
        message_order(groups),
        _numbers(keys, c.OPEN_ID),
        _numbers(keys, c.BIND),
        _numbers(keys, c.PLAN_ID),
        window.put_time,
        message_order(ids),
    )
    return window.taken(np.lexsort((*last, window.put_seq, window.sender)))


def is_ascending(window: Window) -> bool:
    """Whether messages are in the order (sender, put_seq), none equal."""
    sender, put_seq = window.sender, window.put_seq
    later = put_seq[1:] > put_seq[:-1]
    if sender[0] == sender[-1]:
        return bool(np.all(later)) and bool(np.all(sender == sender[0]))
    next_one = sender[1:] > sender[:-1]
    return bool(np.all(next_one | (later & (sender[1:] == sender[:-1]))))


def _numbers(keys: Sequence[pa.Table], name: str) -> NDArray[np.int64]:
    """(messages,) a column of whole numbers, dictionary or not, which may be null."""
    columns = (pc.cast(x[name].combine_chunks(), pa.int64()) for x in keys)
    return np.concatenate([x.fill_null(_NO_ID).to_numpy() for x in columns])
