"""The plans of a bucket's queue managers in one line, and what choices among them mean in words.

An answer is what an outcome says beyond its message; it has a code, so that millions of outcomes
carry an integer and each block a small table of the answers in it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.routing.blocks import to_ipc
from clwl_spark.routing.sender_plans import ANSWER_SCHEMA, SenderPlans

_MOST: Final = 2
"""All known answers go with a block that has at least one in so many of them."""


@dataclass(frozen=True)
class BucketPlans:
    """The plans of several queue managers, one queue manager's behind the other's.

    Attributes:
        senders: the queue managers' plans.
        first: (senders,) where the plans of each begin.
        index: plan_id -> place in the line.
        sender: (plans,) which of the queue managers.
        snapshot: (plans,) position of the plan's snapshot.
        bind_default: (plans,) NO_BINDING, BY_OPEN or BY_GROUP.
        is_publication: (plans,) publications always choose.
        copies: (plans,) choices that a message makes.
        ends: (plans,) how many ends a choice can have: a route of the queue manager, or none.
        code: (plans,) code of the plan's first answer.
        sender_code: (senders,) code of the queue manager's first answer.
    """

    senders: Sequence[SenderPlans]
    first: list[int]
    index: dict[int, int]
    sender: NDArray[np.int32]
    snapshot: NDArray[np.int32]
    bind_default: NDArray[np.int8]
    is_publication: NDArray[np.bool_]
    copies: NDArray[np.int32]
    ends: NDArray[np.int64]
    code: NDArray[np.int64]
    sender_code: list[int]

    @classmethod
    def of(cls, senders: Sequence[SenderPlans]) -> "BucketPlans":
        """The plans of these queue managers, of which there is one at least."""
        sizes = [len(x.plans) for x in senders]
        ends = [len(x.routes) + 1 for x in senders]
        choices = [len(x.fixed) for x in senders]
        codes = [2 * of * number for of, number in zip(choices, ends, strict=True)]
        first = list(accumulate(sizes, initial=0))[:-1]
        sender_code = list(accumulate(codes, initial=0))[:-1]
        return cls(
            senders=senders,
            first=first,
            index={
                plan_id: at + begin
                for x, begin in zip(senders, first, strict=True)
                for plan_id, at in x.index.items()
            },
            sender=np.repeat(np.arange(len(senders), dtype=np.int32), sizes),
            snapshot=np.concatenate([x.snapshot for x in senders]),
            bind_default=np.concatenate([x.bind_default for x in senders]),
            is_publication=np.concatenate([x.is_publication for x in senders]),
            copies=np.concatenate([np.diff(x.choices.choice_start) for x in senders]),
            ends=np.repeat(np.array(ends, dtype=np.int64), sizes),
            code=np.concatenate(
                [
                    begin + 2 * number * x.choices.choice_start[:-1].astype(np.int64)
                    for x, number, begin in zip(senders, ends, sender_code, strict=True)
                ]
            ),
            sender_code=sender_code,
        )

    def answer(self, code: int) -> tuple[Any, ...]:
        """The answer of a code (`ANSWER_SCHEMA`)."""
        at = bisect_right(self.sender_code, code) - 1
        sender = self.senders[at]
        rest, bound = divmod(code - self.sender_code[at], 2)
        choice, route = divmod(rest, len(sender.routes) + 1)
        plan = int(np.searchsorted(sender.choices.choice_start, choice, side="right")) - 1
        return sender.answer(plan, choice, route - 1, bound=bool(bound))


@dataclass(frozen=True, slots=True)
class Said:
    """Answers as a block takes them along.

    Attributes:
        row: (codes,) which answer each code has.
        reason: (answers,) 0 or an MQRC.
        answers: an Arrow stream of ANSWER_SCHEMA.
    """

    row: NDArray[np.int32]
    reason: NDArray[np.int32]
    answers: bytes


class Answers:
    """The answers that a bucket's batch has come to, by code; each is worked out once.

    Blocks of a bucket have most answers in common: of 600 plans with eight routes each, a block
    has thousands.
    """

    def __init__(self, plans: BucketPlans) -> None:
        """None yet, of these plans."""
        self._plans = plans
        self._row_of: dict[int, int] = {}
        self._known = ANSWER_SCHEMA.empty_table()
        self._all: Said | None = None

    def codes(
        self,
        plan: NDArray[np.int32],
        copy: NDArray[np.int64] | int,
        chosen: NDArray[np.int64],
        bound: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """The code of each outcome's answer.

        Args:
            plan: (outcomes,) place of the plan.
            copy: (outcomes,) which of the plan's choices.
            chosen: (outcomes,) the queue manager's route, or NOT_CHOSEN.
            bound: (outcomes,) whether an earlier message's choice was followed.
        """
        end = copy * self._plans.ends[plan] + chosen + 1
        codes: NDArray[np.int64] = self._plans.code[plan] + 2 * end + bound
        return codes

    def said(self, codes: Sequence[int]) -> Said:
        """The answers of distinct codes: all that are known, where these are most of them."""
        self._learn([code for code in codes if code not in self._row_of])
        rows = np.array([self._row_of[code] for code in codes], dtype=np.int32)
        if self._known.num_rows <= _MOST * len(codes):
            self._all = self._all or _said(self._known, rows)
            return replace(self._all, row=rows)
        table = self._known.take(pa.array(rows))
        return _said(table, np.arange(len(codes), dtype=np.int32))

    def _learn(self, new: Sequence[int]) -> None:
        """Work out the answers of codes that were not met before."""
        if new:
            self._row_of |= {code: at for at, code in enumerate(new, len(self._row_of))}
            columns = zip(*map(self._plans.answer, new), strict=True)
            arrays = [pa.array(x, type=f.type) for x, f in zip(columns, ANSWER_SCHEMA, strict=True)]
            added = pa.Table.from_arrays(arrays, schema=ANSWER_SCHEMA)
            self._known = pa.concat_tables([self._known, added]).combine_chunks()
            self._all = None


def _said(table: pa.Table, row: NDArray[np.int32]) -> Said:
    return Said(row, table[c.REASON].to_numpy(), to_ipc(table))
