"""`clwl xmitq`: its options and help."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Backlog, Since, Snapshot

_PLAY = "Play the switch of a channel"


@dataclass(frozen=True, slots=True)
class XmitqWords:
    """Options of `clwl xmitq`."""

    qmgr: Annotated[
        str, typer.Option("--qmgr", metavar="QM", help="Queue manager whose channels it is about.")
    ]
    snapshot: Snapshot = None
    channel: Annotated[
        str | None,
        typer.Option("--channel", metavar="C", help="Only this cluster-sender channel."),
    ] = None
    start_at: Annotated[
        str | None,
        typer.Option(
            "--start-at",
            metavar="T",
            help="With --channel: it starts then (ISO 8601 with Z or an offset).",
            rich_help_panel=_PLAY,
        ),
    ] = None
    stop_at: Annotated[
        str | None,
        typer.Option(
            "--stop-at",
            metavar="T",
            help="It was stopped then, so that its messages are balanced anew meanwhile.",
            rich_help_panel=_PLAY,
        ),
    ] = None
    interrupt: Annotated[
        list[str],
        typer.Option(
            "--interrupt",
            metavar="T[/T]",
            help="It stops during the switch, and starts again; may be given several times.",
            rich_help_panel=_PLAY,
        ),
    ] = field(default_factory=list)
    moves: Annotated[
        int,
        typer.Option(
            "--moves-per-second",
            metavar="N",
            help="Messages that the switch moves in a second.",
            rich_help_panel=_PLAY,
        ),
    ] = 10_000
    looks: Annotated[
        int,
        typer.Option(
            "--balanced-per-second",
            metavar="N",
            help="Messages that workload balancing looks at in a second.",
            rich_help_panel=_PLAY,
        ),
    ] = 10_000
    batch: Annotated[
        int,
        typer.Option(
            "--batch",
            metavar="N",
            help="Messages in a transaction of the switch.",
            rich_help_panel=_PLAY,
        ),
    ] = 50
    since: Since = None
    backlog: Backlog = None


def xmitq(common: Common, options: XmitqWords) -> int:
    """Show each channel's transmission queue, now and after its next start, and why.

    With --start-at, play the switch over the messages that wait for the channel
    and those that come later: tables switches and switched_messages. Which wait,
    its status tells, as in clwl reallocate, or --since or --backlog.

    [bold]Examples[/bold]

    clwl xmitq --lake build/lake --qmgr QM1

    clwl xmitq --lake build/lake --qmgr QM1 --channel TO.QM2 --start-at 2026-09-14T10:00:00Z
    """
    return run_command("xmitq", common, options)
