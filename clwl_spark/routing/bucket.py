"""A bucket's messages of one batch, routed in order; no Spark.

The queue managers of a bucket share its blocks, their keys and the answers; each chooses for
itself.

Source: SEMANTICS 5, 6, C2, P15, P25.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.kernel.choose import NOT_CHOSEN, Puts
from clwl_spark.plan.facts import PLANS, read_document
from clwl_spark.routing.answers import Answers
from clwl_spark.routing.bindings import Bindings
from clwl_spark.routing.blocks import (
    WITH_IDS,
    BlockForm,
    message_order,
    order_within,
    to_ipc,
)
from clwl_spark.routing.bucket_plans import BucketPlans, read_facts
from clwl_spark.routing.history import Memory, chosen_channels, from_bytes, history_table, to_bytes
from clwl_spark.routing.routed import CHANNELS, KIND_HISTORY, KIND_MISSING, Pieces, RoutedBlock
from clwl_spark.routing.sender import Sender
from clwl_spark.routing.spool import Slice, Spool

BINDINGS_KEPT_FOR: Final = 3
"""A binding is kept in the state until its queue manager's newest put_time is this many times
`binding_ttl` ahead, so that messages that come late by less still find it."""


class Bucket:
    """The queue managers of a bucket, which route a batch."""

    def __init__(
        self,
        memories: dict[str, bytes],
        snapshots: Sequence[str],
        ttl: int,
        memory_mib: int,
        form: BlockForm = WITH_IDS,
    ) -> None:
        """Start with the memories of earlier batches.

        Args:
            memories: by queue manager (`history.to_bytes`); `route` changes those that it routes.
            snapshots: all valid snapshots, in order.
            ttl: `binding_ttl`, microseconds.
            memory_mib: what the worker may use for blocks and windows.
            form: of the blocks.
        """
        self._memories = memories
        self._form = form
        self._snapshots = snapshots
        self._ttl = ttl
        self._spool = Spool(memory_mib)
        self._plan_ids: set[int] = set()

    def add(self, keys: bytes, payload: bytes, split: str = "") -> None:
        """Take a block."""
        table = self._spool.add(keys, payload, split)
        self._plan_ids.update(table[c.PLAN_ID].combine_chunks().dictionary.to_pylist())

    def route(self, facts: Mapping[str, str]) -> Iterator[RoutedBlock]:
        """Route all messages taken; where a plan is missing nothing is routed nor remembered.

        Args:
            facts: documents of `plan.facts`, by queue manager.
        """
        try:
            if not self._spool.blocks:
                return
            found = {qmgr: read_document(facts[qmgr]) for qmgr in sorted(facts)}
            missing = self._plan_ids.difference(*(x[PLANS][c.PLAN_ID] for x in found.values()))
            if missing:
                ids = pa.table({c.PLAN_ID: pa.array(sorted(missing), pa.int64())})
                yield RoutedBlock(KIND_MISSING, data=to_ipc(ids))
                return
            known = self._memories
            memories = {x: from_bytes(known[x], x) if x in known else Memory() for x in found}
            restored = {x: [at for at, _ in m.bindings.values()] for x, m in memories.items()}
            plans = read_facts(found, self._snapshots, restored)
            batch = _Batch(plans, memories, self._snapshots, self._ttl, self._form)
            yield from batch.route(self._spool)
            known |= {x: to_bytes(m, batch.chosen[x]) for x, m in memories.items()}
        finally:
            self._spool.close()


class _Batch:
    """The arrays of one batch, and its way through the windows.

    Attributes:
        chosen: by queue manager, `chosen_channels` once all is routed.
    """

    def __init__(
        self,
        plans: BucketPlans,
        memories: Mapping[str, Memory],
        snapshots: Sequence[str],
        ttl: int,
        form: BlockForm,
    ) -> None:
        self._plans = plans
        self._form = form
        self._memories = memories
        self._ttl = ttl
        self.chosen: dict[str, pa.Table] = {}
        self._bindings = Bindings(plans)
        self._senders = []
        for at, qmgr in enumerate(plans.qmgrs):
            sender = Sender(plans, at, memories[qmgr], snapshots)
            self._senders.append(sender)
            self._bindings.restore(at, memories[qmgr], sender.routes)
        self._answers = Answers(plans)
        self._pieces = Pieces(self._answers, form)

    def route(self, spool: Spool) -> Iterator[RoutedBlock]:
        """Route window after window; a block is handed out when its last message is routed."""
        for slices in spool.windows():
            self._route_window(slices, spool)
            for at in [x.block for x in slices]:
                if spool.blocks[at].taken == spool.blocks[at].messages:
                    yield self._pieces.routed(at, spool)
        self._remember()
        history = pa.concat_tables([history_table(*x) for x in self.chosen.items()])
        figures = json.dumps({CHANNELS: history.num_rows})
        yield RoutedBlock(KIND_HISTORY, data=to_ipc(history), figures=figures)

    def _route_window(self, slices: list[Slice], spool: Spool) -> None:
        """Put the slices' messages in order, choose, and split the choices by block."""
        keys = [x.keys for x in slices]
        put_seq = _column(keys, c.PUT_SEQ)
        put_time = _column(keys, c.PUT_TIME)
        plans = [self._plan_of(x) for x in keys]
        bound = [self._bindings.key_of(x, plan) for x, plan in zip(keys, plans, strict=True)]
        plan, key = np.concatenate(plans), np.concatenate(bound)
        block = np.concatenate([np.full(x.keys.num_rows, x.block, np.int32) for x in slices])
        row = np.concatenate(
            [np.arange(x.start, x.start + x.keys.num_rows, dtype=np.int32) for x in slices]
        )
        sender = self._plans.sender[plan]
        if not _ascending(sender, put_seq):
            order = self._order(sender, put_seq, slices, spool)
            sender, put_seq, put_time = sender[order], put_seq[order], put_time[order]
            plan, key, block, row = plan[order], key[order], block[order], row[order]
        copies = self._plans.copies[plan]
        late, code = self._choose(sender, put_seq, copies, (plan, key, put_time))
        outcomes: list[NDArray[Any]] = [block, put_seq, put_time, row, late]
        if code.shape != plan.shape:
            outcomes = [np.repeat(x, copies) for x in outcomes]
        self._pieces.add(outcomes[0], code, outcomes[1:])

    def _order(
        self,
        sender: NDArray[np.int32],
        put_seq: NDArray[np.int64],
        slices: list[Slice],
        spool: Spool,
    ) -> NDArray[np.int64]:
        """The order of queue manager and put_seq.

        Equal ones are ordered by message id, then by what else differs (P25).
        """
        order = order_within(sender, put_seq)
        if _ascending(sender[order], put_seq[order]):
            return order
        keys = [x.keys for x in slices]
        ids = pa.chunked_array([_ids_of(x, spool, self._form) for x in slices])
        plan_id = np.concatenate([x[c.PLAN_ID].cast(pa.int64()).to_numpy() for x in keys])
        last = (plan_id, _column(keys, c.PUT_TIME), message_order(ids))
        return np.lexsort((*last, put_seq, sender))

    def _choose(
        self,
        sender: NDArray[np.int32],
        put_seq: NDArray[np.int64],
        copies: NDArray[np.int32],
        asked: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]],
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Let each queue manager choose for its messages, given by (plan, key, put_time) each.

        Returns:
            (messages,) whether it is out of order, and (outcomes,) the code of its answer: its
            choice, its route, whether bound.
        """
        plan, key, put_time = asked
        first = np.cumsum(copies, dtype=np.int64) - copies
        total = int(first[-1] + copies[-1])
        chosen = np.full(total, NOT_CHOSEN, dtype=np.int64)
        bound = np.zeros(total, dtype=np.bool_)
        snapshot = self._plans.snapshot[plan]
        late = np.empty(len(plan), dtype=np.bool_)
        bound_to = (self._bindings.route, self._bindings.time)
        ends = np.nonzero(np.diff(sender))[0] + 1
        for start, end in pairwise([0, *ends.tolist(), len(sender)]):
            own, at = slice(start, end), int(sender[start])
            one = self._senders[at]
            late[own] = one.late(put_seq[own])
            own_plan = plan[own] - np.int32(self._plans.first_plan[at])
            puts = Puts(own_plan, snapshot[own], key[own], put_time[own], first[own])
            one.choose(puts, bound_to, self._ttl, chosen, bound)
        if total == len(plan):
            return late, self._answers.codes(plan, 0, chosen, bound)
        copy = np.arange(total) - np.repeat(first, copies)
        return late, self._answers.codes(np.repeat(plan, copies), copy, chosen, bound)

    def _remember(self) -> None:
        """Write the arrays back into the memories."""
        oldest = [x.newest - BINDINGS_KEPT_FOR * self._ttl for x in self._senders]
        kept = self._bindings.remaining(oldest)
        for sender, memory, bindings in zip(
            self._senders, self._memories.values(), kept, strict=True
        ):
            sender.remember()
            memory.bindings = bindings
        self.chosen = {qmgr: chosen_channels(memory) for qmgr, memory in self._memories.items()}

    def _plan_of(self, keys: pa.Table) -> NDArray[np.int32]:
        """(messages,) index of each message's plan."""
        ids = keys[c.PLAN_ID].combine_chunks()
        index = [self._plans.index[x] for x in ids.dictionary.to_pylist()]
        result: NDArray[np.int32] = np.array(index, dtype=np.int32)[ids.indices.to_numpy()]
        return result


def _ascending(sender: NDArray[np.int32], put_seq: NDArray[np.int64]) -> bool:
    """Whether rows are in the order (sender, put_seq), none equal."""
    later = put_seq[1:] > put_seq[:-1]
    if sender[0] == sender[-1]:
        return bool(np.all(later)) and bool(np.all(sender == sender[0]))
    next_one = sender[1:] > sender[:-1]
    return bool(np.all(next_one | (later & (sender[1:] == sender[:-1]))))


def _ids_of(part: Slice, spool: Spool, form: BlockForm) -> pa.Array:
    """The message ids of a slice."""
    ids = form.message_ids(spool.blocks[part.block].split, spool.payload(part.block))
    return ids.combine_chunks().slice(part.start, part.keys.num_rows)


def _column(keys: list[pa.Table], name: str) -> NDArray[np.int64]:
    return np.concatenate([x[name].to_numpy() for x in keys])
