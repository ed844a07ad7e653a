"""Which messages of a batch were routed before; no Spark.

A message is known by (qmgr, put_seq, message_id). Without a message_id it is known by the other
two: no message_id equals no message_id, and an empty one is none, as in the order of messages
(SEMANTICS P25) and where rows are told from routed ones (`pending`). A message without one and a
message with one are two.

A duplicate was routed by an earlier batch, or comes after another one of its key in the order of
its own batch (C2). The first can only be where its put_seq is not above the highest one that its
queue manager remembers; whether it was routed is then looked up, once for all keys that a batch
asks for, and the bucket that asked is routed once more.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.routing.intake.blocks import KIND_REJECTS, from_ipc, to_ipc
from clwl_spark.routing.output.routed import KIND_ASKED, RoutedBlock
from clwl_spark.routing.state.window import Payloads, Window
from clwl_spark.tables import columns as c

KEY: Final = (c.QMGR, c.PUT_SEQ, c.MESSAGE_ID)
IS_TWICE: Final = "is_twice"
ASKED: Final = pa.schema(
    [
        (c.QMGR, pa.string()),
        (c.PUT_SEQ, pa.int64()),
        (c.MESSAGE_ID, pa.binary()),
        (IS_TWICE, pa.bool_()),
    ]
)
"""Keys that a bucket asks for: whether they were routed, or (`IS_TWICE`) all that their messages
say, since they are duplicates for sure."""
_OF_ONE: Final = (c.PUT_SEQ, c.MESSAGE_ID)
_AT: Final = "at"
_ROUTED: Final = pa.schema(
    [("sender", pa.int32()), (c.PUT_SEQ, pa.int64()), (c.MESSAGE_ID, pa.binary())]
)


def by_qmgr(asked: pa.Table, routed: pa.Table) -> dict[str, bytes]:
    """What buckets are told: of each queue manager that asked, the keys that were routed.

    Args:
        asked: rows of ASKED.
        routed: those of KEY among them that earlier batches have routed.
    """
    names = pc.unique(asked[c.QMGR]).sort()
    codes = pc.index_in(routed[c.QMGR], names).to_numpy()
    rows = routed.select(_OF_ONE).take(pa.array(np.argsort(codes, kind="stable")))
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    starts = [0, *ends.tolist()]
    return {
        name: to_ipc(rows.slice(start, end - start).combine_chunks())
        for name, (start, end) in zip(names.to_pylist(), pairwise(starts), strict=True)
    }


def set_aside_of(asked: pa.Table, routed: pa.Table) -> pa.Table:
    """(KEY) The keys that were asked for of which some message is set aside, each once."""
    sure = asked.filter(asked[IS_TWICE]).select(KEY)
    return pa.concat_tables([sure, routed.select(KEY)]).group_by([*KEY]).aggregate([])


class Duplicates:
    """The duplicates of a bucket's batch, window after window.

    Attributes:
        is_asking: something has to be known before the bucket can be routed.
        rows: of each block, how many of its messages are set aside.
    """

    def __init__(
        self, qmgrs: Sequence[str], highest: Sequence[int], told: Mapping[str, bytes] | None
    ) -> None:
        """None yet.

        Args:
            qmgrs: (senders,) of the bucket.
            highest: (senders,) put_seq that each remembers of earlier batches.
            told: by queue manager, the keys that these routed (`by_qmgr`); one that is not there
                did not ask. None = duplicates are kept.
        """
        self._is_rejecting = told is not None
        told = told or {}
        self.is_asking = False
        self.rows: Counter[int] = Counter()
        self._qmgrs = pa.array(qmgrs, pa.string())
        self._highest = np.array(highest, dtype=np.int64)
        self._is_told = np.array([x in told for x in qmgrs], dtype=np.bool_)
        known = [_keys(at, from_ipc(told[x])) for at, x in enumerate(qmgrs) if x in told]
        self._routed = pa.concat_tables([_ROUTED.empty_table(), *known])
        self._said: list[RoutedBlock] = []

    def without(self, window: Window, payloads: Payloads) -> Window:
        """The window's messages that are none; of the others is `said` what becomes of them."""
        if not self._is_rejecting:
            return window
        late = window.put_seq <= self._highest[window.sender]
        suspects = late | _beside_equal(window)
        if not suspects.any():
            return window
        at = np.flatnonzero(suspects)
        suspected, late = window.taken(at), late[at]
        ids = payloads.ids_of(suspected)
        asking = late & ~self._is_told[suspected.sender]
        if asking.any():
            self._ask(suspected.taken(asking), ids.filter(pa.array(asking)), is_twice=False)
        found = _is_repeated(suspected, ids)
        found[late] |= self._were_routed(suspected.taken(late), ids.filter(pa.array(late)))
        self._set_aside(suspected.taken(found), ids.filter(pa.array(found)), payloads)
        is_left = np.ones(len(window.put_seq), dtype=np.bool_)
        is_left[at[found]] = False
        return window.taken(is_left)

    def said(self) -> list[RoutedBlock]:
        """What is said of duplicates since it was asked for: questions alone, if there are some."""
        said, self._said = self._said, []
        return [x for x in said if x.kind == KIND_ASKED or not self.is_asking]

    def _were_routed(self, window: Window, ids: pa.Array) -> NDArray[np.bool_]:
        """(messages,) whether an earlier batch has routed each."""
        found = np.zeros(len(ids), dtype=np.bool_)
        if len(ids) and self._routed.num_rows:
            cells = [pa.array(window.sender), pa.array(window.put_seq), ids]
            keys = pa.Table.from_arrays(cells, schema=_ROUTED)
            numbered = keys.append_column(_AT, pa.array(np.arange(len(ids))))
            both = numbered.join(
                self._routed, _ROUTED.names, join_type="left semi", use_threads=False
            )
            found[both[_AT].to_numpy()] = True
        return found

    def _set_aside(self, window: Window, ids: pa.Array, payloads: Payloads) -> None:
        """Say which messages are set aside, or ask for what their blocks lack."""
        for block in np.unique(window.block).tolist():
            of_block = window.block == block
            rows = window.row[of_block]
            found = payloads.rows_of(block, rows)
            if found is None:
                self._ask(window.taken(of_block), ids.filter(pa.array(of_block)), is_twice=True)
                continue
            self.rows[block] += len(rows)
            split = payloads.spool.blocks[block].split
            self._said.append(
                RoutedBlock(KIND_REJECTS, len(rows), payload=to_ipc(found), split=split)
            )

    def _ask(self, window: Window, ids: pa.Array, *, is_twice: bool) -> None:
        self.is_asking = True
        count = len(ids)
        cells = [
            self._qmgrs.take(pa.array(window.sender)),
            pa.array(window.put_seq),
            ids,
            pa.repeat(pa.scalar(is_twice), count),
        ]
        asked = pa.Table.from_arrays(cells, schema=ASKED)
        self._said.append(RoutedBlock(KIND_ASKED, data=to_ipc(asked)))


def _keys(sender: int, keys: pa.Table) -> pa.Table:
    """Keys of a queue manager, with its place."""
    of = pa.repeat(pa.scalar(sender, pa.int32()), keys.num_rows)
    return pa.Table.from_arrays([of, *keys.columns], schema=_ROUTED)


def _beside_equal(window: Window) -> NDArray[np.bool_]:
    """(messages,) whether the one before or behind it has its put_seq."""
    equal = (window.put_seq[1:] == window.put_seq[:-1]) & (window.sender[1:] == window.sender[:-1])
    beside = np.zeros(len(window.put_seq), dtype=np.bool_)
    beside[1:] |= equal
    beside[:-1] |= equal
    return beside


def _is_repeated(window: Window, ids: pa.Array) -> NDArray[np.bool_]:
    """(messages,) whether each has the key of the one before it: equal keys are side by side."""
    code = ids.dictionary_encode().indices.to_numpy()
    again = np.zeros(len(code), dtype=np.bool_)
    again[1:] = code[1:] == code[:-1]
    again[1:] &= window.put_seq[1:] == window.put_seq[:-1]
    again[1:] &= window.sender[1:] == window.sender[:-1]
    return again
