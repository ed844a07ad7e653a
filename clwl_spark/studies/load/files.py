"""A file of a table, told by its content: CSV as spreadsheets write it, JSON lines, Parquet, Arrow.

Cells of texts stay texts; what they mean is found out column by column (`cells`). No Spark.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from clwl_spark.errors import InputError
from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.studies.load.lines import Longs, lines_of_csv, lines_of_json
from clwl_spark.studies.load.spool import spooled
from clwl_spark.tables.cells import with_readable_texts

PARQUET: Final = b"PAR1"
ARROW: Final = b"ARROW1"
_BEGINNING: Final = 4 << 10
_BLOCK: Final = 8 << 20
_SEPARATORS: Final = ",;\t|"
_BLANK_LINES: Final = re.compile(rb"\A(?:[ \t\r]*\n)+")
_LINE_END: Final = re.compile(rb"\r\n?|\n")
_UTF_16: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BOMS: Final = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class UnreadableFileError(InputError):
    """A file that is no table."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A piece of a file that could not be read: its line, its text, why."""

    line: int
    text: str
    reason: str


def writable(text: str) -> str:
    """A text with marks for the halves of characters that JSON may have."""
    return text.encode(errors="replace").decode()


@dataclass(slots=True)
class Found:
    """What a file holds.

    Attributes:
        rows: its cells, a column per field.
        first_line: the line of its first row; 1 where rows have no lines.
        refused: the pieces that are not in it.
    """

    rows: pa.Table
    first_line: int = 1
    refused: list[Refused] = field(default_factory=list)


def read_table(data: bytes, head: bytes | None = None, first_line: int = 1) -> Found:
    """The table that a file holds.

    Args:
        data: the file's bytes, or those that it grew by.
        head: of a file that grew, its first line, which names the fields.
        first_line: the line that `data` begins with.

    Raises:
        UnreadableFileError: it is none.
    """
    try:
        if data[:4] == PARQUET:
            rows = with_readable_texts(pq.read_table(pa.BufferReader(data)))
            return Found(rows.rename_columns(rows.column_names))
        if data[:6] == ARROW:
            rows = pa.ipc.open_file(pa.BufferReader(data)).read_all()
            rows.validate(full=True)  # what is damaged would end the process, not raise
            return Found(rows.rename_columns(rows.column_names))
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise UnreadableFileError(f"it breaks off or is damaged ({error})") from error
    text = plain_text(data)
    start = (head or text).lstrip()[:1]
    if start in (b"{", b"["):
        return _json(text, first_line)
    return _csv(text, head, first_line)


def can_grow(data: bytes) -> bool:
    """Whether more rows can be written behind such a file: it is of lines, and no list of JSON."""
    return is_text(data) and plain_text(data[:_BEGINNING]).lstrip()[:1] != b"["


def is_text(data: bytes) -> bool:
    """Whether a file is neither Parquet nor Arrow."""
    return data[:4] != PARQUET and data[:6] != ARROW


def whole_lines(data: bytes) -> int:
    """How many bytes the lines have that end; those of a last one without an end come behind."""
    codec = _UTF_16.get(data[:2])
    if codec is None:
        return data.rfind(b"\n") + 1
    return (
        2 + len(data[2:].decode(codec, "replace").rpartition("\n")[0].encode(codec, "replace")) + 2
    )


def read_rest(data: bytes, start: int, line: int) -> Found:
    """The table of what a file of lines grew by.

    A line that was there in part when it was loaded cannot be told from a whole one then; what came
    behind it is refused.

    Args:
        data: the whole file.
        start: bytes that were loaded.
        line: the line that these end in.

    Raises:
        UnreadableFileError: it is none.
    """
    # A mark of the encoding stands at the beginning alone.
    mark = data[:2] if data[:2] in _BOMS else b""
    rest = plain_text(mark + data[start:])
    loaded = plain_text(data[:start])
    head = _BLANK_LINES.sub(b"", loaded, 1).split(b"\n", 1)[0] + b"\n"
    cut, refused = b"", []
    if not loaded.endswith(b"\n"):
        cut, _, rest = rest.partition(b"\n")
        line += 1
    if cut.strip():
        why = "its line was loaded before it was whole"
        refused.append(Refused(line - 1, _shown(cut), why))
    if not rest.strip():
        return Found(pa.table({}), line, refused)
    found = read_table(rest, head, line)
    found.refused[:0] = refused
    return found


def plain_text(data: bytes) -> bytes:
    """Text of any of the usual encodings as UTF-8."""
    for mark, encoding in _BOMS.items():
        if data.startswith(mark):
            return data[3:] if encoding == "utf-8" else data.decode(encoding, "replace").encode()
    return data if _is_utf8(data) else data.decode("cp1252", "replace").encode()


def _is_utf8(data: bytes) -> bool:
    """Whether a text is UTF-8; looked at piece by piece, for it may be large."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _BLOCK):
            decoder.decode(data[at : at + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _csv(text: bytes, head: bytes | None, first_line: int) -> Found:
    """Comma separated values, whatever the comma is; every cell a text."""
    if head is not None:
        text = head + text
        first_line -= 1
    if not text[:_BEGINNING].strip() and not text.strip():
        raise UnreadableFileError("it is empty")
    refused: list[Refused] = []

    def refuse(row: pa.csv.InvalidRow) -> str:
        why = f"it has {row.actual_columns} fields, not {row.expected_columns}"
        refused.append(Refused(row.number or 1, row.text[:SHOWN_TEXT], why))
        return "skip"

    names = _names(text)
    kinds = dict.fromkeys(names, pa.string())
    try:
        with pa.csv.open_csv(
            pa.BufferReader(text),
            read_options=pa.csv.ReadOptions(
                use_threads=False, column_names=names, skip_rows=1, block_size=_BLOCK
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=_separator(text), invalid_row_handler=refuse, newlines_in_values=True
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=kinds,
                strings_can_be_null=True,
                null_values=[""],
                quoted_strings_can_be_null=True,
            ),
        ) as reader:
            rows = spooled(reader.schema, (pa.Table.from_batches([x]) for x in reader))
    except pa.ArrowInvalid as error:
        raise UnreadableFileError(f"it is no table ({error})") from error
    lines = lines_of_csv(text, _separator(text), 1 + rows.num_rows + len(refused)) + first_line - 1
    numbers = [x.line - 1 for x in refused]
    refused = [replace(x, line=int(lines[x.line - 1])) for x in refused]
    return _with_lines(rows, np.delete(lines, [0, *numbers]), refused)


def _with_lines(rows: pa.Table, lines: Longs, refused: Sequence[Refused] = ()) -> Found:
    """Rows with a field of their lines, where these do not follow one another."""
    first = int(lines[0]) if len(lines) else 1
    if not np.array_equal(lines, np.arange(first, first + len(lines))):
        rows = rows.append_column(LINES, pa.array(lines))
    return Found(rows, first, [*refused])


def _separator(text: bytes) -> str:
    """The separator that the first line has most of."""
    first = _first_line(text)
    return max(_SEPARATORS, key=first.count)


def _first_line(text: bytes) -> str:
    end = _LINE_END.search(text)
    return text[: end.start() if end else len(text)].decode(errors="replace")


def _names(text: bytes) -> list[str]:
    """The fields of the first line, each once."""
    first = _first_line(text)
    try:
        names = next(csv.reader(io.StringIO(first), delimiter=_separator(text)), [])
    except csv.Error as error:
        raise UnreadableFileError(f"its first line names no fields ({error})") from error
    if len(names) < 2 and "," not in first:  # noqa: PLR2004  (a line of prose is no table)
        raise UnreadableFileError("its first line names no fields")
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    twice = {name for name, count in seen.items() if count > 1}
    return [f"{name} ({at})" if name in twice else name.strip() for at, name in enumerate(names, 1)]


def _json(text: bytes, first_line: int) -> Found:
    """A document per line, or one list of them."""
    if text.lstrip()[:1] == b"{":
        try:
            rows = _json_lines(text)
        except pa.ArrowInvalid:
            rows = None
        if rows is not None and all(map(_is_whole, rows.itercolumns())):
            return _with_lines(rows, lines_of_json(text, rows.num_rows) + first_line - 1)
    refused: list[Refused] = []
    rows = [
        (line, {writable(name): _cell(value) for name, value in row.items()})
        for line, row in _documents(text, first_line, refused)
    ]
    lines = [line for line, _ in rows]
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    cells = {name: [row.get(name) for _, row in rows] for name in names}
    table = pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})
    return _with_lines(table, np.array(lines, dtype=np.int64), refused)


def _json_lines(text: bytes) -> pa.Table:
    """Rows of a document per line; texts stay texts, as a moment would lose its time zone.

    Raises:
        pa.ArrowInvalid: they are no rows of one kind.
    """
    rows = pa.json.read_json(pa.BufferReader(text))
    moments = [x.with_type(pa.string()) for x in rows.schema if pa.types.is_timestamp(x.type)]
    if not moments:
        return rows
    as_texts = pa.json.ParseOptions(explicit_schema=pa.schema(moments))
    read = pa.json.read_json(pa.BufferReader(text), parse_options=as_texts)
    return read.select(rows.column_names)


def _is_whole(cells: pa.ChunkedArray) -> bool:
    """Whether a column of JSON has values, all as they were written: no long number lost digits."""
    if not pa.types.is_floating(cells.type):
        return not pa.types.is_nested(cells.type)
    return not pc.any(pc.greater_equal(pc.abs(cells), _EXACT)).as_py()


_EXACT: Final = 2.0**53
"""Of numbers from here on, a column in which one has a fraction or 64 bits does not keep each."""
_NO_ROW: Final = "it is no JSON object with fields"

LINES: Final = "\0line"
"""Field with each row's line, where rows do not follow one another line by line."""


def _documents(
    text: bytes, first_line: int, refused: list[Refused]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents of lines, or of one list; what cannot be read is refused."""
    if text.lstrip()[:1] == b"[":
        yield from _listed(text.strip(), first_line, refused)
        return
    for number, line in enumerate(text.split(b"\n"), first_line):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            refused.append(Refused(number, _shown(line), f"it is no JSON ({error})"))
            continue
        if row and isinstance(row, dict):
            yield number, row
        else:
            refused.append(Refused(number, _shown(line), _NO_ROW))


def _listed(
    text: bytes, first_line: int, refused: list[Refused]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents of one list."""
    try:
        rows = json.loads(text)
    except ValueError as error:
        refused.append(Refused(first_line, _shown(text), f"JSON that breaks off ({error})"))
        return
    for number, row in enumerate(rows, 1):
        if row and isinstance(row, dict):
            yield number, row
        else:
            refused.append(Refused(number, str(row)[:SHOWN_TEXT], _NO_ROW))


def _shown(text: bytes) -> str:
    return text[:SHOWN_TEXT].decode(errors="replace")


def _cell(value: object) -> str | None:
    """A value as text; what is no number, as some write a value that is not there, is none."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return writable(value)
    return json.dumps(value) if isinstance(value, bool | dict | list) else str(value)
