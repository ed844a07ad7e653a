"""Nulls of rows that other programs wrote, which a change is not about: MQ's defaults stay so.

Ingest gives what a display of own objects leaves open the definition's value; a row that is null
where its definition tells a value was not made so. And what a definition leaves open, views may
tell; a definition that nobody read from a text leaves nothing open.

Source: SEMANTICS P1, S2.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.snapshots.own_display import TABLES_DISPLAYED
from clwl_spark.snapshots.views import DEFAULTS, EVERYBODY
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

Tables = Mapping[str, DataFrame]


def with_defaults_told(tables: Tables) -> Tables:
    """The tables with such nulls, with the defaults in their place; most snapshots have none.

    Args:
        tables: of one snapshot.

    Grain: one row per row of the table.
    """
    beside = {x: _beside_definitions(x, tables[x]) for x in TABLES_DISPLAYED}
    found = [
        rows.select(F.lit(x).alias(c.TABLE)).limit(1)
        for x in TABLES_DISPLAYED
        for rows in (
            beside[x].where(reduce(or_, map(_is_told, DEFAULTS[x]))),
            _seen_definitions(x, tables[x]),
        )
    ]
    names = {row[c.TABLE] for row in reduce(DataFrame.unionAll, found).collect()}
    return {x: checkpoint(_told(x, tables[x], beside[x])) for x in sorted(names)}


def _beside_definitions(table: str, rows: DataFrame) -> DataFrame:
    """What is displayed of own objects, beside the definitions' values; null where there is none.

    Grain: one row per such row.
    """
    keys = [x for x in TABLES[table].keys if x != c.OBSERVER]
    attributes = (F.col(x).alias(_defined(x)) for x in DEFAULTS[table])
    defined = rows.where(F.col(c.OBSERVER) == EVERYBODY).select(*keys, *attributes)
    return rows.where(_is_own()).join(defined, keys, "left")


def _seen_definitions(table: str, rows: DataFrame) -> DataFrame:
    """Definitions that nobody read, with a null, of which there is a view.

    Grain: one row per such definition.
    """
    keys = [x for x in TABLES[table].keys if x != c.OBSERVER]
    views = rows.where((F.col(c.OBSERVER) != EVERYBODY) & ~_is_own()).select(*keys)
    has_null = reduce(or_, (F.col(x).isNull() for x in DEFAULTS[table]))
    return rows.where(_is_unread() & has_null).join(views, keys, "left_semi")


def _told(table: str, rows: DataFrame, beside: DataFrame) -> DataFrame:
    """A table in which such a null is the default."""
    defaults = {x: F.lit(default) for x, default in DEFAULTS[table].items()}
    of_own = {x: F.when(_is_told(x), y).otherwise(F.col(x)) for x, y in defaults.items()}
    unread = {
        x: F.when(_is_unread(), F.coalesce(x, y)).otherwise(F.col(x)) for x, y in defaults.items()
    }
    own = beside.withColumns(of_own).select(*rows.columns)
    return rows.where(~_is_own()).withColumns(unread).unionAll(own)


def _is_told(column: str) -> Column:
    """Whether a definition tells a value, and the display does not have it."""
    return F.col(column).isNull() & F.col(_defined(column)).isNotNull()


def _is_unread() -> Column:
    """Whether a row is a definition that nobody read from a text."""
    return (F.col(c.OBSERVER) == EVERYBODY) & F.col(c.SOURCE).isNull()


def _is_own() -> Column:
    return F.col(c.OBSERVER) == F.col(c.QMGR)


def _defined(column: str) -> str:
    return f"_defined_{column}"
