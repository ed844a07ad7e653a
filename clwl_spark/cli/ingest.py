"""`clwl ingest`: what MQ printed becomes a snapshot of the topology."""

from collections.abc import Mapping
from typing import Any, Final

import structlog
from rich.table import Table

from clwl_spark.cli.commands.ingest import IngestWords
from clwl_spark.cli.moments import moment_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import TOPOLOGY_TABLES, at_work
from clwl_spark.snapshots.ingest import IngestOptions, ingest

_CHANGES: Final = ("added", "removed", "changed")


def run(common: Common, options: IngestWords) -> int:
    """Ingest the texts, name what was rejected, and return the exit code."""
    start = options.valid_from
    valid_from = None if start is None else moment_of("--valid-from", start)
    how = IngestOptions(
        valid_from, options.observer, options.base, options.encoding, options.strict
    )
    with at_work("ingest", common, reads=TOPOLOGY_TABLES) as work:
        with work.screen.progress("ingesting") as tell:
            summary = ingest(work.lake, options.paths, options.snapshot, how, tell).to_json()
        tell_rejects(summary)
        structlog.get_logger().info(
            "ingested", snapshot_id=options.snapshot, rejects=len(summary["rejects"])
        )
        work.screen.document(summary)
        work.screen.show(ingest_table(summary))
    return 0


def ingest_table(summary: Mapping[str, Any]) -> Table:
    """Rows by table; of a change, what was added, removed and changed."""
    table = Table(title=f"Snapshot {summary['snapshot_id']}", title_justify="left")
    table.add_column("Table")
    if summary["changes"]:
        _add_changes(table, summary["changes"])
    else:
        table.add_column("Rows", justify="right")
        for name, count in summary["rows"].items():
            table.add_row(name, f"{count:,}")
    table.add_row("rejected pieces", f"{len(summary['rejects']):,}")
    return table


def _add_changes(table: Table, changes: Mapping[str, Mapping[str, int]]) -> None:
    """Three columns, and a line for each table that changed."""
    for word in _CHANGES:
        table.add_column(word.capitalize(), justify="right")
    for name, counts in changes.items():
        table.add_row(name, *(f"{counts[word]:,}" for word in _CHANGES))


def tell_rejects(summary: Mapping[str, Any]) -> None:
    """One line on standard error for each piece that could not be used, or file passed over."""
    for reject in summary["rejects"]:
        text = " ".join(str(reject["text"]).split())
        note(f"{reject['file']}:{reject['line']}: {reject['reason']}: {text}")
    for passed in summary["passed_over"]:
        note(f"{passed['file']} is passed over: {passed['why']}")
    for left in summary["not_carried_out"]:
        note(f"{left['file']}:{left['line']}: {left['text']} is not carried out: {left['why']}")
    for table, count in summary["for_everybody"].items():
        note(f"as full repositories show them, for everybody: {count:,} in {table}")
    for found in summary["disagreements"]:
        of = f"{found['name']} of {found['qmgr']} in {found['cluster']}"
        who, what = (", ".join(found[x]) for x in ("observers", "columns"))
        note(f"{who} show {of} differently: {what}; no CLUSDATE tells which is newer")
    if summary["rebuilt"]:
        note(f"snapshot {summary['snapshot_id']} was made of its base anew, which has changed")
    for name in summary["stale"]:
        note(f"snapshot {name} was made of {summary['snapshot_id']} as it was: ingest it again")
    if not summary["written"]:
        note(f"snapshot {summary['snapshot_id']} was not made: no text gives a row")
