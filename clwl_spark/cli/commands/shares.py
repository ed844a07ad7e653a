"""`clwl shares`: its options and help."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Exit, Snapshot


@dataclass(frozen=True, slots=True)
class SharesWords:
    """Options of `clwl shares`."""

    qmgr: Annotated[
        str | None, typer.Option("--from", metavar="QM", help="Queue manager that puts.")
    ] = None
    objects: Annotated[
        list[str],
        typer.Option(
            "--object",
            metavar="O[=N]",
            help="What is put to, and how often against the others; may be repeated.",
        ),
    ] = field(default_factory=list)
    traffic: Annotated[
        bool, typer.Option("--traffic", help="The messages of the lake instead.")
    ] = False
    snapshot: Snapshot = None
    at: At = None
    exit: Exit = None


def shares(common: Common, options: SharesWords) -> int:
    """Show the exact long-run share of every route, channel and queue manager.

    Nothing is simulated: shares of one object follow from the weights, as the queue manager
    reckons with them (1000 divided by CLWLWGHT, without remainder: 91 to 99 are alike). Several
    objects of one queue manager share its history, and take turns as evenly as their numbers allow.

    [bold]Examples[/bold]

    clwl shares --lake build/lake --from QM1 --object ORDERS

    clwl shares --lake build/lake --from QM1 --object ORDERS=3 --object INVOICES=1

    clwl shares --lake build/lake --traffic --json
    """
    return run_command("shares", common, options)
