"""`clwl explain`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import (
    Algorithm,
    Edition,
    Exit,
    PutWords,
)
from clwl_spark.mq import vocabulary as v


@dataclass(frozen=True, slots=True)
class ExplainWords(PutWords):
    """Options of `clwl explain`."""

    bind: Annotated[
        v.Bind,
        typer.Option(
            "--bind",
            metavar="OPTION",
            help="Of the open: AS_Q_DEF, ON_OPEN, NOT_FIXED or ON_GROUP.",
            case_sensitive=False,
        ),
    ] = v.Bind.AS_Q_DEF
    scope: Annotated[
        v.Reach,
        typer.Option(
            "--scope",
            metavar="ALL|QMGR",
            help="Of a publication: QMGR = it stays on its queue manager.",
            case_sensitive=False,
        ),
    ] = v.Reach.ALL
    algorithm: Algorithm = None
    edition: Edition = None
    empty_history: Annotated[
        bool,
        typer.Option(
            "--empty-history", help="Rule 15 as before any put, not as after the last batch."
        ),
    ] = False
    exit: Exit = None


def explain(common: Common, options: ExplainWords) -> int:
    """Show every candidate of a put, the rule that eliminated it, and the routes' shares.

    [bold]Examples[/bold]

    clwl explain --lake build/lake --from QM1 --object ORDERS

    clwl explain --lake build/lake --from QM1 --object news/sport --object-type TOPIC --json

    clwl explain --lake build/lake --from QM1 --object ORDERS --empty-history
    """
    return run_command("explain", common, options)
