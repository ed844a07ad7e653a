"""`clwl lint`: advice on the design of a cluster."""

import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from clwl_spark.checks.quality.judge import (
    IN_MEMORY_ROWS,
    refuse_broken,
    run_rules,
    snapshot_judged,
)
from clwl_spark.checks.quality.page import page
from clwl_spark.checks.quality.rendering import explained, report_table, rule_list
from clwl_spark.checks.quality.results import Report, Scope, Verdict
from clwl_spark.checks.quality.suites import Gates, load_gates
from clwl_spark.checks.quality.views import read_rows
from clwl_spark.cli.commands.lint import LintWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import at_work, screen_of, settings_of
from clwl_spark.cli.written import write_whole
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.tables import SNAPSHOTS, TOPOLOGY

_TOLD: Final = {"id", "severity", "title", "why", "remedy"}


def run(common: Common, options: LintWords) -> int:
    """Advise, and return the exit code."""
    gates = load_gates(Scope.TOPOLOGY, options.gates).only_lint()
    if options.rules:
        return _listed(common, gates)
    with at_work(
        "lint", common, needs=SNAPSHOTS.name, reads=[table.name for table in TOPOLOGY]
    ) as work:
        report = advice(work.lake, options.snapshot, gates)
        if options.html is not None:
            write_whole(options.html, page(report), "--html")
        work.screen.document(report.to_json())
        work.screen.show(report_table(report), *explained(report))
    refuse_broken(report.results)
    advised = options.strict and bool(report.having(Verdict.FAILED))
    return int(report.failed or advised)


def advice(lake: Lake, snapshot_id: str | None, gates: Gates) -> Report:
    """What the rules of design say of a snapshot; nothing is written."""
    started = time.monotonic()
    head = snapshot_catalog(lake).whole(snapshot_id)
    judged = snapshot_judged(lake, read_rows(lake, head.snapshot_id, IN_MEMORY_ROWS))
    try:
        results = run_rules(gates.rules, judged)
    finally:
        judged.close()
    now = datetime.now(UTC)
    report = Report(uuid.uuid4().hex, Scope.TOPOLOGY, head.snapshot_id, now, tuple(results))
    return replace(report, seconds=round(time.monotonic() - started, 3))


def _listed(common: Common, gates: Gates) -> int:
    """The rules themselves."""
    screen = screen_of(common, settings_of(common), "lint")
    screen.document(
        [
            x.words.model_dump(include={"id", "severity", "title", "why", "remedy"})
            for x in gates.rules
        ]
    )
    screen.show(rule_list(gates.rules))
    return 0
