"""The last step of every generated table: the contract's columns, in order and typed."""

from collections.abc import Mapping

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from clwl_spark.studies.synthetic import draw as d
from clwl_spark.studies.synthetic.spec import GenerateSpec
from clwl_spark.tables import Table
from clwl_spark.tables import columns as c


def snapshot_name(spec: GenerateSpec) -> Column:
    """Id of the row's snapshot."""
    return d.name("S", d.number(d.SNAPSHOT_NO), spec.snapshots)


def observed(spec: GenerateSpec) -> dict[str, Column]:
    """The columns that say which snapshot it is and that the full repositories see it."""
    return {c.SNAPSHOT_ID: snapshot_name(spec), c.OBSERVER: F.lit("*")}


def shaped(frame: DataFrame, table: Table, columns: Mapping[str, Column]) -> DataFrame:
    """The table's columns from these expressions; those not given are null.

    Grain: that of `frame`, before and after.
    """
    expressions = []
    for column in table.columns:
        value = columns.get(column.name, F.lit(None)).cast(column.type)
        typed = _never_null(value, column.type) if column.key else _maybe_null(value)
        expressions.append(typed.alias(column.name))
    return frame.select(*expressions).to(table.schema)


def _never_null(value: Column, type_: str) -> Column:
    """The value as a column that Spark knows to have no nulls, which keys have to be."""
    return F.coalesce(value, F.lit("" if type_ == "string" else 0).cast(type_))


def _maybe_null(value: Column) -> Column:
    """The value as a column that Spark takes to be nullable, which all others are."""
    return F.when(F.lit(False), None).otherwise(value)
