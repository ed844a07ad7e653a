"""`clwl export`: its options and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class ExportWords:
    """Options of `clwl export`."""

    snapshot: Annotated[
        str, typer.Option("--snapshot", metavar="ID", help="The snapshot to write.")
    ]
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Folder for one file per queue manager; - = output."
        ),
    ]
    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="Only what this queue manager has and sees."),
    ] = None
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="mqsc: what MQ's own tools write.")
    ] = "mqsc"


def export(common: Common, options: ExportWords) -> int:
    """Write a snapshot as MQSC, one file per queue manager, that `clwl ingest` reads back.

    Definitions are DEFINE commands; what a queue manager sees of others, and the status of its
    channels, is written as DISPLAY shows it. A row that no text can say is a line on standard
    error.

    [bold]Examples[/bold]

    clwl export --lake build/lake --snapshot monday --out build/monday

    clwl export --lake build/lake --snapshot monday --qmgr QM1 --out -
    """
    return run_command("export", common, options)
