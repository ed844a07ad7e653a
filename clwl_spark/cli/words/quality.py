"""`clwl validate`, `clwl lint`: quality gates."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command

_SNAPSHOT = typer.Option("--snapshot", metavar="ID", help="Default: the newest snapshot.")
_GATES = typer.Option(
    "--gates", metavar="PATH", help="File or folder with gates of your own; may be repeated."
)
_EXPLAIN = typer.Option("--explain", help="Show failing rows, why they matter, and the remedy.")
_HTML = typer.Option("--html", metavar="FILE", help="Write the report as one HTML page.")


@dataclass(frozen=True, slots=True)
class ValidateWords:
    """Options of `clwl validate`."""

    snapshot: Annotated[str | None, _SNAPSHOT] = None
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Judge messages and outcomes, not a snapshot.")
    ] = False
    observed: Annotated[
        bool,
        typer.Option("--observed", help="Compare observed_counts with the outcomes instead."),
    ] = False
    gates: Annotated[list[Path], _GATES] = field(default_factory=list)
    explain: Annotated[bool, _EXPLAIN] = False
    html: Annotated[Path | None, _HTML] = None
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


@dataclass(frozen=True, slots=True)
class LintWords:
    """Options of `clwl lint`."""

    snapshot: Annotated[str | None, _SNAPSHOT] = None
    gates: Annotated[list[Path], _GATES] = field(default_factory=list)
    html: Annotated[Path | None, _HTML] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings count: exit 1 if there is any advice.")
    ] = False
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules, with why and remedy; needs no lake.")
    ] = False


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


COMMANDS = (validate, lint)
