"""The memory that a lake's outcomes lead to, by repeating the choices that they record.

Nothing is chosen again, but for one thing: a local outcome does not say over which of the queue
manager's own channels it was chosen, so that is found out from the history of the moment.

Which batch an outcome belongs to says the commit that brought its file. Compaction hides that; it
matters only where messages came out of order, or runs disagree on the snapshots before others.

Source: SEMANTICS 5, C1, C2, P21, P25.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import Choices
from clwl_spark.algorithm.replay import LOCAL, NONE_MADE, replay
from clwl_spark.mq.vocabulary import LARGEST_STEP
from clwl_spark.routing.intake.blocks import message_order
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.routing.state.history import Memory, balance_array
from clwl_spark.tables import columns as c

ANSWER: Final = (
    c.QMGR,
    c.SNAPSHOT_ID,
    c.PLAN_ID,
    c.REASON,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.CHANNEL,
    c.CLUSTER,
    c.IS_LOCAL,
    c.BOUND,
)
"""What of an outcome says whether and what was chosen, and after which resets."""
ORDER: Final = (c.PUT_SEQ, c.PUT_TIME, c.MESSAGE_ID, c.OUT_OF_ORDER)
NOT_KNOWN: Final = -1
"""The batch of an outcome whose commit is not known any more."""
_NO_PLAN: Final = "plans of its outcomes are gone from route_plans"
_NO_ROUTE: Final = "outcomes have routes that their plans have not"
_NO_BATCH: Final = (
    "messages came out of order, and compaction or clean-up of outcomes hides in which batch"
)


@dataclass(frozen=True, slots=True)
class Resets:
    """What a batch knows of the snapshots.

    Attributes:
        snapshots: that its run used, in order of validity.
        of: by queue manager, those that reset its history.
    """

    snapshots: tuple[str, ...]
    of: Mapping[str, Sequence[str]]


@dataclass
class Replayed:
    """What outcomes lead to.

    Attributes:
        memories: by queue manager, without bindings.
        untold: by queue manager, why its memory cannot be told.
    """

    memories: dict[str, Memory] = field(default_factory=dict)
    untold: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes as arrays, one entry each.

    Attributes:
        answer: place of the answer in `answers`.
        answers: distinct rows of ANSWER.
        batch: NOT_KNOWN where it is not known.
        order: columns of ORDER.
    """

    answer: NDArray[np.int64]
    answers: pa.Table
    batch: NDArray[np.int64]
    order: pa.Table


def outcomes_of(parts: Sequence[tuple[int, pa.Table]]) -> Outcomes:
    """Outcomes of files.

    Args:
        parts: of each file its batch, and its rows: ANSWER and ORDER.
    """
    batch = np.concatenate([np.full(x.num_rows, at, np.int64) for at, x in parts])
    rows = pa.concat_tables([x for _, x in parts])
    codes = np.zeros(rows.num_rows, np.int64)
    for name in ANSWER:
        values = rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
        codes = codes * max(len(values.dictionary), 1) + values.indices.to_numpy()
        codes = pd.factorize(codes)[0].astype(np.int64)
    first = np.unique(codes, return_index=True)[1]
    answers = rows.select(ANSWER).take(pa.array(first))
    return Outcomes(codes, answers, batch, rows.select(ORDER))


def replayed(
    outcomes: Outcomes,
    made: "Made",
    before: Mapping[str, Memory],
    batches: Mapping[int, Resets],
) -> Replayed:
    """Repeat the choices of all queue managers that have outcomes.

    Args:
        outcomes: all of them.
        made: what their answers say.
        before: what they remember before the first batch.
        batches: of each batch, in order, the snapshots it knows.
    """
    plans = made.plans
    found = Replayed(untold=dict(made.untold))
    sender = made.sender[outcomes.answer]
    by_sender = np.argsort(sender, kind="stable")
    ends = np.searchsorted(sender[by_sender], np.arange(len(plans.qmgrs) + 1))
    is_one = _is_one_list(batches)
    late = outcomes.order[c.OUT_OF_ORDER].to_numpy(zero_copy_only=False)
    for at, qmgr in enumerate(plans.qmgrs):
        rows = by_sender[ends[at] : ends[at + 1]]
        if qmgr in found.untold or not len(rows):
            continue
        batch = outcomes.batch[rows]
        if is_one and not late[rows].any():
            batch = np.full(len(rows), max(batches), np.int64)
        if not set(np.unique(batch).tolist()) <= batches.keys():
            found.untold[qmgr] = _NO_BATCH
            continue
        rows = rows[_order(outcomes, made, rows, batch)]
        memory = before.get(qmgr, Memory())
        own = _Sender(made, at, memory)
        found.memories[qmgr] = own.replay(outcomes, rows, np.sort(batch), batches)
    return found


def _is_one_list(batches: Mapping[int, Resets]) -> bool:
    """Whether the snapshots of each batch, the first one among them, begin each later list."""
    lists = [x.snapshots for x in batches.values()]
    return 0 in batches and all(x == lists[-1][: len(x)] for x in lists)


def _order(
    outcomes: Outcomes, made: "Made", rows: NDArray[np.int64], batch: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The order of batch and put_seq; equal ones by message id, then by what else differs (P25)."""
    put_seq = outcomes.order[c.PUT_SEQ].to_numpy()[rows]
    choice = made.choice[outcomes.answer[rows]]
    order = np.lexsort((choice, put_seq, batch))
    if (np.diff(put_seq[order]) > 0).all():
        return order
    own = outcomes.order.take(pa.array(rows))
    put_time = own[c.PUT_TIME].cast(pa.int64()).to_numpy()
    ids = message_order(own[c.MESSAGE_ID])
    plan_id = outcomes.answers[c.PLAN_ID].to_numpy()[outcomes.answer[rows]]
    return np.lexsort((choice, plan_id, put_time, ids, put_seq, batch))


class Made:
    """What each distinct answer says of a choice.

    Attributes:
        plans: that they are looked up in.
        snapshots: whose places the plans have.
        sender: (answers,) place of the queue manager, behind all others where it has no plans.
        snapshot: (answers,) place of the snapshot in the plans' list.
        channel: (answers,) number of the channel among all, NONE_MADE or LOCAL.
        choice: (answers,) place of the choice, the plan's first one where none was made.
        step: (answers,) what the channel's factor grows by.
        bind_default: (answers,) of the plan, as `BucketPlans` has it.
        untold: by queue manager, why its answers cannot be understood.
    """

    def __init__(self, answers: pa.Table, plans: BucketPlans, snapshots: Sequence[str]) -> None:
        """Look the answers up in the plans."""
        self.plans = plans
        self.snapshots = snapshots
        self._routes = _routes_by_name(plans)
        self.untold: dict[str, str] = {}
        size = answers.num_rows
        self.sender = np.full(size, len(plans.qmgrs), np.int64)
        self.snapshot, self.choice, self.step = np.zeros((3, size), np.int64)
        self.channel = np.full(size, NONE_MADE, np.int64)
        self.bind_default = np.zeros(size, np.int64)
        self._places = {name: at for at, name in enumerate(snapshots)}
        for at, answer in enumerate(answers.to_pylist()):
            plan = plans.index.get(answer[c.PLAN_ID])
            if plan is None:
                self.untold[answer[c.QMGR]] = _NO_PLAN
            else:
                self._look_up(at, answer, plan)

    def _look_up(self, at: int, answer: Mapping[str, object], plan: int) -> None:
        plans = self.plans
        first = plans.first_choice[plan]
        # Of a timeline, several snapshots share a plan: the outcome says which was in force.
        in_force = self._places.get(str(answer[c.SNAPSHOT_ID]), int(plans.snapshot[plan]))
        self.sender[at], self.snapshot[at] = plans.sender[plan], in_force
        self.choice[at], self.bind_default[at] = first, plans.bind_default[plan]
        if answer[c.REASON] != 0 or answer[c.BOUND]:
            return
        if answer[c.IS_LOCAL]:
            # Without routes to choose from it was local only (R2), which is no choice.
            if plans.first_route[first + 1] > plans.first_route[first]:
                self.channel[at] = LOCAL
            return
        if answer[c.CHANNEL] is None:
            return
        key = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER)
        route = self._routes.get((plan, *(answer[x] for x in key)))
        if route is None:
            self.untold[str(answer[c.QMGR])] = _NO_ROUTE
            return
        self.choice[at] = np.searchsorted(plans.first_route, route, side="right") - 1
        self.channel[at] = plans.channel[route]
        self.step[at] = LARGEST_STEP // plans.weight[route]


def _routes_by_name(plans: BucketPlans) -> dict[tuple[object, ...], int]:
    """The remote routes of all plans, by plan, dest_qmgr, dest_object, channel and cluster."""
    own = plans.routes.slice(0, len(plans.weight))
    choice = np.repeat(np.arange(len(plans.first_route) - 1), np.diff(plans.first_route))
    plan = np.searchsorted(plans.first_choice, choice, side="right") - 1
    names = (own[x].to_pylist() for x in own.column_names[:4])
    keys = zip(plan.tolist(), *names, strict=True)
    is_local = plans.is_local.tolist()
    return {key: at for at, key in enumerate(keys) if not is_local[at]}


class _Sender:
    """One queue manager whose choices are repeated."""

    def __init__(self, made: Made, at: int, memory: Memory) -> None:
        """Start with a memory, which stays as it is."""
        plans = self._plans = made.plans
        self._made = made
        self._at = at
        self._channels = list(dict.fromkeys([*plans.channels_of(at), *memory.balance]))
        self._counter = np.array([memory.counter], np.int64)
        self._balance = balance_array(memory, self._channels)
        self._highest = memory.highest_put_seq
        self._brought = set(memory.brought)

    def replay(
        self,
        outcomes: Outcomes,
        rows: NDArray[np.int64],
        batch: NDArray[np.int64],
        batches: Mapping[int, Resets],
    ) -> Memory:
        """The memory after outcomes.

        Args:
            outcomes: all of them.
            rows: places of the queue manager's, in order.
            batch: of each of these.
            batches: of each batch the snapshots it knows.
        """
        made, plans, at = self._made, self._plans, self._at
        answer = outcomes.answer[rows]
        first_choice = plans.first_choice[plans.first_plan[at]]
        channel = made.channel[answer]
        channel = np.where(channel >= 0, channel - plans.first_channel[at], channel)
        taken = (channel, made.choice[answer] - first_choice, made.step[answer])
        resets = self._resets(made.snapshot[answer], batch, batches)
        replay(taken, resets, self._choices(), self._counter, self._balance)
        highest = outcomes.order[c.PUT_SEQ].to_numpy()[rows].max(initial=self._highest)
        values = map(tuple, self._balance.tolist())
        return Memory(
            counter=int(self._counter[0]),
            highest_put_seq=int(highest),
            brought=self._brought,
            balance={x: y for x, y in zip(self._channels, values, strict=True) if y[0] > 0},
        )

    def _choices(self) -> Choices:
        """As of the plans, but CLWLMRUC of each choice."""
        choices = self._plans.choices_of(self._at)
        return choices._replace(mruc=np.repeat(choices.mruc, np.diff(choices.choice_start)))

    def _resets(
        self,
        snapshot: NDArray[np.int64],
        batch: NDArray[np.int64],
        batches: Mapping[int, Resets],
    ) -> NDArray[np.bool_]:
        """(outcomes,) True where a reset comes before; what is brought is kept in mind (P21)."""
        resets = np.zeros(len(batch), np.bool_)
        places = {name: at for at, name in enumerate(self._made.snapshots)}
        for number in np.unique(batch).tolist():
            start, end = np.searchsorted(batch, [number, number + 1])
            reached = np.maximum.accumulate(snapshot[start:end])
            known = [x for x in batches[number].snapshots if x in places]
            brings = set(batches[number].of.get(self._plans.qmgrs[self._at], ())) - self._brought
            for name in known:
                place = start + np.searchsorted(reached, places[name])
                if name in brings and place < end:
                    resets[place] = True
            self._brought.update(x for x in known if places[x] <= reached[-1])
        return resets
