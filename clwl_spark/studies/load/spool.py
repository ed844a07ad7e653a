"""Rows and numbers that are many, in temporary files that are mapped into memory.

What is mapped is no memory of the process's own: the system takes it back when others need it. The
files have no names, so that they are gone with the process, however it ends.
"""

import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

Number = TypeVar("Number", bound=np.generic)
Longs = NDArray[np.int64]
SLICE: Final = 1 << 16
"""Rows that are worked on at a time."""


class Spool:
    """Rows that are written one after the other, and then are a table.

    Attributes:
        rows: that were written.
    """

    def __init__(self, schema: pa.Schema) -> None:
        """Write nothing yet."""
        self.rows = 0
        self._schema = schema
        self._file = tempfile.TemporaryFile(prefix="clwl-load-")  # noqa: SIM115  (until `table`)
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, "w"), schema)

    def write(self, rows: pa.Table) -> None:
        """Write rows of the schema."""
        if rows.num_rows:
            self._writer.write_table(rows, max_chunksize=SLICE)
            self.rows += rows.num_rows

    def table(self) -> pa.Table:
        """All rows; nothing can be written any more."""
        self._writer.close()
        self._file.flush()
        with self._file:
            if not self.rows:
                return self._schema.empty_table()
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()


def spooled(schema: pa.Schema, parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of parts as one table that is mapped."""
    spool = Spool(schema)
    for part in parts:
        spool.write(part)
    return spool.table()


def scratch(size: int, kind: DTypeLike = np.int64) -> NDArray[Any]:
    """(size,) zeros that are mapped, and can be written."""
    if not size:
        return np.zeros(0, kind)
    length = size * np.dtype(kind).itemsize
    with tempfile.TemporaryFile(prefix="clwl-load-") as file:
        # A hole in a file that there is no room for would end the process when it is written to.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, length)
        else:
            file.truncate(length)
        return np.frombuffer(mmap.mmap(file.fileno(), length), dtype=kind)


def one_chunk(rows: pa.Table) -> pa.Table:
    """Rows in one chunk, their words numbered alike."""
    return rows.unify_dictionaries().combine_chunks()


def slices(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """The rows in order, so many at a time, each with the place of its first row."""
    held: list[pa.RecordBatch] = []
    start = count = 0
    for batch in rows.to_batches(max_chunksize=SLICE):
        if count and count + batch.num_rows > SLICE:
            yield start, one_chunk(pa.Table.from_batches(held, rows.schema))
            held, start, count = [], start + count, 0
        held.append(batch)
        count += batch.num_rows
    if count:
        yield start, one_chunk(pa.Table.from_batches(held, rows.schema))


def ranges(size: int) -> Iterator[slice]:
    """The places from 0 to a size, so many at a time."""
    for at in range(0, size, SLICE):
        yield slice(at, min(at + SLICE, size))


def pieces(size: int) -> int:
    """How many ranges a size has."""
    return -(-size // SLICE)


class Gatherer:
    """Takes rows of a table from wherever they are, without a copy of the others."""

    def __init__(self, rows: pa.Table) -> None:
        """Of a table of any number of chunks."""
        self._schema = rows.schema
        self._batches = [x for x in rows.to_batches() if x.num_rows]
        self._starts = np.cumsum([0, *(x.num_rows for x in self._batches)])

    def take(self, wanted: Longs) -> pa.Table:
        """The rows of these numbers, in their order, as one chunk."""
        order = None if np.all(np.diff(wanted) >= 0) else np.argsort(wanted, kind="stable")
        ascending = wanted if order is None else wanted[order]
        cuts = np.searchsorted(ascending, self._starts)
        found = [
            self._batches[at].take(pa.array(ascending[cuts[at] : cuts[at + 1]] - self._starts[at]))
            for at in np.flatnonzero(np.diff(cuts))
        ]
        table = one_chunk(pa.Table.from_batches(found, self._schema))
        if order is None:
            return table
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return table.take(pa.array(back))
