"""Frames of others, checked against the contract's tables."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.errors import MissingColumnsError
from clwl_spark.schemas import Column as TableColumn
from clwl_spark.schemas import Table

_KINDRED: Final = (
    ("tinyint", "smallint", "int", "bigint"),
    ("timestamp", "timestamp_ntz"),
)


def require(frame: DataFrame, table: Table) -> DataFrame:
    """The table's columns, in order and in the contract's types; absent optional ones are null.

    Other writers' integers and timestamps may be wider or without a zone: those are cast.

    Raises:
        MissingColumnsError: columns are missing or have types that cannot mean the same.
    """
    found = dict(frame.dtypes)
    absent = {x.name for x in table.columns if x.optional and x.name not in found}
    there = [x for x in table.columns if x.name not in absent]
    wrong = [x.name for x in there if not _means(found.get(x.name), x.type)]
    if wrong:
        raise MissingColumnsError(table.name, wrong, [f"{n} {t}" for n, t in found.items()])
    return frame.select(
        *(_typed(x, None if x.name in absent else found[x.name]) for x in table.columns)
    )


def _typed(column: TableColumn, found: str | None) -> Column:
    """A column that is there with the type `found`, or null where it is not there."""
    if found == column.type:
        return F.col(column.name)
    value = F.lit(None) if found is None else F.col(column.name)
    return value.cast(column.type).alias(column.name)


def _means(found: str | None, wanted: str) -> bool:
    """Whether a column of type `found` can be read as `wanted`."""
    return found == wanted or any(found in kin and wanted in kin for kin in _KINDRED)
