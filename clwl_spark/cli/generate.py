"""`clwl generate`: a synthetic topology and traffic of any size."""

import time
from dataclasses import fields
from typing import Any

import structlog
from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.generate import GenerateWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import at_work
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError, UsageError
from clwl_spark.settings import duration, moment
from clwl_spark.snapshots.write import write_topology
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology


def run(common: Common, options: GenerateWords) -> int:
    """Generate into a lake that has no messages yet, and return the exit code."""
    spec = generate_spec(options)
    with at_work("generate", common) as work:
        started = time.monotonic()
        lake = work.lake
        _refuse_messages(lake)
        lake.create((schemas.SNAPSHOTS, *schemas.TOPOLOGY, schemas.MESSAGES))
        with work.screen.progress("generate") as tell:
            tell("topology", 0, 1)
            write_topology(lake, topology(lake.spark, spec))
            tell("topology", 1, 1)
            tell("messages", 0, spec.messages)
            lake.append(schemas.MESSAGES.name, messages(lake.spark, spec))
            tell("messages", spec.messages, spec.messages)
        summary: dict[str, Any] = {
            "lake": lake.root,
            "snapshots": spec.snapshots,
            "qmgrs": spec.qmgrs,
            "messages": spec.messages,
            "seconds": round(time.monotonic() - started, 3),
        }
        structlog.get_logger().info("generated", **summary)
        work.screen.document(summary)
        work.screen.show(_table(summary))
    return 0


def generate_spec(options: GenerateWords) -> GenerateSpec:
    """What the options say, checked.

    Raises:
        UsageError: a duration or moment is none.
        SettingsError: the sizes or shares do not fit.
    """
    words = {x.name: getattr(options, x.name) for x in fields(options)}
    for name, read in (("snapshot_interval", duration), ("start", moment)):
        try:
            words[name] = read(words[name])
        except UsageError as error:
            raise UsageError(f"--{name.replace('_', '-')} {error}") from error
    return GenerateSpec(**words)


def _refuse_messages(lake: Lake) -> None:
    """Messages are numbered from 1 on, so two generations would not fit together."""
    if not lake.read_or_empty(schemas.MESSAGES.name).isEmpty():
        raise LakeStateError(f"lake {lake.root} has messages already: give another --lake")


def _table(summary: dict[str, Any]) -> Table:
    """The summary as a table."""
    table = Table(title=f"Generated into {summary['lake']}", title_justify="left")
    table.add_column("What")
    table.add_column("Count", justify="right")
    for name in ("snapshots", "qmgrs", "messages", "seconds"):
        table.add_row(name, f"{summary[name]:,}")
    return table
