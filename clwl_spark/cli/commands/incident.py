"""`clwl incident`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Exit, Limit, PutObject
from clwl_spark.mq.vocabulary import ObjectType


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
    object_type: Annotated[
        ObjectType | None,
        typer.Option(
            "--object-type",
            metavar="QUEUE|TOPIC",
            help="Only what is put to such objects; default: to any. QUEUE where nothing was put.",
            case_sensitive=False,
        ),
    ] = None
    limit: Limit = 20
    exit: Exit = None


def incident(common: Common, options: IncidentWords) -> int:
    """Say what moved an object's messages since a moment, what waits, and what to do.

    The snapshot in force before it is compared with the one in force at the end:
    shares, the rule that took a way away, what changed in the topology. Of what
    was routed it counts the messages before and since, those that are bound to a
    way that is lost, and those that wait for a channel that is down.

    [bold]Examples[/bold]

    clwl incident --lake build/lake --object ORDERS --since 2026-09-14T14:00:00Z

    clwl incident --object ORDERS --since 2026-09-14T14:00Z --until 2026-09-14T15:00Z --from APP1

    clwl incident --object news/sport --object-type TOPIC --since 14:00 --from APP1
    """
    return run_command("incident", common, options)
