"""Frames of others, checked against the contract's tables.

A table that anyone writes may have its columns in other types, as long as every cell can mean the
same. Where one does not (a text that is no moment, a number that is too large) it becomes null, and
a column of its own (`unread`) says so.
"""

import re
from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.errors import MissingColumnsError
from clwl_spark.tables import Column as TableColumn
from clwl_spark.tables import Table
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import ISO_8601, PARTS, SPELLED

_KINDRED: Final = (
    ("tinyint", "smallint", "int", "bigint"),
    ("timestamp", "timestamp_ntz"),
)
_WHOLE: Final = r"tinyint|smallint|int|bigint|decimal\(\d+,0\)"
_BY_ANYONE: Final = {
    "bigint": _WHOLE,
    "int": _WHOLE,
    "boolean": f"boolean|{_WHOLE}",
    "timestamp": "timestamp|timestamp_ntz|date|string",
    "string": "string|binary",
    "binary": "binary",
}
"""Patterns of the types that each of the contract's may come in, in a table that anyone writes."""
_JUDGED: Final = (c.PUT_SEQ, c.PUT_TIME, c.OPEN_ID)
"""Columns whose cells decide: a row is not taken for one without them."""


def require(frame: DataFrame, table: Table) -> DataFrame:
    """The table's columns, in order and in the contract's types; absent optional ones are null.

    Other writers' integers and timestamps may be wider or without a zone (then they are in UTC):
    those are cast. After them come the columns `unread` of a table that anyone writes, where it has
    types that not every cell may be read from.

    Raises:
        MissingColumnsError: columns are missing or have types that cannot mean the same.
    """
    found = dict(frame.dtypes)
    refuse_wrong(found, table)
    columns = [_typed(x, found.get(x.name), table).alias(x.name) for x in table.columns]
    judged = [x for x in table.columns if x.name in _JUDGED and _may_fail(x, found.get(x.name))]
    lost = (
        (F.col(x.name).isNotNull() & _typed(x, found[x.name], table).isNull()).alias(
            unread_name(x.name)
        )
        for x in judged
        if table.by_anyone
    )
    return frame.select(*columns, *lost)


def refuse_wrong(found: Mapping[str, str], table: Table) -> None:
    """Refuse columns that are missing or have types that cannot mean the contract's.

    Args:
        found: the table's types in Spark's words, by column.
        table: what it is in the contract.

    Raises:
        MissingColumnsError: there are such columns.
    """
    if wrong := wrong_columns(found, table):
        types = {x.name: x.type for x in table.columns if x.name in wrong}
        raise MissingColumnsError(table.name, types, found)


def wrong_columns(found: Mapping[str, str], table: Table) -> list[str]:
    """The columns that a table lacks, or has in a type that cannot mean the contract's.

    Args:
        found: the table's types in Spark's words, by column.
        table: what it is in the contract.
    """
    return [
        x.name
        for x in table.columns
        if not (x.optional and x.name not in found)
        and not _means(found.get(x.name), x.type, by_anyone=table.by_anyone)
    ]


def unread_name(column: str) -> str:
    """Name of the column that says whether a cell of a column is there, but cannot be read."""
    return f"unread_{column}"


def unread(frame: DataFrame, column: str) -> Column:
    """Whether a cell of a frame that `require` gave is there, but cannot be read."""
    name = unread_name(column)
    return F.col(name) if name in frame.columns else F.lit(False)


def _typed(column: TableColumn, found: str | None, table: Table) -> Column:
    """A column of type `found` in the contract's type; null where it, or a cell, means nothing."""
    cells = F.col(column.name)
    if found == column.type:
        return cells
    if found is None:
        return F.lit(None).cast(column.type)
    if column.type == "timestamp":
        return _moments(cells, found)
    if not table.by_anyone:
        return cells.cast(column.type)
    return cells != 0 if column.type == "boolean" else cells.try_cast(column.type)


def _moments(cells: Column, found: str) -> Column:
    """Cells of type `found` as moments; without a zone they are in UTC, whatever the session's."""
    if found == "string":
        return _spelled(cells)
    midnight = "T00:00:00" if found == "date" else ""
    return F.concat(cells.cast("string"), F.lit(f"{midnight}Z")).try_cast("timestamp")


def _spelled(texts: Column) -> Column:
    """Texts as moments; null where one is none."""
    parts = {x: F.regexp_extract(texts, ISO_8601, at) for at, x in enumerate(PARTS, 1)}
    whole = {x: F.when(parts[x] == "", y).otherwise(parts[x]) for x, y in PARTS.items()}
    spelled = F.concat(*(whole.get(x, F.lit(x)) for x in SPELLED))
    return F.when(parts["date"] != "", spelled.try_cast("timestamp"))


def _may_fail(column: TableColumn, found: str | None) -> bool:
    """Whether a column of type `found` may have cells that are none of the contract's type."""
    if found in (None, column.type):
        return False
    return column.type == "timestamp" or str(found).startswith("decimal")


def _means(found: str | None, wanted: str, *, by_anyone: bool) -> bool:
    """Whether a column of type `found` can be read as `wanted`."""
    if found is None:
        return False
    if by_anyone:
        return re.fullmatch(_BY_ANYONE[wanted], found) is not None
    return found == wanted or any(found in kin and wanted in kin for kin in _KINDRED)
