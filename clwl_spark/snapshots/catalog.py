"""The snapshots of a lake: which there are, from when on they are in force, how large they are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.inspection import CONTENT, WRITABLE
from clwl_spark.tables import CHANNEL_STATUS, SNAPSHOT_CHANGES, SNAPSHOTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import micros, moment_at, moment_text
from clwl_spark.tables.stored_changes import ADDED, CHANGE, REMOVED

_NAMED: Final = 10
_MORE: Final = {ADDED: 1, REMOVED: -1}


class MissingSnapshotError(InputError):
    """The lake has no such snapshot, or no valid one at all."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A snapshot that a run uses: its id and the microsecond from which it is in force.

    Attributes:
        snapshot_id: its name.
        valid_from: microseconds since 1970, UTC.
        continues: it differs from the one before in the status of channels alone, and says so.
    """

    snapshot_id: str
    valid_from: int
    continues: bool = False


def heads_of(pins: Iterable[Pin]) -> tuple[Pin, ...]:
    """The snapshots that messages are planned under: those that continue none before."""
    return tuple(x for x in pins if not x.continues)


def apart(pins: Iterable[Pin]) -> tuple[Pin, ...]:
    """Snapshots that share no plans, as for an exit, which may look at anything."""
    return tuple(replace(x, continues=False) for x in pins)


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """A snapshot's row in `snapshots`; `valid_from` in microseconds since 1970, UTC."""

    snapshot_id: str
    valid_from: int | None
    status: str | None
    being_written: bool
    base: str | None = None
    changed_tables: str | None = None

    @property
    def is_valid(self) -> bool:
        """Whether routing uses it."""
        return self.status == SnapshotStatus.VALID.value and self.valid_from is not None

    def continues(self, earlier: str | None) -> bool:
        """Whether it is stored as changes of statuses alone against an earlier snapshot."""
        return self.base == earlier and self.changed_tables == CHANNEL_STATUS.name

    @property
    def order(self) -> tuple[bool, int, bytes]:
        """By (valid_from, snapshot_id), those without a moment first (SEMANTICS C1)."""
        return self.valid_from is not None, self.valid_from or 0, self.snapshot_id.encode()


@dataclass(frozen=True, slots=True)
class SnapshotCatalog:
    """A lake's snapshots: which is in force, which is meant.

    Attributes:
        root: where the lake is.
        ordered: in order of validity.
    """

    root: str
    ordered: Sequence[SnapshotHead]

    @property
    def valid(self) -> list[SnapshotHead]:
        """Those that routing uses."""
        return [x for x in self.ordered if x.is_valid]

    @property
    def pins(self) -> tuple[Pin, ...]:
        """Those that routing uses, by (valid_from, snapshot_id)."""
        return self.pins_of(x.snapshot_id for x in self.valid)

    def pins_of(self, names: Iterable[str]) -> tuple[Pin, ...]:
        """Those of some names that are there, whatever their status."""
        used = set(names)
        found = [x for x in self.ordered if x.snapshot_id in used]
        before = [None, *(x.snapshot_id for x in found)]
        return tuple(
            Pin(x.snapshot_id, x.valid_from or 0, continues=x.continues(earlier))
            for x, earlier in zip(found, before, strict=False)
        )

    def in_force(self, at: int) -> str | None:
        """The valid snapshot in force at a moment, in microseconds; None = none is yet (S1)."""
        return next((x.snapshot_id for x in reversed(self.pins) if x.valid_from <= at), None)

    def in_place_of(self, head: SnapshotHead) -> str | None:
        """The valid snapshot that routing uses instead of one that is not; None = none."""
        valid = [x for x in self.valid if x != head and x.order[:2] <= head.order[:2]]
        return valid[-1].snapshot_id if valid else None

    def passed_over(self) -> list[tuple[str, str | None]]:
        """Quarantined snapshots that routing would use now or later, and what it uses instead.

        Those before the last valid one concern nobody any more; half-written ones are not told.
        """
        valid = [at for at, x in enumerate(self.ordered) if x.is_valid]
        return [
            (x.snapshot_id, self.in_place_of(x))
            for x in self.ordered[valid[-1] + 1 if valid else 0 :]
            if x.status == SnapshotStatus.QUARANTINED.value and not x.being_written
        ]

    def whole(self, wanted: str | None) -> SnapshotHead:
        """The wanted snapshot, or the newest one, of those that are written to their end.

        Raises:
            InputError: there is none of that name, it is half written, or there is none at all.
        """
        if wanted is None:
            whole = [x for x in self.ordered if not x.being_written]
            if not whole:
                raise InputError(f"no snapshot in {self.root}: make one with `clwl ingest`")
            return whole[-1]
        self.require(wanted)
        head = next(x for x in self.ordered if x.snapshot_id == wanted)
        if head.being_written:
            raise InputError(
                f"snapshot '{wanted}' of {self.root} is half written: ingest its texts again"
            )
        return head

    def history(self, at: datetime | None = None) -> dict[str, datetime]:
        """The valid snapshots up to a moment, in order, and since when each is in force.

        The last one is in force at the moment; without a moment it is the last of all.

        Raises:
            MissingSnapshotError: there is no valid snapshot yet at that moment, or none at all.

        Source: SEMANTICS S1, C1 (order).
        """
        valid = [(x.snapshot_id, moment_at(x.valid_from)) for x in self.pins]
        found = {name: since for name, since in valid if at is None or since <= at}
        if found:
            return found
        self.chosen(None)
        name, since = valid[0]
        asked, first = (moment_text(x, "seconds") for x in (at or since, since))
        raise MissingSnapshotError(
            f"{asked} is before the first valid snapshot of {self.root}, {name} from {first}: "
            "give that moment or a later one"
        )

    def require(self, *names: str) -> None:
        """Refuse names that no snapshot has.

        Raises:
            MissingSnapshotError: a name is not one of them; it says which there are.
        """
        there = [x.snapshot_id for x in self.ordered]
        if unknown := [x for x in names if x not in there]:
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            raise MissingSnapshotError(
                f"no snapshot '{unknown[0]}' in {self.root}: "
                f"there are {', '.join(there[-_NAMED:]) or 'none'}{more}"
            )

    def chosen(self, wanted: str | None) -> str:
        """The wanted snapshot, whatever its status, or the last valid one.

        Raises:
            MissingSnapshotError: no such snapshot, or no valid one.
        """
        if wanted is not None:
            self.require(wanted)
            return wanted
        if not self.valid:
            raise MissingSnapshotError(
                f"no valid snapshot in {self.root}: make one with `clwl ingest` or `clwl "
                "generate`, see with `clwl validate` what the gates refused, or name a snapshot"
            )
        return self.valid[-1].snapshot_id

    def valid_up_to(self, snapshot_id: str) -> list[str]:
        """Valid snapshots up to one of them all, in order."""
        names = [x.snapshot_id for x in self.ordered]
        upto = self.ordered[: names.index(snapshot_id) + 1]
        return [x.snapshot_id for x in upto if x.is_valid]


def snapshot_catalog(lake: Lake) -> SnapshotCatalog:
    """The lake's snapshots.

    Raises:
        MissingLakeError: the lake has no snapshots at all.
    """
    return SnapshotCatalog(lake.root, _heads(lake.rows(SNAPSHOTS.name)))


def _heads(rows: Iterable[Mapping[str, Any]]) -> list[SnapshotHead]:
    """What rows of `snapshots` say, in order of validity."""
    found = [
        SnapshotHead(
            row[c.SNAPSHOT_ID],
            None if row[c.VALID_FROM] is None else micros(row[c.VALID_FROM]),
            row[c.STATUS],
            bool(row[c.BEING_WRITTEN]),
            row[c.BASE],
            row[c.CHANGED_TABLES],
        )
        for row in rows
    ]
    return sorted(found, key=lambda x: x.order)


def chosen_snapshot(lake: Lake, wanted: str | None, at: datetime | None = None) -> str:
    """The snapshot that is asked for, whatever its status; by default the last valid one.

    Args:
        lake: where it is.
        wanted: its name; None = the valid one in force at a moment.
        at: the moment; None = the last of all.

    Raises:
        MissingSnapshotError: there is none.
        MissingLakeError: the lake has no snapshots.
    """
    catalog = snapshot_catalog(lake)
    return catalog.chosen(wanted) if at is None else list(catalog.history(at))[-1]


def require_snapshots(lake: Lake, *snapshot_ids: str) -> None:
    """Refuse names that no snapshot has.

    Raises:
        MissingLakeError: the lake has no snapshots at all.
        MissingSnapshotError: a name is not one of them; it says which there are.
    """
    snapshot_catalog(lake).require(*snapshot_ids)


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One snapshot, as `clwl snapshots` lists it.

    Attributes:
        snapshot_id: its name.
        valid_from: in force from this moment, UTC.
        status: VALID or QUARANTINED.
        being_written: withdrawn because its rows are being replaced, or that was interrupted.
        source: where it was read from.
        base: the snapshot that it was made from, None = none.
        base_changed: whether that one has changed since, so that this one is not what the texts
            would make of it now.
        loaded_at: when it was written, UTC; None = not known.
        rows: rows by table; `ingest_rejects` counts the pieces that could not be used.
    """

    snapshot_id: str
    valid_from: datetime | None
    status: str | None
    being_written: bool
    source: str | None
    base: str | None
    base_changed: bool
    loaded_at: datetime | None
    rows: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl snapshots --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "valid_from": self.valid_from and moment_text(self.valid_from),
            "status": self.status,
            "being_written": self.being_written,
            "source": self.source,
            "base": self.base,
            "base_changed": self.base_changed,
            "loaded_at": self.loaded_at and moment_text(self.loaded_at),
            "rows": self.rows,
        }


def list_snapshots(lake: Lake) -> list[SnapshotEntry]:
    """All snapshots, in the order in which they come into force."""
    counts = _counts(lake)
    rows = {x[c.SNAPSHOT_ID]: x for x in lake.in_memory(SNAPSHOTS.name).to_pylist()}
    return [
        SnapshotEntry(
            snapshot_id=head[c.SNAPSHOT_ID],
            valid_from=head[c.VALID_FROM],
            status=head[c.STATUS],
            being_written=bool(head[c.BEING_WRITTEN]),
            source=head[c.SOURCE],
            base=head[c.BASE],
            base_changed=is_stale(
                head[c.LOADED_AT],
                head[c.BASE_LOADED_AT],
                rows[head[c.BASE]][c.LOADED_AT] if head[c.BASE] in rows else None,
            ),
            loaded_at=head[c.LOADED_AT],
            rows={name: counts.get((head[c.SNAPSHOT_ID], name), 0) for name in WRITABLE},
        )
        for head in (rows[x.snapshot_id] for x in _heads(rows.values()))
    ]


def is_stale(
    made_at: datetime | None, base_then: datetime | None, base_now: datetime | None
) -> bool:
    """Whether the base of a snapshot has changed since the snapshot was made of it.

    Args:
        made_at: `loaded_at` of the snapshot.
        base_then: its `base_loaded_at`; None = not known.
        base_now: `loaded_at` of its base; None = it is not there.
    """
    if base_now is None:
        return False
    if base_then is not None:
        return base_then != base_now
    return made_at is not None and base_now > made_at


def _counts(lake: Lake) -> dict[tuple[str, str], int]:
    """Rows by (snapshot, table); those of a timeline are counted by their changes."""
    frames = [
        lake.stored(name).groupBy(c.SNAPSHOT_ID).count().select(F.lit(name).alias("of"), "*")
        for name in WRITABLE
    ]
    counts = Counter(
        {
            (row[c.SNAPSHOT_ID], row["of"]): row["count"]
            for row in reduce(DataFrame.unionByName, frames).collect()
        }
    )
    steps = lake.steps()
    more: Counter[tuple[str, str]] = Counter()
    for row in lake.in_memory(SNAPSHOT_CHANGES.name).to_pylist() if steps else ():
        more[row[c.SNAPSHOT_ID], row[c.TABLE]] += _MORE.get(row[CHANGE], 0)
    before: dict[str, str] = {}
    for name, step in steps.items():
        base = before.get(step.root, step.root)
        for table in CONTENT:
            counts[name, table] = counts[base, table] + more[name, table]
        before[step.root] = name
    return counts
