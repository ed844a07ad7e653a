"""Snapshots into the lake: all is checked first, and what is there already is not written again.

A snapshot's row in `snapshots` comes last, so that a snapshot written by half is never VALID.
Source: CONTRACT, "Topology"; "What MQ's texts become", 9.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import InputError, LakeStateError, TopologyError, UsageError
from clwl_spark.schemas import (
    CLUSTER_SENDERS,
    INGEST_REJECTS,
    ROUTE_PLANS,
    SNAPSHOTS,
    TABLES,
    TOPOLOGY,
    Table,
)
from clwl_spark.storage import Lake, require
from clwl_spark.vocabulary import SnapshotStatus

_ALWAYS: Final = tuple(table.name for table in TOPOLOGY)
CONTENT: Final = (*_ALWAYS, CLUSTER_SENDERS.name)
"""The tables whose rows are a snapshot's content."""

WRITABLE: Final = (*CONTENT, INGEST_REJECTS.name)
_NOT_COMPARED: Final = (c.LOADED_AT, c.SOURCE)
_PLAIN: Final = re.compile(r"[\w .:+-]*", re.ASCII)
_NEW: Final = "is_new"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot's row in `snapshots`; a `valid_from` without a zone is UTC."""

    snapshot_id: str
    valid_from: datetime
    source: str
    status: str = SnapshotStatus.VALID.value


@dataclass(frozen=True, slots=True)
class Inspection:
    """Checked frames, and what they change in the lake.

    Attributes:
        frames: by table name, with the contract's columns and types.
        rows: rows of each frame.
        replaced: rows of each frame whose key is there with other values.
        changed: by table name, the snapshots whose rows are not those that are there.
    """

    frames: Mapping[str, DataFrame]
    rows: Mapping[str, int]
    replaced: Mapping[str, int]
    changed: Mapping[str, frozenset[str]]

    @property
    def changed_content(self) -> frozenset[str]:
        """The snapshots whose content changes."""
        return frozenset().union(*(self.changed.get(name, ()) for name in CONTENT))


def write_snapshot(
    lake: Lake, snapshot: Snapshot, tables: Mapping[str, DataFrame]
) -> dict[str, int]:
    """Make a snapshot consist of exactly these rows; the same rows again change nothing.

    The frames are evaluated twice: to check and to write them.

    Args:
        lake: where to.
        snapshot: its row in `snapshots`; its name replaces the frames' snapshot_id.
        tables: frames by name, from `WRITABLE`; a table that is not given has no rows.

    Returns:
        Rows of the snapshot, by table.

    Raises:
        TopologyError: a value out of range, an unknown word, a null or duplicate key.
        MissingColumnsError: a frame lacks columns.
        LakeStateError: routing has used the snapshot, and its content would change.
    """
    if not snapshot.snapshot_id:
        raise UsageError("a snapshot needs a name: give its snapshot_id")
    name = F.lit(snapshot.snapshot_id)
    named = {table: frame.withColumn(c.SNAPSHOT_ID, name) for table, frame in tables.items()}
    inspection = inspect(lake, [snapshot.snapshot_id], named)
    return commit(lake, inspection, snapshot_row(lake, snapshot))


def write_topology(lake: Lake, tables: Mapping[str, DataFrame]) -> dict[str, int]:
    """Write several snapshots at once, as `write_snapshot` writes one.

    Args:
        lake: where to.
        tables: frames by name; `snapshots` names all snapshots that the others have rows of.

    Returns:
        Rows by table.

    Raises:
        TopologyError: as `write_snapshot`, or a row's snapshot is not in `snapshots`.
        MissingColumnsError: a frame lacks columns.
        LakeStateError: routing has used a snapshot whose content would change.
    """
    if SNAPSHOTS.name not in tables:
        raise InputError("no frame 'snapshots': give the rows of the snapshots to be written")
    snapshots = tables[SNAPSHOTS.name]
    ids = [row[0] for row in require(snapshots, SNAPSHOTS).select(c.SNAPSHOT_ID).collect()]
    content = {name: frame for name, frame in tables.items() if name != SNAPSHOTS.name}
    return commit(lake, inspect(lake, ids, content), snapshots)


def snapshot_row(lake: Lake, snapshot: Snapshot) -> DataFrame:
    """The snapshot's row, `loaded_at` not yet known."""
    start = snapshot.valid_from
    aware = start if start.tzinfo else start.replace(tzinfo=UTC)
    row = (snapshot.snapshot_id, aware, str(snapshot.status), snapshot.source, None)
    return lake.spark.createDataFrame([row], SNAPSHOTS.schema)


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
            frames[name] = lake.spark.createDataFrame([], TABLES[name].schema)
    return _inspect_all(lake, snapshot_ids, frames)


def commit(lake: Lake, inspection: Inspection, snapshots: DataFrame) -> dict[str, int]:
    """Write what an inspection found changed, and the rows of `snapshots` after it.

    Raises:
        TopologyError: an offence in `snapshots`.
        LakeStateError: routing has used a snapshot that changes.
    """
    ids = [row[0] for row in require(snapshots, SNAPSHOTS).select(c.SNAPSHOT_ID).collect()]
    heads = _inspect_all(lake, ids, {SNAPSHOTS.name: snapshots})
    changed_heads = heads.changed[SNAPSHOTS.name]
    _refuse_used(lake, inspection.changed_content | changed_heads)
    lake.create([SNAPSHOTS, *(TABLES[name] for name in inspection.frames)])
    withdrawn = _withdraw(lake, inspection.changed_content)
    for name, frame in inspection.frames.items():
        _replace(lake, name, frame, inspection.changed[name])
    loaded = F.coalesce(c.LOADED_AT, F.current_timestamp())
    head = heads.frames[SNAPSHOTS.name].withColumn(c.LOADED_AT, loaded)
    _replace(lake, SNAPSHOTS.name, head, changed_heads | withdrawn)
    return dict(inspection.rows)


def _inspect_all(
    lake: Lake, snapshot_ids: Sequence[str], frames: Mapping[str, DataFrame]
) -> Inspection:
    """Check and compare all frames in one query: each is read once here."""
    typed = {name: require(frame, TABLES[name]) for name, frame in frames.items()}
    queries = [
        _inspected(lake, TABLES[name], frame, snapshot_ids) for name, frame in frames.items()
    ]
    found = {row["table"]: row for row in reduce(DataFrame.unionAll, queries).collect()}
    for name in frames:
        if found[name]["first"] is not None:
            place, (column, value, reason) = found[name]["first"]
            raise TopologyError(name, column, value, place, reason)
    return Inspection(
        frames=typed,
        rows={name: found[name]["rows"] or 0 for name in frames},
        replaced={name: found[name]["replaced"] for name in frames},
        changed={name: frozenset(found[name]["changed"]) for name in frames},
    )


def _inspected(
    lake: Lake, table: Table, frame: DataFrame, snapshot_ids: Sequence[str]
) -> DataFrame:
    """Check and compare one frame.

    Grain: one row: the table's name, rows, replaced rows, changed snapshots, the first offence.
    """
    compared = [x for x in table.columns if x.name not in _NOT_COMPARED]
    # Integers are looked at as they are: a cast of one that is far out of range would fail.
    columns = [F.col(x.name).cast(x.type) if x.type == "timestamp" else x.name for x in compared]
    there = lake.read_or_empty(table.name).where(F.col(c.SNAPSHOT_ID).isin(list(snapshot_ids)))
    both = (
        frame.select(*columns)
        .withColumn(_NEW, F.lit(True))
        .unionByName(there.select(*columns).withColumn(_NEW, F.lit(False)))
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
    same = (F.col("new") == F.col("old")) & F.col("new_row").eqNullSafe(F.col("old_row"))
    offence = F.coalesce("offence", _duplicate(table)) if table.keys else F.col("offence")
    first = F.when(offence.isNotNull(), F.struct(_shown(keys).alias("row"), offence.alias("found")))
    return by_key.agg(
        F.sum("new").alias("rows"),
        F.count_if((F.col("new") > 0) & (F.col("old") > 0) & ~same).alias("replaced"),
        F.collect_set(F.when(~same, F.col(c.SNAPSHOT_ID))).alias("changed"),
        F.min(first).alias("first"),
    ).select(F.lit(table.name).alias("table"), "*")


def _offence(table: Table, snapshot_ids: Sequence[str]) -> Column:
    """The first thing wrong with a row: struct(column, value, reason), or null."""
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
    value = F.col(column).cast("string")
    return F.struct(F.lit(column).alias("column"), value.alias("value"), F.lit(reason).alias("why"))


def _shown(columns: Iterable[str]) -> Column:
    """A row's key as text, nulls included."""
    parts = [
        F.concat(F.lit(f"{x}="), F.coalesce(F.col(x).cast("string"), F.lit("null")))
        for x in columns
    ]
    return F.concat_ws(", ", *parts)


def _refuse_used(lake: Lake, snapshot_ids: frozenset[str]) -> None:
    """Refuse to change what outcomes were derived from."""
    if not snapshot_ids:
        return
    plans = lake.read_or_empty(ROUTE_PLANS.name)
    of_these = F.col(c.SNAPSHOT_ID).isin(sorted(snapshot_ids))
    used = plans.where(of_these).select(c.SNAPSHOT_ID).distinct().limit(1).collect()
    if used:
        raise LakeStateError(
            f"snapshot '{used[0][0]}' of {lake.root} has been used by routing and would change; "
            f"nothing was written: write it under another snapshot_id, with a later valid_from"
        )


def _withdraw(lake: Lake, snapshot_ids: frozenset[str]) -> frozenset[str]:
    """Quarantine valid snapshots while their content is being replaced; give their names."""
    if not snapshot_ids:
        return frozenset()
    of_these = F.col(c.SNAPSHOT_ID).isin(sorted(snapshot_ids))
    valid = lake.read(SNAPSHOTS.name).where(of_these & (F.col(c.STATUS) == SnapshotStatus.VALID))
    ids = frozenset(row[0] for row in valid.select(c.SNAPSHOT_ID).collect())
    quarantined = valid.withColumn(c.STATUS, F.lit(SnapshotStatus.QUARANTINED.value))
    _replace(lake, SNAPSHOTS.name, quarantined, ids)
    return ids


def _replace(lake: Lake, table: str, frame: DataFrame, snapshot_ids: frozenset[str]) -> None:
    """Replace the rows of these snapshots, if any."""
    if snapshot_ids:
        ids = sorted(snapshot_ids)
        condition = f"{c.SNAPSHOT_ID} IN ({', '.join(_literal(x) for x in ids)})"
        lake.replace(table, frame.where(F.col(c.SNAPSHOT_ID).isin(ids)), condition)


def _literal(text: str) -> str:
    """A SQL string literal; one with unusual characters as bytes, so that nothing can escape."""
    if _PLAIN.fullmatch(text):
        return f"'{text}'"
    return f"CAST(X'{text.encode().hex()}' AS STRING)"
