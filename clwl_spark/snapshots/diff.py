"""What changed from one snapshot to another, attribute by attribute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq import vocabulary as v
from clwl_spark.snapshots.catalog import require_snapshots
from clwl_spark.snapshots.inspection import STATE
from clwl_spark.snapshots.views import DEFAULTS
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

TABLE: Final = "table"
KEY: Final = "key"
CHANGE: Final = "change"
ATTRIBUTE: Final = "attribute"
OLD: Final = "old"
NEW: Final = "new"
ADDED: Final = "ADDED"
REMOVED: Final = "REMOVED"
CHANGED: Final = "CHANGED"

_NO_ATTRIBUTES: Final = (c.SOURCE, c.ALTERED, c.BACKLOG)
_CHANNEL: Final = {c.CLWLRANK: 0, c.CLWLPRTY: 0, c.CLWLWGHT: v.DEFAULT_WEIGHT, c.NETPRTY: 0}
_MORE_DEFAULTS: Final[Mapping[str, Mapping[str, object]]] = {
    "cluster_channels": {c.QMTYPE: v.QmType.NORMAL.value},
    "queues": {c.QSGDISP: "QMGR"},
    "topics": {c.SUB_ENABLED: True},
    "cluster_senders": _CHANNEL,
}
"""Defaults of MQ's that routing has no use for, so that `DEFAULTS` lacks them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two snapshots compared.

    Attributes:
        before: the snapshot that is compared with.
        after: the one that may have changed.
        changes: as `diff` gives them, ordered, values in their columns' types.
    """

    before: str
    after: str
    changes: tuple[dict[str, Any], ...]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Rows added, removed and changed, by table; a table without a change is left out."""
        rows = {(x[TABLE], tuple(x[KEY].items()), x[CHANGE]) for x in self.changes}
        counts: dict[str, dict[str, int]] = {}
        for table, _key, change in sorted(rows, key=lambda x: (STATE.index(x[0]), x[1])):
            of_table = counts.setdefault(table, {"added": 0, "removed": 0, "changed": 0})
            of_table[change.lower()] += 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl diff --json`."""
        return {
            "from": self.before,
            "to": self.after,
            "counts": self.counts,
            "changes": list(self.changes),
        }


def compare(lake: Lake, before: str, after: str) -> Difference:
    """Compare two snapshots and bring the changes here, for a reader; `diff` is for many.

    Raises:
        InputError: there is no such snapshot.
    """
    changes = diff(lake, before, after).orderBy(
        F.array_position(F.array(*map(F.lit, STATE)), F.col(TABLE)), F.map_values(KEY), ATTRIBUTE
    )
    return Difference(before, after, tuple(_typed(row.asDict()) for row in changes.collect()))


def diff(lake: Lake, before: str, after: str) -> DataFrame:
    """What is different in the snapshot `after`, in every table of the topology.

    Null and the default that MQ gives it are the same, so a text that spells a default out makes
    no difference; where a row was read from, and when MQ says it was altered, makes none either.
    Nor do counts of a moment: messages that wait, and handles that are open.

    Grain: one row per (table, key, attribute): table, key map<string,string> (column -> value),
    change (`ADDED`, `REMOVED`, `CHANGED`), attribute, old, new, both as strings or null. A row
    that was added or removed has its attributes that are not null; one without any has a row
    whose attribute is null.

    Raises:
        InputError: there is no such snapshot.
    """
    require_snapshots(lake, before, after)
    frames = [_of_table(lake, TABLES[name], before, after) for name in STATE]
    return reduce(DataFrame.unionByName, frames)


def _of_table(lake: Lake, table: Table, before: str, after: str) -> DataFrame:
    """The changes of one table; grain as `diff`."""
    keys = [key for key in table.keys if key != c.SNAPSHOT_ID]
    attributes = [x.name for x in table.columns if not x.key and x.name not in _NO_ATTRIBUTES]
    rows = lake.read_or_empty(table.name, c.SNAPSHOT_ID, [before, after])
    whole = F.struct(*attributes)
    sides = [
        rows.where(F.col(c.SNAPSHOT_ID) == name).select(*keys, whole.alias(side))
        for name, side in ((before, OLD), (after, NEW))
    ]
    change = F.when(F.col(OLD).isNull(), ADDED).when(F.col(NEW).isNull(), REMOVED)
    cells = F.array(_none(attributes), *(_attribute(table.name, name) for name in attributes))
    names = F.array(*map(F.lit, keys))
    return (
        sides[0]
        .join(sides[1], keys, "full")
        .select(
            F.lit(table.name).alias(TABLE),
            F.map_from_arrays(names, F.array(*keys)).alias(KEY),
            F.coalesce(change, F.lit(CHANGED)).alias(CHANGE),
            F.explode(cells).alias("cell"),
        )
        .where(F.col("cell.differs"))
        .select(TABLE, KEY, CHANGE, *(f"cell.{name}" for name in (ATTRIBUTE, OLD, NEW)))
    )


def _none(attributes: Sequence[str]) -> Column:
    """What is told of a row without any attribute that is on one side alone."""
    is_whole = F.col(OLD).isNull() | F.col(NEW).isNull()
    values = [F.col(f"{side}.{x}").cast("string") for side in (OLD, NEW) for x in attributes]
    return _cell(None, F.lit(None), F.lit(None), is_whole & F.coalesce(*values).isNull())


def _attribute(table: str, name: str) -> Column:
    """One attribute on both sides, and whether it has to be told."""
    old, new = F.col(f"{OLD}.{name}"), F.col(f"{NEW}.{name}")
    both = F.col(OLD).isNotNull() & F.col(NEW).isNotNull()
    default = default_of(table, name)
    changed = ~F.coalesce(old, F.lit(default)).eqNullSafe(F.coalesce(new, F.lit(default)))
    there = F.coalesce(old, new).isNotNull()
    return _cell(name, old, new, F.when(both, changed).otherwise(there))


def _cell(name: str | None, old: Column, new: Column, differs: Column) -> Column:
    return F.struct(
        F.lit(name).cast("string").alias(ATTRIBUTE),
        old.cast("string").alias(OLD),
        new.cast("string").alias(NEW),
        differs.alias("differs"),
    )


def default_of(table: str, column: str) -> object:
    """What null in a column means; '' where MQ has no default."""
    return {**DEFAULTS.get(table, {}), **_MORE_DEFAULTS.get(table, {})}.get(column, "")


def _typed(change: dict[str, Any]) -> dict[str, Any]:
    """A change with values as their column has them, for JSON.

    The key has the table's order: of a map that Spark brings here nothing is in order.
    """
    table = TABLES[change[TABLE]]
    types = {x.name: x.type for x in table.columns}
    kind = types.get(change[ATTRIBUTE], "string")
    key = {x: change[KEY][x] for x in table.keys if x in change[KEY]}
    return {**change, KEY: key, OLD: _value(change[OLD], kind), NEW: _value(change[NEW], kind)}


def _value(text: str | None, kind: str) -> object:
    if text is None or kind == "string":
        return text
    return text == "true" if kind == "boolean" else int(text)
