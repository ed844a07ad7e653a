"""A bucket's messages of one batch, routed in order; no Spark.

The queue managers of a bucket share its blocks, their keys and the answers; each chooses for
itself.

Source: SEMANTICS 5, 6, C2, P15, P25.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NOT_CHOSEN, Puts
from clwl_spark.planning.facts import PLANS, read_document
from clwl_spark.routing.intake.blocks import WITH_IDS, BlockForm, to_ipc
from clwl_spark.routing.intake.duplicates import Duplicates
from clwl_spark.routing.output.routed import (
    CHANNELS,
    KIND_HISTORY,
    KIND_MISSING,
    Pieces,
    RoutedBlock,
)
from clwl_spark.routing.state.answers import Answers
from clwl_spark.routing.state.bindings import BindingRules, Bindings
from clwl_spark.routing.state.bucket_plans import BucketPlans, read_facts
from clwl_spark.routing.state.history import (
    Memory,
    chosen_channels,
    from_bytes,
    history_table,
    to_bytes,
)
from clwl_spark.routing.state.message_exit import MessageExit, Told, load_message_exit
from clwl_spark.routing.state.plan_steps import in_force
from clwl_spark.routing.state.sender import Sender
from clwl_spark.routing.state.spool import Slice, Spool
from clwl_spark.routing.state.window import Payloads, Window, in_order
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import columns as c

BINDINGS_KEPT_FOR: Final = 3
"""A binding is kept in the state until its queue manager's newest put_time is this many times
`binding_ttl` ahead, so that messages that come late by less still find it (docs/semantics.md, 12,
choice 18)."""


class Bucket:
    """The queue managers of a bucket, which route a batch.

    Attributes:
        routed: those whose memory the batch has changed, once all is routed.
    """

    def __init__(
        self,
        memories: dict[str, bytes],
        pins: Sequence[Pin],
        binding: BindingRules,
        memory_mib: int,
        form: BlockForm = WITH_IDS,
        message_exit: str = "",
    ) -> None:
        """Start with the memories of earlier batches.

        Args:
            memories: by queue manager (`history.to_bytes`); `route` changes those that it routes.
            pins: all valid snapshots, in order.
            binding: what messages are bound by.
            memory_mib: what the worker may use for blocks and windows.
            form: of the blocks.
            message_exit: `module:function` that is asked for each message; blank = none.
        """
        self._exit = load_message_exit(message_exit)
        self._memories = memories
        self._form = form
        self._pins = pins
        self._binding = binding
        self._spool = Spool(memory_mib)
        self._plan_ids: set[int] = set()
        self.routed: frozenset[str] = frozenset()

    def add(self, keys: bytes, payload: bytes, split: str = "") -> None:
        """Take a block."""
        table = self._spool.add(keys, payload, split)
        self._plan_ids.update(table[c.PLAN_ID].combine_chunks().dictionary.to_pylist())

    def route(
        self, facts: Mapping[str, str], told: Mapping[str, bytes] | None = None
    ) -> Iterator[RoutedBlock]:
        """Route all messages taken.

        Where a plan is missing, or what is known of duplicates, nothing is routed nor remembered.

        Args:
            facts: documents of `planning.facts`, by queue manager.
            told: what `Duplicates` is told; None = duplicates are kept.
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
            plans = read_facts(found, [x.snapshot_id for x in self._pins], restored)
            batch = _Batch(plans, memories, self._pins, self._binding, self._form, self._exit)
            if told is not None:
                batch.refuse_duplicates(told)
            yield from batch.route(self._spool)
            known |= {x: to_bytes(memories[x], chosen) for x, chosen in batch.chosen.items()}
            self.routed = frozenset(batch.chosen)
        finally:
            self._spool.close()


class _Batch:
    """The arrays of one batch, and its way through the windows.

    Attributes:
        chosen: by queue manager that routed, `chosen_channels` once all is routed.
    """

    def __init__(
        self,
        plans: BucketPlans,
        memories: Mapping[str, Memory],
        pins: Sequence[Pin],
        binding: BindingRules,
        form: BlockForm,
        message_exit: MessageExit | None,
    ) -> None:
        self._exit = message_exit
        self._plans = plans
        self._form = form
        self._memories = memories
        self._ttl = binding.ttl
        self.chosen: dict[str, pa.Table] = {}
        self._bindings = Bindings(plans, binding.shares_null_opens)
        self._senders = []
        self._in_force = in_force(pins)
        snapshots = [x.snapshot_id for x in pins]
        for at, qmgr in enumerate(plans.qmgrs):
            sender = Sender(plans, at, memories[qmgr], snapshots)
            self._senders.append(sender)
            self._bindings.restore(at, memories[qmgr], sender.routes)
        self._answers = Answers(plans)
        self._pieces = Pieces(self._answers, form, self._in_force)
        self._own_opens: Counter[int] = Counter()
        self._duplicates = Duplicates((), (), None)

    def refuse_duplicates(self, told: Mapping[str, bytes]) -> None:
        """Set duplicates aside from here on; see `Duplicates`."""
        highest = [self._memories[x].highest_put_seq for x in self._plans.qmgrs]
        self._duplicates = Duplicates(self._plans.qmgrs, highest, told)

    def route(self, spool: Spool) -> Iterator[RoutedBlock]:
        """Route window after window; a block is handed out when its last message is routed."""
        for slices in spool.windows():
            self._route_window(slices, Payloads(spool, self._form))
            yield from self._duplicates.said()
            if not self._duplicates.is_asking:
                for at in [x.block for x in slices]:
                    yield from self._finished(at, spool)
        if self._duplicates.is_asking:
            return
        self._remember()
        history = [history_table(*x) for x in self.chosen.items()]
        if history:
            rows = pa.concat_tables(history)
            figures = json.dumps({CHANNELS: rows.num_rows})
            yield RoutedBlock(KIND_HISTORY, data=to_ipc(rows), figures=figures)

    def _finished(self, at: int, spool: Spool) -> Iterator[RoutedBlock]:
        """What is said of a block, if its last message is routed and one was."""
        block = spool.blocks[at]
        messages = block.messages - self._duplicates.rows[at]
        if messages and block.taken == block.messages:
            yield self._pieces.routed(at, messages, spool, self._own_opens.pop(at, 0))

    def _route_window(self, slices: list[Slice], payloads: Payloads) -> None:
        """Put the slices' messages in order, choose, and split the choices by block."""
        told = None if self._exit is None else Told(slices, payloads)
        window = in_order(self._window(slices), slices, payloads)
        window = self._duplicates.without(window, payloads)
        if self._duplicates.is_asking or not len(window.plan):
            return
        copies = self._plans.copies[window.plan]
        late, code = self._choose(window, copies, told)
        block = window.block
        outcomes: list[NDArray[Any]] = [window.put_seq, window.put_time, window.row, late]
        if code.shape != window.plan.shape:
            block, *outcomes = (np.repeat(x, copies) for x in (block, *outcomes))
        self._pieces.add(block, code, outcomes)

    def _window(self, slices: list[Slice]) -> Window:
        """The slices' messages, one slice's behind the other's."""
        keys = [x.keys for x in slices]
        plans = [self._plan_of(x) for x in keys]
        found = [self._bindings.key_of(x, plan) for x, plan in zip(keys, plans, strict=True)]
        self._own_opens.update({x.block: own for x, (_, own) in zip(slices, found, strict=True)})
        plan = np.concatenate(plans)
        key = np.concatenate([bound for bound, _ in found])
        return Window.of(slices, self._plans.sender[plan], plan, key)

    def _choose(
        self, window: Window, copies: NDArray[np.int32], told: Told | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Let each queue manager choose for its messages.

        Args:
            window: the messages, one at least.
            copies: (messages,) choices that each makes.
            told: what an exit is told of them; None = there is none.

        Returns:
            (messages,) whether it is out of order, and (outcomes,) the code of its answer: its
            choice, its route, whether bound.
        """
        sender, plan = window.sender, window.plan
        first = np.cumsum(copies, dtype=np.int64) - copies
        total = int(first[-1] + copies[-1])
        chosen = np.full(total, NOT_CHOSEN, dtype=np.int64)
        bound = np.zeros(total, dtype=np.bool_)
        snapshot = self._plans.snapshot[plan]
        if self._in_force is not None:
            snapshot = self._in_force.places(window.put_time)
        late = np.empty(len(plan), dtype=np.bool_)
        bound_to = (self._bindings.route, self._bindings.time)
        ends = np.nonzero(np.diff(sender))[0] + 1
        for start, end in pairwise([0, *ends.tolist(), len(sender)]):
            own, at = slice(start, end), int(sender[start])
            one = self._senders[at]
            late[own] = one.late(window.put_seq[own])
            own_plan = plan[own] - np.int32(self._plans.first_plan[at])
            asked = (snapshot[own], window.key[own], window.put_time[own], first[own])
            asks = None
            if self._exit is not None and told is not None:
                asks = self._exit.of(self._plans, at, told.of(window.taken(own)))
            one.choose(Puts(own_plan, *asked), bound_to, self._ttl, chosen, bound, asks)
        if total == len(plan):
            return late, self._answers.codes(plan, None, chosen, bound)
        copy = np.arange(total) - np.repeat(first, copies)
        return late, self._answers.codes(np.repeat(plan, copies), copy, chosen, bound)

    def _remember(self) -> None:
        """Write the arrays back into the memories of those that routed."""
        oldest = [x.newest - BINDINGS_KEPT_FOR * self._ttl for x in self._senders]
        kept = self._bindings.remaining(oldest)
        for sender, (qmgr, memory), bindings in zip(
            self._senders, self._memories.items(), kept, strict=True
        ):
            if sender.has_routed:
                sender.remember()
                memory.bindings = bindings
                self.chosen[qmgr] = chosen_channels(memory)

    def _plan_of(self, keys: pa.Table) -> NDArray[np.int32]:
        """(messages,) index of each message's plan."""
        ids = keys[c.PLAN_ID].combine_chunks()
        index = [self._plans.index[x] for x in ids.dictionary.to_pylist()]
        asked: NDArray[np.int32] = np.array(index, dtype=np.int32)[ids.indices.to_numpy()]
        return self._plans.steps.at(asked, keys[c.PUT_TIME].to_numpy())
