"""`clwl ingest`, `snapshots`, `diff`, `export`: snapshots of the topology."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command


@dataclass(frozen=True, slots=True)
class IngestWords:
    """Arguments and options of `clwl ingest`."""

    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="Texts that MQ printed, or folders; - = standard input."
        ),
    ]
    snapshot: Annotated[
        str, typer.Option("--snapshot", metavar="ID", help="Name of the snapshot to write.")
    ]
    valid_from: Annotated[
        str | None,
        typer.Option(
            "--valid-from",
            metavar="T",
            help="In force from then on: ISO 8601 with Z or an offset; default: now, or as it was.",
        ),
    ] = None
    observer: Annotated[
        str | None,
        typer.Option(
            "--observer",
            metavar="QM",
            help="Queue manager of texts that do not name theirs; {stem} = the file's name "
            "without its suffix, {folder} = the name of its folder.",
        ),
    ] = None
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="ID",
            help="The texts are a change to this snapshot: what they do not tell stays as it was.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Character set of the texts, such as cp1047 of z/OS; default: seen by their "
            "bytes.",
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Load nothing if any piece cannot be used.")
    ] = False


@dataclass(frozen=True, slots=True)
class SnapshotsWords:
    """Options of `clwl snapshots`."""

    drop: Annotated[
        str | None,
        typer.Option(
            "--drop", metavar="ID", help="Delete this snapshot, unless routing has used it."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class DiffWords:
    """Arguments of `clwl diff`."""

    before: Annotated[str, typer.Argument(metavar="A", help="The snapshot to compare with.")]
    after: Annotated[str, typer.Argument(metavar="B", help="The snapshot that may differ.")]


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


def ingest(common: Common, options: IngestWords) -> int:
    """Read what MQ printed (dmpmqcfg, runmqsc, DISPLAY) into a snapshot of the topology.

    A piece that cannot be used is a line on standard error; the rest is loaded. With --base the
    texts may be a change alone: an ALTER or DELETE, a SUSPEND, a newer DISPLAY CHSTATUS.

    [bold]Examples[/bold]

    clwl ingest exports/ --lake build/lake --snapshot monday --valid-from 2026-09-14T06:00:00Z

    clwl ingest qcluster.txt --lake build/lake --snapshot monday --observer QM1 --strict

    clwl ingest change.mqsc --lake build/lake --base monday --snapshot tuesday --observer QM1

    runmqsc -e QM1 < display.mqsc | clwl ingest - --lake build/lake --snapshot monday
    """
    return run_command("ingest", common, options)


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


def diff(common: Common, options: DiffWords) -> int:
    """Show what changed from snapshot A to snapshot B, attribute by attribute.

    An attribute that is left out and one with MQ's default are the same. The exit code is 0
    whether they differ or not.

    [bold]Examples[/bold]

    clwl diff monday tuesday --lake build/lake

    clwl diff monday tuesday --lake build/lake --json
    """
    return run_command("diff", common, options)


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


COMMANDS = (ingest, snapshots, diff, export)
