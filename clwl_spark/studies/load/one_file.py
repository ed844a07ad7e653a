"""One file: what is new in it, and the puts of it where it is a table.

Source: CONTRACT, `clwl load`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from mmap import mmap
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from clwl_spark.errors import UsageError
from clwl_spark.mq.read import decode, is_binary, packed, unmarked
from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.mq.traffic import is_recorded, whole_size
from clwl_spark.mq.traffic.cuts import Bytes
from clwl_spark.studies.load.cells import Cells, Reading, messages_of
from clwl_spark.studies.load.files import (
    LINES,
    Found,
    Refused,
    UnreadableFileError,
    can_grow,
    is_text,
    read_rest,
    read_table,
    whole_lines,
)
from clwl_spark.studies.load.known import Known, Part
from clwl_spark.studies.load.load_file import LoadFile, LoadOptions, LoadReject
from clwl_spark.studies.load.mapping import Mapped, mapped
from clwl_spark.studies.load.parts import (
    HEAD_BYTES,
    FilePart,
    as_text,
    contents,
    lines_of,
    parts_of,
)
from clwl_spark.studies.load.recorded import recorded
from clwl_spark.studies.load.series import FIELDS, Series
from clwl_spark.studies.load.span_tables import is_of_spans, text_of_spans
from clwl_spark.studies.load.spool import Spool, ranges
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

_MUST: Final = (c.PUT_TIME, c.OBJECT_NAME)


def file_of(place: int, path: Path, known: Known, options: LoadOptions) -> LoadFile | None:
    """What is new in a file; None = nothing.

    A table is read; records are divided into parts, which are read together with those of other
    files.

    Args:
        place: number of the file.
        path: where it is.
        known: what the lake has.
        options: how it is read.
    """
    return file_with(contents(path), place, path, known, options)


def file_with(
    data: Bytes, place: int, path: Path, known: Known, options: LoadOptions
) -> LoadFile | None:
    """What is new in a file that has these bytes; None = nothing."""
    head = bytes(data[:HEAD_BYTES])
    text = as_text(data) if is_text(head) else data
    if is_recorded(text[:HEAD_BYTES]):
        data = text
        found = _records(place, path, data, known, options)
    else:
        data = text if unmarked(head) else data
        found = _puts(path, data[: len(data)], known, options)
        found.rejects = [x if x.line else _with_hint(x, head) for x in found.rejects]
    is_known = found.is_waiting and found.size == len(data)
    return None if is_known else found


def _with_hint(reject: LoadReject, head: bytes) -> LoadReject:
    """A file that is no table, with what its characters tell of why."""
    if by := packed(head.decode("latin-1")):
        or_saved = ", or save a spreadsheet as CSV" if by == "ZIP" else ""
        return replace(reject, reason=f"it is packed by {by}: unpack it first{or_saved}")
    page = unmarked(head) or ""
    if page.startswith("cp"):
        why = f"; read as EBCDIC {page}: if it is of another page, as IBM-273, iconv makes it UTF-8"
        return replace(reject, reason=reject.reason + why)
    if is_text(head) and is_binary(decode(head)):
        return replace(reject, reason="it is binary, no text: SMF is read as mqsmfcsv prints it")
    return reject


def _puts(path: Path, data: bytes, known: Known, options: LoadOptions) -> LoadFile:
    """The puts of a table."""
    grows = can_grow(data)
    found = LoadFile(
        str(path), known.part(data, grows=grows, bounds=options.bounds.name), len(data)
    )
    if found.is_waiting:
        return found
    try:
        take_table(found, _table(data, found.part), options)
    except UnreadableFileError as error:
        found.rejects.append(LoadReject(found.name, 0, "", str(error)))
    if grows and not data.endswith(b"\n"):
        _leave_cut(found, data, known, options.bounds.name)
    found.leave_written()
    return found


def _leave_cut(found: LoadFile, data: bytes, known: Known, bounds: str) -> None:
    """Do not count a last line that cannot be used as loaded: the rest of it may come yet."""
    whole = whole_lines(data)
    last = data[:whole].count(b"\n") + 1
    lines = {x.line for x in found.rejects}
    is_alone = whole == found.part.start and 0 in lines
    if whole < found.part.start or not (last in lines or is_alone):
        return
    found.size = whole
    found.part = replace(
        known.part(data[:whole], grows=True, bounds=bounds), start=found.part.start
    )
    found.rejects = [
        replace(x, reason=f"{x.reason}; {WHEN_WHOLE}") if x.line in (0, last) else x
        for x in found.rejects
    ]


def _records(place: int, path: Path, data: Bytes, known: Known, options: LoadOptions) -> LoadFile:
    """What MQ recorded, divided into parts."""
    size = whole_size(data)
    found = LoadFile(
        str(path), known.part(data, grows=True, size=size, bounds=options.bounds.name), size
    )
    if size < len(data) and not found.is_waiting:
        line = lines_of(data, 0, size) + 1
        text = data[size : size + SHOWN_TEXT].decode(errors="replace").split("\n", 1)[0]
        found.refuse([Refused(line, text, f"a record that breaks off; {WHEN_WHOLE}")])
    start = found.part.start
    if not found.is_waiting:
        own = None if isinstance(data, mmap) else data[: len(data)]
        how = options.reading
        whole = FilePart(place, path.absolute(), found.name, start, size, 1, False, how, own)
        found.parts = [*parts_of(data, whole)]
    return found


WHEN_WHOLE: Final = "it is taken when it is whole"


def take_table(found: LoadFile, table: Found, options: LoadOptions) -> None:
    """Take the puts of a table."""
    if table.rows.column_names and FIELDS.issubset(table.rows.column_names):
        table = _expanded(table)
    if not table.rows.column_names:
        found.refuse(table.refused)
        return
    if is_of_spans(table.rows.column_names):
        _take_spans(found, table, options)
        return
    names = [x for x in table.rows.column_names if x != LINES]
    found.fields = mapped(names, options.fields)
    _require(found.fields, names, options.reading)
    spool = Spool(MESSAGES.arrow(MESSAGES.names))
    refused = list(table.refused)
    for at in ranges(table.rows.num_rows):
        part = Found(table.rows.slice(at.start, at.stop - at.start), table.first_line + at.start)
        cells = messages_of(part.rows, found.fields, options.reading)
        spool.write(cells.rows.filter(pa.array(cells.usable)))
        refused += _refused(part, cells)
    found.rows[MESSAGES.name] = spool.table()
    found.refuse(sorted(refused, key=_line))


def _take_spans(found: LoadFile, table: Found, options: LoadOptions) -> None:
    """Take the puts among the spans of a table; their lines are its rows."""
    try:
        text = text_of_spans(table.rows)
    except (UnicodeError, OverflowError) as error:
        raise UnreadableFileError(f"its spans cannot be read ({error})") from error
    own = recorded(text, found.name, options.reading, table.first_line)
    found.rows.update(own.rows)
    found.needless += own.needless
    found.refuse(sorted([*table.refused, *own.refused], key=_line))


def _expanded(table: Found) -> Found:
    """The puts that the lines of a table in compact form stand for."""
    found = Found(_none(), table.first_line, list(table.refused))
    puts: list[dict[str, Any]] = []
    lines: list[int] = []
    for at, words in enumerate(table.rows.to_pylist()):
        line = words.pop(LINES, table.first_line + at)
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
