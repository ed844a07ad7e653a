"""`clwl state`: what the queue managers remember from batch to batch."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Exit


class StateAction(StrEnum):
    """What to do with the memory."""

    LIST = "list"
    VERIFY = "verify"
    REPAIR = "repair"
    EXPORT = "export"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class StateWords:
    """Arguments and options of `clwl state`."""

    action: Annotated[
        StateAction,
        typer.Argument(metavar="[verify|repair|export|import]", help="Default: list it."),
    ] = StateAction.LIST
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Parquet file of export and import.")
    ] = None
    qmgr: Annotated[
        str | None, typer.Option("--qmgr", metavar="QM", help="Only this queue manager.")
    ] = None
    replace: Annotated[
        bool, typer.Option("--replace", help="With import: also into a lake that remembers.")
    ] = False
    exit: Exit = None


def state(common: Common, options: StateWords) -> int:
    """Show what the queue managers remember after the last routed batch.

    Choices made, channels in the balancing history, bindings of opens and groups, the highest
    put_seq. verify replays the outcomes and says whether they lead to that memory: exit code 1 if
    not. repair routes again, to the same rows, what tables have lost of batches that are done.
    export and import move the memory to another lake.

    [bold]Examples[/bold]

    clwl state --lake build/lake --qmgr QM1

    clwl state verify --lake build/lake

    clwl state repair --lake build/lake

    clwl state export memory.parquet --lake build/lake

    clwl state import memory.parquet --lake other/lake
    """
    return run_command("state", common, options)
