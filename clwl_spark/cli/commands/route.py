"""`clwl route`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import (
    Algorithm,
    Edition,
    Exit,
)
from clwl_spark.mq import vocabulary as v


@dataclass(frozen=True, slots=True)
class RouteWords:
    """Options of `clwl route`."""

    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with new messages until stopped.")
    ] = False
    algorithm: Algorithm = None
    edition: Edition = None
    null_open_id: Annotated[
        v.NullOpenId | None,
        typer.Option(
            "--null-open-id",
            metavar="own|shared",
            help="Messages put ON_OPEN without an open_id: each an open of its own, or one open, "
            "which is kept, for each queue manager and object; default: the lake's, own if new.",
            case_sensitive=False,
        ),
    ] = None
    binding_ttl: Annotated[
        str | None,
        typer.Option("--binding-ttl", metavar="24h", help="Keep an idle binding this long."),
    ] = None
    duplicates: Annotated[
        v.Duplicates | None,
        typer.Option(
            "--duplicates",
            metavar="keep|reject",
            help="What was routed before: route it again, or set it aside as DUPLICATE.",
            case_sensitive=False,
        ),
    ] = None
    exit: Exit = None
    message_exit: Annotated[
        str | None,
        typer.Option(
            "--message-exit",
            metavar="MODULE:FUNCTION",
            help="Asked for each message which way it takes.",
        ),
    ] = None
    poll: Annotated[
        str | None,
        typer.Option("--poll", metavar="5s", help="With --follow: look for messages this often."),
    ] = None
    hops: Annotated[
        int | None,
        typer.Option("--hops", metavar="N", help="Follow messages on, N hops at most: table hops."),
    ] = None


def route(common: Common, options: RouteWords) -> int:
    """Route every message that has not been routed yet, exactly once.

    A lake keeps the algorithm, edition and meaning of a null open_id that it was
    first routed with. With --follow,
    Ctrl-C or SIGTERM stops after the batch in hand. With --hops, messages that
    come to another queue manager are put again there, and the table hops has a
    row for each message and hop. With --duplicates reject, a message whose qmgr,
    put_seq and message_id were routed already goes to rejected_messages: for a
    producer that delivers at least once.

    [bold]Examples[/bold]

    clwl route --lake build/lake

    clwl route --lake build/lake --follow --poll 10s --binding-ttl 7d

    clwl route --lake build/lake --duplicates reject

    clwl route --lake build/lake --null-open-id shared

    clwl route --lake build/lake --hops 4
    """
    return run_command("route", common, options)
