"""`clwl ingest`: its options and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import not_blank


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
        str,
        typer.Option(
            "--snapshot",
            metavar="ID",
            help="Name of the snapshot to write.",
            callback=not_blank,
        ),
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
