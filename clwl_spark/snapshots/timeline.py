"""Snapshots that follow one another in time, of which only the changes are stored.

Their rows in `snapshots` come last, so that one written by half is not there.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.stored_changes import Step
from clwl_spark.errors import LakeStateError, UsageError
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.catalog import SnapshotHead, snapshot_catalog
from clwl_spark.tables import SNAPSHOT_CHANGES, SNAPSHOTS, TABLES
from clwl_spark.tables import columns as c
from clwl_spark.tables.stored_changes import REMOVED

_BETWEEN: Final = ","


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row in which a snapshot differs from the one before.

    Attributes:
        table: of the topology.
        row: its columns without snapshot_id; of a row that was removed, its key.
        change: ADDED, CHANGED or REMOVED.
        source: where the record of it is from.
    """

    table: str
    row: Mapping[str, Any]
    change: str
    source: str

    @property
    def key(self) -> str:
        """The row's key as `snapshot_changes` has it."""
        keys = (x for x in TABLES[self.table].keys if x != c.SNAPSHOT_ID)
        return json.dumps([self.row[x] for x in keys], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """A snapshot of a timeline.

    Attributes:
        snapshot_id: its name.
        valid_from: in force from then on, UTC.
        changes: against the one before; one at the least, each row once.
    """

    snapshot_id: str
    valid_from: datetime
    changes: Sequence[RowChange]


@dataclass(frozen=True, slots=True)
class Line:
    """A whole snapshot, and those that follow it as changes.

    Attributes:
        root: the whole one.
        last: the last of them; the root where none follows.
        last_from: since when that one is in force.
    """

    root: SnapshotHead
    last: str
    last_from: datetime


def line_of(lake: Lake, base: str) -> Line:
    """The line that begins with a snapshot.

    Raises:
        MissingSnapshotError: there is no such snapshot.
        InputError: it is half written.
        UsageError: it is not the first of its line.
    """
    catalog = snapshot_catalog(lake)
    root = catalog.whole(base)
    steps = lake.steps()
    if base in steps:
        raise UsageError(
            f"snapshot '{base}' of {lake.root} is one of a timeline itself: give the one that it "
            f"begins with, '{steps[base].root}'"
        )
    last = max((x for x in steps.values() if x.root == base), key=_place, default=None)
    name = base if last is None else last.snapshot_id
    rows = lake.rows(SNAPSHOTS.name, c.SNAPSHOT_ID, [name])
    return Line(root, name, rows[0][c.VALID_FROM])


def _place(step: Step) -> int:
    return step.place


def write_moments(lake: Lake, line: Line, moments: Sequence[Moment]) -> None:
    """Write the snapshots that follow a line, in order; those of a killed run are written anew."""
    if not moments:
        return
    lake.create([SNAPSHOTS, SNAPSHOT_CHANGES])
    names = [x.snapshot_id for x in moments]
    left = lake.in_memory(SNAPSHOT_CHANGES.name, c.SNAPSHOT_ID, names, names=[c.SNAPSHOT_ID])
    if left.num_rows:
        lake.delete(SNAPSHOT_CHANGES.name, c.SNAPSHOT_ID, *names)
    rows = [row for x in moments for row in _change_rows(x)]
    lake.append(SNAPSHOT_CHANGES.name, lake.arrow_rows(SNAPSHOT_CHANGES.name, rows))
    base_loaded = lake.rows(SNAPSHOTS.name, c.SNAPSHOT_ID, [line.last])[0][c.LOADED_AT]
    heads = [*_heads(line.last, base_loaded, moments)]
    lake.append(SNAPSHOTS.name, lake.arrow_rows(SNAPSHOTS.name, heads))


def _change_rows(moment: Moment) -> Iterable[tuple[Any, ...]]:
    for x in moment.changes:
        there = {name: value for name, value in x.row.items() if value is not None}
        values = None if x.change == REMOVED else json.dumps(there, ensure_ascii=False)
        yield moment.snapshot_id, x.table, x.key, x.change, values, x.source


def _heads(
    before: str, base_loaded: datetime | None, moments: Sequence[Moment]
) -> Iterable[tuple[Any, ...]]:
    """Rows of `snapshots`."""
    now = datetime.now(UTC)
    for x in moments:
        row = {
            c.SNAPSHOT_ID: x.snapshot_id,
            c.VALID_FROM: x.valid_from,
            c.STATUS: SnapshotStatus.VALID.value,
            c.SOURCE: _source(x),
            c.LOADED_AT: now,
            c.BASE: before,
            c.BASE_LOADED_AT: base_loaded,
            c.CHANGED_TABLES: _BETWEEN.join(sorted({y.table for y in x.changes})),
        }
        yield tuple(row.get(name) for name in SNAPSHOTS.names)
        before, base_loaded = x.snapshot_id, now


def _source(moment: Moment) -> str:
    """Where a snapshot comes from: the files of its records."""
    files = dict.fromkeys(x.source.rpartition(":")[0] or x.source for x in moment.changes)
    return "; ".join(files)


def refuse_steps(lake: Lake, snapshot_ids: Iterable[str]) -> None:
    """Refuse to change what is stored as changes, or what others are changes to.

    Raises:
        LakeStateError: it is one of these.
    """
    asked = sorted(snapshot_ids)
    steps = lake.steps() if asked else {}
    roots = {x.root for x in steps.values()}
    for name in asked:
        if name in steps or name in roots:
            raise LakeStateError(
                f"snapshot '{name}' of {lake.root} is of a timeline and would change, and those "
                "that follow it with it; nothing was written: write it under another snapshot_id"
            )


def refuse_followed(lake: Lake, snapshot_id: str) -> None:
    """Refuse to drop what a snapshot of a timeline follows.

    Raises:
        LakeStateError: one does.
    """
    steps = lake.steps()
    if not steps:
        return
    place, root = 0, snapshot_id
    if snapshot_id in steps:
        place, root = steps[snapshot_id].place, steps[snapshot_id].root
    later = [x for x in steps.values() if x.root == root and x.place > place]
    if later:
        raise LakeStateError(
            f"snapshot '{snapshot_id}' of {lake.root} is followed by {len(later)} of a timeline, "
            f"which are stored as changes to it: drop those first, the last is "
            f"'{max(later, key=_place).snapshot_id}'; nothing was deleted"
        )
