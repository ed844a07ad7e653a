"""Snapshots into the lake: all is checked first, and what is there already is not written again.

A snapshot's row in `snapshots` comes last, so that a snapshot written by half is never VALID.
Source: CONTRACT, "Topology"; "What MQ's texts become", 9.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, LakeStateError, UsageError
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.inspection import (
    GONE,
    Inspection,
    differences,
    inspect,
    inspect_all,
)
from clwl_spark.snapshots.timeline import refuse_steps
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import ROUTE_PLANS, SNAPSHOTS, TABLES
from clwl_spark.tables import columns as c
from clwl_spark.tables.require import require

_ROWS_PER_FILE: Final = 1_000_000
"""At 3 to 6 bytes a row, as measured: a file of a few megabytes."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot's row in `snapshots`; a `valid_from` without a zone is UTC."""

    snapshot_id: str
    valid_from: datetime
    source: str
    status: str = SnapshotStatus.VALID.value
    base: str | None = None
    base_loaded_at: datetime | None = None


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
    row = {
        c.SNAPSHOT_ID: snapshot.snapshot_id,
        c.VALID_FROM: aware,
        c.STATUS: str(snapshot.status),
        c.SOURCE: snapshot.source,
        c.BASE: snapshot.base,
        c.BASE_LOADED_AT: snapshot.base_loaded_at,
    }
    cells = tuple(row.get(name) for name in SNAPSHOTS.names)
    return frame_from_rows(lake.spark, [cells], SNAPSHOTS.schema)


def commit(lake: Lake, inspection: Inspection, snapshots: DataFrame) -> dict[str, int]:
    """Write what an inspection found changed, and the rows of `snapshots` after it.

    Raises:
        TopologyError: an offence in `snapshots`.
        LakeStateError: routing has used a snapshot that changes.
    """
    ids = [row[0] for row in require(snapshots, SNAPSHOTS).select(c.SNAPSHOT_ID).collect()]
    heads = inspect_all(lake, ids, {SNAPSHOTS.name: snapshots})
    changed_heads = heads.changed[SNAPSHOTS.name]
    _refuse_used(lake, inspection.changed_content | changed_heads)
    lake.create([SNAPSHOTS, *(TABLES[name] for name in inspection.frames)])
    withdrawn = withdraw(lake, inspection.changed_content)
    lake.side_by_side(lambda name: _write(lake, name, inspection), inspection.frames)
    loaded = F.coalesce(c.LOADED_AT, F.current_timestamp())
    head = heads.frames[SNAPSHOTS.name].withColumn(c.LOADED_AT, loaded)
    _replace(lake, SNAPSHOTS.name, head, changed_heads | withdrawn, len(ids))
    return dict(inspection.rows)


def _refuse_used(lake: Lake, snapshot_ids: frozenset[str]) -> None:
    """Refuse to change what outcomes were derived from."""
    if not snapshot_ids:
        return
    refuse_steps(lake, snapshot_ids)
    plans = lake.read_or_empty(ROUTE_PLANS.name)
    of_these = F.col(c.SNAPSHOT_ID).isin(sorted(snapshot_ids))
    used = plans.where(of_these).select(c.SNAPSHOT_ID).distinct().limit(1).collect()
    if used:
        raise LakeStateError(
            f"snapshot '{used[0][0]}' of {lake.root} has been used by routing and would change; "
            f"nothing was written: write it under another snapshot_id, with a later valid_from"
        )


def withdraw(lake: Lake, snapshot_ids: frozenset[str]) -> frozenset[str]:
    """Quarantine valid snapshots while their content is being replaced; give their names."""
    if not snapshot_ids:
        return frozenset()
    of_these = F.col(c.SNAPSHOT_ID).isin(sorted(snapshot_ids))
    valid = lake.read(SNAPSHOTS.name).where(of_these & (F.col(c.STATUS) == SnapshotStatus.VALID))
    ids = frozenset(row[0] for row in valid.select(c.SNAPSHOT_ID).collect())
    quarantined = valid.withColumns(
        {c.STATUS: F.lit(SnapshotStatus.QUARANTINED.value), c.BEING_WRITTEN: F.lit(True)}
    )
    _replace(lake, SNAPSHOTS.name, quarantined, ids, len(ids))
    return ids


def _write(lake: Lake, table: str, inspection: Inspection) -> None:
    """Make the snapshots of one table that changed consist of the inspected rows.

    Where most rows stay, only the others are written. Measured on 20,000 queues of which one
    changes: replacing all writes 65 KB and 399 KB into the change data feed, this 78 and 7 KB.
    """
    changed, rows = inspection.changed[table], inspection.rows[table]
    frame = inspection.frames[table]
    if changed and table in inspection.few:
        differ = differences(lake, TABLES[table], frame, sorted(changed))
        lake.change(table, differ, GONE, c.SNAPSHOT_ID, changed, rows)
        return
    keys = TABLES[table].keys or TABLES[table].names
    files = 1 + rows // _ROWS_PER_FILE
    # In the order of the keys, rows of one queue manager are together: measured on 20,000 queues,
    # 106 KB a snapshot with zstd; with Spark's own snappy, 330 KB.
    in_order = frame.repartitionByRange(files, *keys).sortWithinPartitions(*keys)
    _replace(lake, table, in_order, changed, rows)


def _replace(
    lake: Lake, table: str, frame: DataFrame, snapshot_ids: frozenset[str], rows: int
) -> None:
    """Replace the rows of these snapshots, if any, by at most so many."""
    if snapshot_ids:
        of_these = F.col(c.SNAPSHOT_ID).isin(sorted(snapshot_ids))
        lake.replace(table, frame.where(of_these), c.SNAPSHOT_ID, snapshot_ids, rows)
