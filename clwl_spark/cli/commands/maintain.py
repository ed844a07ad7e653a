"""`clwl maintain`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class MaintainWords:
    """Options of `clwl maintain`."""

    keep: Annotated[
        str,
        typer.Option(
            "--keep", metavar="7d", help="Keep files this long that the tables need no more."
        ),
    ] = "7d"
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
    ] = False


def maintain(common: Common, options: MaintainWords) -> int:
    """Compact the tables' small files, and delete files that nobody needs any more.

    Deleted are data files that no version of the last --keep has, those that killed writers left,
    old commits of the tables' logs, and old checkpoints of routing. Rows stay what they are, and
    time travel works as far back as --keep. Routing goes on beside it: what is not routed yet is
    left alone, and so are all tables of a run that is in hand.

    [bold]Examples[/bold]

    clwl maintain --lake build/lake --dry-run

    clwl maintain --lake build/lake --keep 30d
    """
    return run_command("maintain", common, options)
