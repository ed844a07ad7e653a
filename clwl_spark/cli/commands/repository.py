"""`clwl repository`: what a queue manager knows of its clusters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command

_COST = "Cost of REFRESH CLUSTER"


@dataclass(frozen=True, slots=True)
class RepositoryWords:
    """Options of `clwl repository`."""

    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="The queue manager; with --events default: all."),
    ] = None
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="T",
            help="ISO 8601 with Z or an offset; with --events also the time since the start, "
            "like 45d. Default: the last valid snapshot, the last event.",
        ),
    ] = None
    object_name: Annotated[
        str | None,
        typer.Option(
            "--object",
            metavar="NAME",
            help="Only a queue, topic, channel or queue manager of that name, wherever it is.",
        ),
    ] = None
    events: Annotated[
        Path | None,
        typer.Option("--events", metavar="FILE", help="Simulate the events of a TOML file."),
    ] = None
    refresh_cost: Annotated[
        str | None,
        typer.Option(
            "--refresh-cost",
            metavar="N,N,...",
            help="Messages of a REFRESH in clusters of so many queue managers.",
            rich_help_panel=_COST,
        ),
    ] = None
    full: Annotated[
        int, typer.Option("--full", help="Full repositories among them.", rich_help_panel=_COST)
    ] = 2
    queues: Annotated[
        int,
        typer.Option(
            "--queues",
            help="Cluster queues that each of the others hosts, and uses of others.",
            rich_help_panel=_COST,
        ),
    ] = 10


def repository(common: Common, options: RepositoryWords) -> int:
    """Show what a queue manager knows of its clusters, what it does not and why.

    The view is the one that routing uses: its own rows where the snapshot has any, else those of
    the full repositories. What it sees otherwise than the owner defines it is listed with how
    long that has been so. With --events, a cluster is simulated: definitions, opens, REFRESH,
    RESET, SUSPEND, queue managers that stop or are lost, renewals and expiry.

    [bold]Examples[/bold]

    clwl repository --lake build/lake --qmgr QM1 --at 2026-09-14T06:00:00Z

    clwl repository --lake build/lake --qmgr QM1 --object ORDERS --json

    clwl repository --events cluster.toml --qmgr QM2 --at 45d

    clwl repository --refresh-cost 10,100,1000
    """
    return run_command("repository", common, options)
