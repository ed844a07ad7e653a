"""`clwl explain-reallocation`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Exit


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


def explain_reallocation(common: Common, options: ExplainReallocationWords) -> int:
    """Say in words why a waiting message stayed where it was, or where it went.

    [bold]Examples[/bold]

    clwl explain-reallocation --lake build/lake 414D5120514D31202020202020202020A1B2C3D4E5F60708
    """
    return run_command("explain_reallocation", common, options)
