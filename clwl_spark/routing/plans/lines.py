"""Plans along a line of snapshots that differ in the status of channels alone.

All messages of a line ask for the plans of its first snapshot, the head. Where the status of a
channel changes that a plan looks at, another plan takes its place from then on: that of the first
snapshot of the line in which these channels had these statuses. Plans that no change touches are
those of the head all along.

Source: SEMANTICS 3 (status), 4 (rules 8 to 11), C1 (resets).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

from pyspark.sql import functions as F

from clwl_spark.algorithm.request import Request
from clwl_spark.delta.lake import Lake
from clwl_spark.mq import vocabulary as v
from clwl_spark.routing.intake.splits import spark_hash
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.snapshots.changes import AVAILABLE
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import CHANNEL_STATUS, ROUTE_CANDIDATES, SNAPSHOT_CHANGES
from clwl_spark.tables import columns as c
from clwl_spark.tables.stored_changes import ROW_KEY, ROW_VALUES, parsed_row

End = tuple[str, str]
"""(queue manager, channel): what a status is of, as another one sees it."""
_COLUMNS: Final = (c.SNAPSHOT_ID, c.QMGR, c.CHANNEL, c.CHLTYPE, c.REMOTE_QMGR, c.STATUS)
_WORST: Final = max(v.STATUS_TIERS.values())


class Step(NamedTuple):
    """From when on another plan takes a plan's place.

    Attributes:
        plan_id: of the request in the head.
        since: microsecond from which on.
        request: in the snapshot whose plan it is then.
        statuses: of the channels that the plan looks at and that ever change.
    """

    plan_id: int
    since: int
    request: Request
    statuses: tuple[tuple[End, str], ...]

    @property
    def to(self) -> int:
        """The plan's id that it is then."""
        return spark_hash(self.request)


@dataclass(frozen=True, slots=True)
class Line:
    """A head, and the snapshots that continue it.

    Attributes:
        pins: the head first.
        statuses: by queue manager that sees it and end, (place among the pins, status from there
            on), the head's first; only of those that change.
    """

    pins: tuple[Pin, ...]
    statuses: Mapping[str, Mapping[End, Sequence[tuple[int, str]]]]

    def steps(self, plan_id: int, request: Request, ends: Iterable[End]) -> Iterator[Step]:
        """When the plan of a request in the head is another one.

        Args:
            plan_id: its id.
            request: it.
            ends: of the plan's candidates.
        """
        seen = self.statuses.get(request.qmgr, {})
        known = {x: seen[x] for x in sorted(set(ends)) if x in seen}
        changes: dict[int, list[tuple[End, str]]] = defaultdict(list)
        for end, found in known.items():
            for place, status in found[1:]:
                changes[place].append((end, status))
        state = {end: found[0][1] for end, found in known.items()}
        first = {tuple(state.items()): 0}
        current = 0
        for place in sorted(changes):
            state |= changes[place]
            now = tuple(state.items())
            of = first.setdefault(now, place)
            if of != current:
                named = request._replace(snapshot_id=self.pins[of].snapshot_id)
                yield Step(plan_id, self.pins[place].valid_from, named, now)
                current = of

    def may_reset(self) -> Iterator[tuple[str, str, str, frozenset[End]]]:
        """(queue manager, snapshot, the one before, ends that become available there)."""
        found: dict[tuple[str, int], set[End]] = defaultdict(set)
        for qmgr, ends in self.statuses.items():
            for end, statuses in ends.items():
                for (_, before), (place, now) in pairwise(statuses):
                    if tier(now) == AVAILABLE != tier(before):
                        found[qmgr, place].add(end)
        for (qmgr, place), ends_then in sorted(found.items()):
            names = (self.pins[place].snapshot_id, self.pins[place - 1].snapshot_id)
            yield qmgr, *names, frozenset(ends_then)


@dataclass(frozen=True)
class Lines:
    """The lines among the snapshots of a run.

    Attributes:
        lake: where they are.
        pins: the run's.
    """

    lake: Lake
    pins: Sequence[Pin]

    @cached_property
    def heads(self) -> dict[str, str]:
        """The head of each snapshot that continues one."""
        found: dict[str, str] = {}
        head = ""
        for pin in self.pins:
            if pin.continues:
                found[pin.snapshot_id] = head
            else:
                head = pin.snapshot_id
        return found

    @cached_property
    def by_head(self) -> dict[str, Line]:
        """The lines of more than one snapshot."""
        heads = self.heads
        if not heads:
            return {}
        pins: dict[str, list[Pin]] = defaultdict(list)
        for pin in self.pins:
            pins[heads.get(pin.snapshot_id, pin.snapshot_id)].append(pin)
        changed = self._changed()
        there = self._of_heads(
            {(x[c.QMGR], x[c.CHANNEL]) for rows in changed.values() for x in rows}
        )
        return {
            head: Line(tuple(found), _statuses(found, there.get(head, ()), changed))
            for head, found in pins.items()
            if len(found) > 1
        }

    def steps(
        self, requests: Mapping[int, Request], ends: Mapping[int, Collection[End]]
    ) -> list[Step]:
        """When the plans of requests in heads are others, in the order of the plans and of time.

        Args:
            requests: by plan_id; those of other snapshots than heads are passed over.
            ends: of the candidates of each plan.
        """
        return [
            step
            for plan_id, request in requests.items()
            if (line := self.by_head.get(str(request.snapshot_id))) is not None
            for step in line.steps(plan_id, request, ends.get(plan_id, ()))
        ]

    def _changed(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of `channel_status` that change, by snapshot; `gone` where one is removed."""
        rows = self.lake.in_memory(SNAPSHOT_CHANGES.name, c.SNAPSHOT_ID, [*self.heads])
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows.to_pylist():
            values = parsed_row(CHANNEL_STATUS, row[ROW_KEY], row[ROW_VALUES])
            found[row[c.SNAPSHOT_ID]].append({**values, "gone": row[ROW_VALUES] is None})
        return found

    def _of_heads(self, channels: Collection[tuple[str, str]]) -> dict[str, list[dict[str, Any]]]:
        """The rows that heads have of some channels, (qmgr, channel), by snapshot."""
        heads = [*dict.fromkeys(self.heads.values())]
        wanted = frame_from_rows(
            self.lake.spark, sorted(channels), f"{c.QMGR} string, {c.CHANNEL} string"
        )
        rows = self.lake.read_or_empty(CHANNEL_STATUS.name, c.SNAPSHOT_ID, heads)
        of_these = rows.join(F.broadcast(wanted), [c.QMGR, c.CHANNEL], "left_semi")
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in of_these.select(*_COLUMNS).toArrow().to_pylist():
            found[row[c.SNAPSHOT_ID]].append(row)
        return found


def ends_of(lake: Lake, plan_ids: Iterable[int]) -> dict[int, set[End]]:
    """The ends of the candidates of plans, by plan_id."""
    names = (c.PLAN_ID, c.DEST_QMGR, c.CHANNEL)
    rows = lake.in_memory(ROUTE_CANDIDATES.name, c.PLAN_ID, [*plan_ids], names=names)
    found: dict[int, set[End]] = defaultdict(set)
    for plan_id, *end in zip(*(rows[x].to_pylist() for x in names), strict=True):
        found[plan_id].add((end[0], end[1]))
    return found


def tier(status: str) -> int:
    """The tier of a status, 1 = best. Source: SEMANTICS 3."""
    return v.STATUS_TIERS.get(status, _WORST)


def _statuses(
    pins: Sequence[Pin],
    there: Iterable[Mapping[str, Any]],
    changed: Mapping[str, Sequence[Mapping[str, Any]]],
) -> dict[str, dict[End, list[tuple[int, str]]]]:
    """`Line.statuses`, of the head's rows and of those that change."""
    instances: dict[tuple[str, End], dict[tuple[str, str], str]] = defaultdict(dict)
    for row in there:
        _put(instances, row)
    ends = {end for pin in pins for row in changed.get(pin.snapshot_id, ()) for end in _end(row)}
    found: dict[tuple[str, End], list[tuple[int, str]]] = {
        x: [(0, _seen(instances[x]))] for x in sorted(ends)
    }
    for place, pin in enumerate(pins[1:], 1):
        touched = set()
        for row in changed.get(pin.snapshot_id, ()):
            _put(instances, row)
            touched |= {*_end(row)}
        for x in touched:
            now = _seen(instances[x])
            if now != found[x][-1][1]:
                found[x].append((place, now))
    by_qmgr: dict[str, dict[End, list[tuple[int, str]]]] = defaultdict(dict)
    for (qmgr, end), statuses in found.items():
        if len(statuses) > 1:
            by_qmgr[qmgr][end] = statuses
    return by_qmgr


def _end(row: Mapping[str, Any]) -> Iterator[tuple[str, End]]:
    """What a row is the status of: (who sees it, end).

    A sender to its own queue manager is of none.
    """
    is_sender = row[c.CHLTYPE] == v.ChannelType.CLUSSDR.value
    if not is_sender:
        yield row[c.QMGR], (row[c.QMGR], row[c.CHANNEL])
    elif row[c.REMOTE_QMGR] != row[c.QMGR]:
        yield row[c.QMGR], (row[c.REMOTE_QMGR], row[c.CHANNEL])


def _put(
    instances: dict[tuple[str, End], dict[tuple[str, str], str]], row: Mapping[str, Any]
) -> None:
    for x in _end(row):
        key = (row[c.CHLTYPE], row[c.REMOTE_QMGR])
        if row.get("gone"):
            instances[x].pop(key, None)
        else:
            instances[x][key] = row[c.STATUS] or v.DEFAULT_STATUS


def _seen(instances: Mapping[tuple[str, str], str]) -> str:
    """The status of a channel with these instances: the best, and of equal ones the first word."""
    best = min(((tier(x), x) for x in instances.values()), default=(0, v.DEFAULT_STATUS))
    return str(best[1])
