"""Rows of this process as frames of Spark's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, StructType

Cells = Sequence[Any] | Mapping[str, Any]


def in_memory(spark: SparkSession, rows: Iterable[Cells], schema: StructType | str) -> DataFrame:
    """Rows as a frame whose plan holds them.

    Spark's own way with a list asks a Python worker for the rows, whenever they are read.

    Args:
        spark: the session.
        rows: cells in the order of the schema, or by name; a moment without zone is in UTC.
        schema: the columns, as types or in Spark's words.
    """
    types = cast(StructType, DataType.fromDDL(schema)) if isinstance(schema, str) else schema
    wanted = to_arrow_schema(types, timezone="UTC")
    cells = [_in_order(row, wanted.names) for row in rows]
    by_column = zip(*cells, strict=True) if cells else ([] for _ in wanted)
    columns = [pa.array(x, y.type) for x, y in zip(by_column, wanted, strict=True)]
    table: pa.Table = pa.table(columns, schema=wanted)
    return spark.createDataFrame(table, types)


def _in_order(row: Cells, names: Sequence[str]) -> Sequence[Any]:
    return [row.get(x) for x in names] if isinstance(row, Mapping) else row
