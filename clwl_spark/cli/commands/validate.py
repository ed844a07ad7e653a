"""`clwl validate`: its options and help."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import GATES, HTML, NEWEST_SNAPSHOT

_EXPLAIN = typer.Option("--explain", help="Show failing rows, why they matter, and the remedy.")


@dataclass(frozen=True, slots=True)
class ValidateWords:
    """Options of `clwl validate`."""

    snapshot: Annotated[str | None, NEWEST_SNAPSHOT] = None
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Judge messages and outcomes, not a snapshot.")
    ] = False
    observed: Annotated[
        bool,
        typer.Option("--observed", help="Compare observed_counts with the outcomes instead."),
    ] = False
    gates: Annotated[list[Path], GATES] = field(default_factory=list)
    explain: Annotated[bool, _EXPLAIN] = False
    html: Annotated[Path | None, HTML] = None
    data_docs: Annotated[
        Path | None,
        typer.Option(
            "--data-docs",
            metavar="DIR",
            help="Export the expectations as Great Expectations' Data Docs (they load styles "
            "from the network).",
        ),
    ] = None
    on_failure: Annotated[
        str | None,
        typer.Option(
            "--on-failure",
            metavar="COMMAND",
            help="Run when gates say no; it gets the report as JSON on its input.",
        ),
    ] = None


def validate(common: Common, options: ValidateWords) -> int:
    """Judge a snapshot by its gates; publish it, or quarantine it so that routing goes without.

    The gates are files (conf/gates): expectations of Great Expectations, and rules in SQL that
    return failing rows. What they find is in gate_results and gate_failures. The exit code is 1
    where a gate of severity error says no, 2 where a gate itself is wrong.

    [bold]Examples[/bold]

    clwl validate --lake build/lake --explain

    clwl validate --lake build/lake --snapshot monday --html build/monday.html --json

    clwl validate --lake build/lake --gates our/gates --on-failure 'mail -s gates mq@example.com'

    clwl validate --lake build/lake --outcomes --data-docs build/docs

    clwl validate --lake build/lake --observed --explain
    """
    return run_command("validate", common, options)
