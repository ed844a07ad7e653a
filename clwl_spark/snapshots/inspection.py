"""What some rows would change in the lake, and whether MQ could have them; nothing is written.

Source: CONTRACT, "Topology" (keys, words, ranges).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, TopologyError
from clwl_spark.spark.frames import rows_at_hand
from clwl_spark.spark.materialize import frame_at_hand
from clwl_spark.tables import (
    ACTIONS,
    INGEST_REJECTS,
    QUEUE_STATUS,
    SNAPSHOT_CONTENT,
    TABLES,
    TOPOLOGY,
    Table,
)
from clwl_spark.tables import Column as TableColumn
from clwl_spark.tables import columns as c
from clwl_spark.tables.require import require

_ALWAYS: Final = tuple(table.name for table in TOPOLOGY)
CONTENT: Final = tuple(table.name for table in SNAPSHOT_CONTENT)
"""The tables whose rows are a snapshot's content."""

STATE: Final = tuple(x for x in CONTENT if x not in (QUEUE_STATUS.name, ACTIONS.name))
"""Those of them that say how a cluster is; not the counts of a moment, nor what was done."""

WRITABLE: Final = (*CONTENT, INGEST_REJECTS.name)
_NOT_COMPARED: Final = (c.LOADED_AT, c.SOURCE, c.BASE_LOADED_AT)
_NEW: Final = "is_new"
_NOTHING: Final[Mapping[str, Any]] = {
    "rows": 0,
    "replaced": 0,
    "changed": (),
    "first": None,
    "few": False,
}
"""What is found of a table without rows, where there were none either."""
GONE: Final = "is_gone"
"""Column of `differences`: the row is not to be there any more."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Checked frames, and what they change in the lake.

    Attributes:
        frames: by table name, with the contract's columns and types.
        rows: rows of each frame.
        replaced: rows of each frame whose key is there with other values.
        changed: by table name, the snapshots whose rows are not those that are there.
        few: the tables of which most rows stay as they are.
    """

    frames: Mapping[str, DataFrame]
    rows: Mapping[str, int]
    replaced: Mapping[str, int]
    changed: Mapping[str, frozenset[str]]
    few: frozenset[str]

    @property
    def changed_content(self) -> frozenset[str]:
        """The snapshots whose content changes."""
        return frozenset().union(*(self.changed.get(name, ()) for name in CONTENT))


def inspect(lake: Lake, snapshot_ids: Sequence[str], tables: Mapping[str, DataFrame]) -> Inspection:
    """Check frames that are to be all rows of some snapshots, and compare them with the lake's.

    Raises:
        TopologyError: the first offence, by key.
        MissingColumnsError: a frame lacks columns.
    """
    if unknown := sorted(set(tables) - set(WRITABLE)):
        raise InputError(f"no topology tables: {unknown}; there are {list(WRITABLE)}")
    frames = dict(tables)
    for name in WRITABLE:
        if name not in frames and (name in _ALWAYS or lake.exists(name)):
            table = TABLES[name]
            frames[name] = frame_at_hand(lake.spark, table.arrow(table.names).empty_table())
    return inspect_all(lake, snapshot_ids, frames)


def inspect_all(
    lake: Lake, snapshot_ids: Sequence[str], frames: Mapping[str, DataFrame]
) -> Inspection:
    """Check and compare all frames in one query: each is read once here."""
    typed = {name: require(frame, TABLES[name]) for name, frame in frames.items()}
    new = {name for name in frames if _is_new(lake, name, snapshot_ids)}
    queries = [
        _inspected(lake, TABLES[name], frame, snapshot_ids, is_new=name in new)
        for name, frame in frames.items()
        if not (name in new and _is_seen_to_be_empty(frame))
    ]
    rows = reduce(DataFrame.unionAll, queries).collect() if queries else []
    found = dict.fromkeys(frames, _NOTHING) | {row["table"]: row for row in rows}
    for name in frames:
        if found[name]["first"] is not None:
            place, text = found[name]["first"]
            offence = json.loads(text)
            raise TopologyError(
                name, offence["column"], offence.get("value"), place, offence["why"]
            )
    return Inspection(
        frames=typed,
        rows={name: found[name]["rows"] or 0 for name in frames},
        replaced={name: found[name]["replaced"] for name in frames},
        changed={name: frozenset(found[name]["changed"]) for name in frames},
        few=frozenset(name for name in frames if TABLES[name].keys and found[name]["few"]),
    )


def differences(
    lake: Lake, table: Table, frame: DataFrame, snapshot_ids: Sequence[str]
) -> DataFrame:
    """The rows in which a table has to change so that these snapshots have the frame's rows.

    Args:
        lake: where the table is.
        table: one with keys.
        frame: all rows of the snapshots, with the table's columns and types.
        snapshot_ids: the snapshots.

    Grain: one row per key: the new row, or the old one with `GONE` true.
    """
    there = _of(lake, table, snapshot_ids).withColumn(_NEW, F.lit(False))
    of_these = F.col(c.SNAPSHOT_ID).isin(list(snapshot_ids))
    both = frame.where(of_these).withColumn(_NEW, F.lit(True)).unionByName(there)
    whole = F.struct(*table.names)
    by_key = both.groupBy(*table.keys).agg(
        F.max(F.when(F.col(_NEW), whole)).alias("new_row"),
        F.max(F.when(~F.col(_NEW), whole)).alias("old_row"),
    )
    new, old = (
        F.when(
            F.col(side).isNotNull(),
            F.struct(*(F.col(f"{side}.{x.name}") for x in _compared(table))),
        )
        for side in ("new_row", "old_row")
    )
    kept = F.coalesce("new_row", "old_row").alias("row")
    gone = F.col("new_row").isNull().alias(GONE)
    return by_key.where(~new.eqNullSafe(old)).select(kept, gone).select("row.*", GONE)


def _is_new(lake: Lake, table: str, snapshot_ids: Sequence[str]) -> bool:
    """Whether a table is seen to have no rows of these snapshots."""
    there = lake.few_in_memory(table, c.SNAPSHOT_ID, snapshot_ids, 0, names=[c.SNAPSHOT_ID])
    return there is not None


def _is_seen_to_be_empty(frame: DataFrame) -> bool:
    rows = rows_at_hand(frame)
    return rows is not None and not rows.num_rows


def _inspected(
    lake: Lake, table: Table, frame: DataFrame, snapshot_ids: Sequence[str], *, is_new: bool
) -> DataFrame:
    """Check and compare one frame.

    Args:
        lake: the lake.
        table: whose rows they are.
        frame: them.
        snapshot_ids: the snapshots.
        is_new: the lake has nothing to compare them with.

    Grain: one row: the table's name, rows, replaced rows, changed snapshots, the first offence.
    """
    compared = _compared(table)
    looked_at = frame.select(*_looked_at(compared, frame))
    if is_new:
        return _of_new(table, looked_at, snapshot_ids)
    there = _of(lake, table, snapshot_ids)
    both = looked_at.withColumn(_NEW, F.lit(True)).unionByName(
        there.select(*_looked_at(compared, there)).withColumn(_NEW, F.lit(False))
    )
    row = F.struct(*(x.name for x in compared))
    keys = list(table.keys or (x.name for x in compared))
    by_key = both.groupBy(*keys).agg(
        F.count_if(_NEW).alias("new"),
        F.count_if(~F.col(_NEW)).alias("old"),
        F.max(F.when(F.col(_NEW), row)).alias("new_row"),
        F.max(F.when(~F.col(_NEW), row)).alias("old_row"),
        F.min(F.when(F.col(_NEW), _offence(table, snapshot_ids))).alias("offence"),
    )
    offence = _offence_of_key(table)
    same = (F.col("new") == F.col("old")) & F.col("new_row").eqNullSafe(F.col("old_row"))
    return by_key.agg(
        F.sum("new").alias("rows"),
        F.count_if((F.col("new") > 0) & (F.col("old") > 0) & ~same).alias("replaced"),
        F.collect_set(F.when(~same, F.col(c.SNAPSHOT_ID))).alias("changed"),
        _first(keys, offence).alias("first"),
        ((F.count_if(same) > F.count_if(~same)) & (F.max("old") == 1)).alias("few"),
    ).select(F.lit(table.name).alias("table"), "*")


def _of_new(table: Table, frame: DataFrame, snapshot_ids: Sequence[str]) -> DataFrame:
    """As `_inspected`, of rows that there is nothing to compare with."""
    keys = list(table.keys or frame.columns)
    by_key = frame.groupBy(*keys).agg(
        F.count(F.lit(1)).alias("new"), F.min(_offence(table, snapshot_ids)).alias("offence")
    )
    return by_key.agg(
        F.sum("new").alias("rows"),
        F.lit(0).cast("bigint").alias("replaced"),
        F.collect_set(c.SNAPSHOT_ID).alias("changed"),
        _first(keys, _offence_of_key(table)).alias("first"),
        F.lit(False).alias("few"),
    ).select(F.lit(table.name).alias("table"), "*")


def _offence_of_key(table: Table) -> Column:
    return F.coalesce("offence", _duplicate(table)) if table.keys else F.col("offence")


def _first(keys: Sequence[str], offence: Column) -> Column:
    """The first row, by key, that has an offence."""
    row = F.struct(_shown(keys).alias("row"), offence.alias("found"))
    return F.min(F.when(offence.isNotNull(), row))


def _compared(table: Table) -> list[TableColumn]:
    """The columns that make two rows of a key different."""
    return [x for x in table.columns if x.name not in _NOT_COMPARED]


def _of(lake: Lake, table: Table, snapshot_ids: Sequence[str]) -> DataFrame:
    """The rows of these snapshots that are there."""
    return lake.read_or_empty(table.name, c.SNAPSHOT_ID, snapshot_ids)


def _looked_at(columns: Sequence[TableColumn], frame: DataFrame) -> list[Column]:
    """The columns of a frame that need not have been typed yet."""
    there = set(frame.columns)
    looked_at = []
    for x in columns:
        value = F.col(x.name) if x.name in there else F.lit(None).cast(x.type).alias(x.name)
        # Integers are looked at as they are: a cast of one that is far out of range would fail.
        looked_at.append(value.cast(x.type) if x.type == "timestamp" else value)
    return looked_at


def _offence(table: Table, snapshot_ids: Sequence[str]) -> Column:
    """The first thing wrong with a row, `_found`, or null."""
    tests = [(key, F.col(key).isNull(), "is null") for key in table.keys]
    of_these = F.col(c.SNAPSHOT_ID).isin(list(snapshot_ids))
    tests.append((c.SNAPSHOT_ID, ~of_these, "is not a row of the table 'snapshots'"))
    tests += [(x.name, ~F.expr(x.check), x.reason) for x in table.columns if x.check]
    return F.coalesce(*(F.when(test, _found(name, reason)) for name, test, reason in tests))


def _duplicate(table: Table) -> Column:
    """The offence of a key that occurs more than once, or null."""
    last = table.keys[-1]
    reason = f"is the last part of a key ({', '.join(table.keys)}) that occurs more than once"
    return F.when(F.col("new") > 1, _found(last, reason))


def _found(column: str, reason: str) -> Column:
    """An offence: JSON of column, value (absent where it is null) and why."""
    value = F.col(column).cast("string")
    # As text: Sail takes structs for two types where a part may be null in one of them only.
    return F.to_json(
        F.struct(F.lit(column).alias("column"), value.alias("value"), F.lit(reason).alias("why"))
    )


def _shown(columns: Iterable[str]) -> Column:
    """A row's key as text, nulls included."""
    parts = [
        F.concat(F.lit(f"{x}="), F.coalesce(F.col(x).cast("string"), F.lit("null")))
        for x in columns
    ]
    return F.concat_ws(", ", *parts)
