"""`clwl reallocate`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Backlog, Exit, Since


@dataclass(frozen=True, slots=True)
class ReallocateWords:
    """Options of `clwl reallocate`."""

    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="Queue manager whose channel stops."),
    ] = None
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="C", help="Its cluster-sender channel.")
    ] = None
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="S", help="Status that it takes: STOPPED, RETRYING, ..."),
    ] = None
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="T", help="When: ISO 8601 with Z or an offset."),
    ] = None
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="TABLE",
            help="A history instead: a table of the lake, or folder of a Delta table, with the "
            "columns qmgr, channel, status, at, and if you like since, backlog.",
        ),
    ] = None
    since: Since = None
    backlog: Backlog = None
    exit: Exit = None


def reallocate(common: Common, options: ReallocateWords) -> int:
    """Let the messages that wait for a stopped channel choose anew: table reallocations.

    Run it for each stop of a channel and for each retry that fails; each builds
    on those before it. Routing is not changed.

    A message that was sent does not wait. Unless --since or --backlog says which
    do, the channel's status in the snapshot in force tells it: its XQMSGSA, or
    since when it is down. If it was up until then, none waits.

    [bold]Examples[/bold]

    clwl reallocate --qmgr QM1 --channel TO.QM2 --status STOPPED --at 2026-09-14T10:00:00Z

    clwl reallocate --qmgr QM1 --channel TO.QM2 --status STOPPED --at 2026-09-14T10:00Z --backlog 9

    clwl reallocate --lake build/lake --events channel_events
    """
    return run_command("reallocate", common, options)
