"""`clwl separation`: which queues share channels and transmission queues."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Snapshot


@dataclass(frozen=True, slots=True)
class SeparationWords:
    """Options of `clwl separation`."""

    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="Only this one, and its queues one by one."),
    ] = None
    objects: Annotated[
        list[str],
        typer.Option(
            "--object",
            metavar="O",
            help="With --qmgr: this queue's neighbours; may be repeated.",
        ),
    ] = field(default_factory=list)
    snapshot: Snapshot = None
    at: At = None
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", min=1, help="Rows of each list, the fullest first."),
    ] = 15


def separation(common: Common, options: SeparationWords) -> int:
    """Show which queues share a channel or a transmission queue, so that one holds up the other.

    Queues of one cluster on one queue manager share its channel, and with it the transmission
    queue, however many of these there are. A line is a channel on its transmission queue: the
    queues whose messages it can carry, in whatever state the channels are, and how many others
    are on the transmission queue by other channels.

    [bold]Examples[/bold]

    clwl separation --lake build/lake

    clwl separation --lake build/lake --qmgr QM1

    clwl separation --lake build/lake --qmgr QM1 --object ORDERS --limit 100 --json
    """
    return run_command("separation", common, options)
