"""`clwl trace`: its options and help."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import (
    Algorithm,
    Exit,
    PutWords,
)


@dataclass(frozen=True, slots=True)
class TraceWords(PutWords):
    """Options of `clwl trace`."""

    link: Annotated[
        list[str],
        typer.Option(
            "--link",
            metavar="QM:XMITQ=QM2",
            help="QM2 is at the other end of a transmission queue that is not named for it.",
        ),
    ] = field(default_factory=list)
    hops: Annotated[int, typer.Option("--hops", help="Follow the way N hops at most.")] = 50
    algorithm: Algorithm = None
    exit: Exit = None


def trace(common: Common, options: TraceWords) -> int:
    """Follow a put hop by hop to its final queues, with the share of each.

    Aliases, remote queues, queue manager aliases, gateways and transmission queues
    are passed; a loop is found and shown. A transmission queue leads to the queue
    manager that it is named for, unless --link or the table xmitq_links says more.

    [bold]Examples[/bold]

    clwl trace --lake build/lake --from QMX --object CQ1 --object-qmgr CQM

    clwl trace --lake build/lake --from SERVERA --object CLUSQ --json

    clwl trace --lake build/lake --from QMX --object CQ1 --link QMX:TO.GATE=QMA
    """
    return run_command("trace", common, options)
