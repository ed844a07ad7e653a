"""One queue manager's messages of one batch, routed in order; no Spark.

Source: SEMANTICS 5, 6, C2, P15, P21, P25.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.kernel.choose import NOT_CHOSEN, History, Puts, route_in_turn
from clwl_spark.plan.facts import PLANS, read_document
from clwl_spark.routing.answers import Answers, SenderPlans, read_facts
from clwl_spark.routing.bindings import Bindings
from clwl_spark.routing.blocks import WITH_IDS, BlockForm, message_order, peak_mib, to_ipc
from clwl_spark.routing.history import Memory, balance_array, history_table
from clwl_spark.routing.spool import Slice, Spool

KIND_OUTCOMES: Final = "OUTCOMES"
KIND_HISTORY: Final = "HISTORY"
KIND_MISSING: Final = "MISSING"
ANSWER: Final = "answer"
ROW: Final = "row"
BINDINGS_KEPT_FOR: Final = 3
"""A binding is kept in the state until its queue manager's newest put_time is this many times
`binding_ttl` ahead, so that messages that come late by less still find it."""

_OUTCOME_SCHEMA: Final = pa.schema(
    [
        (c.PUT_SEQ, pa.int64()),
        (c.PUT_TIME, pa.int64()),
        (ROW, pa.int32()),
        (ANSWER, pa.int32()),
        (c.OUT_OF_ORDER, pa.bool_()),
    ]
)


@dataclass(frozen=True, slots=True)
class RoutedBlock:
    """What is said of one block's messages, or of the queue manager.

    `data` is an Arrow stream of outcomes, history rows, or missing plan ids; `answers` one of
    the distinct answers; `payload` and `split` come from the block, unread; `figures` counts what
    is in it.
    """

    kind: str
    messages: int = 0
    data: bytes = b""
    answers: bytes = b""
    payload: bytes = b""
    figures: str = "{}"
    split: str = ""


@dataclass
class _Pieces:
    """The outcomes of a block, window after window."""

    columns: list[tuple[NDArray[Any], ...]] = field(default_factory=list)


class Sender:
    """A queue manager that routes a batch."""

    def __init__(
        self,
        memory: Memory,
        snapshots: Sequence[str],
        ttl: int,
        memory_mib: int,
        form: BlockForm = WITH_IDS,
    ) -> None:
        """Start with the memory of earlier batches.

        Args:
            memory: changed by `route`.
            snapshots: all valid snapshots, in order.
            ttl: `binding_ttl`, microseconds.
            memory_mib: what the worker may use for blocks and windows.
            form: of the blocks.
        """
        self._memory = memory
        self._form = form
        self._snapshots = snapshots
        self._ttl = ttl
        self._spool = Spool(memory_mib)
        self._plan_ids: set[int] = set()

    def add(self, keys: bytes, payload: bytes, split: str = "") -> None:
        """Take a block."""
        table = self._spool.add(keys, payload, split)
        self._plan_ids.update(table[c.PLAN_ID].combine_chunks().dictionary.to_pylist())

    def route(self, qmgr: str, facts: str | None) -> Iterator[RoutedBlock]:
        """Route all messages taken; where a plan is missing nothing is routed nor remembered."""
        try:
            if not self._spool.blocks:
                return
            found = read_document(facts)
            missing = self._plan_ids - {row[c.PLAN_ID] for row in found[PLANS]}
            if missing:
                ids = pa.table({c.PLAN_ID: pa.array(sorted(missing), pa.int64())})
                yield RoutedBlock(KIND_MISSING, data=to_ipc(ids))
                return
            routes = [route for route, _ in self._memory.bindings.values()]
            plans = read_facts(qmgr, found, self._snapshots, routes)
            batch = _Batch(plans, self._memory, self._snapshots, self._ttl, self._form)
            yield from batch.route(self._spool)
        finally:
            self._spool.close()


class _Batch:
    """The arrays of one batch, and its way through the windows."""

    def __init__(
        self,
        plans: SenderPlans,
        memory: Memory,
        snapshots: Sequence[str],
        ttl: int,
        form: BlockForm,
    ) -> None:
        self._plans = plans
        self._form = form
        self._memory = memory
        self._snapshots = snapshots
        self._ttl = ttl
        self._channels = list(dict.fromkeys([*plans.channels, *memory.balance]))
        self._bindings = Bindings(plans)
        self._bindings.restore(memory, len(plans.routes) - len(memory.bindings))
        self._counter = np.array([memory.counter], dtype=np.int64)
        self._balance = balance_array(memory, self._channels)
        self._brought = np.array([-1], dtype=np.int64)
        pending = [x in plans.resets and x not in memory.brought for x in snapshots]
        self._pending = np.array(pending, dtype=np.bool_)
        self._per_plan = np.diff(plans.choices.choice_start)
        self._newest = -(2**63)
        self._pieces: dict[int, _Pieces] = {}
        self._answers = Answers(plans)
        self._peak = 0.0

    def route(self, spool: Spool) -> Iterator[RoutedBlock]:
        """Route window after window; a block is handed out when its last message is routed."""
        for slices in spool.windows():
            self._route_window(slices, spool)
            self._peak = peak_mib()
            for at in [x.block for x in slices]:
                if spool.blocks[at].taken == spool.blocks[at].messages:
                    yield self._routed(at, spool)
        self._remember()
        yield RoutedBlock(KIND_HISTORY, data=to_ipc(history_table(self._memory)))

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
        if not _ascending(put_seq):
            order = self._order(put_seq, slices, spool)
            put_seq, put_time = put_seq[order], put_time[order]
            plan, key, block, row = plan[order], key[order], block[order], row[order]
        late = np.empty(len(put_seq), dtype=np.bool_)
        late[0] = put_seq[0] <= self._memory.highest_put_seq
        late[1:] = (put_seq[1:] <= self._memory.highest_put_seq) | (put_seq[1:] == put_seq[:-1])
        self._memory.highest_put_seq = max(self._memory.highest_put_seq, int(put_seq[-1]))
        self._newest = max(self._newest, int(put_time.max()))
        copies = self._per_plan[plan]
        code = self._choose(plan, key, put_time, copies)
        outcomes = (put_seq, put_time, row, late, block)
        if code.shape != plan.shape:
            outcomes = tuple(np.repeat(x, copies) for x in outcomes)  # type: ignore[assignment]
        self._split(slices, code, outcomes)

    def _order(
        self, put_seq: NDArray[np.int64], slices: list[Slice], spool: Spool
    ) -> NDArray[np.int64]:
        """The order of put_seq; equal ones by message id, then by what else differs (P25)."""
        order = np.argsort(put_seq, kind="stable")
        if _ascending(put_seq[order]):
            return order
        keys = [x.keys for x in slices]
        ids = pa.chunked_array([_ids_of(x, spool, self._form) for x in slices])
        plan_id = np.concatenate([x[c.PLAN_ID].cast(pa.int64()).to_numpy() for x in keys])
        return np.lexsort((plan_id, _column(keys, c.PUT_TIME), message_order(ids), put_seq))

    def _choose(
        self,
        plan: NDArray[np.int32],
        key: NDArray[np.int32],
        put_time: NDArray[np.int64],
        copies: NDArray[np.int32],
    ) -> NDArray[np.int64]:
        """(outcomes,) the code of each outcome's answer: its choice, its route, whether bound."""
        first = np.cumsum(copies) - copies
        total = int(first[-1] + copies[-1])
        chosen = np.full(total, NOT_CHOSEN, dtype=np.int64)
        bound = np.zeros(total, dtype=np.bool_)
        route_in_turn(
            Puts(plan, self._plans.snapshot[plan], key, put_time, first.astype(np.int64)),
            self._plans.choices,
            History(
                self._counter,
                self._balance,
                self._brought,
                self._pending,
                self._bindings.route,
                self._bindings.time,
            ),
            self._ttl,
            chosen,
            bound,
        )
        choice = self._plans.choices.choice_start[plan].astype(np.int64)
        if total != len(plan):
            copy = np.arange(total) - np.repeat(first, copies)
            choice = np.repeat(choice, copies) + copy
        return self._answers.codes(choice, chosen, bound)

    def _split(
        self,
        slices: list[Slice],
        code: NDArray[np.int64],
        outcomes: tuple[NDArray[Any], ...],
    ) -> None:
        """Give each block its outcomes, in routed order."""
        *columns, block = outcomes
        if len(slices) == 1:
            self._piece(slices[0].block).columns.append((*columns, code))
            return
        by_block = np.argsort(block, kind="stable")
        ends = np.nonzero(np.diff(block[by_block]))[0] + 1
        for part in np.split(by_block, ends):
            at = int(block[part[0]])
            self._piece(at).columns.append((*(x[part] for x in columns), code[part]))

    def _piece(self, block: int) -> _Pieces:
        return self._pieces.setdefault(block, _Pieces())

    def _routed(self, at: int, spool: Spool) -> RoutedBlock:
        """All that is said of a block."""
        pieces = self._pieces.pop(at).columns
        put_seq, put_time, row, late, code = (
            pieces[0]
            if len(pieces) == 1
            else (np.concatenate(x) for x in zip(*pieces, strict=True))
        )
        distinct, codes = pd.factorize(code)
        said = self._answers.said(codes.tolist())
        answer = said.row[distinct]
        figures = {
            "outcomes": len(answer),
            "out_of_order": int(late.sum()),
            "by_reason": _by_reason(said.reason, answer),
            "peak_mib": self._peak,
        }
        data = pa.Table.from_arrays(
            [pa.array(x) for x in (put_seq, put_time, row, answer, late)], schema=_OUTCOME_SCHEMA
        )
        return RoutedBlock(
            KIND_OUTCOMES,
            spool.blocks[at].messages,
            to_ipc(data.select(self._form.told or data.column_names)),
            said.answers,
            spool.payload(at),
            json.dumps(figures),
            spool.blocks[at].split,
        )

    def _remember(self) -> None:
        """Write the arrays back into the memory."""
        self._memory.counter = int(self._counter[0])
        self._memory.balance = {
            channel: (int(number), int(factor))
            for channel, (number, factor) in zip(self._channels, self._balance, strict=True)
        }
        self._memory.brought.update(self._snapshots[: int(self._brought[0]) + 1])
        oldest = self._newest - BINDINGS_KEPT_FOR * self._ttl
        self._memory.bindings = self._bindings.remaining(oldest)

    def _plan_of(self, keys: pa.Table) -> NDArray[np.int32]:
        """(messages,) index of each message's plan."""
        ids = keys[c.PLAN_ID].combine_chunks()
        index = [self._plans.index[x] for x in ids.dictionary.to_pylist()]
        result: NDArray[np.int32] = np.array(index, dtype=np.int32)[ids.indices.to_numpy()]
        return result


def _by_reason(reason: NDArray[np.int32], answer: NDArray[np.int32]) -> dict[str, int]:
    """Outcomes by reason, of (outcomes,) answers whose (answers,) reasons are known."""
    counts = np.bincount(answer, minlength=len(reason))
    met = np.unique(reason[counts > 0])
    return {str(x): int(counts[reason == x].sum()) for x in met}


def _ascending(put_seq: NDArray[np.int64]) -> bool:
    return bool(np.all(put_seq[1:] > put_seq[:-1]))


def _ids_of(part: Slice, spool: Spool, form: BlockForm) -> pa.Array:
    """The message ids of a slice."""
    ids = form.message_ids(spool.blocks[part.block].split, spool.payload(part.block))
    return ids.combine_chunks().slice(part.start, part.keys.num_rows)


def _column(keys: list[pa.Table], name: str) -> NDArray[np.int64]:
    return np.concatenate([x[name].to_numpy() for x in keys])
