"""`clwl lint`: its options and help."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import GATES, HTML, NEWEST_SNAPSHOT


@dataclass(frozen=True, slots=True)
class LintWords:
    """Options of `clwl lint`."""

    snapshot: Annotated[str | None, NEWEST_SNAPSHOT] = None
    gates: Annotated[list[Path], GATES] = field(default_factory=list)
    html: Annotated[Path | None, HTML] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings count: exit 1 if there is any advice.")
    ] = False
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules, with why and remedy; needs no lake.")
    ] = False


def lint(common: Common, options: LintWords) -> int:
    """Advise on the design of a cluster: repositories, channels, weights, ranks, binding.

    Each piece of advice says what was found, why it matters and what to do. Nothing is written.
    The exit code is 1 where a rule of severity error says no; with --strict for any advice.

    [bold]Examples[/bold]

    clwl lint --lake build/lake

    clwl lint --lake build/lake --snapshot monday --strict --json

    clwl lint --rules
    """
    return run_command("lint", common, options)
