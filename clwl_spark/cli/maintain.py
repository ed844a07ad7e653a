"""`clwl maintain`: compaction and clean-up of a lake's tables."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import structlog
from rich.table import Table
from rich.text import Text

from clwl_spark.cli.commands.maintain import MaintainWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import at_work
from clwl_spark.delta.upkeep import TableUpkeep
from clwl_spark.routing.maintenance.upkeep import Upkeep, maintain, read_keep
from clwl_spark.tables import SNAPSHOTS

_NUMBERS: Final = ("Files", "after", "Deleted", "Orphans", "Log files deleted", "Bytes freed")
_UNKNOWN: Final = "?"


def run(common: Common, options: MaintainWords) -> int:
    """Maintain the lake, and return the exit code."""
    keep = read_keep(options.keep)
    with at_work("maintain", common, needs=SNAPSHOTS.name, reads=()) as work:
        with work.screen.progress("maintain") as tell:
            found = maintain(work.lake, keep, dry_run=options.dry_run, tell=tell)
        said = {"lake": work.lake.root, "keep": options.keep, "dry_run": options.dry_run}
        structlog.get_logger().info("maintained", **said, bytes_freed=found.bytes_freed)
        work.screen.document({**said, **found.to_json()})
        work.screen.show(_table(found, dry_run=options.dry_run), *_notes(found))
    return 0


def _table(found: Upkeep, *, dry_run: bool) -> Table:
    """A line per table in which there is something to do, and the totals."""
    rows = [_row(x) for x in found.tables if _is_done(x)]
    if found.checkpoints:
        size = f"{found.checkpoint_bytes:,}"
        rows.append([f"{len(found.checkpoints)} old checkpoints", "", "", "", "", "", size, ""])
    summed = ("files_before", "files_after", "files_deleted", "orphans", "log_files_deleted")
    totals = [f"{found.total(x):,}" for x in summed]
    rows.append([f"all {len(found.tables)} tables", *totals, f"{found.bytes_freed:,}", ""])
    title = "Would be done" if dry_run else "Done"
    return listing(("Table", *_NUMBERS, "Log checkpoint"), rows, _NUMBERS, title)


def _is_done(table: TableUpkeep) -> bool:
    changed = table.files_after != table.files_before or table.log_checkpoint is not None
    return changed or bool(table.files_deleted or table.log_files_deleted)


def _row(table: TableUpkeep) -> list[str]:
    figures = (
        table.files_before,
        table.files_after,
        table.files_deleted,
        table.orphans,
        table.log_files_deleted,
        table.bytes_freed,
    )
    shown = [_UNKNOWN if x is None else f"{x:,}" for x in figures]
    version = table.log_checkpoint
    return [table.table, *shown, "" if version is None else f"version {version}"]


def _notes(found: Upkeep) -> Iterator[Text]:
    """A line for each reason to leave something undone, with the tables that it is true of."""
    tables = defaultdict(list)
    for table in found.tables:
        if table.note:
            tables[table.note].append(table.table)
    for note, names in tables.items():
        yield Text(f"{', '.join(names)}: {note}")
