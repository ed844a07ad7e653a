"""Splits of Parquet files as Spark hands them out, read by Arrow instead of Spark.

Spark decides which files belong to a micro-batch and how they are split over its tasks; of the
rows themselves only their file's name, as a hash, and their split's start enter Java. Each task
then reads its splits itself. A split is read only if it has exactly the rows that Spark counted:
where rows were deleted within a file, or a file is not what it seems, routing goes Spark's way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.errors import SplitError
from clwl_spark.storage.files import parquet_file, parquet_source
from clwl_spark.tables.cells import in_type

FILE: Final = "file"
START: Final = "start"
ROWS: Final = "rows"
_HASHED_FROM: Final = 42
_SIGNED: Final = 1 << 63
_BATCH_ROWS: Final = 200_000
_OUT_OF_PLACE: Final = re.compile(
    r"[^A-Za-z0-9_/;:@&=+$,!.~'()*\u00a1-\U0010ffff-]|[\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
"""What Java escapes in the path of a URI; beyond ASCII that is only spaces."""
_SCHEMES: Final = ("file:", "file://")
Judged = Mapping[str, NDArray[np.bool_]]
"""For each column that has such: (rows,) which cells cannot be read."""


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a Parquet file.

    Attributes:
        path: of the file.
        start: byte at which the split starts; its row groups are those whose middle is in it.
        rows: how many it has, as Spark counted them.
    """

    path: str
    start: int
    rows: int

    @property
    def name(self) -> str:
        """All of it in one word."""
        return f"{self.start}+{self.rows}@{self.path}"

    @classmethod
    def named(cls, name: str) -> "Split":
        """The split of that name."""
        where, _, path = name.partition("@")
        start, _, rows = where.partition("+")
        return cls(path, int(start), int(rows))


def split_columns() -> list[Column]:
    """What Spark says of each row: (file, start), the hash of its file's name and its split."""
    file = F.xxhash64(F.input_file_name())
    return [file.alias(FILE), F.input_file_block_start().alias(START)]


def counted_splits(rows: DataFrame) -> DataFrame:
    """The splits of rows of `split_columns`: one row per split, (file, start, rows)."""
    return rows.groupBy(FILE, START).agg(F.count(F.lit(1)).alias(ROWS))


def found_splits(batches: Iterable[pa.RecordBatch], folder: str) -> list[Split]:
    """The splits that a task was given.

    Args:
        batches: rows of `split_columns` or of `counted_splits`.
        folder: of the table that the files belong to.

    Raises:
        SplitError: a file is not in the folder.
    """
    counted: Counter[tuple[int, int]] = Counter()
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if ROWS not in table.column_names:
            table = table.group_by([FILE, START]).aggregate([([], "count_all")])
        for file, start, rows in zip(*table.to_pydict().values(), strict=True):
            counted[file, start] += rows
    if not counted:
        return []
    paths = _paths_by_hash(folder, Path(folder).stat().st_mtime_ns)
    unknown = sum(file not in paths for file, _ in counted)
    if unknown:
        raise SplitError(f"{unknown} files of the batch are not in {folder}")
    return [Split(paths[file], start, rows) for (file, start), rows in counted.items()]


def read_split(
    split: Split, schema: pa.Schema, batch_rows: int, dictionaries: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """The rows of a split, in the order of the file.

    Args:
        split: what to read.
        schema: the columns, and the types that they get; one that the file lacks is null.
        batch_rows: rows of a batch at the most.
        dictionaries: string columns that are read as dictionaries of their words.

    Raises:
        SplitError: it has not the rows that Spark counted, or a column of another kind.
    """
    for batch, _ in read_judged(split, schema, batch_rows, dictionaries):
        yield batch


def read_judged(
    split: Split, schema: pa.Schema, batch_rows: int, dictionaries: Sequence[str] = ()
) -> Iterator[tuple[pa.RecordBatch, Judged]]:
    """As `read_split`, with the cells that cannot be read: they are null, or have U+FFFD."""
    for batch in _as_written(split, schema, batch_rows, dictionaries):
        yield _typed(batch, schema, dictionaries)


def split_rows(split: Split, schema: pa.Schema, rows: NDArray[np.int32]) -> pa.Table:
    """Some rows of a split, in the order of `rows`, with these columns."""
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    found, first = [], 0
    for batch in _as_written(split, schema, _BATCH_ROWS):
        low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
        taken = batch.take(pa.array(wanted[low:high] - first))
        found.append(_typed(taken, schema)[0])
        first += batch.num_rows
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return pa.Table.from_batches(found, schema).take(pa.array(back))


def spark_hash(words: Iterable[str | None]) -> int:
    """Spark's `xxhash64` of strings."""
    value = _HASHED_FROM
    for word in words:
        if word is not None:
            value = xxhash.xxh64_intdigest(word.encode(), seed=value)
    return value - 2 * _SIGNED if value >= _SIGNED else value


@lru_cache(maxsize=2)
def _paths_by_hash(folder: str, _changed: int) -> dict[int, str]:
    """The Parquet files of a table's folder by the hash of the name that Spark gives them.

    Held by a worker until the folder changes: it may have many files, and a worker many tasks. What
    is escaped comes before what is not: one file may be called as another one is spelled.
    """
    paths = [str(path) for path in Path(folder).absolute().glob("*.parquet")]
    escaped = [_OUT_OF_PLACE.sub(lambda found: quote(found.group()), path) for path in paths]
    return {
        spark_hash([f"{scheme}{name}"]): path
        for names in (paths, escaped)
        for name, path in zip(names, paths, strict=True)
        for scheme in _SCHEMES
    }


def _row_groups(metadata: Any, split: Split) -> list[int]:  # noqa: ANN401  (not exported)
    """The row groups of a split: from the first whose middle is in it, as many as make its rows."""
    taken: list[int] = []
    rows = 0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        if rows < split.rows and middle_of(group) >= split.start:
            taken.append(at)
            rows += group.num_rows
    if rows != split.rows:
        raise SplitError(f"{split.name} has {rows} rows, Spark counted {split.rows}")
    return taken


def middle_of(group: Any) -> int:  # noqa: ANN401  (not exported)
    """The byte by which Parquet's own reader says which split a row group belongs to."""
    columns = [group.column(at) for at in range(group.num_columns)]
    first = columns[0]
    starts = [x for x in (first.dictionary_page_offset, first.data_page_offset) if x]
    return int(min(starts) + sum(x.total_compressed_size for x in columns) // 2)


def _as_written(
    split: Split, schema: pa.Schema, batch_rows: int, dictionaries: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """The rows of a split, with those of the schema's columns that the file has."""
    metadata = pq.read_metadata(parquet_source(split.path), memory_map=True)
    groups = _row_groups(metadata, split)
    found = {metadata.schema.column(at).path for at in range(metadata.num_columns)}
    with parquet_file(
        split.path,
        metadata=metadata,
        read_dictionary=[x for x in dictionaries if x in found],
        coerce_int96_timestamp_unit="us",
    ) as file:
        there = [name for name in schema.names if name in file.schema_arrow.names]
        yield from file.iter_batches(batch_rows, groups, there, use_threads=False)


def _typed(
    batch: pa.RecordBatch, schema: pa.Schema, dictionaries: Sequence[str] = ()
) -> tuple[pa.RecordBatch, Judged]:
    """The batch's columns in the schema's types, null where absent, and what cannot be read."""
    columns: list[pa.Array] = []
    judged: dict[str, NDArray[np.bool_]] = {}
    for field in schema:
        at = batch.schema.get_field_index(field.name)
        if at < 0:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        try:
            cells, unread = in_type(
                batch.column(at), field.type, as_words=field.name in dictionaries
            )
        except pa.ArrowException as error:
            kind = batch.schema.field(at).type
            raise SplitError(f"column '{field.name}' of a file of messages is {kind}") from error
        columns.append(cells)
        if unread is not None:
            judged[field.name] = unread
    return pa.record_batch(columns, names=schema.names), judged
