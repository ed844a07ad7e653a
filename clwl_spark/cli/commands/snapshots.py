"""`clwl snapshots`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class SnapshotsWords:
    """Options of `clwl snapshots`."""

    drop: Annotated[
        str | None,
        typer.Option(
            "--drop", metavar="ID", help="Delete this snapshot, unless routing has used it."
        ),
    ] = None


def snapshots(common: Common, options: SnapshotsWords) -> int:
    """List the snapshots: in force from when, valid or not, how many rows in each table.

    A base that has changed since a snapshot was made of it is marked: the same `clwl ingest`
    again makes the snapshot anew.

    [bold]Examples[/bold]

    clwl snapshots --lake build/lake

    clwl snapshots --lake build/lake --json

    clwl snapshots --lake build/lake --drop tuesday
    """
    return run_command("snapshots", common, options)
