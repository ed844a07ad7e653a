"""`clwl upgrade`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class UpgradeWords:
    """Options of `clwl upgrade`."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False


def upgrade(common: Common, options: UpgradeWords) -> int:
    """Give the tables of a lake that earlier versions made the columns and CHECKs of this one.

    No row changes. Commands do the same for each table before they write to it; this does it for
    all of them, at a moment that you choose, or tells what is to be done.

    [bold]Examples[/bold]

    clwl upgrade --lake build/lake --dry-run

    clwl upgrade --catalog main.mq
    """
    return run_command("upgrade", common, options)
