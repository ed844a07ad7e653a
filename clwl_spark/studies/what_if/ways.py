"""The whole way of puts while things are down: many cases and puts, level by level, in few jobs.

The way is that of `studies.trace.trace`; what differs is that routes over a channel which is
RETRYING or worse lead nowhere: their messages wait. So do those on a transmission queue whose other
end is down.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Final

from clwl_spark.planning.plans import Ladder
from clwl_spark.spark.materialize import fitting
from clwl_spark.studies.explain.planned import EXPECTED_SHARE
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.shares.traffic import Puts, traffic_from
from clwl_spark.studies.sweep.outages import Case, down_qmgrs
from clwl_spark.studies.sweep.sweep import CASE, REQUEST_PLAN, WAITS, base_of, case_ends, with_waits
from clwl_spark.studies.trace.chances import ROUNDED, Chances, chances
from clwl_spark.studies.trace.places import MOST_HOPS, Hop, Network, Place, hop_of
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End

Row = dict[str, Any]
At = tuple[int, Place]
"""A put in a case, by the case's position; AS_IT_IS = nothing is down."""

AS_IT_IS: Final = -1


@dataclass(frozen=True, slots=True)
class Step:
    """A put on the way, and what happens there.

    Attributes:
        hop: onward places and endings, of the messages that get away.
        routes: columns of `expected.route_shares`, and `waits`.
        waiting: channel, or transmission queue of no cluster channel -> share of the messages
            that wait for it.
    """

    hop: Hop
    routes: Sequence[Row]
    waiting: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseWay:
    """The way of a put in a case.

    Attributes:
        steps: every put on the way once, in the order in which it is first come to.
        levels: (steps,) how many hops it takes at least to come there, from 1.
        chances: of `steps`, by position.
    """

    steps: Sequence[Step]
    levels: Sequence[int]
    chances: Chances

    def ends(self) -> list[tuple[str, float, str]]:
        """(queue manager, share, what becomes of the messages; '' = they come to a queue)."""
        found: dict[tuple[str, str], float] = defaultdict(float)
        for step, visits in zip(self.steps, self.chances.visits, strict=True):
            if not isfinite(visits):
                continue
            for ending, share in step.hop.endings:
                missed = ""
                if ending.end not in (End.QUEUE, End.TOPIC):
                    missed = str(ending.reason or ending.end.value)
                found[ending.qmgr, missed] += visits * share
            for channel, share in step.waiting.items():
                found[step.hop.place.qmgr, f"waits for {channel}"] += visits * share
        return [(qmgr, round(x, ROUNDED), missed) for (qmgr, missed), x in sorted(found.items())]


class Ways:
    """Puts in cases; what is found is remembered, so that a level plans what is new alone."""

    def __init__(self, network: Network, cases: Sequence[Case], ladder: Ladder) -> None:
        """Look at the cases on a snapshot."""
        self._network = network
        self._cases = cases
        self._ladder = replace(ladder, is_onward=True)
        self._plans: dict[Place, Row] = {}
        self._routes: dict[At, list[Row]] = {}

    def plan(self, places: Iterable[Place]) -> None:
        """Plan puts, as they are and in every case, in one pass."""
        new = [x for x in dict.fromkeys(places) if x not in self._plans]
        if not new:
            return
        spark = self._network.topology.queues.sparkSession
        puts = [Puts(x.qmgr, x.object_name, x.object_qmgr, x.object_type, x.via) for x in new]
        traffic = traffic_from(spark, self._network.snapshot_id, puts)
        base = base_of(traffic, self._network.topology, self._ladder, fitting(len(new)))
        place_of: dict[int, Place] = {}
        for row in base.plans.collect():
            place = Place(
                row[c.QMGR], row[c.OBJECT_NAME], row[c.OBJECT_QMGR], row[c.VIA], row[c.OBJECT_TYPE]
            )
            place_of[row[c.PLAN_ID]] = place
            self._plans[place] = row.asDict()
        for row in with_waits(base.ends).collect():
            key = (AS_IT_IS, place_of[row[c.PLAN_ID]])
            self._routes.setdefault(key, []).append(row.asDict())
        if self._cases:
            for row in case_ends(base, self._cases).collect():
                key = (row[CASE], place_of[row[REQUEST_PLAN]])
                self._routes.setdefault(key, []).append(row.asDict())

    def step(self, at: At) -> Step:
        """What happens at a put, which is planned."""
        case, place = at
        plan = self._plans[place]
        rows = self._routes.get(at) or self._routes[AS_IT_IS, place]
        rows = sorted(rows, key=_in_order)
        choices = max(plan["choices"], 1)
        routes = [{**row, SHARE: row[SHARE] / choices} for row in rows]
        away = [_as_route(row) for row in routes if row[c.CHANNEL] and not row[WAITS]]
        waiting: dict[str, float] = defaultdict(float)
        for row in routes:
            if row[WAITS]:
                waiting[row[c.CHANNEL]] += row[SHARE]
        hop = hop_of(place, plan, away, self._network)
        # No route of a cluster leads to what is down: such a place is at the end of another queue.
        down = down_qmgrs(() if case == AS_IT_IS else self._cases[case])
        for to, share in hop.onward:
            if to.qmgr in down:
                waiting[plan[c.XMITQ]] += share
        onward = [x for x in hop.onward if x[0].qmgr not in down]
        return Step(replace(hop, onward=onward), routes, dict(waiting))

    def ways(self, puts: Sequence[At]) -> dict[At, CaseWay]:
        """Follow puts to their ends, all of them level by level."""
        walks = {at: _Walk(at) for at in puts}
        for level in range(1, MOST_HOPS + 1):
            waiting = [walk for walk in walks.values() if walk.frontier]
            if not waiting:
                break
            self.plan(place for walk in waiting for place in walk.frontier)
            for walk in waiting:
                walk.go_on(level, self)
        return {at: walk.way() for at, walk in walks.items()}


class _Walk:
    """One put's way while it is followed."""

    def __init__(self, at: At) -> None:
        self._case, start = at
        self.frontier = [start]
        self._known = {start}
        self._steps: list[Step] = []
        self._levels: list[int] = []

    def go_on(self, level: int, ways: Ways) -> None:
        """Take the next step from every place of the frontier."""
        found = [ways.step((self._case, place)) for place in self.frontier]
        self._steps += found
        self._levels += [level] * len(found)
        onward = dict.fromkeys(to for step in found for to, _ in step.hop.onward)
        self.frontier = [to for to in onward if to not in self._known]
        self._known.update(self.frontier)

    def way(self) -> CaseWay:
        """The way as far as it was followed."""
        position = {step.hop.place: at for at, step in enumerate(self._steps)}
        onward = [
            {position[to]: share for to, share in step.hop.onward if to in position}
            for step in self._steps
        ]
        return CaseWay(self._steps, self._levels, chances(onward))


def _in_order(row: Row) -> tuple[int, str, str]:
    return row[c.CHOICE], row[c.DEST_QMGR] or "", row[c.CHANNEL] or ""


def _as_route(row: Row) -> Row:
    """A route as `studies.trace.places` takes it."""
    return {**row, c.XMITQ: None, EXPECTED_SHARE: row[SHARE]}
