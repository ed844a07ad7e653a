"""How many rows texts add, change and remove: of a queue manager, here, or of whole tables."""

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.diff import default_of
from clwl_spark.snapshots.own_display import TABLES_DISPLAYED, Key, Tables, Values, key_of
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

_PLACES: Final = frozenset({c.SOURCE, c.ALTERED})


def rows_changed(earlier: Tables, rows: Mapping[Key, Values]) -> dict[str, dict[str, int]]:
    """Count what is added, changed and removed; where a row was read from does not matter."""
    before = {key_of(table, row): row for table, found in earlier.items() for row in found}
    counts: dict[str, dict[str, int]] = {}
    for key in before.keys() | rows.keys():
        old, new = before.get(key), rows.get(key)
        if old is not None and new is not None and _same(key[0], old, new):
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        of_table = counts.setdefault(key[0], dict.fromkeys(("added", "removed", "changed"), 0))
        of_table[change] += 1
    return counts


def changes_of_tables(
    lake: Lake, frames: Mapping[str, DataFrame], earlier_id: str
) -> dict[str, Counter[str]]:
    """Rows of the tables that are filled behind the texts, counted as in `Settled.changes`."""
    counts = [_changes_of(lake, TABLES[x], frames[x], earlier_id) for x in TABLES_DISPLAYED]
    found = {row["table"]: row.asDict() for row in reduce(DataFrame.unionAll, counts).collect()}
    kinds = ("added", "removed", "changed")
    return {x: Counter({kind: found[x][kind] for kind in kinds}) for x in TABLES_DISPLAYED}


def _changes_of(lake: Lake, table: Table, frame: DataFrame, earlier_id: str) -> DataFrame:
    """Grain: one row: the table's name, rows added, removed and changed; null is the default."""
    keys = [x for x in table.keys if x != c.SNAPSHOT_ID]
    attributes = [
        F.coalesce(x.name, F.lit(default_of(table.name, x.name))).alias(x.name)
        for x in table.columns
        if not x.key and x.name not in (c.SOURCE, c.ALTERED)
    ]
    old = lake.read_or_empty(table.name, c.SNAPSHOT_ID, [earlier_id])
    both = old.select(*keys, F.struct(*attributes).alias("old")).join(
        frame.select(*keys, F.struct(*attributes).alias("new")), keys, "full"
    )
    was, now = F.col("old"), F.col("new")
    return both.select(
        F.lit(table.name).alias("table"),
        F.count_if(was.isNull()).alias("added"),
        F.count_if(now.isNull()).alias("removed"),
        F.count_if(was.isNotNull() & now.isNotNull() & (was != now)).alias("changed"),
    )


def _same(table: str, old: Values, new: Values) -> bool:
    """Whether two rows say the same; null is MQ's default."""
    columns = set(TABLES[table].names) - _PLACES
    differing = (x for x in columns if old.get(x) != new.get(x))
    return all(_plain(table, x, old) == _plain(table, x, new) for x in differing)


def _plain(table: str, column: str, row: Values) -> object:
    value = row.get(column)
    return default_of(table, column) if value is None else value
