"""Files of puts into the table of messages, each content once.

Source: CONTRACT, `clwl load`.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.logs import OnProgress
from clwl_spark.mq.read import PassedOver
from clwl_spark.snapshots.reading import Sources, sources_of
from clwl_spark.studies.load.delta_tables import apart, table_of
from clwl_spark.studies.load.derived import Made, last_of_keys, made_of_counts, with_counts
from clwl_spark.studies.load.known import Known, known_contents, once
from clwl_spark.studies.load.mapping import Mapped
from clwl_spark.studies.load.numbering import Numbered, last_of_lake, numbered
from clwl_spark.studies.load.one_file import LoadFile, LoadOptions, LoadReject, file_of
from clwl_spark.studies.load.timeline import Timeline, TimelineSummary
from clwl_spark.studies.load.traced_files import (
    TraceNotes,
    link_routes,
    read_records,
    take_traces,
)
from clwl_spark.tables import (
    CONFIG_EVENTS,
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
_WRITTEN: Final = (
    OBSERVED_ROUTES.name, OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name,
    CONFIG_EVENTS.name, MESSAGES.name,
)  # fmt: skip
"""In the order that they are written in: counts before the readings that they are made of."""
_KEYED: Final = frozenset(
    {OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name, CONFIG_EVENTS.name}
)
"""Tables in which a record that comes again, in another file, is the same row."""
_TOLD_EVERY: Final = 16
_WORDS: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
"""What a reason cites of a file."""


class NothingLoadedError(InputError):
    """No message in any of the files, or some that cannot be read under `strict`."""


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
        trace: what is to be told of activity trace.
        synthetic: messages made from counts.
        outside: rows that the bounds leave out.
        read_once: counters that were read once, so that nothing is known to have been counted.
        restarted: times that a counter began anew between two readings.
        written: whether anything was written.
        timeline: what became of the line of snapshots; None = there was none to grow.
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
    trace: TraceNotes
    synthetic: int
    outside: int
    read_once: int
    restarted: int
    written: bool
    timeline: TimelineSummary | None = None

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
            "repeated": self.trace.repeated,
            "unopened": self.trace.unopened,
            "set_back": dict(self.trace.set_back),
            "synthetic": self.synthetic,
            "outside": self.outside,
            "counters_read_once": self.read_once,
            "counters_restarted": self.restarted,
            "written": self.written,
            **({"timeline": self.timeline.to_json()} if self.timeline else {}),
        }


def load(
    lake: Lake,
    paths: Sequence[Path],
    options: LoadOptions,
    tell: OnProgress,
    line: Timeline | None = None,
) -> LoadSummary:
    """Load files and folders; what the lake has of them already is left out.

    Args:
        lake: where to.
        paths: files, and folders that are read with their subfolders, less hidden files.
        options: how.
        tell: told (stage, done, total) as work goes on.
        line: a timeline of the lake that statuses make longer; None = they make none.

    Raises:
        IngestError: a path is not there, or there are no files.
        NothingLoadedError: nothing can be used, or `strict` and a reject; the lake is as it was.
        UsageError: a field that is named is not there.
    """
    needs_files = options.seed is None and line is None
    sources = sources_of(paths) if paths or needs_files else None
    known = known_contents(lake)
    files, waiting, skipped = _files(known, sources.files if sources else (), options, tell)
    notes = _read(lake, files, options, tell)
    if line is not None:
        line.judge(files)
    rejects = [_kept(x, options) for one in files for x in one.rejects]
    _refuse(files, rejects, strict=options.strict)
    tables, from_counters = with_counts(lake, _together(files))
    made = made_of_counts(lake, tables, known, options.seed)
    ready = _numbered(lake, [tables.get(MESSAGES.name, _none()), made.puts])
    tables[MESSAGES.name] = ready.rows
    _link(files, tables, ready)
    grown = None if line is None else line.grow(tables)
    is_new = bool(files or made.counts or (grown and grown.snapshots))
    if is_new and not options.dry_run:
        tell("writing", 0, 1)
        if files or made.counts:
            _write(lake, files, tables, rejects, made)
        if line is not None:
            line.write()
        tell("writing", 1, 1)
    times = pa.compute.min_max(ready.rows[c.PUT_TIME]).as_py()
    return LoadSummary(
        files=len(files),
        known=skipped,
        rows={name: tables[name].num_rows for name in _WRITTEN if name in tables},
        rejects=tuple(rejects),
        passed=(*_passed(sources, files), *waiting),
        mappings={x.name: x.fields for x in files if x.fields},
        first=times["min"],
        last=times["max"],
        guessed=ready.guessed,
        late=ready.late,
        trace=notes,
        synthetic=made.puts.num_rows,
        outside=sum(x.outside for x in files),
        read_once=from_counters.alone,
        restarted=from_counters.restarted,
        written=is_new and not options.dry_run,
        timeline=grown,
    )


def _read(
    lake: Lake, files: Sequence[LoadFile], options: LoadOptions, tell: OnProgress
) -> TraceNotes:
    """Read what the files record, less what is out of bounds or written already."""
    read_records(files, tell)
    notes = take_traces(lake, files)
    for one in files:
        one.bound(options.bounds)
        one.leave_written()
    return notes


def _passed(sources: Sources | None, files: Sequence[LoadFile]) -> Iterator[PassedOver]:
    """The files that were not read, and those that give no row."""
    if sources is not None:
        yield from sources.passed
    for one in files:
        if one.needless and not any(one.rows):
            yield PassedOver(one.name, _needless(one))


def _kept(reject: LoadReject, options: LoadOptions) -> LoadReject:
    """What of a piece that cannot be used is stored: its words are not, where they are secret."""
    if not options.redact:
        return reject
    return replace(reject, text="", reason=_WORDS.sub("'...'", reject.reason))


def _none() -> pa.Table:
    return MESSAGES.arrow(MESSAGES.names).empty_table()


def _files(
    known: Known, paths: Sequence[Path], options: LoadOptions, tell: OnProgress
) -> tuple[list[LoadFile], list[PassedOver], int]:
    """Files with something new, those that wait for the rest of a piece, and how many are known."""
    files: list[LoadFile] = []
    waiting: list[PassedOver] = []
    skipped = 0
    met: set[str] = set()
    plain, tables = apart(paths)
    for done, path in enumerate([*plain, *tables]):
        if done % _TOLD_EVERY == 0:
            tell("reading", done, len(paths))
        if done < len(plain):
            found = file_of(len(files), path, known, options)
        else:
            found = table_of(path, known, options)
        if found is not None and found.is_waiting:
            waiting.append(
                PassedOver(found.name, "nothing in it is new but a piece that breaks off")
            )
        elif found is None or found.part.content in met:
            skipped += 1
        else:
            files.append(found)
            met.add(found.part.content)
    tell("reading", len(paths), len(paths))
    return files, waiting, skipped


def _needless(file: LoadFile) -> str:
    """What a file of records holds that gives no row."""
    kinds = ", ".join(f"{count} x {kind}" for kind, count in file.needless.items())
    return f"it gives no row; it holds {kinds}"


def _refuse(files: Sequence[LoadFile], rejects: Sequence[LoadReject], *, strict: bool) -> None:
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


def _link(files: Sequence[LoadFile], tables: dict[str, pa.Table], ready: Numbered) -> None:
    """Give the routes of traced messages their put_seq."""
    first = 0
    for one in files:
        if MESSAGES.name in one.rows:
            link_routes(one, ready.put_seq, first)
            first += one.rows[MESSAGES.name].num_rows
    routes = [x.rows[OBSERVED_ROUTES.name] for x in files if OBSERVED_ROUTES.name in x.rows]
    if routes:
        tables[OBSERVED_ROUTES.name] = pa.concat_tables(routes)


def _together(files: Sequence[LoadFile]) -> dict[str, pa.Table]:
    """The rows of all files, by table."""
    parts: dict[str, list[pa.Table]] = {}
    for one in files:
        for name, rows in one.rows.items():
            parts.setdefault(name, []).append(rows)
    return {name: pa.concat_tables(found) for name, found in parts.items()}


def _write(
    lake: Lake,
    files: Sequence[LoadFile],
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
