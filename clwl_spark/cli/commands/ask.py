"""`clwl ask`: ready questions about what was routed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class AskWords:
    """Argument and options of `clwl ask`."""

    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The question; none = list them.")
    ] = None
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Most rows.")] = 50
    sql: Annotated[
        bool,
        typer.Option(
            "--sql",
            help="Print the question's SQL for DuckDB, with the views it needs; without NAME all "
            "views. Starts no Spark.",
        ),
    ] = False
    views: Annotated[
        bool, typer.Option("--views", help="List the views and their columns; needs no lake.")
    ] = False
    create_views: Annotated[
        bool,
        typer.Option("--create-views", help="Make the views permanent in the lake's catalog."),
    ] = False
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write all answers as one HTML page."),
    ] = None


def ask(common: Common, options: AskWords) -> int:
    """Answer a ready question about what was routed: what failed, is unbalanced, moved, waits.

    Without NAME the questions are listed. They are SQL over documented views of the lake's
    tables, which runs in Spark and in DuckDB alike.

    [bold]Examples[/bold]

    clwl ask

    clwl ask unbalanced --lake build/lake

    clwl ask failures --lake build/lake --sql | duckdb

    clwl ask --lake build/lake --page build/answers.html

    clwl ask --catalog main.mq --create-views
    """
    return run_command("ask", common, options)
