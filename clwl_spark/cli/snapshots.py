"""`clwl snapshots`: the states of the cluster that the lake has."""

from collections.abc import Sequence

from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.snapshots import SnapshotsWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import at_work
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.catalog import SnapshotEntry, list_snapshots
from clwl_spark.snapshots.dropping import drop_snapshot
from clwl_spark.snapshots.inspection import WRITABLE


def run(common: Common, options: SnapshotsWords) -> int:
    """Drop a snapshot, if one is named, list those that are there, and return the exit code."""
    needed = schemas.SNAPSHOTS.name
    with at_work("snapshots", common, needs=needed, reads=WRITABLE) as work:
        # A lake without the table is told so, rather than shown as empty.
        work.lake.read(needed)
        if options.drop is not None:
            _drop(work.lake, options.drop)
        entries = list_snapshots(work.lake)
        work.screen.document({"snapshots": [entry.to_json() for entry in entries]})
        work.screen.show(snapshots_table(entries))
    return 0


def _drop(lake: Lake, snapshot_id: str) -> None:
    """Drop a snapshot, and say so."""
    made_of_it = drop_snapshot(lake, snapshot_id)
    rest = f"; {', '.join(made_of_it)}, made of it, keeps its rows" if made_of_it else ""
    note(f"snapshot {snapshot_id} was dropped{rest}")


def snapshots_table(entries: Sequence[SnapshotEntry]) -> Table:
    """One line per snapshot; tables without rows in any of them are left out."""
    names = [name for name in WRITABLE if any(entry.rows[name] for entry in entries)]
    table = Table(title=f"{len(entries)} snapshot(s)", title_justify="left")
    for name in ("Snapshot", "Valid from", "Status", "Base"):
        table.add_column(name)
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for entry in entries:
        told = entry.to_json()
        status = "being written" if entry.being_written else str(entry.status)
        table.add_row(
            entry.snapshot_id,
            told["valid_from"],
            status,
            f"{entry.base or ''}{' (changed since)' if entry.base_changed else ''}",
            *(f"{entry.rows[name]:,}" for name in names),
        )
    return table
