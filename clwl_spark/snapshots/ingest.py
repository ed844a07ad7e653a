"""Files that MQ's tools wrote, into the topology tables of one snapshot.

Source: CONTRACT, "What MQ's texts become", 1, 8 and 9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import IngestError, LakeStateError
from clwl_spark.logs import OnProgress, tell_nobody
from clwl_spark.mq.read import PassedOver, Reject
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.catalog import is_stale, require_snapshots
from clwl_spark.snapshots.for_everybody import Disagreement
from clwl_spark.snapshots.inspection import CONTENT, Inspection, inspect
from clwl_spark.snapshots.reading import Sources, sources_of
from clwl_spark.snapshots.settled import Outcome, settle_files
from clwl_spark.snapshots.write import Snapshot, commit, snapshot_row
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import ACTIONS, INGEST_REJECTS, SNAPSHOTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import EPOCH

STEM: Final = "{stem}"
"""Observer that stands for each file's name without its suffix: QM1 for scripts/QM1.mqsc."""

_SHOWN_REJECTS: Final = 3
_BETWEEN_SOURCES: Final = "; "
_MOMENTS: Final = (c.VALID_FROM, c.LOADED_AT, c.BASE_LOADED_AT)


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How files are read.

    Attributes:
        valid_from: in force from then on; None = now for a new snapshot, as it was for one that
            is there.
        observer: the queue manager of texts that name none; `{stem}` and `{folder}` stand for
            parts of the file's path.
        base: the snapshot that the files are a change to; None = they are the whole, or are
            merged into the snapshot that is there.
        encoding: the texts' character set; None = seen by their bytes.
        strict: refuse all if any piece cannot be used.
    """

    valid_from: datetime | None = None
    observer: str | None = None
    base: str | None = None
    encoding: str | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What one ingest did.

    Attributes:
        snapshot_id: the snapshot.
        files: files read.
        rows: rows that the files gave or changed, by table.
        replaced: rows that the snapshot had with other values, by table.
        rejects: the pieces that could not be used.
        passed: the files of which nothing was taken, and the commands that are not carried out.
        written: false where there was nothing to make the snapshot of.
        changes: rows added, changed and removed, by table, against the base or what the snapshot
            had; empty where there was neither.
        rebuilt: the base has changed, so the snapshot was made of it anew.
        stale: the snapshots that were made of this one as it was before.
        for_everybody: everybody's rows that come of what full repositories show, by table.
        disagreements: what full repositories show differently.
    """

    snapshot_id: str
    files: int
    rows: dict[str, int]
    replaced: dict[str, int]
    rejects: tuple[Reject, ...]
    passed: tuple[PassedOver, ...] = ()
    written: bool = True
    changes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rebuilt: bool = False
    stale: tuple[str, ...] = ()
    for_everybody: Mapping[str, int] = field(default_factory=dict)
    disagreements: tuple[Disagreement, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl ingest --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "files": self.files,
            "rows": self.rows,
            "rejects": [asdict(reject) for reject in self.rejects],
            "passed_over": [{"file": x.file, "why": x.why} for x in self.passed if not x.line],
            "not_carried_out": [asdict(x) for x in self.passed if x.line],
            "written": self.written,
            "changes": self.changes,
            "rebuilt": self.rebuilt,
            "stale": list(self.stale),
            "for_everybody": dict(self.for_everybody),
            "disagreements": [asdict(found) for found in self.disagreements],
        }


def ingest(
    lake: Lake,
    paths: Sequence[Path],
    snapshot_id: str,
    options: IngestOptions = IngestOptions(),
    tell: OnProgress | None = None,
) -> IngestSummary:
    """Read files and folders into a snapshot; what it has already is merged with them.

    A row that the files tell anew is replaced, or where they tell it in part changed in what they
    tell; of two states of which MQ tells when they were altered, the newer one stays.

    Args:
        lake: where to.
        paths: files, folders that are read with their subfolders, less hidden files, and `-` for
            standard input.
        snapshot_id: the snapshot, which may be there.
        options: how they are read.
        tell: told (stage, done, total) as work goes on.

    Raises:
        IngestError: no file, nothing that can be used, a text of which the queue manager is not
            known, or `strict` and a reject; the lake is as it was.
        InputError: there is no snapshot `base`.
        LakeStateError: routing has used the snapshot, and it would change; it is not made of
            `base`; or `base` has changed, and the snapshot is made of other files, too.
    """
    sources = sources_of(paths, options.observer, options.encoding)
    if lake.in_catalog:  # which may refuse to make tables: better now than when all is read
        lake.create([SNAPSHOTS])
    old = _known(lake, snapshot_id)
    base = None
    if options.base is not None:
        require_snapshots(lake, options.base)
        base = _known(lake, options.base)
    work = _Work(lake, sources, snapshot_id, options.strict, tell or tell_nobody)
    earlier = options.base or (snapshot_id if old else None)
    outcome, inspection, rebuilt = _inspected(work, earlier, old, base)
    written = earlier is not None or _gives_state(outcome)
    if written:
        changed = bool(inspection.changed_content)
        head = _head((old, base), work, options, changed=changed, rebuilt=rebuilt)
        work.tell("writing", 0, 1)
        commit(lake, inspection, snapshot_row(lake, head))
        work.tell("writing", 1, 1)
    return IngestSummary(
        snapshot_id=snapshot_id,
        files=sources.count,
        rows=outcome.given,
        replaced={name: inspection.replaced.get(name, 0) for name in CONTENT},
        rejects=tuple(outcome.rejects),
        passed=(*sources.passed, *outcome.passed),
        written=written,
        changes=outcome.changes,
        rebuilt=rebuilt,
        stale=_made_of(lake, snapshot_id) if inspection.changed_content and old else (),
        for_everybody=outcome.shown,
        disagreements=outcome.disagreements,
    )


def _inspected(
    work: "_Work", earlier: str | None, old: "_Known | None", base: "_Known | None"
) -> tuple[Outcome, Inspection, bool]:
    """What the files make of the earlier snapshot, and whether it is made of its base anew."""
    outcome, inspection = work.inspected(earlier)
    of_base = old is not None and earlier != work.snapshot_id and not old.being_written
    if old is None or not of_base or not inspection.changed_content:
        return outcome, inspection, False
    if _is_to_be_rebuilt(work, old, base):
        return outcome, inspection, True
    # Other files than those that made it of its base: they are merged into it.
    return *work.inspected(work.snapshot_id), False


@dataclass(frozen=True, slots=True)
class _Known:
    """A snapshot that is there."""

    snapshot_id: str
    valid_from: datetime
    source: str
    status: str
    base: str | None
    being_written: bool
    loaded_at: datetime | None
    base_loaded_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Work:
    """What an ingest works with."""

    lake: Lake
    sources: Sources
    snapshot_id: str
    strict: bool
    tell: OnProgress

    def inspected(self, earlier_id: str | None) -> tuple[Outcome, Inspection]:
        """What the files make of a snapshot's rows, checked and compared with the lake's."""
        merging = earlier_id == self.snapshot_id
        outcome = settle_files(
            self.lake, self.sources, self.snapshot_id, earlier_id, self.tell, merging=merging
        )
        _refuse_unusable(outcome, self.sources, earlier_id, strict=self.strict)
        frames = {**outcome.frames, INGEST_REJECTS.name: self._rejects(outcome.rejects)}
        return outcome, inspect(self.lake, [self.snapshot_id], frames)

    def _rejects(self, rejects: Sequence[Reject]) -> DataFrame:
        """The pieces that could not be used.

        Grain: one row per piece.
        """
        rows = ({**asdict(reject), c.SNAPSHOT_ID: self.snapshot_id} for reject in rejects)
        cells = [tuple(row[name] for name in INGEST_REJECTS.names) for row in rows]
        return frame_from_rows(self.lake.spark, cells, INGEST_REJECTS.schema)


def _refuse_unusable(
    outcome: Outcome, sources: Sources, earlier_id: str | None, *, strict: bool
) -> None:
    rejects = [f"{x.file}:{x.line}: {x.reason}" for x in outcome.rejects]
    shown = "; ".join(rejects[:_SHOWN_REJECTS]) or "no MQ object in them"
    # A DELETE alone gives no row, but where there are rows it can be all that is to be said.
    used = outcome.used if earlier_id is not None else _gives_state(outcome)
    if not used and not any(not x.line for x in outcome.passed):
        raise IngestError(
            f"nothing in {sources.count} file(s) can be used ({shown}): give MQSC scripts, "
            "dmpmqcfg dumps or output of DISPLAY commands"
        )
    if strict and rejects:
        raise IngestError(
            f"{len(rejects)} piece(s) cannot be used ({shown}); nothing was written: "
            "correct them, or ingest without --strict"
        )


def _gives_state(outcome: Outcome) -> bool:
    """Whether texts say anything of a cluster; that something was done to it is no snapshot."""
    return any(count for name, count in outcome.given.items() if name != ACTIONS.name)


def _head(
    known: tuple[_Known | None, _Known | None],
    work: _Work,
    options: IngestOptions,
    *,
    changed: bool,
    rebuilt: bool,
) -> Snapshot:
    """The snapshot's row; known are the one that is there, and the base."""
    old, of = known
    snapshot_id, sources = work.snapshot_id, work.sources
    loaded = of.loaded_at if of else None
    valid = SnapshotStatus.VALID.value
    start = options.valid_from or (old.valid_from if old else datetime.now(UTC))
    base = options.base if options.base != snapshot_id else None
    if old is None or old.being_written:
        return Snapshot(snapshot_id, start, sources.named, valid, base, loaded)
    then = loaded if rebuilt else old.base_loaded_at
    if changed:
        # Whatever a gate said of the old content: the new has to pass the gates anew.
        source = _joined(old.source, sources.named)
        return Snapshot(snapshot_id, start, source, valid, old.base or base, then)
    return Snapshot(snapshot_id, start, old.source, old.status, old.base, then)


def _known(lake: Lake, snapshot_id: str) -> _Known | None:
    """The snapshot's row, if it is there."""
    rows = (
        lake.read_or_empty(SNAPSHOTS.name)
        .where(F.col(c.SNAPSHOT_ID) == snapshot_id)
        .withColumns({x: F.unix_micros(x) for x in _MOMENTS})
        .collect()
    )
    for row in rows:
        return _Known(
            snapshot_id=snapshot_id,
            valid_from=EPOCH + timedelta(microseconds=row[c.VALID_FROM]),
            source=row[c.SOURCE] or "",
            status=row[c.STATUS] or SnapshotStatus.VALID.value,
            base=row[c.BASE],
            being_written=bool(row[c.BEING_WRITTEN]),
            loaded_at=_moment(row[c.LOADED_AT]),
            base_loaded_at=_moment(row[c.BASE_LOADED_AT]),
        )
    return None


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else EPOCH + timedelta(microseconds=microseconds)


def _is_to_be_rebuilt(work: _Work, old: _Known, base: _Known | None) -> bool:
    """Whether a snapshot that is there has to be made of its base anew.

    Raises:
        LakeStateError: it is not made of that base, or its base has changed and it is made of
            other files, too.
    """
    if base is None:
        return False
    of = f"snapshot '{old.snapshot_id}' of {work.lake.root}"
    if old.base != base.snapshot_id:
        made = f"of '{old.base}'" if old.base else "without a base"
        raise LakeStateError(
            f"{of} was made {made}, not of '{base.snapshot_id}'; nothing was written: give "
            "--snapshot a new name, or leave out --base to merge the texts into it"
        )
    if not is_stale(old.loaded_at, old.base_loaded_at, base.loaded_at):
        return False
    if old.source != work.sources.named or work.sources.text is not None:
        raise LakeStateError(
            f"{of} was made of '{base.snapshot_id}', which has changed since, with {old.source}; "
            "nothing was written: give all of these files, or --snapshot a new name"
        )
    return True


def _made_of(lake: Lake, snapshot_id: str) -> tuple[str, ...]:
    """The snapshots that were made of one."""
    heads = lake.in_memory(SNAPSHOTS.name).to_pylist()
    return tuple(sorted(x[c.SNAPSHOT_ID] for x in heads if x[c.BASE] == snapshot_id))


def _joined(before: str, added: str) -> str:
    """Where a snapshot comes from after a merge, each source once."""
    parts = [*before.split(_BETWEEN_SOURCES), *added.split(_BETWEEN_SOURCES)]
    return _BETWEEN_SOURCES.join(dict.fromkeys(part for part in parts if part))
