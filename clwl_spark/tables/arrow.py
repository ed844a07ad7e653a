"""Spark's types in Arrow's words and back: moments are in UTC, whichever PySpark is there."""

from inspect import signature
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas import types as spark_types
from pyspark.sql.types import DataType, StructType

# Before 4.2, PySpark has moments in UTC without being asked.
_IN_UTC: Final[dict[str, Any]] = (
    {"timezone": "UTC"} if "timezone" in signature(spark_types.to_arrow_type).parameters else {}
)


def to_arrow_type(type_: DataType) -> pa.DataType:
    """A type in Arrow's words."""
    return spark_types.to_arrow_type(type_, **_IN_UTC)


def to_arrow_schema(types: StructType) -> pa.Schema:
    """Columns in Arrow's words."""
    return spark_types.to_arrow_schema(types, **_IN_UTC)


def from_arrow_schema(schema: pa.Schema) -> StructType:
    """Columns in Spark's words; a moment without a zone stays without one."""
    return spark_types.from_arrow_schema(schema, prefer_timestamp_ntz=True)
