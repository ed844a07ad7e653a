"""`clwl what-if`: its options and help."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Exit, Limit, Snapshot


class Swept(StrEnum):
    """What is taken away, one after the other."""

    CHANNELS = "channels"
    QUEUE_MANAGERS = "queue-managers"
    CLUSTERS = "clusters"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class WhatIfWords:
    """Options of `clwl what-if`."""

    change: Annotated[
        list[str],
        typer.Option("--change", metavar="WORDS", help="A change in MQSC words; may be repeated."),
    ] = field(default_factory=list)
    script: Annotated[
        list[Path],
        typer.Option("--script", metavar="FILE", help="A file of MQSC that is applied first."),
    ] = field(default_factory=list)
    to: Annotated[
        str | None, typer.Option("--to", metavar="ID", help="A whole other snapshot instead.")
    ] = None
    sweep: Annotated[
        list[Swept],
        typer.Option(
            "--sweep",
            metavar="WHAT",
            help="Take each away alone, and compare: channels, queue-managers, clusters, all.",
            case_sensitive=False,
        ),
    ] = field(default_factory=list)
    puts: Annotated[
        list[str],
        typer.Option(
            "--put",
            metavar="QM:O[=N]",
            help="With --sweep: this traffic, not the lake's messages.",
        ),
    ] = field(default_factory=list)
    snapshot: Snapshot = None
    at: At = None
    limit: Limit = 15
    exit: Exit = None


def what_if(common: Common, options: WhatIfWords) -> int:
    """Route the lake's messages as they are and with a change, and show what moves.

    A change is said as runmqsc takes it, and where: ON QM1, which is left out where one queue
    manager alone defines the object. STOP and START CHANNEL, SUSPEND and RESUME QMGR, ENDMQM are
    changes too. Nothing of the lake is changed. With --sweep every channel, queue manager or
    cluster is taken away alone: single points of failure, and who takes over, by expected shares.

    [bold]Examples[/bold]

    clwl what-if --lake build/lake --change "STOP CHANNEL(TO.QM2) ON QM1"

    clwl what-if --lake build/lake --change "SUSPEND QMGR(QM4) CLUSTER(A)"

    clwl what-if --lake build/lake --to tuesday

    clwl what-if --lake build/lake --sweep queue-managers --json
    """
    return run_command("what_if", common, options)
