"""`clwl trace` and `clwl incident`: a message's way, and what became of an object's ways."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command
from clwl_spark.cli.words.shared import (
    Algorithm,
    At,
    Exit,
    Limit,
    PutObject,
    PutObjectQmgr,
    PutObjectType,
    PutQmgr,
    PutVia,
    Snapshot,
)
from clwl_spark.mq import vocabulary as v


@dataclass(frozen=True, slots=True)
class TraceWords:
    """Options of `clwl trace`."""

    qmgr: PutQmgr
    object_name: PutObject
    object_qmgr: PutObjectQmgr = ""
    object_type: PutObjectType = v.ObjectType.QUEUE
    snapshot: Snapshot = None
    at: At = None
    via: PutVia = v.Via.LOCAL
    link: Annotated[
        list[str],
        typer.Option(
            "--link",
            metavar="QM:XMITQ=QM2",
            help="QM2 is at the other end of a transmission queue that is not named for it.",
        ),
    ] = field(default_factory=list)
    hops: Annotated[int, typer.Option("--hops", help="Follow the way N hops at most.")] = 50
    algorithm: Algorithm = None
    exit: Exit = None


@dataclass(frozen=True, slots=True)
class IncidentWords:
    """Options of `clwl incident`."""

    object_name: PutObject
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="T",
            help="When it began: ISO 8601 with Z or an offset; or a time of day, like 14:00 (UTC): "
            "the last one before the object's last message.",
        ),
    ]
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="T", help="Up to then; default: the object's last message, or now."
        ),
    ] = None
    qmgr: Annotated[
        str | None,
        typer.Option("--from", metavar="QM", help="Only what this queue manager puts."),
    ] = None
    limit: Limit = 20
    exit: Exit = None


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
    return run_command("trace", common, options)


def incident(common: Common, options: IncidentWords) -> int:
    """Say what moved an object's messages since a moment, what waits, and what to do.

    The snapshot in force before it is compared with the one in force at the end:
    shares, the rule that took a way away, what changed in the topology. Of what
    was routed it counts the messages before and since, those that are bound to a
    way that is lost, and those that wait for a channel that is down.

    [bold]Examples[/bold]

    clwl incident --lake build/lake --object ORDERS --since 2026-09-14T14:00:00Z

    clwl incident --object ORDERS --since 2026-09-14T14:00Z --until 2026-09-14T15:00Z --from APP1
    """
    return run_command("incident", common, options)


COMMANDS = (trace, incident)
