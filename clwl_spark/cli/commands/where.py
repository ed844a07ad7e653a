"""`clwl where`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Backlog, Since


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
