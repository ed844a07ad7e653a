"""Rows of the topology by the queue manager whose texts they are part of, as one narrow frame.

The tables of the topology differ; where all of them go through one Python function, their rows
travel as JSON: (text_of, of, row).
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.inspection import CONTENT
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

TEXT_OF: Final = "text_of"
"""The queue manager: the owner of everybody's rows, else the one that sees the row so."""

OF: Final = "of"
ROW: Final = "row"
EVERYBODY: Final = "*"


def owner(row: Mapping[str, Any]) -> str:
    """The queue manager whose text a row is part of."""
    observer = row.get(c.OBSERVER, EVERYBODY)
    return str(row[c.QMGR] if observer == EVERYBODY else observer)


def owner_column(table: Table) -> Column:
    """As `owner`, of a table's rows."""
    if c.OBSERVER not in table.names:
        return F.col(c.QMGR)
    if c.QMGR not in table.names:
        return F.col(c.OBSERVER)
    return F.when(F.col(c.OBSERVER) == EVERYBODY, F.col(c.QMGR)).otherwise(F.col(c.OBSERVER))


def owned_rows(lake: Lake, snapshot_id: str) -> DataFrame:
    """All rows of a snapshot's topology.

    Grain: one row per row of any table: text_of, of (the table), row (JSON without nulls).
    """
    frames = []
    for name in CONTENT:
        columns = [column for column in TABLES[name].names if column != c.SNAPSHOT_ID]
        rows = lake.read_or_empty(name, c.SNAPSHOT_ID, [snapshot_id])
        of = F.lit(name).alias(OF)
        row = F.to_json(F.struct(*columns)).alias(ROW)
        frames.append(rows.select(owner_column(TABLES[name]).alias(TEXT_OF), of, row))
    return reduce(DataFrame.unionByName, frames)


def rows_of_table(
    rows: DataFrame, table: str, snapshot_id: str, also: Sequence[StructField] = ()
) -> DataFrame:
    """The rows of one table, typed, of a frame with the columns of and row.

    Args:
        rows: (of, row) of any tables.
        table: the table.
        snapshot_id: of the rows.
        also: more fields of a row's JSON.

    Grain: one row per row of the table.
    """
    fields = TABLES[table].schema.fields
    # Nullable: rows of other tables may be parsed as well before they are left out.
    kinds = [StructField(x.name, x.dataType) for x in fields if x.name != c.SNAPSHOT_ID]
    parsed = rows.where(F.col(OF) == table).select(
        F.from_json(ROW, StructType([*kinds, *also])).alias(ROW)
    )
    named = parsed.select(F.lit(snapshot_id).alias(c.SNAPSHOT_ID), f"{ROW}.*")
    return named.select(*TABLES[table].names, *(x.name for x in also))


def by_table(rows: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """(table, row) pairs as rows by table."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for table, row in rows:
        tables.setdefault(table, []).append(row)
    return tables
