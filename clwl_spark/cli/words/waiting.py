"""`clwl where`, `xmitq`, `reallocate` and `explain-reallocation`: messages that wait."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command
from clwl_spark.cli.words.shared import Exit, Snapshot

_PLAY = "Play the switch of a channel"
_WHO = "Which messages wait"
_SINCE = "Those put after S (ISO 8601 with Z or an offset)"
_BACKLOG = "The last N that were put"
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="S", help=f"{_SINCE}.", rich_help_panel=_WHO),
]
Backlog = Annotated[
    int | None,
    typer.Option("--backlog", metavar="N", min=0, help=f"{_BACKLOG}.", rich_help_panel=_WHO),
]


@dataclass(frozen=True, slots=True)
class WhereWords:
    """Argument and options of `clwl where`."""

    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE", help="QM:PUT_SEQ, or the message identifier in hexadecimal."
        ),
    ]
    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="Only those put on this queue manager."),
    ] = None
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="T", help="When: ISO 8601 with Z or an offset; now."),
    ] = None
    since: Since = None
    backlog: Backlog = None


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


@dataclass(frozen=True, slots=True)
class ExplainReallocationWords:
    """Argument and options of `clwl explain-reallocation`."""

    message_id: Annotated[
        str, typer.Argument(metavar="MESSAGE_ID", help="Message identifier, in hexadecimal.")
    ]
    qmgr: Annotated[
        str | None,
        typer.Option("--qmgr", metavar="QM", help="Only where it waits on this queue manager."),
    ] = None
    exit: Exit = None


def where(common: Common, options: WhereWords) -> int:
    """Say where a message is: which choice, which transmission queue, waiting or gone.

    What was routed tells the way, over several queue managers if clwl route ran
    with --hops. Whether the message was sent since, the channel's status in the
    snapshot in force tells: its XQMSGSA, or since when it is down; or --since or
    --backlog. If the channel was up, the message is gone.

    [bold]Examples[/bold]

    clwl where --lake build/lake QM1:17

    clwl where 414D5120514D31202020202020202020A1B2C3D4E5F60708 --at 2026-09-14T10:00:00Z
    """
    return run_command("where", common, options)


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


def explain_reallocation(common: Common, options: ExplainReallocationWords) -> int:
    """Say in words why a waiting message stayed where it was, or where it went.

    [bold]Examples[/bold]

    clwl explain-reallocation --lake build/lake 414D5120514D31202020202020202020A1B2C3D4E5F60708
    """
    return run_command("explain_reallocation", common, options)


COMMANDS = (where, xmitq, reallocate, explain_reallocation)
