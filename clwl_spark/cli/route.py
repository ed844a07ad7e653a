"""`clwl route`: routes what is there, or goes on until it is told to stop."""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import structlog
from rich.table import Table
from rich.text import Text

from clwl_spark.cli.commands.route import RouteWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import (
    TOPOLOGY_TABLES,
    Work,
    at_work,
    is_on_this_machine,
    settings_of,
)
from clwl_spark.mq import vocabulary as v
from clwl_spark.routing.engines.fitness import count_waiting, unfit_here
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.hops.journeys import check_hops, follow_messages, hop_figures
from clwl_spark.routing.ledger.own_opens import own_opens_told
from clwl_spark.routing.ledger.run_record import RunSummary
from clwl_spark.routing.run import RouteOptions, follow, route
from clwl_spark.settings import Settings
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.spark.local_settings import ROWS_BEYOND_JAVA
from clwl_spark.studies.trace.rendering import hops_table
from clwl_spark.tables import MESSAGES, OUTCOMES, RUNS, SNAPSHOTS

_ROWS_TO_COMPILE_FOR: Final = 70_000_000
"""Of more messages Java's second compiler pays all the same."""
_COUNTS: Final = ("messages", "outcomes", "rejected", "out_of_order")
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


def run(common: Common, options: RouteWords) -> int:
    """Route, show the summary, and return the exit code."""
    own = {
        "algorithm": options.algorithm,
        "edition": options.edition,
        "null_open_id": options.null_open_id,
        "binding_ttl": options.binding_ttl,
        "duplicates": options.duplicates,
        "exit": options.exit,
        "message_exit": options.message_exit,
        "poll": options.poll,
    }
    hops = options.hops or 0
    if options.hops is not None:
        check_hops(hops)
    with at_work(
        "route",
        common,
        own,
        needs=MESSAGES.name,
        reads=TOPOLOGY_TABLES,
        routes=_suiting(common, options),
    ) as work:
        return _follow(work, hops) if options.follow else _once(work, hops)


def _suiting(common: Common, options: RouteWords) -> Mapping[str, str]:
    """What suits a session that routes many messages once; {} = the defaults.

    Hops are worked out by Spark, row by row: Java's second compiler takes a third of their time off
    (a million messages over three hops: 117 s, so 75).
    """
    settings = settings_of(common)
    by_rows = settings.engine == SparkEngine.name or not is_on_this_machine(settings.lake)
    if options.follow or options.hops or by_rows:
        return {}
    tables = (MESSAGES, OUTCOMES, RUNS)
    messages, outcomes, runs = (str(Path(settings.lake, x.name)) for x in tables)
    if unfit_here(messages, outcomes) or count_waiting(messages, runs) > _ROWS_TO_COMPILE_FOR:
        return {}
    return ROWS_BEYOND_JAVA


def route_options(settings: Settings) -> RouteOptions:
    """The settings that routing takes."""
    return RouteOptions(
        wanted=settings.wanted,
        binding_ttl=settings.binding_ttl,
        duplicates=v.Duplicates(settings.duplicates),
        operator=settings.stateful_operator,
        exit_function=settings.exit,
        message_exit=settings.message_exit,
        worker_memory_mib=settings.worker_memory_mib,
        state_partitions=settings.state_partitions,
        engine=settings.engine,
    )


def summary_table(summary: RunSummary) -> Table:
    """A run's figures, the outcomes by reason."""
    table = Table(title=f"Run {summary.run_id}", title_justify="left")
    table.add_column("What")
    table.add_column("Count", justify="right")
    table.add_row("messages", f"{summary.messages:,}")
    table.add_row("outcomes", f"{summary.outcomes:,}")
    for reason, count in sorted(summary.by_reason.items(), key=lambda item: int(item[0])):
        table.add_row(f"  {reason} {v.REASON_TEXTS.get(int(reason), '')}", f"{count:,}")
    table.add_row("rejected", f"{summary.rejected:,}")
    table.add_row("out of order", f"{summary.out_of_order:,}")
    table.add_row("seconds", f"{summary.seconds:,.1f}")
    table.add_row("messages per second", f"{summary.messages / max(summary.seconds, 1e-3):,.0f}")
    table.add_row("engine", summary.engine)
    table.add_row("largest Python worker, MiB", f"{summary.worker_peak_mib:,.0f}")
    return table


def _once(work: Work, hops: int) -> int:
    """Route what is there, and on for so many hops; 0 = the first put alone."""
    options = route_options(work.settings)
    with work.screen.progress("route") as tell:
        summary = route(work.lake, options, tell)
        if hops:
            follow_messages(work.lake, options, hops, tell)
    _log(summary)
    figures = hop_figures(work.lake) if hops else []
    document = summary.to_json() | ({"hops": figures} if hops else {})
    work.screen.document(document | {"quarantined": _tell_quarantined(work)})
    work.screen.show(
        summary_table(summary),
        *([hops_table(figures)] if hops else []),
        *own_opens_told(summary.own_opens),
    )
    return 0


def _tell_quarantined(work: Work) -> list[dict[str, str | None]]:
    """Say which newer snapshots a gate keeps away, and what routing goes on with."""
    is_there = work.lake.exists(SNAPSHOTS.name)
    found = snapshot_catalog(work.lake).passed_over() if is_there else []
    for snapshot_id, used in found:
        structlog.get_logger().warning("quarantined", snapshot_id=snapshot_id, used=used)
        instead = f"routing goes on with {used}" if used else "no valid one is in force before it"
        work.screen.show(
            Text(f"Snapshot {snapshot_id} is QUARANTINED, {instead} (why: clwl validate --explain)")
        )
    return [{"snapshot_id": snapshot_id, "used": used} for snapshot_id, used in found]


def _follow(work: Work, hops: int) -> int:
    """Route what comes, until a signal; a table or log line per run, the totals at the end."""
    totals: dict[str, Any] = {"runs": 0, **dict.fromkeys(_COUNTS, 0)}
    options = route_options(work.settings)
    _tell_quarantined(work)
    with _stopped_by_signals() as stopped, work.screen.progress("route") as tell:
        if hops:
            follow_messages(work.lake, options, hops, tell)
        runs = follow(
            work.lake,
            options,
            poll_seconds=work.settings.poll.total_seconds(),
            stop=stopped.is_set,
            progress=tell,
        )
        for summary in runs:
            if hops:
                follow_messages(work.lake, options, hops, tell)
            _log(summary)
            work.screen.show(summary_table(summary))
            totals["runs"] += 1
            for name in _COUNTS:
                totals[name] += getattr(summary, name)
    work.screen.document(totals)
    return 0


def _log(summary: RunSummary) -> None:
    """The run's figures as one log line."""
    structlog.get_logger().info("routed", **summary.to_json())


@contextmanager
def _stopped_by_signals() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second one ends at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = {number: signal.getsignal(number) for number in _STOPPING}

    def stop(number: int, _frame: object) -> None:
        stopped.set()
        signal.signal(number, before[signal.Signals(number)])
        note("clwl: stopping after the batch in hand; once more to end at once")

    for number in _STOPPING:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
