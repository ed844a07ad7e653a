"""`clwl trace`: a message's way over several queue managers."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark import vocabulary as v
from clwl_spark.commands.words.options import Common


@dataclass(frozen=True, slots=True)
class TraceWords:
    """Options of `clwl trace`."""

    qmgr: Annotated[
        str, typer.Option("--from", metavar="QM", help="Queue manager where the put happens.")
    ]
    object_name: Annotated[
        str, typer.Option("--object", metavar="O", help="Queue name; a topic string for TOPIC.")
    ]
    object_qmgr: Annotated[
        str, typer.Option("--object-qmgr", metavar="R", help="Object queue manager name.")
    ] = ""
    object_type: Annotated[
        v.ObjectType, typer.Option("--object-type", help="What is put to.", case_sensitive=False)
    ] = v.ObjectType.QUEUE
    snapshot: Annotated[
        str | None,
        typer.Option("--snapshot", metavar="ID", help="Default: the last valid snapshot."),
    ] = None
    via: Annotated[
        v.Via,
        typer.Option("--via", help="CLUSTER = it came over a channel.", case_sensitive=False),
    ] = v.Via.LOCAL
    link: Annotated[
        list[str],
        typer.Option(
            "--link",
            metavar="QM:XMITQ=QM2",
            help="QM2 is at the other end of a transmission queue that is not named for it.",
        ),
    ] = field(default_factory=list)
    hops: Annotated[int, typer.Option("--hops", help="Follow the way for so many hops.")] = 50
    algorithm: Annotated[
        v.Algorithm | None,
        typer.Option("--algorithm", help="Order of the rules; default: the lake's, else v9."),
    ] = None
    exit: Annotated[
        str | None,
        typer.Option("--exit", metavar="MODULE:FUNCTION", help="Cluster workload exit."),
    ] = None


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
    from clwl_spark.commands.trace import run

    return run(common, options)


COMMANDS = (trace,)
