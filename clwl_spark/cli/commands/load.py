"""`clwl load`: puts, in whatever form somebody has them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command


@dataclass(frozen=True, slots=True)
class LoadWords:
    """Arguments and options of `clwl load`."""

    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files of puts or of records, or folders of them."),
    ] = field(default_factory=list)
    map: Annotated[
        list[str],
        typer.Option(
            "--map",
            metavar="COLUMN=FIELD",
            help="The field that is a column of messages, where its name does not tell; may be "
            "repeated. @FILE reads such lines.",
        ),
    ] = field(default_factory=list)
    save_map: Annotated[
        Path | None,
        typer.Option("--save-map", metavar="FILE", help="Write what was taken for what, as --map."),
    ] = None
    observer: Annotated[
        str | None,
        typer.Option("--observer", metavar="QM", help="Queue manager of puts that name none."),
    ] = None
    time_zone: Annotated[
        str | None,
        typer.Option(
            "--time-zone",
            metavar="ZONE",
            help="Of moments that do not say theirs: UTC, Europe/Paris, ...",
        ),
    ] = None
    since: Annotated[
        str | None, typer.Option("--since", metavar="T", help="Only rows from this moment on.")
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="T", help="Only rows before this moment.")
    ] = None
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Store no words of pieces that cannot be used."),
    ] = False
    synthesize: Annotated[
        bool,
        typer.Option("--synthesize", help="Make puts of the counts of queues; they say so."),
    ] = False
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="For --synthesize.")] = 0
    timeline: Annotated[
        str | None,
        typer.Option(
            "--timeline",
            metavar="BASE",
            help="Make channel and configuration events into snapshots that follow this one.",
        ),
    ] = None
    step: Annotated[
        str,
        typer.Option(
            "--step",
            metavar="DURATION",
            help="For --timeline: of the events of so long a time one snapshot; 1s = each second.",
        ),
    ] = "1m"
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be loaded, and write nothing.")
    ] = False
    strict: Annotated[
        bool, typer.Option("--strict", help="Load nothing if any piece cannot be used.")
    ] = False


def load(common: Common, options: LoadWords) -> int:
    """Load puts (CSV, JSON lines, Parquet, Arrow, Delta), and what MQ records of traffic.

    Records are application activity trace (amqsevt, amqsact), spans, events and
    statistics.
    Files are told apart by what is in them, and fields by their names: Queue Name
    is object_name, MsgId message_id. It shows what it took for what; --map says
    it otherwise. A put_seq that a file does not give is given in put order.

    The same content again changes nothing, whatever the file is called; of a file
    that grew the new lines are loaded. What cannot be read goes to load_rejects
    with file, line and reason, and the rest is loaded.

    Counts of statistics, accounting, displays and metrics go to observed_counts,
    probes to observed_routes. Where nobody recorded puts, --synthesize makes some
    of the counts of queues.

    With --timeline, statuses of channels and changed objects become snapshots from
    that one on, so that each message is routed under those of its time.

    [bold]Examples[/bold]

    clwl load puts.csv --lake build/lake

    clwl load statistics/ --lake build/lake --time-zone UTC --synthesize

    clwl load events/ --lake build/lake --timeline monday --step 1m

    clwl load exports/ --lake build/lake --map object_name=Ziel --time-zone Europe/Berlin
    --dry-run
    """
    return run_command("load", common, options)
