"""`clwl conform`: predictions beside what was really seen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Limit


@dataclass(frozen=True, slots=True)
class ConformWords:
    """Options of `clwl conform`."""

    object_name: Annotated[
        str | None, typer.Option("--object", metavar="O", help="Only what was put to it.")
    ] = None
    qmgr: Annotated[
        str | None,
        typer.Option("--from", metavar="QM", help="Only what this queue manager put."),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="T",
            help="Only what was put from then on: ISO 8601 with Z or an offset.",
        ),
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="T", help="Only what was put up to then.")
    ] = None
    limit: Limit = 20
    explained: Annotated[
        int,
        typer.Option(
            "--explain",
            metavar="N",
            min=0,
            help="Queue managers whose first disagreement is looked into.",
        ),
    ] = 20
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="SHARE",
            min=0,
            max=1,
            help="Exit code 1 where less than this share (0 to 1) of what is compared agrees, or "
            "nothing is compared.",
        ),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write what was found as one HTML page."),
    ] = None


def conform(common: Common, options: ConformWords) -> int:
    """Hold what was foretold against where messages really went.

    Rows of observed_routes (clwl load) are matched with outcomes by queue manager
    and put_seq, or message_id, and compared in what they tell. Of each queue manager
    the first message that went elsewhere is looked into: its choices are repeated
    under one hypothesis after another (a status known late, a history before the
    trace, other putters, another weight, a partial view, an exit, another version),
    and the one that explains most by least is named, with what would settle it.

    [bold]Examples[/bold]

    clwl conform --lake build/lake

    clwl conform --lake build/lake --from APP1 --object ORDERS --json

    clwl conform --lake build/lake --fail-under 0.99

    clwl conform --lake build/lake --since 2026-09-14T08:00:00Z --html build/conform.html
    """
    return run_command("conform", common, options)
