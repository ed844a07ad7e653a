"""Files of puts into the table of messages, each content once.

Source: CONTRACT, `clwl load`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.logs import OnProgress
from clwl_spark.mq.read import PassedOver
from clwl_spark.snapshots.reading import Sources, sources_of
from clwl_spark.studies.load.counting import Counted, added_up, settled
from clwl_spark.studies.load.delta_tables import apart, table_of
from clwl_spark.studies.load.derived import Made, made_of_counts, with_counts
from clwl_spark.studies.load.known import Known, known_contents
from clwl_spark.studies.load.load_file import LoadFile, LoadOptions, LoadReject
from clwl_spark.studies.load.numbering import Numbered, last_of_lake, numbered
from clwl_spark.studies.load.one_file import WHEN_WHOLE, file_of
from clwl_spark.studies.load.summary import LoadSummary
from clwl_spark.studies.load.timeline import Timeline, TimelineSummary
from clwl_spark.studies.load.traced_files import (
    TraceNotes,
    link_routes,
    read_records,
    take_traces,
)
from clwl_spark.studies.load.writing import WRITTEN, write_contents
from clwl_spark.tables import (
    MESSAGES,
    OBSERVED_COUNTS,
    OBSERVED_ROUTES,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables import loading as t
from clwl_spark.tables.loading import LOAD_REJECTS

_SHOWN_REJECTS: Final = 3
_NO_SOURCES: Final = Sources((), "")
_TOLD_EVERY: Final = 16
_WORDS: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
"""What a reason cites of a file."""


class NothingLoadedError(InputError):
    """No message in any of the files, or some that cannot be read under `strict`."""


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
    sources = sources_of(paths) if paths or needs_files else _NO_SOURCES
    known = known_contents(lake)
    files, waiting, skipped = _files(known, sources.files, options, tell)
    notes = _read(lake, files, options, tell)
    if line is not None:
        line.judge(files)
    rejects = [_kept(x, options) for one in files for x in one.rejects]
    _refuse(files, rejects, strict=options.strict)
    new = _worked_out(lake, files, known, options, line)
    is_written = new.is_there and not options.dry_run
    if is_written:
        _save(lake, new, rejects, line, tell)
    times = pa.compute.min_max(new.messages.rows[c.PUT_TIME]).as_py()
    return LoadSummary(
        files=len(files),
        known=len(skipped),
        set_aside=_set_aside(lake, skipped),
        rows={name: new.tables[name].num_rows for name in WRITTEN if name in new.tables},
        rejects=tuple(rejects),
        passed=(*_passed(sources, files), *waiting),
        mappings={x.name: x.fields for x in files if x.fields},
        first=times["min"],
        last=times["max"],
        guessed=new.messages.guessed,
        late=new.messages.late,
        trace=notes,
        synthetic=new.made.puts.num_rows,
        outside=sum(x.outside for x in files),
        read_once=new.from_counters.alone,
        restarted=new.from_counters.restarted,
        written=is_written,
        timeline=new.grown,
    )


@dataclass(frozen=True, slots=True)
class _New:
    """What is to be written.

    Attributes:
        files: that gave something.
        tables: their rows by table, and those that are made of counts.
        made: what counts come to.
        from_counters: what two readings of counters come to.
        messages: with the put_seq that they get.
        grown: the line of snapshots; None = there is none to grow.
    """

    files: Sequence[LoadFile]
    tables: Mapping[str, pa.Table]
    made: Made
    from_counters: Counted
    messages: Numbered
    grown: TimelineSummary | None

    @property
    def has_rows(self) -> bool:
        """Whether a content is loaded."""
        return bool(self.files or self.made.counts)

    @property
    def is_there(self) -> bool:
        """Whether there is anything."""
        return self.has_rows or (self.grown is not None and self.grown.snapshots > 0)


def _worked_out(
    lake: Lake,
    files: Sequence[LoadFile],
    known: Known,
    options: LoadOptions,
    line: Timeline | None,
) -> _New:
    """What of the files is to be written, and what follows from it."""
    tables, from_counters = with_counts(lake, _together(files))
    if OBSERVED_COUNTS.name in tables:
        longer = {x.name for x in files if x.part.start and not x.part.earlier}
        tables[OBSERVED_COUNTS.name] = settled(lake, tables[OBSERVED_COUNTS.name], longer)
    made = made_of_counts(lake, tables, known, options)
    ready = _numbered(lake, [tables.get(MESSAGES.name, _none()), made.puts])
    tables[MESSAGES.name] = ready.rows
    _link(files, tables, ready)
    grown = None if line is None else line.grow(tables)
    return _New(files, tables, made, from_counters, ready, grown)


def _save(
    lake: Lake,
    new: _New,
    rejects: Sequence[LoadReject],
    line: Timeline | None,
    tell: OnProgress,
) -> None:
    """Write the rows, then the snapshots that are made of them."""
    tell("writing", 0, 1)
    if new.has_rows:
        write_contents(lake, new.files, new.tables, rejects, new.made)
    if line is not None:
        line.write()
    tell("writing", 1, 1)


def _read(
    lake: Lake, files: Sequence[LoadFile], options: LoadOptions, tell: OnProgress
) -> TraceNotes:
    """Read what the files record, less what is out of bounds or written already."""
    notes = take_traces(lake, files, read_records(files, tell))
    for one in files:
        if OBSERVED_COUNTS.name in one.rows:
            one.rows[OBSERVED_COUNTS.name] = added_up(one.rows[OBSERVED_COUNTS.name])
        one.bound(options.bounds)
        one.leave_written()
    return replace(notes, repeated=notes.repeated + sum(x.before for x in files))


def _passed(sources: Sources, files: Sequence[LoadFile]) -> Iterator[PassedOver]:
    """The files that were not read, and those that give no row."""
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


def _set_aside(lake: Lake, files: Sequence[str]) -> int:
    """How many pieces of files that the lake has were not usable when they were loaded.

    A piece that broke off then has come whole since, or comes with what the file grows by.
    """
    if not files or not lake.exists(LOAD_REJECTS.name):
        return 0
    reasons = lake.in_memory(LOAD_REJECTS.name, t.FILE, files, names=[c.REASON])[c.REASON]
    return sum(not str(x).endswith(WHEN_WHOLE) for x in reasons.to_pylist())


def _files(
    known: Known, paths: Sequence[Path], options: LoadOptions, tell: OnProgress
) -> tuple[list[LoadFile], list[PassedOver], list[str]]:
    """Files with something new, those that wait for the rest of a piece, and the names of others.

    The lake has the others already, or another of the files is the same.
    """
    files: list[LoadFile] = []
    waiting: list[PassedOver] = []
    skipped: list[str] = []
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
            skipped.append(str(path))
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
