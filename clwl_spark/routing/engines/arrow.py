"""Messages become blocks and blocks become outcomes by Arrow: their rows never enter Java.

Each task reads the splits of files that Spark hands it, and writes a file of outcomes for each
split of another task; the files become part of the table in one commit.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES
from clwl_spark.delta.commits import DataFile
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.planning.plans import plan_id
from clwl_spark.routing.intake.blocks import (
    BLOCK_ROWS,
    BLOCK_SCHEMA,
    PAYLOAD,
    REJECT,
    SPLIT,
    BlockForm,
    apart,
    block_rows,
    from_ipc,
    gathered,
    message_blocks,
    reject_block,
)
from clwl_spark.routing.intake.by_arrow import (
    SPLIT_ROW,
    duplicate_rows,
    keys_of,
    rejected_rows,
    requests_of,
)
from clwl_spark.routing.intake.requests import Requests
from clwl_spark.routing.intake.splits import (
    Split,
    counted_splits,
    found_splits,
    split_columns,
    split_rows,
)
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.output.outcome_files import FILE_SCHEMA, NAME, SIZE, STATISTICS, write_files
from clwl_spark.routing.output.routed import ANSWER, ROW
from clwl_spark.routing.output.unpack import ANSWERS, DATA
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import MESSAGES, OUTCOMES, REJECTED_MESSAGES
from clwl_spark.tables import columns as c

_AT: Final = "at"
_REQUESTS_ARROW: Final = pa.schema([(name, pa.string()) for name in REQUEST])
_REJECTED: Final = ", ".join(
    f"{x.name} {x.type}" for x in REJECTED_MESSAGES.columns if x.name != c.REJECTED_AT
)


def _asked(
    folder: str, pins: Sequence[Pin], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The distinct requests of a task's splits."""
    requests = Requests.under(pins)
    found = requests.of(requests_of(found_splits(batches, folder), requests))
    met = sorted(found, key=lambda x: x.in_order)
    columns = [pa.array(x, pa.string()) for x in zip(*met, strict=True)]
    if met:
        yield pa.record_batch(columns, schema=_REQUESTS_ARROW)


def _pack_splits(
    folder: str,
    pins: Sequence[Pin],
    buckets: int,
    rows_per_byte: float,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The messages of a task's splits, in blocks; a split's rejected ones come after the others."""
    requests = Requests.under(pins)
    met: set[str] = set()
    for split in found_splits(batches, folder):
        set_aside: list[pa.Table] = []
        for table in gathered(keys_of(split, requests), buckets):
            routable, rejected = apart(table)
            blocks = message_blocks(routable, buckets, met, [SPLIT_ROW], split.name)
            yield from block_rows([*blocks], rows_per_byte)
            if rejected.num_rows:
                set_aside.append(rejected.select([SPLIT_ROW, REJECT]))
        if set_aside:
            why = pa.concat_tables(set_aside)
            found = rejected_rows(split, why[SPLIT_ROW].to_numpy(), why[REJECT])
            parts = (found.slice(x, BLOCK_ROWS) for x in range(0, found.num_rows, BLOCK_ROWS))
            yield from block_rows([reject_block("", x) for x in parts], rows_per_byte)


def _passed(split: str, payload: bytes, names: Sequence[str]) -> pa.Table:
    """Columns of the messages of a block that says which rows of a split it has."""
    rows = from_ipc(payload)[SPLIT_ROW].to_numpy()
    return split_rows(Split.named(split), MESSAGES.arrow(names), rows)


def _written(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A file of outcomes for each split of a task."""
    return write_files(batches, folder)


def _unpack_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per block in, one row per rejected message out.

    The blocks of duplicates say which rows of their split these are: each split is read once.
    """
    duplicates: dict[str, list[pa.Table]] = {}
    for batch in batches:
        for payload, split in zip(batch.column(PAYLOAD), batch.column(SPLIT), strict=True):
            table = from_ipc(payload.as_buffer())
            if split.as_py():
                duplicates.setdefault(split.as_py(), []).append(table)
            else:
                yield from table.to_batches()
    for name, rows in duplicates.items():
        found = duplicate_rows(Split.named(name), pa.concat_tables(rows)[SPLIT_ROW])
        yield from found.to_batches(max_chunksize=BLOCK_ROWS)


def _set_aside(payload: bytes, rows: NDArray[np.int32]) -> pa.Table:
    """(split_row) Where the messages of a block are that are set aside."""
    return from_ipc(payload).select([SPLIT_ROW]).take(pa.array(rows))


@dataclass(frozen=True, slots=True)
class ArrowEngine:
    """Rows never enter Java.

    Attributes:
        messages: folder of that table.
        outcomes: folder of that table.
        partitions: in which Spark would write outcomes.
    """

    messages: str
    outcomes: str
    partitions: int
    name: ClassVar[str] = "arrow"
    form: ClassVar[BlockForm] = BlockForm((ROW, ANSWER, c.OUT_OF_ORDER), _passed, _set_aside)

    def asking(self, messages: DataFrame, pins: Sequence[Pin]) -> DataFrame:  # noqa: ARG002
        """As SparkEngine: where each message is."""
        return messages.select(*split_columns())

    def requests(self, asking: DataFrame, pins: Sequence[Pin]) -> DataFrame:
        """As SparkEngine; a row per split goes to Python, not one per message."""
        splits = counted_splits(asking).coalesce(self.partitions)
        met = splits.mapInArrow(partial(_asked, self.messages, pins), REQUEST_TYPES)
        return met.distinct().select(plan_id().alias(c.PLAN_ID), *REQUEST)

    def blocks(
        self,
        messages: DataFrame,
        run: Run,
        rows_per_byte: float,
        set_aside: DataFrame | None = None,  # noqa: ARG002
        carried: Sequence[str] = (),  # noqa: ARG002
    ) -> DataFrame:
        """As SparkEngine; the blocks say which rows of their split they have."""
        packed = partial(_pack_splits, self.messages, run.pins, run.buckets, rows_per_byte)
        return messages.select(*split_columns()).mapInArrow(packed, BLOCK_SCHEMA)

    def write_outcomes(
        self, lake: Lake, blocks: DataFrame, splits: Iterable[str], once: Transaction
    ) -> None:
        """As SparkEngine: a file for each split, and one commit for all."""
        numbers = [(name, at) for at, name in enumerate(sorted(splits))]
        if not numbers or lake.has_transaction(OUTCOMES.name, once):
            return
        at = frame_from_rows(lake.spark, numbers, f"{SPLIT} string, {_AT} int")
        files = (
            blocks.join(F.broadcast(at), SPLIT)
            .repartitionById(len(numbers), F.col(_AT))
            .select(SPLIT, DATA, ANSWERS, PAYLOAD)
            .mapInArrow(partial(_written, self.outcomes), FILE_SCHEMA)
            .collect()
        )
        written = [DataFile(x[NAME], x[SIZE], json.loads(x[STATISTICS])) for x in files]
        lake.add_files(OUTCOMES.name, written, once)

    def rejected(self, blocks: DataFrame) -> DataFrame:
        """As SparkEngine."""
        return blocks.select(PAYLOAD, SPLIT).mapInArrow(_unpack_rows, _REJECTED)
