"""`clwl report`: what was routed, as a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class ReportWords:
    """Options of `clwl report`."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder that gets report.html.")]


def report(common: Common, options: ReportWords) -> int:
    """Write one HTML page about everything that was routed: what surprises first, then charts.

    Shares per object, the rules that eliminated candidates, the cluster as a map, the flows over
    time and what failed. The page needs no network and no script, prints well, and every chart has
    its numbers in a table.

    [bold]Examples[/bold]

    clwl report --lake build/lake --out build/report

    clwl report --lake build/lake --out build/report --json
    """
    return run_command("report", common, options)
