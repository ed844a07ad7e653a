"""Files of records, read in parts by worker processes, whatever their size.

A part begins where a record does, so that its reader needs none of the others.
"""

import gc
import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from clwl_spark.mq.read import decode, unmarked
from clwl_spark.mq.traffic import beginnings, text_of
from clwl_spark.mq.traffic.cuts import Bytes
from clwl_spark.routing.engines.workers import workers
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.files import plain_text
from clwl_spark.studies.load.recorded import RecordedRows, recorded

HEAD_BYTES: Final = 64 << 10
"""Of a file, what tells what it holds, and in which characters."""
PART_BYTES: Final = 8 << 20
MAPPED_BYTES: Final = 256 << 10
"""Files from this size on are mapped into memory, not read."""
HERE_BYTES: Final = 12 << 20
"""Files that together are smaller are read by this process: workers take a second to start."""
_LOOKED_AT: Final = 1 << 20
_HANDLES: Final = re.compile(rb'"activityTrace"|^MonitoringType: MQI', re.MULTILINE)
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
"""Of UTF-16, and the one that some programs put before UTF-8."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file.

    Attributes:
        file: its place among the files.
        path: absolute.
        name: as the user named it.
        start: first byte.
        stop: byte behind the last one.
        line: that it begins with.
        is_known: it was loaded before; its MQOPENs alone are of use.
        how: what the file leaves open.
        data: its bytes, where they are not those of the file.
    """

    file: int
    path: Path
    name: str
    start: int
    stop: int
    line: int
    is_known: bool
    how: Reading
    data: bytes | None = None


def contents(path: Path) -> Bytes:
    """The bytes of a file."""
    if path.stat().st_size < MAPPED_BYTES:
        return path.read_bytes()
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def as_text(data: Bytes) -> Bytes:
    """The bytes of a text of UTF-16 or EBCDIC, or with a mark of UTF-8, as those of UTF-8."""
    if data[:3].startswith(_MARKS):
        return plain_text(data[: len(data)])
    encoding = unmarked(data[:HEAD_BYTES])
    return decode(data[: len(data)], encoding).encode(errors="replace") if encoding else data


def parts_of(data: Bytes, file: FilePart) -> Iterator[FilePart]:
    """The parts of a file; of what was loaded before, those that may hold MQOPENs of later puts.

    Args:
        data: its bytes.
        file: all of it; `start` is where what is new begins.
    """
    pattern = beginnings(data)
    if pattern is None:
        yield replace(file, data=text_of(data[: file.stop], file.start).encode(errors="replace"))
        return
    has_handles = bool(_HANDLES.search(data[:_LOOKED_AT]))
    begin = 0 if has_handles else file.start
    line = 1 + lines_of(data, 0, begin)
    for end in (file.start, file.stop):
        at, begin = begin, max(begin, end)
        while at < end:
            found = pattern.search(data, at + PART_BYTES, end) if at + PART_BYTES < end else None
            stop = found.start() if found else end
            own = data[at:stop] if file.data is not None else None
            yield FilePart(
                file.file, file.path, file.name, at, stop, line, end <= file.start, file.how, own
            )
            line += lines_of(data, at, stop)
            at = stop


def lines_of(data: Bytes, start: int, stop: int) -> int:
    """How many lines end between two places."""
    steps = range(start, stop, PART_BYTES)
    return sum(data[at : min(at + PART_BYTES, stop)].count(b"\n") for at in steps)


def read_parts(parts: Sequence[FilePart]) -> Iterator[tuple[FilePart, RecordedRows]]:
    """The rows of parts, in their order; by worker processes where that pays."""
    size = sum(x.stop - x.start for x in parts)
    if size < HERE_BYTES or len(parts) < 2:  # noqa: PLR2004  (no two to share out)
        yield from zip(parts, map(read_part, parts), strict=True)
        return
    with workers() as pool:
        yield from zip(parts, pool.do(read_part, parts, here=False), strict=True)


def read_part(part: FilePart) -> RecordedRows:
    """The rows of a part."""
    data = part.data
    if data is None:
        with part.path.open("rb") as file:
            file.seek(part.start)
            data = file.read(part.stop - part.start)
    with _uncollected():
        return recorded(data.decode(errors="replace"), part.name, part.how, part.line)


@contextmanager
def _uncollected() -> Iterator[None]:
    """For the block, no search for circles among objects: documents have none, and are many."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
