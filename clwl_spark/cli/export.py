"""`clwl export`: a snapshot as texts that MQ, and `clwl ingest`, can read."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import structlog
from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.export import ExportWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import at_work
from clwl_spark.errors import UsageError
from clwl_spark.snapshots.export import Exported, export
from clwl_spark.snapshots.inspection import WRITABLE


def run(common: Common, options: ExportWords) -> int:
    """Write the snapshot's texts, name what no text can say, and return the exit code."""
    to_output = str(options.out) == "-"
    if options.format != "mqsc":
        raise UsageError(f"--format {options.format} is not known: there is mqsc")
    if to_output and common.as_json:
        raise UsageError("--out - and --json both write to standard output: leave one out")
    # Of texts on standard output nothing but texts is read.
    shown = replace(common, quiet=common.quiet or to_output)
    with at_work("export", shown, needs=schemas.SNAPSHOTS.name, reads=WRITABLE) as work:
        exported = export(
            work.lake, options.snapshot, options.qmgr, None if to_output else options.out
        )
        for text in exported.texts:
            work.screen.out.write(text)
        for row in exported.left_out:
            note(f"left out: {row}")
        document = export_document(exported, options)
        structlog.get_logger().info("exported", **{**document, "left_out": len(exported.left_out)})
        work.screen.document(document)
        if not to_output:
            work.screen.show(_table(document))
    sys.stdout.flush()
    return 0


def export_document(exported: Exported, options: ExportWords) -> dict[str, Any]:
    """The document of `clwl export --json`."""
    return {
        "snapshot_id": options.snapshot,
        "format": options.format,
        "files": [str(path) for path in exported.files],
        "rows": exported.rows,
        "left_out": [asdict(found) for found in exported.left_out],
    }


def _table(document: dict[str, Any]) -> Table:
    table = Table(title=f"Snapshot {document['snapshot_id']} as MQSC", title_justify="left")
    table.add_column("What")
    table.add_column("Count", justify="right")
    for name in ("files", "left_out"):
        table.add_row(name.replace("_", " "), f"{len(document[name]):,}")
    table.add_row("rows", f"{document['rows']:,}")
    folder = {str(Path(path).parent) for path in document["files"]}
    table.caption = f"in {', '.join(sorted(folder))}" if folder else None
    return table
