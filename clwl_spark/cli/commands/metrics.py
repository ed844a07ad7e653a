"""`clwl metrics`: a lake's figures for those who watch it."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


class MetricsFormat(StrEnum):
    """How figures are written."""

    PROMETHEUS = "prometheus"
    OTLP = "otlp"


@dataclass(frozen=True, slots=True)
class MetricsWords:
    """Options of `clwl metrics`."""

    format: Annotated[
        MetricsFormat,
        typer.Option(
            "--format",
            metavar="prometheus|otlp",
            help="Prometheus' text, or OpenTelemetry's protocol in JSON.",
        ),
    ] = MetricsFormat.PROMETHEUS
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write there, all at once, as node_exporter's textfile collector wants it.",
        ),
    ] = None
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve",
            metavar="[HOST:]PORT",
            help="Answer each scrape with what is so then; HOST is 127.0.0.1 unless it is given.",
        ),
    ] = None


def metrics(common: Common, options: MetricsWords) -> int:
    """Write a lake's figures for Prometheus or OpenTelemetry: runs, backlog, snapshots, gates.

    Counters sum up the table runs; clwl_backlog_messages is what the next run would take. Nothing
    is written to the lake. docs/how-to/monitoring.md has alerts and a dashboard for Grafana.

    [bold]Examples[/bold]

    clwl metrics --lake build/lake

    clwl metrics --lake build/lake --out /var/lib/node_exporter/clwl.prom

    clwl metrics --lake build/lake --serve 9464

    clwl metrics --lake build/lake --format otlp
    """
    return run_command("metrics", common, options)
