"""One queue manager's choices, held against what was seen under one hypothesis after another.

Source: SEMANTICS 4 to 6; the loop is `algorithm.follow`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN, Choices, History, Puts
from clwl_spark.algorithm.follow import NOT_SEEN, Seen, Verdicts, follow, weighted, wrong_of
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.planning.facts import (
    BY_FACTOR,
    CURRENT,
    CURRENT_COLUMNS,
    PLAN_COLUMNS,
    PLANS,
    RESETS,
    ROUTE_COLUMNS,
    ROUTES,
    SENDERS,
)
from clwl_spark.routing.state.bucket_plans import BY_GROUP, BY_OPEN, NO_BINDING, read_facts
from clwl_spark.studies.conform.ends import fitting, plain, plan_ends, queue_sets, route_ends
from clwl_spark.studies.conform.evidence import IS_SEEN, SEEN, Evidence
from clwl_spark.studies.conform.suppose import Supposed
from clwl_spark.studies.conform.trial import Held, Trial
from clwl_spark.tables import columns as c

TTL: Final = 24 * 3_600_000_000
LOOKED_AT: Final = 10_000
"""Messages that are held against each hypothesis."""
BEFORE: Final = 2_000
"""How many of them come before the first disagreement."""
Longs = NDArray[np.int64]
_Messages = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]
_KINDS: Final = {"ON_OPEN": BY_OPEN, "NOT_FIXED": NO_BINDING, "ON_GROUP": BY_GROUP}


@dataclass
class Sender:
    """A queue manager as arrays: its puts, what was seen, and plans as they are supposed.

    Attributes:
        evidence: on it.
        variants: of the plans, those as they are first.
        first: put_seq of its first disagreement: messages from some way before it on are held.
        channels: (dest_qmgr, channel) by the number that the arrays have.
    """

    evidence: Evidence
    variants: Sequence[Supposed]
    first: int
    channels: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        """Number everything once; trials change little."""
        x = self.evidence
        self._plans = x.plans.num_rows
        bucket = read_facts({x.qmgr: self._document()}, x.snapshots)
        self.choices: Choices = bucket.choices_of(0)
        self.channels = bucket.channels_of(0)
        self._bucket = bucket
        ids = {plan: at for at, plan in enumerate(x.plans[c.PLAN_ID].to_pylist())}
        self.plan = np.array([ids[int(y)] for y in x.puts[c.PLAN_ID]], dtype=np.int32)
        self.time = x.puts[c.PUT_TIME].to_numpy(dtype=np.int64)
        self._key = self._keys()
        self._kinds = self._patterns()
        self.begin, self._before = 0, None
        self._before = self._prefix()

    def by_factor_of(self, variant: int) -> bool:
        """Whether the factor counts whatever the weights are."""
        own = self.variants[variant].by_factor
        return self.choices.by_factor if own is None else own

    def routes_of(self, message: int, variant: int = 0) -> slice:
        """The routes that a message chooses from."""
        choice = self.choices.choice_start[self.plan[message] + variant * self._plans]
        return slice(*self.choices.route_start[choice : choice + 2])

    @property
    def pattern(self) -> NDArray[np.int32]:
        """(messages,) what was seen of each, NOT_SEEN = nothing."""
        return self._pattern

    @property
    def fits(self) -> NDArray[np.bool_]:
        """(patterns, routes) whether a record may mean a route."""
        return self._fits

    def resets_before(self, message: int) -> int:
        """The first message that brings a reset, of those before one."""
        x = self.evidence
        pending = [at for at, name in enumerate(x.snapshots) if name in set(x.resets)]
        snapshot = self._snapshots(self.plan[:message], self.time[:message])
        if not pending or not len(snapshot):
            return message
        brings = np.flatnonzero(np.maximum.accumulate(snapshot) >= pending[0])
        return int(brings[0]) if len(brings) else message

    def _snapshots(self, plan: NDArray[np.int32], time: NDArray[np.int64]) -> NDArray[np.int32]:
        """(messages,) the place of the snapshot in force."""
        in_force = self.evidence.in_force
        return self._bucket.snapshot[plan] if in_force is None else in_force.places(time)

    def held(self, trial: Trial, most: int | None = None) -> Held:
        """Hold the messages, or the first of them, against a trial."""
        size = min(most or LOOKED_AT, LOOKED_AT, len(self.plan) - self.begin)
        asis, pattern, key, time = self._messages(self.begin, self.begin + size)
        plan = asis + trial.variant * self._plans
        if trial.span is not None:
            inside = np.zeros(size, np.bool_)
            inside[slice(*trial.span)] = True
            plan = np.where(inside, plan, asis)
        counted = np.arange(size)
        if trial.strays is not None:
            is_near = trial.strays[1] >= (time[0] if self.begin else trial.strays[1])
            strays = tuple(x[is_near] for x in trial.strays)
            at = np.searchsorted(time, strays[1], side="right")
            nothing = len(self.choices.choice_start) - 2
            plan = np.insert(plan, at, nothing)
            pattern = np.insert(pattern, at, strays[0])
            key, time = np.insert(key, at, NO_KEY), np.insert(time, at, strays[1])
            counted = np.flatnonzero(np.insert(np.ones(size, np.bool_), at, False))
        verdict, extra = self._follow(trial, plan.astype(np.int32), pattern, key, time)
        return Held(verdict[counted], extra[counted])

    def balance_before(self, message: int, trial: Trial) -> NDArray[np.int64]:
        """(channels, 2) what the queue manager remembers before a message."""
        history = self._history(trial)
        self._follow(trial, *self._messages(self.begin, message), history=history)
        return history.balance

    def _messages(self, begin: int, end: int) -> _Messages:
        """Plan, pattern, key and time of some messages."""
        rows = slice(begin, end)
        return self.plan[rows], self._pattern[rows], self._key[rows], self.time[rows]

    def _prefix(self) -> History | None:
        """What is remembered before the messages that are held; None = these are the first ones."""
        first = int(self.evidence.puts[c.PUT_SEQ].searchsorted(self.first))
        begin = max(0, first - BEFORE) if len(self.plan) > LOOKED_AT else 0
        if not begin:
            return None
        history = self._history(Trial())
        self._follow(Trial(), *self._messages(0, begin), history=history)
        self.begin = begin
        return history

    def _follow(
        self,
        trial: Trial,
        plan: NDArray[np.int32],
        pattern: NDArray[np.int32],
        key: NDArray[np.int32],
        time: NDArray[np.int64],
        history: History | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        size = len(plan)
        snapshot = self._snapshots(plan, time)
        held = Verdicts(np.zeros(size, np.int32), np.zeros(size, np.int64))
        puts = Puts(plan, np.maximum.accumulate(snapshot), key, time, time)
        seen = Seen(pattern, self._fits, self._fits_end)
        before = history or self._history(trial)
        for number, (begin, end, choices) in enumerate(self._stretches(trial, size)):
            if number and trial.resets:
                before.balance[:, 1] = 0
            some = Puts._make(x[begin:end] for x in puts)
            told = seen._replace(pattern=pattern[begin:end])
            results = Verdicts._make(x[begin:end] for x in held)
            follow(some, choices, before, told, (TTL, trial.most), results)
        return held.verdict, held.extra

    def _stretches(self, trial: Trial, size: int) -> Iterator[tuple[int, int, Choices]]:
        """Messages that have the same weights, one behind the other."""
        choices = self.choices._replace(by_factor=self.by_factor_of(trial.variant))
        if trial.weight is None:
            yield 0, size, choices
            return
        other = weighted(choices, *trial.weight)
        begin, end = (min(x, size) for x in trial.span or (0, size))
        for first, last, own in ((0, begin, choices), (begin, end, other), (end, size, choices)):
            if first < last:
                yield first, last, own

    def wrong_of(self, altered: Longs, rows: slice, weight: tuple[int, int] | None) -> Longs:
        """(alterations,) how many messages would differ with each.

        Args:
            altered: as of `algorithm.follow.wrong_of`; messages are counted from those that are
                held on.
            rows: messages that are looked at; with those before them they are followed.
            weight: (channel, CLWLWGHT) that is another before the alteration; None = as known.
        """
        history = self._history(Trial())
        if rows.start:
            before = self._messages(self.begin, self.begin + rows.start)
            self._follow(Trial(weight=weight), *before, history=history)
        messages = self._messages(self.begin + rows.start, self.begin + rows.stop)
        plan, pattern, key, time = messages
        puts = Puts(plan, np.maximum.accumulate(self._snapshots(plan, time)), key, time, time)
        choices = self.choices._replace(by_factor=self.by_factor_of(0))
        known = choices if weight is None else weighted(choices, *weight)
        own = altered - np.array([rows.start, 0, 0, 0])
        found: Longs = wrong_of(
            puts, known, history, Seen(pattern, self._fits, self._fits_end), (TTL, 0), own
        )
        return found

    def _history(self, trial: Trial) -> History:
        if self._before is not None:
            return History._make(x.copy() for x in self._before)
        x = self.evidence
        size = len(self.channels)
        balance = np.zeros((size, 2), np.int64)
        if trial.start is not None:
            balance[:, 0], balance[:, 1] = trial.start.number, trial.start.factor
        return History(
            np.array([int(balance[:, 0].max(initial=0))], np.int64),
            balance,
            np.array([-1], np.int64),
            np.array([name in set(x.resets) for name in x.snapshots], np.bool_),
            np.full(self._key_count, NOT_CHOSEN, np.int64),
            np.zeros(self._key_count, np.int64),
        )

    def _document(self) -> dict[str, Any]:
        """What `read_facts` reads: all plans once for each variant, and one without routes."""
        x, size = self.evidence, self._plans
        plans = {name: x.plans[name].to_pylist() * len(self.variants) for name in PLAN_COLUMNS}
        plans[c.PLAN_ID] = list(range(size * len(self.variants)))
        nothing = {c.PLAN_ID: -1, c.KIND: PlanKind.QUEUE.value, c.REASON: 0, "choices": 1}
        for name in PLAN_COLUMNS:
            plans[name].append(nothing.get(name, x.plans[name][0].as_py()))
        routes: dict[str, list[Any]] = {name: [] for name in ROUTE_COLUMNS}
        for at, one in enumerate(self.variants):
            for name in ROUTE_COLUMNS:
                values = one.routes[name].to_pylist()
                routes[name] += [y + at * size for y in values] if name == c.PLAN_ID else values
        return {
            PLANS: plans,
            ROUTES: routes,
            SENDERS: [_by_column(row) for row in x.senders],
            RESETS: list(x.resets),
            BY_FACTOR: x.semantics.by_factor,
        }

    def _keys(self) -> NDArray[np.int32]:
        """(messages,) what binds each, NO_KEY = nothing."""
        puts = self.evidence.puts
        default = self._bucket.bind_default[self.plan]
        kind = np.array(
            [_KINDS.get(x, y) for x, y in zip(puts[c.BIND], default.tolist(), strict=True)]
        )
        kind = np.where(self._bucket.is_publication[self.plan], NO_BINDING, kind)
        names = (self._bucket.plans[x].to_pylist() for x in (c.OBJECT_NAME, c.OBJECT_QMGR))
        asked = list(zip(*names, strict=True))
        found: dict[tuple[Any, ...], int] = {}
        keys = np.full(len(puts), NO_KEY, np.int32)
        self.is_bound = np.zeros(len(puts), np.bool_)
        ids = {BY_OPEN: puts[c.OPEN_ID].tolist(), BY_GROUP: puts[c.GROUP_ID].tolist()}
        for at in np.flatnonzero(kind != NO_BINDING):
            of = ids[int(kind[at])][at]
            if not pd.isna(of):
                key = (int(kind[at]), of, *asked[self.plan[at]])
                self.is_bound[at] = key in found
                keys[at] = found.setdefault(key, len(found))
        self._key_count = len(found)
        return keys

    def _patterns(self) -> dict[tuple[Any, ...], int]:
        """Number what records tell, and say which routes and ends each may mean."""
        kinds: dict[tuple[Any, ...], int] = {}
        sets, own = queue_sets(self._bucket)
        self._own_set = own[self.plan]
        puts = self.evidence.puts
        self._pattern = np.full(len(puts), NOT_SEEN, np.int32)
        copies = np.diff(self.choices.choice_start)[self.plan]
        seen = puts[IS_SEEN].to_numpy(dtype=bool) & (copies == 1)
        told = puts.loc[seen, list(SEEN)].assign(own=self._own_set[seen])
        alike = told.groupby(list(told), dropna=False, sort=False).ngroup().to_numpy()
        first = told.iloc[np.unique(alike, return_index=True)[1]]
        for *record, one in zip(*(first[x] for x in first), strict=True):
            kinds.setdefault((int(one), plain(record)), len(kinds))
        self._pattern[seen] = alike
        for *record, at in zip(
            *(self.evidence.strays[x] for x in (*SEEN, c.PUT_TIME)), strict=True
        ):
            kinds.setdefault(self._kind(record, at), len(kinds))
        routes = route_ends(self._bucket, sets)
        ends = plan_ends(self._bucket, self.choices, self.evidence.qmgr, len(sets))
        self._fits = fitting(kinds, routes)
        self._fits_end = fitting(kinds, ends)
        return kinds

    def _kind(self, record: Sequence[Any], at: int) -> tuple[int, tuple[Any, ...]]:
        """What a record of no message tells; its queues are those of the message before it."""
        before = max(int(np.searchsorted(self.time, at, side="right")) - 1, 0)
        return int(self._own_set[before]), plain(record)

    def pattern_of(self, record: Sequence[Any], at: int) -> int:
        """The number of what a record of no message tells, that was put then."""
        return self._kinds[self._kind(record, at)]


def _by_column(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `senders` with the transmission queues in use as a list for each column."""
    current = row.get(CURRENT) or []
    return {**row, CURRENT: {name: [x[name] for x in current] for name in CURRENT_COLUMNS}}
