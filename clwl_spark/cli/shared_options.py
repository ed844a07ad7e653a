"""Options that several commands have, as the types of their records' fields."""

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from clwl_spark.mq import vocabulary as v

Snapshot = Annotated[
    str | None, typer.Option("--snapshot", metavar="ID", help="Default: the last valid snapshot.")
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="T",
        help="The snapshot in force then instead: ISO 8601 with Z or an offset.",
    ),
]
Exit = Annotated[
    str | None,
    typer.Option("--exit", metavar="MODULE:FUNCTION", help="Cluster workload exit, in Python."),
]
Algorithm = Annotated[
    v.Algorithm | None,
    typer.Option(
        "--algorithm", metavar="v9|v7", help="Order of the rules; default: the lake's, v9 if new."
    ),
]
Edition = Annotated[
    Literal["1", "2"] | None,
    typer.Option(
        "--edition",
        metavar="1|2",
        help=f"Of the semantics; default: the lake's, {v.NEWEST_EDITION.value} if new.",
    ),
]
Limit = Annotated[
    int,
    typer.Option("--limit", metavar="N", min=1, help="Lines of each table that are shown."),
]


def not_blank(value: str) -> str:
    """A name that an option has to give, as a shell's variable that is not set does not.

    Raises:
        BadParameter: it is blank.
    """
    if not value.strip():
        raise typer.BadParameter("it is blank: give a name")
    return value


PutQmgr = Annotated[
    str,
    typer.Option(
        "--from", metavar="QM", help="Queue manager where the put happens.", callback=not_blank
    ),
]
PutObject = Annotated[
    str,
    typer.Option(
        "--object",
        metavar="O",
        help="Queue name; a topic string for TOPIC.",
        callback=not_blank,
    ),
]
PutObjectQmgr = Annotated[
    str,
    typer.Option("--object-qmgr", metavar="R", help="Queue manager that the open names."),
]
PutObjectType = Annotated[
    v.ObjectType,
    typer.Option(
        "--object-type", metavar="QUEUE|TOPIC", help="What is put to.", case_sensitive=False
    ),
]
PutVia = Annotated[
    v.Via,
    typer.Option(
        "--via",
        metavar="LOCAL|CLUSTER",
        help="LOCAL = a program puts it, CLUSTER = it came over a channel.",
        case_sensitive=False,
    ),
]


@dataclass(frozen=True, slots=True)
class PutWords:
    """A put to ask about: the options that `clwl explain` and `clwl trace` have first."""

    qmgr: PutQmgr
    object_name: PutObject
    object_qmgr: PutObjectQmgr = ""
    object_type: PutObjectType = v.ObjectType.QUEUE
    snapshot: Snapshot = None
    at: At = None
    via: PutVia = v.Via.LOCAL


NEWEST_SNAPSHOT = typer.Option("--snapshot", metavar="ID", help="Default: the newest snapshot.")
GATES = typer.Option(
    "--gates", metavar="PATH", help="File or folder with gates of your own; may be repeated."
)
HTML = typer.Option("--html", metavar="FILE", help="Write the report as one HTML page.")
WHO = "Which messages wait"
SINCE = "Those put after S (ISO 8601 with Z or an offset)"
BACKLOG = "The last N that were put"
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="S", help=f"{SINCE}.", rich_help_panel=WHO),
]
Backlog = Annotated[
    int | None,
    typer.Option("--backlog", metavar="N", min=0, help=f"{BACKLOG}.", rich_help_panel=WHO),
]
