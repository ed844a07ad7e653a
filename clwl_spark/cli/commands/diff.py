"""`clwl diff`: its options and help."""

from dataclasses import dataclass
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class DiffWords:
    """Arguments of `clwl diff`."""

    before: Annotated[str, typer.Argument(metavar="A", help="The snapshot to compare with.")]
    after: Annotated[str, typer.Argument(metavar="B", help="The snapshot that may differ.")]


def diff(common: Common, options: DiffWords) -> int:
    """Show what changed from snapshot A to snapshot B, attribute by attribute.

    An attribute that is left out and one with MQ's default are the same. The exit code is 0
    whether they differ or not.

    [bold]Examples[/bold]

    clwl diff monday tuesday --lake build/lake

    clwl diff monday tuesday --lake build/lake --json
    """
    return run_command("diff", common, options)
