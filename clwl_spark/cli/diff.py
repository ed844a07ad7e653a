"""`clwl diff`: what changed from one snapshot to another."""

from collections.abc import Mapping
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.diff import DiffWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import at_work
from clwl_spark.snapshots import diff as d
from clwl_spark.snapshots.inspection import WRITABLE

_SHOWN: Final = 200
"""Changes on the screen; `--json` has all."""


def run(common: Common, options: DiffWords) -> int:
    """Compare the snapshots, and return the exit code."""
    with at_work("diff", common, needs=schemas.SNAPSHOTS.name, reads=WRITABLE) as work:
        found = d.compare(work.lake, options.before, options.after)
        work.screen.document(found.to_json())
        if not found.changes:
            work.screen.show(f"{options.before} and {options.after} have the same topology")
        else:
            work.screen.show(counts_table(found), changes_table(found))
            if (more := len(found.changes) - _SHOWN) > 0:
                work.screen.show(f"and {more:,} more; --json has them all")
    return 0


def counts_table(found: d.Difference) -> Table:
    """Rows added, removed and changed, by table."""
    table = Table(title=f"{found.before} -> {found.after}", title_justify="left")
    table.add_column("Table")
    for name in ("added", "removed", "changed"):
        table.add_column(name.capitalize(), justify="right")
    for name, counts in found.counts.items():
        table.add_row(name, *(f"{count:,}" for count in counts.values()))
    return table


def changes_table(found: d.Difference) -> Table:
    """One line per attribute that changed."""
    table = Table()
    for name in ("Table", "Key", "Change", "Attribute", "Old", "New"):
        table.add_column(name, overflow="fold")
    for change in found.changes[:_SHOWN]:
        cells = (change[d.CHANGE], change[d.ATTRIBUTE], change[d.OLD], change[d.NEW])
        # Names may hold brackets, which are no markup here.
        table.add_row(change[d.TABLE], Text(_key(change)), *(Text(_cell(x)) for x in cells))
    return table


def _key(change: Mapping[str, Any]) -> str:
    """The key as a reader says it; everybody's view goes without saying."""
    parts = (x for name, x in change[d.KEY].items() if (name, x) != ("observer", "*"))
    return " ".join(x or "-" for x in parts)


def _cell(value: object) -> str:
    return "" if value is None else "''" if value == "" else str(value)
