"""What MQ recorded of statuses and definitions, as snapshots that follow one another in time.

Source: CONTRACT, `clwl load`; SEMANTICS S1 (which snapshot is in force).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.traffic.configuration import CHANNEL
from clwl_spark.snapshots.timeline import Line, Moment, line_of, write_moments
from clwl_spark.studies.load.clocks import ClockDifference, clock_differences, out_of_order
from clwl_spark.studies.load.definitions import TABLE_OF, Definitions
from clwl_spark.studies.load.files import Refused
from clwl_spark.studies.load.load_file import LoadFile
from clwl_spark.studies.load.statuses import Statuses
from clwl_spark.tables import (
    CHANNEL_STATUS,
    CLUSTER_CHANNELS,
    CONFIG_EVENTS,
    STATUS_EVENTS,
    Table,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables.loading import AT
from clwl_spark.tables.moments import SECOND, micros, moment_text

_RUNNING: Final = "RUNNING"


@dataclass(frozen=True, slots=True)
class TimelineOptions:
    """How events become snapshots.

    Attributes:
        base: the snapshot that they begin with.
        step: seconds; of the events of one step one snapshot is made, from the last of them on.
    """

    base: str
    step: int = 60


@dataclass(frozen=True, slots=True)
class TimelineSummary:
    """What a timeline came to.

    Attributes:
        base: the snapshot that it begins with.
        snapshots: made, or to be made.
        changes: rows in which these differ each from the one before.
        events: taken.
        elsewhere: events of channels of no cluster of the base.
        last: the last snapshot of the line, and since when it is in force.
        clocks: queue managers whose clocks differ.
    """

    base: str
    snapshots: int
    changes: int
    events: int
    elsewhere: int
    last: tuple[str, datetime]
    clocks: Sequence[ClockDifference]

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl load --json`."""
        return {
            "base": self.base,
            "snapshots": self.snapshots,
            "changes": self.changes,
            "events": self.events,
            "elsewhere": self.elsewhere,
            "last": self.last[0],
            "last_from": moment_text(self.last[1]),
            "clocks": [x._asdict() for x in self.clocks],
        }


@dataclass(slots=True)
class Timeline:
    """A line of snapshots that events make longer.

    Attributes:
        lake: where it is.
        line: as far as it goes by now.
        options: how it grows.
        known: table and key of the events that the lake had before.
    """

    lake: Lake
    line: Line
    options: TimelineOptions
    known: frozenset[tuple[Any, ...]]
    _moments: list[Moment] = field(default_factory=list)

    def judge(self, files: Iterable[LoadFile]) -> None:
        """Take the events that the line cannot use out of files; they say so.

        These are events before its base or its end, and such that are out of order.
        """
        for one in files:
            for table in (STATUS_EVENTS, CONFIG_EVENTS):
                rows = one.rows.get(table.name)
                if rows is None:
                    continue
                refused = self._refused(table, rows.to_pylist())
                one.refuse(refused[at] for at in sorted(refused))
                kept = [at for at in range(rows.num_rows) if at not in refused]
                one.rows[table.name] = rows.take(pa.array(kept, pa.int64()))

    def _refused(self, table: Table, events: Sequence[Mapping[str, Any]]) -> dict[int, Refused]:
        """The events of a file, in its order, that cannot be used."""
        found: dict[int, str] = {}
        by_qmgr: dict[str, list[int]] = defaultdict(list)
        for at, event in enumerate(events):
            by_qmgr[event[c.QMGR]].append(at)
        for qmgr, places in by_qmgr.items():
            for fault in out_of_order([events[x][AT] for x in places]):
                found[places[fault.at]] = _order_words(qmgr, is_ahead=fault.is_ahead) + moment_text(
                    fault.other
                )
        for at, event in enumerate(events):
            why = self._too_early(table, event)
            if why:
                found.setdefault(at, why)
        return {at: _refusal(events[at], why) for at, why in found.items()}

    def _too_early(self, table: Table, event: Mapping[str, Any]) -> str:
        """Why an event comes too late to be used; '' = it does not."""
        root, begins = self.line.root, self.line.root.valid_from or 0
        if micros(event[AT]) < begins:
            return f"it is before snapshot {root.snapshot_id}, with which the timeline begins"
        is_new = (table.name, *(event[x] for x in table.keys)) not in self.known
        if self.line.last != root.snapshot_id and is_new and event[AT] <= self.line.last_from:
            return (
                f"it is not after {moment_text(self.line.last_from)}, up to which the timeline "
                "goes already: drop its snapshots from there on, and load it again"
            )
        return ""

    def grow(self, new: Mapping[str, pa.Table]) -> TimelineSummary:
        """Work out the snapshots that follow the line.

        Args:
            new: rows by table that are loaded now; events that the lake has come before.
        """
        statuses = self._statuses()
        told, changed = self._events(STATUS_EVENTS, new), self._events(CONFIG_EVENTS, new)
        definitions = self._definitions(changed)
        events = sorted([*changed, *told], key=_in_order)
        elsewhere = 0
        for step in _steps(events, self.options.step):
            before, defined = dict(statuses.rows), dict(definitions.rows)
            for event in step:
                if c.STATUS not in event:
                    definitions.take(event)
                    if event[c.OBJECT_TYPE] == CHANNEL:
                        statuses.know(event[c.QMGR], event[c.OBJECT_NAME])
                elif not statuses.take(event):
                    elsewhere += 1
            changes = [*statuses.changes_since(before), *definitions.changes_since(defined)]
            if changes:
                at = step[-1][AT]
                name = f"{self.options.base}@{moment_text(at)}"
                self._moments.append(Moment(name, at, changes))
        last = (self.line.last, self.line.last_from)
        if self._moments:
            last = (self._moments[-1].snapshot_id, self._moments[-1].valid_from)
        return TimelineSummary(
            base=self.options.base,
            snapshots=len(self._moments),
            changes=sum(len(x.changes) for x in self._moments),
            events=len(events) - elsewhere,
            elsewhere=elsewhere,
            last=last,
            clocks=clock_differences(_starts(told), statuses.senders),
        )

    def write(self) -> None:
        """Write these snapshots."""
        write_moments(self.lake, self.line, self._moments)

    def _statuses(self) -> Statuses:
        """Those at the end of the line."""
        of = (c.SNAPSHOT_ID, [self.line.last])
        rows = self.lake.in_memory(CHANNEL_STATUS.name, *of).to_pylist()
        names = (c.QMGR, c.CHANNEL)
        channels = self.lake.in_memory(CLUSTER_CHANNELS.name, *of, names=names)
        return Statuses(rows, zip(*(channels[x].to_pylist() for x in names), strict=True))

    def _definitions(self, events: Iterable[Mapping[str, Any]]) -> Definitions:
        """Those of the queue managers that events change, at the end of the line."""
        qmgrs = {x[c.QMGR] for x in events}
        tables = {table for table, _ in TABLE_OF.values()} if qmgrs else set()
        found = {x: self.lake.in_memory(x, c.SNAPSHOT_ID, [self.line.last]) for x in tables}
        of = pa.array(sorted(qmgrs), pa.string())
        return Definitions(
            {x: y.filter(pc.is_in(y[c.QMGR], of)).to_pylist() for x, y in found.items()}
        )

    def _events(self, table: Table, new: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
        """The events behind the line's end: of one key the last."""
        rows = self.lake.in_memory(table.name).to_pylist()
        if table.name in new:
            rows += new[table.name].to_pylist()
        by_key = {tuple(x[y] for y in table.keys): x for x in rows if self._is_behind(x[AT])}
        return [*by_key.values()]

    def _is_behind(self, at: datetime) -> bool:
        if self.line.last == self.line.root.snapshot_id:
            return at >= self.line.last_from
        return at > self.line.last_from


def begin_timeline(lake: Lake, options: TimelineOptions) -> Timeline:
    """The line that begins with a snapshot, to be made longer.

    Raises:
        MissingLakeError: the lake has no snapshots.
        MissingSnapshotError: no such snapshot.
        InputError: it is half written.
        LakeStateError: routing does not use it.
        UsageError: it is not the first of its line.
    """
    line = line_of(lake, options.base)
    if not line.root.is_valid:
        raise LakeStateError(
            f"snapshot '{options.base}' of {lake.root} is {line.root.status}: what follows would "
            "be used by routing; see with `clwl validate` what the gates refused"
        )
    known = {
        (table.name, *(row[x] for x in table.keys))
        for table in (STATUS_EVENTS, CONFIG_EVENTS)
        for row in lake.in_memory(table.name, names=table.keys).to_pylist()
    }
    return Timeline(lake, line, options, frozenset(known))


def _in_order(event: Mapping[str, Any]) -> tuple[datetime, bool, str, str]:
    """By time; of one moment all definitions come before statuses, whoever reports them."""
    return event[AT], c.STATUS in event, event[c.QMGR], event.get(c.CHANNEL) or ""


def _steps(events: Sequence[dict[str, Any]], seconds: int) -> Iterator[list[dict[str, Any]]]:
    """The events of each step of time in which there is one."""
    length = seconds * SECOND
    for _, found in groupby(events, key=lambda x: micros(x[AT]) // length):
        yield [*found]


def _starts(events: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[datetime]]:
    found: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for x in events:
        if x[c.STATUS] == _RUNNING:
            found[x[c.QMGR], x[c.CHANNEL]].append(x[AT])
    return found


def _order_words(qmgr: str, *, is_ahead: bool) -> str:
    if is_ahead:
        return f"the clock of {qmgr} jumped forward, for an event behind this one is of "
    return (
        f"the clock of {qmgr} was set back, or the file is not in order, for an event before this "
        "one is of "
    )


def _refusal(event: Mapping[str, Any], why: str) -> Refused:
    line = str(event[c.SOURCE] or "").rpartition(":")[2]
    what = [event.get(x) for x in (c.CHANNEL, c.STATUS, c.OBJECT_TYPE, c.OBJECT_NAME, "change")]
    words = " ".join([event[c.QMGR], moment_text(event[AT]), *(str(x) for x in what if x)])
    return Refused(int(line) if line.isdigit() else 0, words, why)
