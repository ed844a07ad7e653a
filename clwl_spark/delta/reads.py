"""Delta tables that this process reads, as frames.

delta-rs reads the log and says which files there are; few rows come here as Arrow, more are read
by Sail from the Parquet files. Sail's own reader of Delta tables is not used: it refuses files
that delta-rs wrote with string views, and finds nothing in folders with unusual names.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow.dataset import ParquetFileFormat, ParquetReadOptions, dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from clwl_spark.delta.protocol import rows_of
from clwl_spark.spark.embedded import is_embedded, plain_path
from clwl_spark.spark.files import without_patterns
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.storage import access
from clwl_spark.storage.files import parquet_source
from clwl_spark.storage.places import is_store, joined
from clwl_spark.tables.arrow import to_arrow_schema
from clwl_spark.tables.cells import with_readable_texts

INLINE_ROWS: Final = 20_000
"""Up to so many rows are held by the frame's plan; there is no file to open then."""


def frame_of(spark: SparkSession, table: DeltaTable, folder: str) -> DataFrame | None:
    """All rows of a table's version, each column nullable; None where Spark reads them itself.

    Args:
        spark: the session.
        table: one of whose reader features this package has all.
        folder: the table's.
    """
    fields = json.loads(table.schema().to_json())
    types = StructType([StructField(x.name, x.dataType) for x in StructType.fromJson(fields)])
    actions = pa.table(table.get_add_actions(flatten=True))
    counted = actions["num_records"].to_pylist()
    is_plain = not table.metadata().partition_columns and None not in counted
    is_small = None not in counted and sum(counted) <= INLINE_ROWS
    if is_small or (is_embedded(spark) and not is_plain):
        try:
            rows = rows_of(table).to_table()
        except (DeltaError, OSError, pa.ArrowException):
            if is_embedded(spark):
                raise
            return None
        return frame_from_arrow(
            spark, with_readable_texts(rows) if is_embedded(spark) else rows, types
        )
    if not is_embedded(spark):
        return None
    return _by_sail(spark, folder, actions["path"].to_pylist(), types)


def frame_of_files(
    spark: SparkSession, folder: str, files: Sequence[tuple[str, int]], types: StructType
) -> DataFrame:
    """Rows of some of a table's Parquet files.

    Args:
        spark: the session.
        folder: the table's, on this machine.
        files: (path, rows) each, below the folder.
        types: the columns; one that a file does not have is null.
    """
    nullable = StructType([StructField(x.name, x.dataType) for x in types])
    if sum(rows for _, rows in files) <= INLINE_ROWS:
        return frame_from_arrow(spark, _in_memory([x for x, _ in files], nullable), nullable)
    if is_embedded(spark):
        names = [x.removeprefix(f"{folder.rstrip('/')}/") for x, _ in files]
        return _by_sail(spark, folder, names, nullable)
    return spark.read.schema(nullable).parquet(*(without_patterns(x) for x, _ in files))


def _in_memory(files: Sequence[str], types: StructType) -> pa.Table:
    wanted = to_arrow_schema(types)
    if not files:
        return wanted.empty_table()
    # Spark writes moments as INT96, whose range Arrow's nanoseconds do not have.
    spark_s = ParquetFileFormat(ParquetReadOptions(coerce_int96_timestamp_unit="us"))
    if is_store(files[0]):
        store, _ = access.within(files[0])
        paths = [access.within(x)[1] for x in files]
        return dataset(paths, schema=wanted, format=spark_s, filesystem=store).to_table()
    return dataset([*files], schema=wanted, format=spark_s).to_table()


def _by_sail(
    spark: SparkSession, folder: str, names: Iterable[str], types: StructType
) -> DataFrame:
    here = folder.rstrip("/") if is_store(folder) else plain_path(spark, folder)
    frames = (_typed(spark.read.parquet(*files), types) for files in _alike(folder, here, names))
    return reduce(DataFrame.unionByName, frames)


def _typed(frame: DataFrame, types: StructType) -> DataFrame:
    """The columns of a table, of files that were written before it had all of them."""
    there = set(frame.columns)
    return frame.select(
        *(
            (F.col(x.name) if x.name in there else F.lit(None)).cast(x.dataType).alias(x.name)
            for x in types
        )
    )


def _alike(folder: str, here: str, names: Iterable[str]) -> list[list[str]]:
    """Files by the types of their columns: Sail reads no two together that differ in them."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        types = [
            (x.name, str(x.type)) for x in pq.read_schema(parquet_source(joined(folder, name)))
        ]
        groups[json.dumps(types)].append(f"{here}/{name}")
    return list(groups.values())
