"""`clwl advise`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Exit, PutQmgr, Snapshot, not_blank


@dataclass(frozen=True, slots=True)
class AdviseWords:
    """Options of `clwl advise`."""

    qmgr: PutQmgr
    object_name: Annotated[
        str,
        typer.Option("--object", metavar="O", help="Queue name.", callback=not_blank),
    ]
    want: Annotated[
        str | None,
        typer.Option(
            "--want", metavar="QM=N,QM=N", help="How often each host, against the others."
        ),
    ] = None
    add_host: Annotated[
        str | None,
        typer.Option(
            "--add-host", metavar="QM", help="Instead: what this queue manager needs to be a host."
        ),
    ] = None
    object_qmgr: Annotated[
        str,
        typer.Option(
            "--object-qmgr", metavar="QM", help="With --add-host: object queue manager of the put."
        ),
    ] = ""
    snapshot: Snapshot = None
    at: At = None
    exit: Exit = None


def advise(common: Common, options: AdviseWords) -> int:
    """Find the weights that give the hosts of an object wanted shares.

    Every CLWLWGHT from 1 to 99 counts as 1000 divided by it, without remainder: the weights that
    come nearest, one for all channels of a host, are found exactly, and told with their error. A
    weight is a channel's, so the other objects of the queue manager whose shares change as well are
    named.

    With --add-host: which definitions another host of the queue would need, and which other queue
    managers have to change, by the design in use (a shared queue, aliases, a host that is named);
    they are tried, so that what the new host then gets is told, or why it gets nothing.

    [bold]Examples[/bold]

    clwl advise --lake build/lake --from QM1 --object ORDERS --want "SERVERB=2,SERVERA=1"

    clwl advise --lake build/lake --from QM1 --object ORDERS --want "QM2=3,QM3=2" --json

    clwl advise --lake build/lake --from QM1 --object ORDERS --add-host QM4
    """
    return run_command("advise", common, options)
