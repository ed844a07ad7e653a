"""`clwl upgrade`: tables of earlier versions get what those of this one have."""

from dataclasses import asdict

import structlog
from rich.text import Text

from clwl_spark.cli.commands.upgrade import UpgradeWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import at_work
from clwl_spark.routing.maintenance.creation import upgrade_tables
from clwl_spark.tables import SNAPSHOTS


def run(common: Common, options: UpgradeWords) -> int:
    """Upgrade the tables, or tell what would be done, and return the exit code."""
    with at_work("upgrade", common, needs=SNAPSHOTS.name, reads=()) as work:
        found = upgrade_tables(work.lake, dry_run=options.dry_run)
        lacking = [x for x in found if x.columns or x.checks]
        said = {"lake": work.lake.root, "dry_run": options.dry_run, "there": len(found)}
        structlog.get_logger().info("upgraded", **said, changed=len(lacking))
        work.screen.document({**said, "tables": [asdict(x) for x in lacking]})
        would = "would be changed" if options.dry_run else "changed"
        title = f"{len(lacking)} of {len(found)} tables {would}"
        rows = [(x.table, ", ".join(x.columns), ", ".join(x.checks)) for x in lacking]
        named = ("Table", "Columns", "CHECKs")
        work.screen.show(listing(named, rows, title=title) if rows else Text(title))
    return 0
