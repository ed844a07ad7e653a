"""Rows of this process as frames of Spark's."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

import pyarrow as pa
from pyarrow.parquet import write_table
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from clwl_spark.spark.embedded import is_embedded, new_scratch_folder
from clwl_spark.tables.arrow import from_arrow_schema, to_arrow_schema

_KNOWN_TYPES: Final = "_cached_schema"
"""Where Connect's frames keep their types, so that nobody asks the server for them."""

_SERIALIZED: Final = "_serialize_table"
INLINE_BYTES: Final = 2**20
"""Rows of so many bytes are held in a plan of the embedded engine's. A plan that reads them five
times holds them five times, and no plan above 128 MiB reaches the engine."""

_ROWS: Final = "_clwl_rows"
"""Attribute of a frame: its rows."""

Cells = Sequence[Any] | Mapping[str, Any]


def frame_from_rows(
    spark: SparkSession, rows: Iterable[Cells], schema: StructType | str
) -> DataFrame:
    """Rows as a frame whose plan holds them.

    Spark's own way with a list asks a Python worker for the rows, whenever they are read.

    Args:
        spark: the session.
        rows: cells in the order of the schema, or by name; a moment without zone is in UTC.
        schema: the columns, as types or in Spark's words.
    """
    types = cast(StructType, DataType.fromDDL(schema)) if isinstance(schema, str) else schema
    wanted = to_arrow_schema(types)
    cells = [_in_order(row, wanted.names) for row in rows]
    by_column = zip(*cells, strict=True) if cells else ([] for _ in wanted)
    columns = [pa.array(x, y.type) for x, y in zip(by_column, wanted, strict=True)]
    return frame_from_arrow(spark, pa.table(columns, schema=wanted), types)


def frame_from_arrow(
    spark: SparkSession, table: pa.Table, types: StructType | None = None
) -> DataFrame:
    """A table as a frame whose plan holds its rows; on the embedded engine, few rows.

    A column without chunks, as that of a table read without rows may be, is none that Spark takes;
    and what is behind a chunk without rows it leaves out.

    Args:
        spark: the session.
        table: the rows.
        types: of the columns; None = as the table has them. What is said of a column beside its
            type is left out: with comments in them, Sail takes structs of two columns for two
            types.
    """
    whole: pa.Table = table if table.num_rows else table.schema.empty_table()
    bare = whole.replace_schema_metadata(None)
    # Connect's client does not look for the types of a table without rows.
    found = from_arrow_schema(bare.schema) if types is None else types
    columns = StructType([StructField(x.name, x.dataType, x.nullable) for x in found])
    if is_embedded(spark) and bare.nbytes > INLINE_BYTES:
        return _in_a_file(spark, bare)
    frame = _held(spark, bare, columns) or spark.createDataFrame(_without_gaps(bare), columns)
    known_to_have(frame, columns)
    return with_rows(frame, bare) if bare.nbytes <= INLINE_BYTES else frame


def _without_gaps(table: pa.Table) -> pa.Table:
    """A table whose chunks all have rows, unless it has none at all."""
    batches = table.to_batches()
    if all(x.num_rows for x in batches):
        return table
    return pa.Table.from_batches([x for x in batches if x.num_rows], table.schema)


def with_rows(frame: DataFrame, rows: pa.Table) -> DataFrame:
    """A frame of which its rows are known here."""
    setattr(frame, _ROWS, rows)
    return frame


def rows_at_hand(frame: DataFrame) -> pa.Table | None:
    """The rows of a frame whose plan holds them; None = of another one, they are not here.

    What no row has need not be looked for: plans are smaller then, and planned faster.
    """
    return vars(frame).get(_ROWS)


def known_to_have(frame: DataFrame, types: StructType) -> None:
    """Say what columns a frame has, where the client would ask the server for them."""
    if hasattr(frame, _KNOWN_TYPES):
        setattr(frame, _KNOWN_TYPES, types)


def _held(spark: SparkSession, table: pa.Table, types: StructType) -> DataFrame | None:
    """A frame of the embedded engine's whose plan holds the rows; None where PySpark makes it.

    PySpark would ask the server for a dozen settings before, and write the rows down anew in each
    plan that has them (measured: a twentieth of the time of `clwl explain`).
    """
    if not (is_embedded(spark) and table.num_rows) or "[ns" in str(table.schema.types):
        return None
    connect = importlib.import_module("pyspark.sql.connect")
    rows = table.cast(to_arrow_schema(types))
    relation = connect.plan.LocalRelation(rows, schema=types.json())
    if hasattr(relation, _SERIALIZED):  # PySpark 4.0 has no such method
        setattr(relation, _SERIALIZED, cache(getattr(relation, _SERIALIZED)))
    return cast(DataFrame, connect.dataframe.DataFrame(relation, spark))


def to_arrow(frame: DataFrame) -> pa.Table:
    """A frame's rows, as by `toArrow`."""
    if not is_embedded(frame.sparkSession):
        return frame.toArrow()
    rows, types = typed_rows(frame)
    return rows.cast(to_arrow_schema(types))


def typed_rows(frame: DataFrame) -> tuple[pa.Table, StructType]:
    """A frame's rows and their types; those of the embedded engine are not cast to them.

    There they come together: `toArrow` would have the types worked out before.
    """
    if is_embedded(frame.sparkSession):
        rows, types = frame._to_table()  # type: ignore[operator]  # noqa: SLF001
        return rows, types
    return frame.toArrow(), frame.schema


def _in_a_file(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A frame whose rows are in a file of the session: plans name it, wherever they read it."""
    folder = new_scratch_folder(spark)
    folder.mkdir(parents=True)
    write_table(table, folder / "rows.parquet", compression="lz4")
    return spark.read.parquet(str(folder))


def _in_order(row: Cells, names: Sequence[str]) -> Sequence[Any]:
    return [row.get(x) for x in names] if isinstance(row, Mapping) else row
