"""Files that MQ's tools wrote, into the topology tables of one snapshot.

Source: CONTRACT, "What MQ's texts become", 1, 8 and 9.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import IngestError
from clwl_spark.mq import TABLES as READ_TABLES
from clwl_spark.mq import Reading, Reject, decode, read_texts
from clwl_spark.mq.merge import merge
from clwl_spark.mq.records import Row
from clwl_spark.mq.scan import scan
from clwl_spark.mq.sections import read_sections
from clwl_spark.schemas import INGEST_REJECTS, SNAPSHOTS, TABLES
from clwl_spark.storage import Lake
from clwl_spark.topology.inspection import inspect
from clwl_spark.topology.write import Snapshot, commit, snapshot_row
from clwl_spark.vocabulary import SnapshotStatus

STEM: Final = "{stem}"
"""Observer that stands for each file's name without its suffix: QM1 for scripts/QM1.mqsc."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_REJECTS: Final = 3
_BETWEEN_SOURCES: Final = "; "
Text = tuple[str, str]


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What one ingest did.

    Attributes:
        snapshot_id: the snapshot.
        files: files read.
        rows: rows that the files gave, by table.
        replaced: of these, rows that the snapshot had with other values, by table.
        rejects: the pieces that could not be used.
    """

    snapshot_id: str
    files: int
    rows: dict[str, int]
    replaced: dict[str, int]
    rejects: tuple[Reject, ...]

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl ingest --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "files": self.files,
            "rows": self.rows,
            "rejects": [asdict(reject) for reject in self.rejects],
        }


def ingest(
    lake: Lake,
    paths: Sequence[Path],
    snapshot_id: str,
    valid_from: datetime | None = None,
    observer: str | None = None,
    *,
    strict: bool = False,
) -> IngestSummary:
    """Read files and folders into a snapshot; what it has already is merged with them.

    A row of a key that the snapshot has is replaced where the files say something else.

    Args:
        lake: where to.
        paths: files, and folders that are read with their subfolders, less hidden files.
        snapshot_id: the snapshot, which may be there.
        valid_from: in force from; default now for a new snapshot, unchanged for one that is there.
        observer: the queue manager of texts that name none; `{stem}` = the file's name.
        strict: refuse all if any piece cannot be used.

    Raises:
        IngestError: no file, nothing that can be used, a text of which the queue manager is not
            known, or `strict` and a reject; the lake is as it was.
        LakeStateError: routing has used the snapshot, and it would change.
    """
    files = _files(paths)
    reading = _read([(str(path), _text(path)) for path in files], observer)
    _refuse_unusable(reading, len(files), strict=strict)
    frames = {name: _frame(lake, snapshot_id, name, reading.rows[name]) for name in READ_TABLES}
    old = _known(lake, snapshot_id)
    if old is not None:
        frames = {name: _merged(lake, old, name, frame) for name, frame in frames.items()}
    rejects = [asdict(reject) for reject in reading.rejects]
    frames[INGEST_REJECTS.name] = _frame(lake, snapshot_id, INGEST_REJECTS.name, rejects)
    inspection = inspect(lake, [snapshot_id], frames)
    source = _BETWEEN_SOURCES.join(str(path) for path in paths)
    start = valid_from or (old.valid_from if old else datetime.now(UTC))
    if old is None:
        head = Snapshot(snapshot_id, start, source)
    elif inspection.changed_content:
        # Whatever a gate said of the old content: the new has to pass the gates anew.
        head = Snapshot(snapshot_id, start, _joined(old.source, source))
    else:
        head = Snapshot(snapshot_id, start, old.source, old.status)
    commit(lake, inspection, snapshot_row(lake, head))
    return IngestSummary(
        snapshot_id=snapshot_id,
        files=len(files),
        rows={name: len(rows) for name, rows in reading.rows.items()},
        replaced={name: inspection.replaced[name] for name in READ_TABLES},
        rejects=tuple(reading.rejects),
    )


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files of these paths, each once, those of a folder in order."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if _is_meant(file, path))
        elif path.exists():
            found.append(path)
        else:
            raise IngestError(f"no such file or folder: {path}; give MQ's exports or their folder")
    if not found:
        folders = ", ".join(str(path) for path in paths)
        raise IngestError(f"no files in {folders}: give MQ's exports or their folder")
    return list(dict.fromkeys(found))


def _is_meant(file: Path, folder: Path) -> bool:
    """Whether a file of a folder is read: neither it nor a folder on the way is hidden."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.is_file() and not hidden


def _text(path: Path) -> str:
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}") from error


def _read(texts: Sequence[Text], observer: str | None) -> Reading:
    """Read texts; with `{stem}`, those that do not name their queue manager by their file."""
    if observer != STEM:
        return read_texts(texts, observer)
    nameless: dict[str, list[Text]] = {}
    named: list[Text] = []
    for source, text in texts:
        if _names_its_qmgr(source, text):
            named.append((source, text))
        else:
            nameless.setdefault(Path(source).stem, []).append((source, text))
    readings = [read_texts(named), *(read_texts(group, stem) for stem, group in nameless.items())]
    return _together(readings)


def _names_its_qmgr(source: str, text: str) -> bool:
    try:
        read_sections(list(scan(text)), source, None)
    except IngestError:
        return False
    return True


def _together(readings: Iterable[Reading]) -> Reading:
    """Several readings as one; of contradicting rows the later is a reject."""
    rows: list[Row] = []
    rejects: list[Reject] = []
    qmgrs: list[str] = []
    for reading in readings:
        qmgrs += reading.qmgrs
        rejects += reading.rejects
        for name, found in reading.rows.items():
            rows += [_row(name, values) for values in found]
    kept, conflicts = merge(rows)
    tables: dict[str, list[dict[str, object]]] = {name: [] for name in READ_TABLES}
    for row in kept:
        tables[row.table].append(row.values)
    return Reading(tables, [*rejects, *conflicts], tuple(dict.fromkeys(qmgrs)))


def _row(table: str, values: Mapping[str, object]) -> Row:
    file, _, line = str(values[c.SOURCE]).rpartition(":")
    known = {column: value for column, value in values.items() if column != c.SOURCE}
    return Row(table, known, file, int(line), partial=True)


def _refuse_unusable(reading: Reading, files: int, *, strict: bool) -> None:
    rejects = [f"{x.file}:{x.line}: {x.reason}" for x in reading.rejects]
    shown = "; ".join(rejects[:_SHOWN_REJECTS]) or "no MQ object in them"
    if not any(reading.rows.values()):
        raise IngestError(
            f"nothing in {files} file(s) can be used ({shown}): give MQSC scripts, "
            "dmpmqcfg dumps or output of DISPLAY commands"
        )
    if strict and rejects:
        raise IngestError(
            f"{len(rejects)} piece(s) cannot be used ({shown}); nothing was written: "
            "correct them, or ingest without --strict"
        )


def _frame(
    lake: Lake, snapshot_id: str, table: str, rows: Iterable[Mapping[str, object]]
) -> DataFrame:
    """Rows with the contract's columns.

    Grain: one row per row.
    """
    names = TABLES[table].names
    named = ({**row, c.SNAPSHOT_ID: snapshot_id} for row in rows)
    tuples = [tuple(row.get(name) for name in names) for row in named]
    return lake.spark.createDataFrame(tuples, TABLES[table].schema)


def _known(lake: Lake, snapshot_id: str) -> Snapshot | None:
    """The snapshot's row, if it is there."""
    rows = (
        lake.read_or_empty(SNAPSHOTS.name)
        .where(F.col(c.SNAPSHOT_ID) == snapshot_id)
        .select(F.unix_micros(c.VALID_FROM), c.SOURCE, c.STATUS)
        .collect()
    )
    for micros, source, status in rows:
        start = _EPOCH + timedelta(microseconds=micros)
        return Snapshot(snapshot_id, start, source or "", status or SnapshotStatus.VALID.value)
    return None


def _merged(lake: Lake, old: Snapshot, table: str, new: DataFrame) -> DataFrame:
    """The snapshot's rows with the new ones in place of those of their keys.

    Grain: one row per key, before and after.
    """
    there = lake.read_or_empty(table).where(F.col(c.SNAPSHOT_ID) == old.snapshot_id)
    keys = list(TABLES[table].keys)
    return there.join(new.select(*keys), keys, "left_anti").unionByName(new)


def _joined(before: str, added: str) -> str:
    """Where a snapshot comes from after a merge, each source once."""
    parts = [*before.split(_BETWEEN_SOURCES), *added.split(_BETWEEN_SOURCES)]
    return _BETWEEN_SOURCES.join(dict.fromkeys(part for part in parts if part))
