"""Splits of Parquet files as Spark hands them out, read by Arrow instead of Spark.

Spark decides which files belong to a micro-batch and how they are split over its tasks; of the
rows themselves only their file's name, as a hash, and their split's start enter Java. Each task
then reads its splits itself. A split is read only if it has exactly the rows that Spark counted:
where rows were deleted within a file, or a file is not what it seems, routing goes Spark's way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.errors import SplitError

FILE: Final = "file"
START: Final = "start"
ROWS: Final = "rows"
_HASHED_FROM: Final = 42
_SIGNED: Final = 1 << 63
_BATCH_ROWS: Final = 200_000
_OUT_OF_PLACE: Final = re.compile(r"[^A-Za-z0-9_/;:@&=+$,!.~'()*\u0080-\U0010ffff-]")
"""What Java escapes in the path of a URI; letters beyond ASCII stay as they are."""
_SCHEMES: Final = ("file:", "file://")


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
        SplitError: it has not the rows that Spark counted.
    """
    with pq.ParquetFile(
        split.path,
        memory_map=True,
        read_dictionary=list(dictionaries),
        coerce_int96_timestamp_unit="us",
    ) as file:
        groups = _row_groups(file.metadata, split)
        there = [name for name in schema.names if name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_rows, groups, there, use_threads=False):
            yield pa.record_batch([_column(batch, field) for field in schema], names=schema.names)


def split_rows(split: Split, schema: pa.Schema, rows: NDArray[np.int32]) -> pa.Table:
    """Some rows of a split, in the order of `rows`, with these columns."""
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    found, first = [], 0
    for batch in read_split(split, schema, _BATCH_ROWS):
        low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
        found.append(batch.take(pa.array(wanted[low:high] - first)))
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

    Held by a worker until the folder changes: it may have many files, and a worker many tasks.
    """
    found: dict[int, str] = {}
    for path in map(str, Path(folder).absolute().glob("*.parquet")):
        for name in {path, _OUT_OF_PLACE.sub(lambda found: quote(found.group()), path)}:
            found |= {spark_hash([f"{scheme}{name}"]): path for scheme in _SCHEMES}
    return found


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


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """A column of the batch in the field's type, a dictionary of it, or null where it is absent."""
    at = batch.schema.get_field_index(field.name)
    if at < 0:
        return pa.nulls(batch.num_rows, field.type)
    column = batch.column(at)
    if column.type == field.type or pa.types.is_dictionary(column.type):
        return column
    return pc.cast(column, field.type)
