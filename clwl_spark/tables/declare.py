"""What a table's declaration is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from clwl_spark.tables.arrow import to_arrow_type

_TYPES: Final[dict[str, DataType]] = {
    type_.simpleString(): type_
    for type_ in (
        StringType(),
        LongType(),
        IntegerType(),
        DoubleType(),
        BooleanType(),
        TimestampType(),
        BinaryType(),
        ArrayType(StringType()),
        MapType(StringType(), LongType()),
        MapType(StringType(), StringType()),
    )
}
"""By their words; Spark's own reader of these words asks Java, which workers do not have."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, Spark type, meaning, and the CHECK that MQ's ranges give it.

    A table of others need not have an `optional` one, and then it is null.
    """

    name: str
    type: str
    comment: str
    key: bool = False
    check: str | None = None
    reason: str = ""
    nullable_key: bool = False
    optional: bool = False

    @property
    def required(self) -> bool:
        """NOT NULL: key columns, but for those whose absence is a reason to reject a row."""
        return self.key and not self.nullable_key


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its name, meaning and columns, in order.

    Attributes:
        name: of the table.
        comment: what a row is.
        columns: in order.
        change_feed: Delta keeps one.
        skipped_by: columns of whose values each file keeps the least and greatest, for readers to
            pass it over; none named = the first 32.
        by_anyone: programs of others write it, in whatever types they have: see `contract`.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]
    change_feed: bool = False
    skipped_by: tuple[str, ...] = ()
    by_anyone: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key columns."""
        return tuple(column.name for column in self.columns if column.key)

    @property
    def schema(self) -> StructType:
        """The Spark schema; required columns are not nullable."""
        fields = [
            StructField(x.name, _TYPES[x.type], not x.required, {"comment": x.comment})
            for x in self.columns
        ]
        return StructType(fields)

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [column.name for column in self.columns]

    def arrow(self, names: Sequence[str]) -> pa.Schema:
        """The Arrow schema of some of the columns, all of them nullable."""
        types = {column.name: _TYPES[column.type] for column in self.columns}
        return pa.schema([(name, to_arrow_type(types[name])) for name in names])


def key(name: str, comment: str, type_: str = "string") -> Column:
    """A NOT NULL column of the key."""
    return Column(name, type_, comment, key=True)


def word(name: str, words: type[StrEnum] | tuple[str, ...], comment: str) -> Column:
    """A column of one of these words, or null."""
    values = ", ".join(f"'{word}'" for word in words)
    check = f"{name} IS NULL OR {name} IN ({values})"
    return Column(name, "string", comment, check=check, reason=f"is not one of {values}")


def number(name: str, low: int, high: int, comment: str) -> Column:
    """A whole number within a range, or null."""
    check = f"{name} IS NULL OR {name} BETWEEN {low} AND {high}"
    return Column(name, "int", comment, False, check, f"is out of range {low}..{high}")


def text(name: str, comment: str) -> Column:
    """Any text, or null."""
    return Column(name, "string", comment)


def flag(name: str, comment: str) -> Column:
    """True, false or null."""
    return Column(name, "boolean", comment)
