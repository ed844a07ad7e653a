"""Outcomes written by Arrow: a Parquet file for each split of messages, in the split's order.

What an outcome says beyond its message repeats a lot, so it is written as dictionaries of the
answers' words, and only message_id, put_seq and put_time are read again.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from clwl_spark.delta.commits import DataFile
from clwl_spark.routing.intake.blocks import PAYLOAD, SPLIT, from_ipc
from clwl_spark.routing.intake.by_arrow import SPLIT_ROW
from clwl_spark.routing.intake.splits import Split, read_split
from clwl_spark.routing.output.routed import ANSWER, ROW
from clwl_spark.routing.output.unpack import ANSWERS, DATA
from clwl_spark.routing.state.answers import ANSWER_SCHEMA, with_words
from clwl_spark.storage.files import parquet_sink, size_of
from clwl_spark.storage.places import joined
from clwl_spark.tables import MESSAGES, OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_text

NAME: Final = "name"
SIZE: Final = "size"
STATISTICS: Final = "statistics"
FILE_SCHEMA: Final = f"{NAME} string, {SIZE} bigint, {STATISTICS} string"
_FILE_ARROW: Final = pa.schema([(NAME, pa.string()), (SIZE, pa.int64()), (STATISTICS, pa.string())])
ROW_GROUP: Final = 1_000_000
_OF_MESSAGES: Final = MESSAGES.arrow((c.PUT_SEQ, c.MESSAGE_ID, c.PUT_TIME))
_SKIPPED_BY: Final = [x for x in OUTCOMES.skipped_by if x in ANSWER_SCHEMA.names]
_MILLISECOND: Final = timedelta(milliseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a split's messages were answered, in the order of the split.

    Attributes:
        rows: (outcomes,) row of the split, ascending.
        code: (outcomes,) row of `answers`.
        late: (outcomes,) out_of_order.
        answers: answers (`ANSWER_SCHEMA`); some were not given.
        snapshot: (outcomes,) the snapshot in force; None = the answer says it.
    """

    rows: NDArray[np.int32]
    code: NDArray[np.int32]
    late: NDArray[np.bool_]
    answers: pa.Table
    snapshot: pa.Array | None = None


def write_files(batches: Iterator[pa.RecordBatch], folder: str) -> Iterator[pa.RecordBatch]:
    """Write the outcomes of a task's splits; runs in `mapInArrow`.

    Args:
        batches: rows (split, data, answers, payload), all blocks of the task's splits.
        folder: of the table; the files are no part of it until they are committed.

    Grain: one row per block in, one row per file out (FILE_SCHEMA).
    """
    blocks: dict[str, list[dict[str, Any]]] = {}
    for batch in batches:
        for block in batch.to_pylist():
            blocks.setdefault(block[SPLIT], []).append(block)
    for name in sorted(blocks):
        split = Split.named(name)
        found = answered(split, blocks.pop(name))
        file = write_file([(split, found)], folder, f"part-{uuid.uuid4()}.snappy.parquet")
        row = {NAME: file.name, SIZE: file.size, STATISTICS: json.dumps(file.statistics)}
        yield pa.RecordBatch.from_pylist([row], schema=_FILE_ARROW)


def answered(split: Split, blocks: Sequence[Mapping[str, Any]]) -> Answered:
    """Put the answers of a split's blocks into the order of the split."""
    rows, codes, late, answers, snapshots = [], [], [], [], []
    first = 0
    for block in blocks:
        data, said = from_ipc(block[DATA]), from_ipc(block[ANSWERS])
        of_block = from_ipc(block[PAYLOAD])[SPLIT_ROW].to_numpy()
        rows.append(of_block[data[ROW].to_numpy()])
        codes.append(data[ANSWER].to_numpy() + np.int32(first))
        late.append(data[c.OUT_OF_ORDER].to_numpy())
        answers.append(said)
        snapshots += [data[c.SNAPSHOT_ID]] if c.SNAPSHOT_ID in data.column_names else []
        first += said.num_rows
    row = np.concatenate(rows)
    order = _order(row, split.rows)
    return Answered(
        row[order],
        np.concatenate(codes)[order],
        np.concatenate(late)[order],
        pa.concat_tables(answers).unify_dictionaries(),
        _together(snapshots).take(pa.array(order)) if snapshots else None,
    )


def _together(words: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Words of dictionaries, one behind the other."""
    chunks = pa.chunked_array([y for x in words for y in x.chunks])
    return chunks.unify_dictionaries().combine_chunks()


def _order(rows: NDArray[np.int32], of: int) -> NDArray[np.int64]:
    """The order of the rows; where each of `of` rows is there once, without sorting."""
    if len(rows) == of:
        at = np.full(of, -1, dtype=np.int64)
        at[rows] = np.arange(of)
        if at.min(initial=0) >= 0:
            return at
    return np.argsort(rows, kind="stable")


def write_file(parts: Iterable[tuple[Split, Answered]], folder: str, name: str) -> DataFile:
    """Write a file of outcomes, those of one split behind the other's.

    Args:
        parts: splits, one at least, and what their messages were answered.
        folder: of the table.
        name: of the file; what is there under it is written over.
    """
    statistics = _Statistics()
    writer: pq.ParquetWriter | None = None
    with parquet_sink(folder, name) as sink:
        for split, found in parts:
            for table in _split_outcomes(split, found, statistics):
                writer = writer or _writer(sink, table.schema)
                writer.write_table(table, row_group_size=ROW_GROUP)
        if writer is not None:
            writer.close()
    return DataFile(name, size_of(joined(folder, name)), statistics.to_json())


def _split_outcomes(split: Split, found: Answered, statistics: "_Statistics") -> Iterator[pa.Table]:
    """Rows of `outcomes`, in the order of the split."""
    columns = {x: found.answers[x].combine_chunks() for x in ANSWER_SCHEMA.names}
    first = 0
    for batch in read_split(split, _OF_MESSAGES, ROW_GROUP):
        low, high = np.searchsorted(found.rows, [first, first + batch.num_rows])
        of_messages = _taken(batch, found.rows[low:high] - first)
        first += batch.num_rows
        statistics.add(of_messages)
        rows = _outcomes(of_messages, columns, found.code[low:high], found.late[low:high])
        if found.snapshot is not None:
            own = found.snapshot.slice(low, high - low)
            rows = rows.set_column(rows.schema.get_field_index(c.SNAPSHOT_ID), c.SNAPSHOT_ID, own)
            words = own.unique().dictionary.take(own.unique().indices)
            statistics.add(pa.table({c.SNAPSHOT_ID: words}))
        yield rows
    given = np.flatnonzero(np.bincount(found.code, minlength=found.answers.num_rows))
    skipped_by = [x for x in _SKIPPED_BY if x != c.SNAPSHOT_ID or found.snapshot is None]
    statistics.add(with_words(found.answers.select(skipped_by).take(pa.array(given))))


def _writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:  # noqa: ANN401  (`parquet_sink`)
    """A writer of Parquet as Spark reads it; Arrow's own schema is left out."""
    return pq.ParquetWriter(
        sink,
        schema,
        compression="snappy",
        store_schema=False,
        use_dictionary=[x for x in schema.names if x not in _OF_MESSAGES.names],
        write_statistics=list(OUTCOMES.skipped_by),
    )


def _taken(batch: pa.RecordBatch, rows: NDArray[np.int32]) -> pa.RecordBatch:
    """The batch's messages, one for each outcome."""
    whole = len(rows) == batch.num_rows and bool(np.all(np.diff(rows) == 1))
    return batch if whole else batch.take(pa.array(rows))


def _outcomes(
    of_messages: pa.RecordBatch,
    answers: Mapping[str, pa.Array],
    code: NDArray[np.int32],
    late: NDArray[np.bool_],
) -> pa.Table:
    """Rows of `outcomes`, strings of the answers as dictionaries."""
    codes = pa.array(code)
    columns = {name: of_messages[name] for name in _OF_MESSAGES.names}
    columns |= {name: column.take(codes) for name, column in answers.items()}
    columns[c.OUT_OF_ORDER] = pa.array(late)
    return pa.table({name: columns[name] for name in OUTCOMES.names})


class _Statistics:
    """Delta's statistics of a file, for the columns that readers skip files by."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._rows = 0
        self._least: dict[str, Any] = {}
        self._greatest: dict[str, Any] = {}

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Take columns of what is written into account; those of messages count its rows."""
        names = rows.schema.names
        if c.PUT_SEQ in names:
            self._rows += rows.num_rows
        for name in (x for x in OUTCOMES.skipped_by if x in names and rows.num_rows):
            found = pc.min_max(rows[name]).as_py()
            self._least[name] = min(found["min"], self._least.get(name, found["min"]))
            self._greatest[name] = max(found["max"], self._greatest.get(name, found["max"]))

    def to_json(self) -> dict[str, Any]:
        """The document of the log."""
        greatest = dict(self._greatest)
        if c.PUT_TIME in greatest:
            last = min(greatest[c.PUT_TIME], _LAST - _MILLISECOND)
            greatest[c.PUT_TIME] = last + _MILLISECOND
        return {
            "numRecords": self._rows,
            "minValues": {name: _statistic(x) for name, x in self._least.items()},
            "maxValues": {name: _statistic(x) for name, x in greatest.items()},
            "nullCount": dict.fromkeys(OUTCOMES.skipped_by, 0),
        }


def _statistic(value: Any) -> Any:  # noqa: ANN401  (whatever a column has)
    """A value as Delta's statistics say it: moments to the millisecond, the rest of it cut off.

    Of the last millisecond nothing is, since there is none after it that could be said.
    """
    if isinstance(value, datetime):
        unit = "microseconds" if value == _LAST else "milliseconds"
        return moment_text(value, unit)
    return value
