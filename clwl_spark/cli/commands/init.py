"""`clwl init`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class InitWords:
    """Options of `clwl init`."""

    ddl: Annotated[
        bool, typer.Option("--ddl", help="Print the SQL that makes the tables; make nothing.")
    ] = False


def init(common: Common, options: InitWords) -> int:
    """Make every table of a lake, or of a catalog's schema, empty.

    Tables have their constraints and comments. One that is there stays as it is, and gets the
    optional columns that it lacks. Messages can then be appended by anything that writes Delta.

    [bold]Examples[/bold]

    clwl init --lake build/lake

    clwl init --catalog main.mq --ddl > tables.sql
    """
    return run_command("init", common, options)
