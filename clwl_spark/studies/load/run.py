"""Files of puts into the table of messages, each content once.

Source: CONTRACT, `clwl load`.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.logs import OnProgress
from clwl_spark.mq.read import PassedOver
from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.mq.traffic import is_recorded, text_of
from clwl_spark.snapshots.reading import sources_of
from clwl_spark.studies.load.bounds import Bounds
from clwl_spark.studies.load.cells import Cells, Reading, messages_of
from clwl_spark.studies.load.derived import Made, last_of_keys, made_of_counts, with_counts
from clwl_spark.studies.load.files import (
    LINES,
    Found,
    Refused,
    UnreadableFileError,
    can_grow,
    read_rest,
    read_table,
)
from clwl_spark.studies.load.known import Known, Part, known_contents, once
from clwl_spark.studies.load.mapping import Mapped, mapped
from clwl_spark.studies.load.numbering import Numbered, last_of_lake, numbered
from clwl_spark.studies.load.recorded import recorded
from clwl_spark.studies.load.series import FIELDS, Series
from clwl_spark.tables import (
    COUNTER_READINGS,
    LOAD_REJECTS,
    LOADS,
    MESSAGES,
    OBSERVED_COUNTS,
    OBSERVED_ROUTES,
    STATUS_EVENTS,
    TABLES,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_text

_SHOWN_REJECTS: Final = 3
_MUST: Final = (c.PUT_TIME, c.OBJECT_NAME)
_WRITTEN: Final = (
    OBSERVED_ROUTES.name, OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name,
    MESSAGES.name,
)  # fmt: skip
"""In the order that they are written in: counts before the readings that they are made of."""
_KEYED: Final = frozenset({OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name})
"""Tables in which a record that comes again, in another file, is the same row."""
_TOLD_EVERY: Final = 16
_WORDS: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
"""What a reason cites of a file."""


class NothingLoadedError(InputError):
    """No message in any of the files, or some that cannot be read under `strict`."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How files are loaded.

    Attributes:
        fields: column -> field, where the names do not tell it.
        reading: what the files leave open.
        strict: refuse all if any piece cannot be used.
        dry_run: look, and write nothing.
        bounds: the moments between which rows are loaded.
        redact: store nothing of a piece that cannot be used but where it is and why.
        seed: make puts of the counts, drawn with it; None = do not.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    strict: bool = False
    dry_run: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    redact: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class LoadReject:
    """A piece that could not be used."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What a load did.

    Attributes:
        files: files that gave something new.
        known: files that the lake has already.
        rows: rows that were written, or would be, by table.
        rejects: pieces that could not be used.
        passed: files that were not read, and why.
        mappings: by file, column -> field.
        first: put_time of the first message; None = there is none.
        last: of the last one.
        guessed: messages whose order among those of the same moment is the file's.
        late: messages put before one that the lake had.
        synthetic: messages made from counts.
        outside: rows that the bounds leave out.
        read_once: counters that were read once, so that nothing is known to have been counted.
        restarted: times that a counter began anew between two readings.
        written: whether anything was written.
    """

    files: int
    known: int
    rows: Mapping[str, int]
    rejects: tuple[LoadReject, ...]
    passed: tuple[PassedOver, ...]
    mappings: Mapping[str, Mapped]
    first: datetime | None
    last: datetime | None
    guessed: int
    late: int
    synthetic: int
    outside: int
    read_once: int
    restarted: int
    written: bool

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl load --json`."""
        return {
            "files": self.files,
            "known": self.known,
            "rows": dict(self.rows),
            "rejects": [
                {"file": x.file, "line": x.line, "text": x.text, "reason": x.reason}
                for x in self.rejects
            ],
            "passed_over": [{"file": x.file, "why": x.why} for x in self.passed],
            "mappings": self.mappings,
            "from": self.first and moment_text(self.first),
            "to": self.last and moment_text(self.last),
            "order_guessed": self.guessed,
            "late": self.late,
            "synthetic": self.synthetic,
            "outside": self.outside,
            "counters_read_once": self.read_once,
            "counters_restarted": self.restarted,
            "written": self.written,
        }


@dataclass(slots=True)
class _File:
    """A file with something new."""

    name: str
    part: Part
    size: int
    rows: dict[str, pa.Table] = field(default_factory=dict)
    rejects: list[LoadReject] = field(default_factory=list)
    fields: Mapped = field(default_factory=dict)
    needless: str = ""
    outside: int = 0

    @property
    def is_of_use(self) -> bool:
        """Whether it gives a row, or is a record that needs none, or one of another time."""
        return bool(self.needless or self.outside) or any(x.num_rows for x in self.rows.values())


def load(lake: Lake, paths: Sequence[Path], options: LoadOptions, tell: OnProgress) -> LoadSummary:
    """Load files and folders; what the lake has of them already is left out.

    Args:
        lake: where to.
        paths: files, and folders that are read with their subfolders, less hidden files.
        options: how.
        tell: told (stage, done, total) as work goes on.

    Raises:
        IngestError: a path is not there, or there are no files.
        NothingLoadedError: nothing can be used, or `strict` and a reject; the lake is as it was.
        UsageError: a field that is named is not there.
    """
    sources = sources_of(paths) if paths or options.seed is None else None
    paths_read = sources.files if sources else ()
    known = known_contents(lake)
    files: list[_File] = []
    skipped = 0
    met: set[str] = set()
    for done, path in enumerate(paths_read):
        if done % _TOLD_EVERY == 0:
            tell("reading", done, len(paths_read))
        found = _file(path, known, options)
        if found is None or found.part.content in met:
            skipped += 1
        else:
            files.append(found)
            met.add(found.part.content)
    tell("reading", len(paths_read), len(paths_read))
    rejects = [_kept(x, options) for one in files for x in one.rejects]
    _refuse(files, rejects, strict=options.strict)
    tables, from_counters = with_counts(lake, _together(files))
    made = made_of_counts(lake, tables, known, options.seed)
    ready = _numbered(lake, [tables.get(MESSAGES.name, _none()), made.puts])
    tables[MESSAGES.name] = ready.rows
    is_new = bool(files or made.counts)
    if is_new and not options.dry_run:
        tell("writing", 0, 1)
        _write(lake, files, tables, rejects, made)
        tell("writing", 1, 1)
    passed = [PassedOver(x.name, x.needless) for x in files if x.needless and not any(x.rows)]
    times = pa.compute.min_max(ready.rows[c.PUT_TIME]).as_py()
    return LoadSummary(
        files=len(files),
        known=skipped,
        rows={name: tables[name].num_rows for name in _WRITTEN if name in tables},
        rejects=tuple(rejects),
        passed=(*(sources.passed if sources else ()), *passed),
        mappings={x.name: x.fields for x in files if x.fields},
        first=times["min"],
        last=times["max"],
        guessed=ready.guessed,
        late=ready.late,
        synthetic=made.puts.num_rows,
        outside=sum(x.outside for x in files),
        read_once=from_counters.alone,
        restarted=from_counters.restarted,
        written=is_new and not options.dry_run,
    )


def _file(path: Path, known: Known, options: LoadOptions) -> _File | None:
    """What is new in a file; None = nothing."""
    data = path.read_bytes()
    grows = can_grow(data)
    part = known.part(data, grows=grows, bounds=options.bounds.name)
    if part.start == len(data) and part.start:
        return None
    found = _File(str(path), part, len(data))
    try:
        if is_recorded(data):
            _take_records(found, text_of(data, part.start), options.reading)
        else:
            _take_table(found, _table(data, part), options)
    except UnreadableFileError as error:
        found.rejects.append(LoadReject(found.name, 0, "", str(error)))
    _bound(found, options.bounds)
    found.rows = {x: y for x, y in found.rows.items() if y.num_rows and x not in part.written}
    return found


def _bound(found: _File, bounds: Bounds) -> None:
    """Keep the rows between some moments; where others are left out, the file is not whole."""
    kept = {name: bounds.within(name, rows) for name, rows in found.rows.items()}
    found.outside = sum(rows.num_rows - kept[name].num_rows for name, rows in found.rows.items())
    found.rows = kept
    if found.outside:
        found.part = replace(found.part, content=found.part.within)


def _kept(reject: LoadReject, options: LoadOptions) -> LoadReject:
    """What of a piece that cannot be used is stored: its words are not, where they are secret."""
    if not options.redact:
        return reject
    return replace(reject, text="", reason=_WORDS.sub("'...'", reject.reason))


def _take_table(found: _File, table: Found, options: LoadOptions) -> None:
    """Take the puts of a table."""
    if table.rows.column_names and FIELDS.issubset(table.rows.column_names):
        table = _expanded(table)
    if not table.rows.column_names:
        found.rejects += [LoadReject(found.name, *astuple(x)) for x in table.refused]
        return
    found.fields = mapped(table.rows.column_names, options.fields)
    _require(found.fields, table.rows.column_names, options.reading)
    cells = messages_of(table.rows, found.fields, options.reading)
    found.rows[MESSAGES.name] = cells.rows.filter(pa.array(cells.usable))
    found.rejects += [
        LoadReject(found.name, x.line, x.text, x.reason)
        for x in sorted([*table.refused, *_refused(table, cells)], key=_line)
    ]


def _take_records(found: _File, text: str, how: Reading) -> None:
    """Take what MQ recorded."""
    taken = recorded(text, found.name, how)
    found.rows.update(taken.rows)
    found.needless = taken.needless
    found.rejects += [LoadReject(found.name, x.line, x.text, x.reason) for x in taken.refused]


def _expanded(table: Found) -> Found:
    """The puts that the lines of a table in compact form stand for."""
    found = Found(_none(), table.first_line, list(table.refused))
    puts: list[dict[str, Any]] = []
    lines: list[int] = []
    for at, words in enumerate(table.rows.to_pylist()):
        line = table.first_line + at
        try:
            own = [*Series(line - 1, words).puts()]
        except UsageError as error:
            text = ",".join("" if x is None else str(x) for x in words.values())
            found.refused.append(Refused(line, text[:SHOWN_TEXT], str(error)))
            continue
        puts += own
        lines += [line] * len(own)
    columns = [x for x in MESSAGES.names if x != c.PUT_SEQ]
    schema = MESSAGES.arrow(columns)
    rows = pa.Table.from_pylist([{x: put.get(x) for x in columns} for put in puts], schema)
    found.rows = rows.append_column(LINES, pa.array(lines, pa.int64()))
    return found


def _line(of: Refused) -> int:
    return of.line


def _table(data: bytes, part: Part) -> Found:
    """The table of a file, or of what it grew by."""
    if not part.start:
        return read_table(data)
    line = data[: part.start].count(b"\n") + 1
    return read_rest(data, part.start, line)


def _require(found: Mapped, fields: Sequence[str], how: Reading) -> None:
    """Refuse a table that lacks what a put has to have.

    Raises:
        UnreadableFileError: it does; the sentence says what can be done.
    """
    columns = [x for x in _MUST if x not in found]
    if c.QMGR not in found and how.observer is None:
        columns.insert(0, c.QMGR)
    if not columns:
        return
    named = ", ".join(fields[:12])
    ways = [f"--map {x}=FIELD" for x in columns if x != c.QMGR]
    ways += ["--observer QM"] if c.QMGR in columns else []
    raise UnreadableFileError(
        f"no field is {' or '.join(columns)} ({named}): give {' and '.join(ways)}"
    )


def _refused(table: Found, cells: Cells) -> Iterable[Refused]:
    """The rows that cannot be used, with their lines."""
    lines = table.rows[LINES] if LINES in table.rows.column_names else None
    for at, reason in enumerate(cells.reasons or ()):
        if reason:
            line = table.first_line + at if lines is None else lines[at].as_py()
            row = table.rows.slice(at, 1).to_pylist()[0]
            text = ",".join("" if x is None else str(x) for name, x in row.items() if name != LINES)
            yield Refused(line, text[:SHOWN_TEXT], reason)


def _none() -> pa.Table:
    return MESSAGES.arrow(MESSAGES.names).empty_table()


def _refuse(files: Sequence[_File], rejects: Sequence[LoadReject], *, strict: bool) -> None:
    """Refuse files of which nothing can be used."""
    shown = "; ".join(f"{x.file}:{x.line}: {x.reason}" for x in rejects[:_SHOWN_REJECTS])
    if files and not any(x.is_of_use or x.part.written for x in files):
        raise NothingLoadedError(
            f"nothing in {len(files)} file(s) can be used ({shown or 'they have no rows'}): give "
            "tables of puts as CSV, JSON lines, Parquet or Arrow, or what MQ records as JSON"
        )
    if strict and rejects:
        raise NothingLoadedError(
            f"{len(rejects)} piece(s) cannot be used ({shown}); nothing was written: correct them, "
            "or load without --strict"
        )


def _numbered(lake: Lake, messages: Sequence[pa.Table]) -> Numbered:
    """All messages, with the put_seq that they get."""
    rows = pa.concat_tables(messages)
    qmgrs = sorted(set(rows[c.QMGR].unique().to_pylist()))
    return numbered(rows, last_of_lake(lake, qmgrs) if qmgrs else {})


def _together(files: Sequence[_File]) -> dict[str, pa.Table]:
    """The rows of all files, by table."""
    parts: dict[str, list[pa.Table]] = {}
    for one in files:
        for name, rows in one.rows.items():
            parts.setdefault(name, []).append(rows)
    return {name: pa.concat_tables(found) for name, found in parts.items()}


def _write(
    lake: Lake,
    files: Sequence[_File],
    tables: Mapping[str, pa.Table],
    rejects: Sequence[LoadReject],
    made: Made,
) -> None:
    """Write which contents are loaded, then the rows: a content is whole when all tables are."""
    there = [x for x in _WRITTEN if x in tables and (tables[x].num_rows or x == MESSAGES.name)]
    lake.create([*(TABLES[x] for x in there), LOADS, LOAD_REJECTS])
    load_id, now = uuid.uuid4().hex, datetime.now(UTC)
    loads = [
        (x.part.content, name, x.size, x.name, rows, now, load_id)
        for x in files
        if x.is_of_use
        for name, rows in ({y: z.num_rows for y, z in x.rows.items()} or {"": 0}).items()
    ]
    loads += [(x, MESSAGES.name, 0, "", rows, now, load_id) for x, rows in made.counts.items()]
    transaction = once(load_id)
    if loads:
        lake.merge(LOADS.name, lake.arrow_rows(LOADS.name, loads))
    told = [(x.file, x.line, x.text, x.reason) for x in rejects]
    if told:
        lake.append(LOAD_REJECTS.name, lake.arrow_rows(LOAD_REJECTS.name, told), transaction)
    for name in there:
        if name in _KEYED:
            lake.merge(name, last_of_keys(tables[name], name), transaction)
        else:
            lake.append(name, tables[name], transaction)
