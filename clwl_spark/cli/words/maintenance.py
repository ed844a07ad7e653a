"""`clwl init`, `upgrade` and `maintain`: the lake's tables, empty at first, kept in order later."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command


@dataclass(frozen=True, slots=True)
class InitWords:
    """Options of `clwl init`."""

    ddl: Annotated[
        bool, typer.Option("--ddl", help="Print the SQL that makes the tables; make nothing.")
    ] = False


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


@dataclass(frozen=True, slots=True)
class UpgradeWords:
    """Options of `clwl upgrade`."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")
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


def upgrade(common: Common, options: UpgradeWords) -> int:
    """Give the tables of a lake that earlier versions made the columns and CHECKs of this one.

    No row changes. Commands do the same for each table before they write to it; this does it for
    all of them, at a moment that you choose, or tells what is to be done.

    [bold]Examples[/bold]

    clwl upgrade --lake build/lake --dry-run

    clwl upgrade --catalog main.mq
    """
    return run_command("upgrade", common, options)


COMMANDS = (init, maintain, upgrade)
