"""`clwl snapshots`: the states of the cluster that the lake has."""

from collections.abc import Sequence

from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.snapshots import SnapshotsWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.tables import listing
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
    """One line per snapshot; of its tables those that have rows."""
    rows = [
        (
            entry.snapshot_id,
            entry.to_json()["valid_from"] or "",
            "being written" if entry.being_written else str(entry.status),
            f"{entry.base or ''}{' (changed since)' if entry.base_changed else ''}",
            ", ".join(
                f"{entry.rows[name]:,} {name.replace('_', ' ')}"
                for name in WRITABLE
                if entry.rows[name]
            ),
        )
        for entry in entries
    ]
    headings = ("Snapshot", "Valid from", "Status", "Base", "Rows")
    return listing(headings, rows, title=f"{len(entries)} snapshot(s)")
