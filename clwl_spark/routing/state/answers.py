"""What choices among a bucket's plans mean in words.

An answer is what an outcome says beyond its message: a head, what was asked for, by its plan, and
an end, where it goes, by its route, or why by none. It has a code, so that millions of outcomes
carry an integer and each block a small table of the answers in it, words as dictionaries. Answers
are worked out by columns: one after the other, 480,000 took 5.5 s of a core.

Source: SEMANTICS 7, P14, P16, P24.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NOT_CHOSEN
from clwl_spark.algorithm.transmit import now
from clwl_spark.mq.vocabulary import PlanKind, Reason
from clwl_spark.routing.intake.blocks import to_ipc
from clwl_spark.routing.intake.numbering import Numbering
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.tables import columns as c

_WORDS: Final = pa.dictionary(pa.int32(), pa.string())
ANSWER_SCHEMA: Final = pa.schema(
    [
        (c.QMGR, _WORDS),
        (c.OBJECT_TYPE, _WORDS),
        (c.OBJECT_NAME, _WORDS),
        (c.OBJECT_QMGR, _WORDS),
        (c.SNAPSHOT_ID, _WORDS),
        (c.PLAN_ID, pa.int64()),
        (c.REASON, pa.int32()),
        (c.DEST_QMGR, _WORDS),
        (c.DEST_OBJECT, _WORDS),
        (c.CHANNEL, _WORDS),
        (c.CLUSTER, _WORDS),
        (c.XMITQ, _WORDS),
        (c.IS_LOCAL, pa.bool_()),
        (c.BOUND, pa.bool_()),
    ]
)
_HEAD: Final = ANSWER_SCHEMA.names[:6]
_END: Final = ANSWER_SCHEMA.names[6:13]
_MOST: Final = 2
"""All known answers go with a block that has at least one in so many of them."""


@dataclass(frozen=True, slots=True)
class CodedAnswers:
    """Answers as a block takes them along.

    Attributes:
        row: (codes,) which answer each code has.
        reason: (answers,) 0 or an MQRC.
        answers: an Arrow stream of ANSWER_SCHEMA.
    """

    row: NDArray[np.int32]
    reason: NDArray[np.int32]
    answers: bytes


class Named:
    """The heads and ends of a bucket's answers, and the codes that they have."""

    def __init__(self, plans: BucketPlans) -> None:
        """Of these plans."""
        self._plans = plans
        own, restored = np.diff(plans.first_own_route), np.diff(plans.first_restored)
        self._ends = (own + restored + 1)[plans.sender]
        sizes = 2 * plans.copies * self._ends
        self._code = np.cumsum(sizes) - sizes
        self._first = self._code - 2 * NOT_CHOSEN

    def codes(
        self,
        plan: NDArray[np.int32],
        copy: NDArray[np.int64] | None,
        chosen: NDArray[np.int64],
        bound: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """The code of each outcome's answer.

        Args:
            plan: (outcomes,) place of the plan.
            copy: (outcomes,) which of the plan's choices; None = of each the first.
            chosen: (outcomes,) the queue manager's route, or NOT_CHOSEN.
            bound: (outcomes,) whether an earlier message's choice was followed.
        """
        end = chosen if copy is None else chosen + copy * self._ends[plan]
        codes: NDArray[np.int64] = self._first[plan]
        for part in (end, end, bound):  # in place: each new array is as dear as three sums
            codes += part
        return codes

    def answers(self, codes: NDArray[np.int64]) -> pa.Table:
        """Grain: one row of ANSWER_SCHEMA per code."""
        plan = np.searchsorted(self._code, codes, side="right") - 1
        rest, bound = np.divmod(codes - self._code[plan], 2)
        copy, route = np.divmod(rest, self._ends[plan])
        choice = self._plans.first_choice[plan] + copy
        route -= 1
        is_route = route != NOT_CHOSEN
        sender = self._plans.sender[plan]
        routes = self._plans.routes.num_rows
        at = np.where(is_route, self._plans.place_of(sender, route), routes + choice)
        heads = self._heads.take(pa.array(plan))
        ends = self._where_to.take(pa.array(at))
        columns = {x: heads[x] for x in _HEAD} | {x: ends[x] for x in _END}
        remote = is_route & ~np.array(ends[c.IS_LOCAL], dtype=np.bool_)
        remote_at = np.where(remote, at, NOT_CHOSEN)
        columns[c.XMITQ] = self._queues(ends[c.XMITQ].combine_chunks(), plan, remote_at)
        columns[c.BOUND] = pa.array(bound.astype(np.bool_))
        return pa.table([columns[x] for x in ANSWER_SCHEMA.names], schema=ANSWER_SCHEMA)

    def _queues(
        self, known: pa.Array, plan: NDArray[np.int64], route: NDArray[np.int64]
    ) -> pa.Array:
        """The transmission queues: those of remote routes are worked out in the plan's snapshot.

        Args:
            known: (answers,) of other answers.
            plan: (answers,) place of the plan.
            route: (answers,) place of a remote route, else NOT_CHOSEN.
        """
        plans = self._plans
        leaves = route != NOT_CHOSEN
        by, at = plan[leaves], route[leaves]
        channels = int(plans.channel.max(initial=0)) + 1
        asked = plans.snapshot[by].astype(np.int64) * channels + plans.channel[at]
        _, first, of_route = np.unique(asked, return_index=True, return_inverse=True)
        by, at = by[first], at[first]
        names = [
            now(channel, dest_qmgr, plans.queues[sender][snapshot_id])
            for channel, dest_qmgr, sender, snapshot_id in zip(
                plans.routes[c.CHANNEL].take(pa.array(at)).to_pylist(),
                plans.routes[c.DEST_QMGR].take(pa.array(at)).to_pylist(),
                plans.sender[by].tolist(),
                plans.plans[c.SNAPSHOT_ID].take(pa.array(by)).to_pylist(),
                strict=True,
            )
        ]
        row = np.arange(len(plan)) + len(names)
        row[leaves] = of_route
        words = pa.concat_arrays([pa.array(names, pa.string()), known.cast(pa.string())])
        return words.take(pa.array(row)).dictionary_encode()

    @cached_property
    def _heads(self) -> pa.Table:
        """Grain: one row per plan."""
        plans = self._plans.plans
        qmgrs = pa.array(self._plans.qmgrs, pa.string()).take(pa.array(self._plans.sender))
        rows = plans.append_column(c.QMGR, qmgrs).select(_HEAD)
        return _encoded(rows)

    @cached_property
    def _where_to(self) -> pa.Table:
        """Grain: one row per route, of which remote ones have no XMITQ yet, and per choice."""
        return _encoded(pa.concat_tables([self._by_route(), self._by_none()]))

    def _by_route(self) -> pa.Table:
        """Grain: one row per route; a local one has neither channel nor cluster (P24)."""
        routes = self._plans.routes
        none = pa.nulls(routes.num_rows, pa.string())
        is_local = routes[c.IS_LOCAL]
        columns = {
            c.REASON: pa.repeat(pa.scalar(Reason.NONE.value, pa.int32()), routes.num_rows),
            c.DEST_QMGR: routes[c.DEST_QMGR],
            c.DEST_OBJECT: routes[c.DEST_OBJECT],
            c.CHANNEL: pc.if_else(is_local, none, routes[c.CHANNEL]),
            c.CLUSTER: pc.if_else(is_local, none, routes[c.CHANNEL_CLUSTER]),
            c.XMITQ: none,
            c.IS_LOCAL: is_local,
        }
        return pa.table(columns)

    def _by_none(self) -> pa.Table:
        """Grain: one row per choice: where no route is chosen the plan says the end, or why."""
        of_choice = np.repeat(np.arange(len(self._plans.copies)), self._plans.copies)
        plans = self._plans.plans.take(pa.array(of_choice)).combine_chunks()
        plan = {name: plans[name].combine_chunks() for name in plans.column_names}
        qmgrs = pa.array(self._plans.qmgrs, pa.string())
        own = qmgrs.take(pa.array(self._plans.sender[of_choice]))
        takes = self._plans.takes
        fine = pc.equal(plan[c.REASON], 0)
        sends = pc.and_(pc.equal(plan[c.KIND], PlanKind.XMITQ.value), fine)
        nothing = pa.nulls(len(takes), pa.string())
        why = pc.if_else(
            fine, pa.scalar(Reason.NO_DESTINATIONS_AVAILABLE.value, pa.int32()), plan[c.REASON]
        )
        ends = pc.or_(takes.is_valid(), sends)

        def end(where_taken: pa.Array, where_sent: pa.Array) -> pa.Array:
            sent = pc.if_else(sends, where_sent, nothing)
            return pc.if_else(takes.is_valid(), where_taken, sent)

        columns = {
            c.REASON: pc.if_else(ends, pa.scalar(Reason.NONE.value, pa.int32()), why),
            c.DEST_QMGR: end(own, plan[c.RESOLVED_QMGR]),
            c.DEST_OBJECT: end(takes, plan[c.RESOLVED_OBJECT]),
            c.CHANNEL: nothing,
            c.CLUSTER: nothing,
            c.XMITQ: end(nothing, plan[c.XMITQ]),
            c.IS_LOCAL: takes.is_valid(),
        }
        return pa.table(columns)


class Answers:
    """The answers that a bucket's batch has come to, by code; each is worked out once.

    Blocks of a bucket have most answers in common: of 600 plans with eight routes each, a block
    has thousands.
    """

    def __init__(self, plans: BucketPlans) -> None:
        """None yet, of these plans."""
        self._named = Named(plans)
        self.codes = self._named.codes
        self._rows = Numbering()
        self._known = ANSWER_SCHEMA.empty_table()
        self._all: CodedAnswers | None = None

    def said(self, codes: NDArray[np.int64]) -> CodedAnswers:
        """The answers of distinct codes: all that are known, where these are most of them."""
        rows = self._rows.of(codes).astype(np.int32)
        new = codes[rows >= self._known.num_rows]
        self._learn(np.sort(new))
        if self._known.num_rows <= _MOST * len(codes):
            self._all = self._all or _coded(self._known, rows)
            return replace(self._all, row=rows)
        table = _compact(self._known.take(pa.array(rows)))
        return _coded(table, np.arange(len(codes), dtype=np.int32))

    def _learn(self, new: NDArray[np.int64]) -> None:
        """Work out the answers of codes that were not met before."""
        if len(new):
            tables = pa.concat_tables([self._known, self._named.answers(new)])
            self._known = tables.unify_dictionaries().combine_chunks()
            self._all = None


def with_words(answers: pa.Table) -> pa.Table:
    """Answers with their words in place of dictionaries."""
    words = {x.name: pa.string() for x in ANSWER_SCHEMA if x.type == _WORDS}
    schema = pa.schema([(x.name, words.get(x.name, x.type)) for x in answers.schema])
    return answers.cast(schema)


def _coded(table: pa.Table, row: NDArray[np.int32]) -> CodedAnswers:
    return CodedAnswers(row, table[c.REASON].to_numpy(), to_ipc(table))


def _compact(answers: pa.Table) -> pa.Table:
    """Answers whose dictionaries have no more words than they need."""
    return _encoded(with_words(answers))


def _encoded(rows: pa.Table) -> pa.Table:
    """Words as dictionaries."""
    return pa.table(
        [
            x.combine_chunks().dictionary_encode() if pa.types.is_string(x.type) else x
            for x in rows.columns
        ],
        names=rows.column_names,
    )
