"""What to do with frames that several steps read, so that each is worked out once."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow.dataset import Dataset, dataset
from pyspark import SparkContext, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from clwl_spark.spark.embedded import is_embedded, new_scratch_folder, scratch_released
from clwl_spark.spark.files import forget_folder
from clwl_spark.spark.frames import (
    frame_from_arrow,
    frame_from_rows,
    rows_at_hand,
    typed_rows,
    with_rows,
)
from clwl_spark.spark.limits import limited_to, new_folder
from clwl_spark.tables.arrow import from_arrow_schema

Materialize = Callable[[DataFrame], DataFrame]

FEW: Final = 1_000
"""Up to so many requests, what belongs to them is small enough to be held by the driver."""

ROWS_HERE: Final = 1_000_000
"""Rows of plans that are read and written within this process, some 200 MB: where Java is cold,
Spark's first writes to Delta take 5 s, and reading and gathering 29,500 plans 8."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a block keeps.

    Attributes:
        rdds: ids of what is in Spark's memory; no frames, so that Java can forget them before.
        folders: with the rows of a limited session, by session.
    """

    rdds: list[int] = field(default_factory=list)
    folders: dict[SparkSession, str] = field(default_factory=dict)


_KEPT: Final[ContextVar[_Kept | None]] = ContextVar("kept", default=None)

_IS_KEPT: Final = "_clwl_kept"
"""Attribute of a frame whose rows are worked out."""

BROADCAST_ROWS: Final = 1_000_000
"""Rows of a few names that every worker holds for a join; some 200 MB."""


@contextmanager
def persisted(frame: DataFrame) -> Iterator[DataFrame]:
    """Give a frame whose rows are kept where they were worked out, until the block ends."""
    if is_embedded(frame.sparkSession):
        yield checkpoint(frame)
        return
    if limited_to(frame.sparkSession):
        with _in_own_files(frame) as rows:
            yield rows
        return
    kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


def as_it_is(frame: DataFrame) -> DataFrame:
    """Keep a frame as its plan."""
    return frame


def checkpoint(frame: DataFrame) -> DataFrame:
    """Work the frame out now: later steps start from its rows, not from its plan.

    Not `eager=False`: Spark then forgets the frame's metrics before they are used, and says so.
    Sail's own `localCheckpoint` takes the rows to be spread as the plan had them before it was
    optimized, and then finds a group in two places: its rows are kept in Parquet files instead.
    """
    kept = _worked_out(frame)
    setattr(kept, _IS_KEPT, True)
    return kept


def _worked_out(frame: DataFrame) -> DataFrame:
    if is_embedded(frame.sparkSession):
        return _in_files(frame)
    if limited_to(frame.sparkSession):
        return _in_limited_files(frame)
    kept = frame.localCheckpoint()
    block = _KEPT.get()
    if block is not None and hasattr(kept, "_jdf"):
        block.rdds.append(kept._jdf.queryExecution().logical().rdd().id())  # noqa: SLF001
    return _with_own_columns(kept)


def _with_own_columns(kept: DataFrame) -> DataFrame:
    """The rows, as columns that Spark knows from those of the frame that was worked out.

    Else it may refuse to join the rows with what else comes from that frame.
    """
    return kept.select(*(F.col(f"`{x}`").alias(x) for x in kept.columns))


def _in_files(frame: DataFrame) -> DataFrame:
    """A frame whose rows are in files of the session; where there are none, in its plan."""
    folder = _new_folder(frame)
    frame.write.parquet(folder)
    kept = frame.sparkSession.read.parquet(folder)
    return kept if kept.columns else frame_from_rows(frame.sparkSession, [], frame.schema)


def _in_limited_files(frame: DataFrame) -> DataFrame:
    """A frame whose rows are in files of a limited session, until the block of `releasing` ends."""
    spark, block = frame.sparkSession, _KEPT.get()
    folder = new_folder(spark)
    if block is not None:
        folder = f"{block.folders.setdefault(spark, folder)}/{uuid.uuid4().hex}"
    return _written(frame, folder)


@contextmanager
def _in_own_files(frame: DataFrame) -> Iterator[DataFrame]:
    """A frame whose rows are in files of a limited session, for the block."""
    folder = new_folder(frame.sparkSession)
    try:
        yield _written(frame, folder)
    finally:
        forget_folder(frame.sparkSession, folder)


def _written(frame: DataFrame, folder: str) -> DataFrame:
    """A frame that reads what is now in a folder; nobody looks into files for its types."""
    types = frame.schema
    frame.write.parquet(folder)
    return frame.sparkSession.read.schema(types).parquet(folder)


def _new_folder(frame: DataFrame) -> str:
    return str(new_scratch_folder(frame.sparkSession))


@contextmanager
def rows_in_files(frame: DataFrame, schema: pa.Schema) -> Iterator[Dataset]:
    """Rows of the embedded engine's for the block, to pass over without holding them.

    Args:
        frame: it.
        schema: the columns wanted, in Arrow's types.
    """
    folder = _new_folder(frame)
    frame.select(*schema.names).write.parquet(folder)
    # Without rows Sail makes no folder.
    files = sorted(str(x) for x in Path(folder).glob("*.parquet"))
    try:
        yield dataset(files, schema=schema) if files else dataset(schema.empty_table())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def releasing() -> Iterator[None]:
    """When the block ends, the engine gives back what `checkpoint` has kept: memory or files.

    By itself Spark does so some time after Java has forgotten the frames. With Spark Connect, the
    server forgets a frame when this process does.
    """
    block = _Kept()
    outer = _KEPT.set(block)
    try:
        with scratch_released():
            yield
    finally:
        _KEPT.reset(outer)
        for spark, folder in block.folders.items():
            forget_folder(spark, folder)
        context = SparkContext._active_spark_context  # noqa: SLF001
        if block.rdds and context is not None:
            there = context._jsc.getPersistentRDDs()  # noqa: SLF001
            for rdd in filter(None, map(there.get, block.rdds)):
                rdd.unpersist(False)


def inline(frame: DataFrame) -> DataFrame:
    """Work the frame out now and hold its few rows in the plan.

    It halves the time against `checkpoint`: the optimizer works on the rows itself, and joins with
    them need no exchange.
    """
    if rows_at_hand(frame) is not None:
        return frame
    return frame_at_hand(frame.sparkSession, *typed_rows(frame))


def mapped(
    frame: DataFrame,
    function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
    keep: Materialize,
) -> DataFrame:
    """What a function makes of a frame's rows: by `mapInArrow`; of few, within this process.

    Args:
        frame: the rows.
        function: takes and gives batches.
        schema: of what it gives.
        keep: what is done with the frame's like: `inline` = there are few.
    """
    if keep is not inline:
        return frame.mapInArrow(function, from_arrow_schema(schema))
    made = pa.Table.from_batches(function(typed_rows(frame)[0].to_batches()), schema)
    return frame_at_hand(frame.sparkSession, made, from_arrow_schema(schema))


def frame_at_hand(
    spark: SparkSession, rows: pa.Table, types: StructType | None = None
) -> DataFrame:
    """A few rows as `inline` holds them."""
    return with_rows(frame_from_arrow(spark, rows, types), rows)


def select_at_hand(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Some columns of a frame, whose rows stay at hand if they are."""
    rows, selected = rows_at_hand(frame), frame.select(*names)
    return selected if rows is None else with_rows(selected, rows.select([*names]))


def is_seen_to_differ(frame: DataFrame, names: Sequence[str]) -> bool:
    """Whether rows are at hand, and no two of them agree in all these columns."""
    rows = rows_at_hand(frame)
    if rows is None:
        return False
    return bool(rows.group_by([*names]).aggregate([]).num_rows == rows.num_rows)


def alike(frame: DataFrame, names: Sequence[str]) -> frozenset[str]:
    """Columns in which all rows are alike, of a frame whose rows are kept; of another, none.

    It may leave out a column that has nothing but nulls.
    """
    rows = rows_at_hand(frame)
    if rows is not None:
        return frozenset(x for x in names if len(rows[x].unique()) <= 1)
    if _IS_KEPT not in vars(frame):
        return frozenset()
    all_rows = F.count(F.lit(1))
    same = [(F.min(x) == F.max(x)) & (F.count(x) == all_rows) for x in names]
    (found,) = frame.agg(*(x.alias(name) for x, name in zip(same, names, strict=True))).collect()
    return frozenset(x for x in names if found[x])


def broadcast_if_small(frame: DataFrame, keep: Materialize) -> DataFrame:
    """A frame in which millions of rows are looked up: held by all, unless it is large itself.

    9 million statuses against 500,000 rows: sorted 23 s, hashed 16, held 6.
    """
    if keep is not checkpoint:
        return frame
    kept = keep(frame)
    return F.broadcast(kept) if kept.count() <= BROADCAST_ROWS else kept


def fitting(rows: int) -> Materialize:
    """`inline` for few rows, else `checkpoint`."""
    return inline if rows <= FEW else checkpoint
