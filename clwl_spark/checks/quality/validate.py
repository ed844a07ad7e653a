"""The flow: a snapshot is judged by its gates, then published or quarantined, and it is told.

Source: CONTRACT, `clwl validate`; the gates are in `conf/gates`.
"""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from clwl_spark.checks.quality.accounts import account
from clwl_spark.checks.quality.data_docs import data_docs
from clwl_spark.checks.quality.expectations import (
    OnValidated,
    TableRows,
    check_words,
    keep_nothing,
    run_expectations,
)
from clwl_spark.checks.quality.judge import (
    IN_MEMORY_ROWS,
    Judged,
    run_rules,
    snapshot_judged,
)
from clwl_spark.checks.quality.outcomes import OUTCOME_INDEXES, outcome_tables, outcome_views
from clwl_spark.checks.quality.results import GateResult, Report, Scope
from clwl_spark.checks.quality.suites import OWN_VIEWS, Gates, load_gates
from clwl_spark.checks.quality.views import TABLE_KEYS, SnapshotRows, in_memory, read_rows
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.catalog import SnapshotHead, snapshot_catalog
from clwl_spark.tables import GATE_FAILURES, GATE_RESULTS, SNAPSHOTS
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """How a validation is done.

    Attributes:
        gates: files and folders with gates of the users' own.
        in_memory_rows: rows of a table up to which a snapshot is judged in memory.
        data_docs: folder that gets the expectations' Data Docs; None = none are made.
        least_agreement: share of a queue manager's compared records, 0 to 1, that has to agree with
            outcomes.
    """

    gates: tuple[Path, ...] = ()
    in_memory_rows: int = IN_MEMORY_ROWS
    data_docs: Path | None = None
    least_agreement: float = 0.99


def validate_snapshot(
    lake: Lake, snapshot_id: str | None = None, options: ValidateOptions = ValidateOptions()
) -> Report:
    """Judge a snapshot; publish it if no gate of severity error fails, else quarantine it.

    Where a gate could not be evaluated and none failed, the snapshot keeps its status.

    Args:
        lake: where it is; `gate_results` and `gate_failures` get what was found.
        snapshot_id: which one; None = the newest that is written to its end.
        options: how.

    Raises:
        SettingsError: a suite is wrong, with file and line.
        InputError: there is no such snapshot, or it is half written.
        MissingColumnsError: a table lacks columns.
    """
    gates = load_gates(Scope.TOPOLOGY, options.gates)
    check_words(gates.expectations)
    head = snapshot_catalog(lake).whole(snapshot_id)
    started = time.monotonic()
    rows = read_rows(lake, head.snapshot_id, options.in_memory_rows)
    with data_docs(options.data_docs) as keep:
        results = judge_rows(lake, rows, gates, keep)
    report = report_of(Scope.TOPOLOGY, head.snapshot_id, results, started)
    return recorded(lake, _published(lake, head, report), head.snapshot_id)


def validate_outcomes(lake: Lake, options: ValidateOptions = ValidateOptions()) -> Report:
    """Judge messages and outcomes; two passes over each, none where rows go to the driver.

    Args:
        lake: where they are; `gate_results` and `gate_failures` get what was found.
        options: how.

    Raises:
        SettingsError: a suite is wrong, with file and line.
        MissingLakeError: there is no table `messages`.
    """
    gates = load_gates(Scope.OUTCOMES, options.gates)
    check_words(gates.expectations)
    started = time.monotonic()
    frames = outcome_tables(lake, account(lake))
    arrow = in_memory(frames, options.in_memory_rows)
    rows = SnapshotRows(arrow, frames)
    judged = Judged(lake, arrow, frames, outcome_views(), OUTCOME_INDEXES)
    with data_docs(options.data_docs) as keep:
        results = results_of(gates, _tables(lake, rows, gates), judged, keep)
    return recorded(lake, report_of(Scope.OUTCOMES, "outcomes", results, started))


def judge_rows(
    lake: Lake, rows: SnapshotRows, gates: Gates, keep: OnValidated = keep_nothing
) -> list[GateResult]:
    """What the gates say of a snapshot's rows, expectations first; nothing is written."""
    return results_of(gates, _tables(lake, rows, gates), snapshot_judged(lake, rows), keep)


def results_of(
    gates: Gates, tables: Mapping[str, TableRows], judged: Judged, keep: OnValidated
) -> list[GateResult]:
    """What the expectations say of `tables`, then the rules of what is judged, which is closed."""
    try:
        return [
            *run_expectations(gates.expectations, tables, keep),
            *run_rules(gates.rules, judged),
        ]
    finally:
        judged.close()


def report_of(scope: Scope, subject: str, results: Sequence[GateResult], started: float) -> Report:
    """A report with a name of its own, of a judging that began at this monotonic second."""
    seconds = round(time.monotonic() - started, 3)
    return Report(
        uuid.uuid4().hex, scope, subject, datetime.now(UTC), tuple(results), seconds=seconds
    )


def recorded(lake: Lake, report: Report, snapshot_id: str | None = None) -> Report:
    """The report, after it was appended to `gate_results` and `gate_failures`."""
    lake.create([GATE_RESULTS, GATE_FAILURES])
    lake.append(GATE_RESULTS.name, _results(lake, report, snapshot_id))
    if any(x.found.rows for x in report.results):
        lake.append(GATE_FAILURES.name, _failures(lake, report, snapshot_id))
    return report


def _tables(lake: Lake, rows: SnapshotRows, gates: Gates) -> dict[str, TableRows]:
    """The tables that expectations are about: a snapshot's in memory if it fits."""

    def of(name: str) -> TableRows:
        if name in rows.arrow:
            return TableRows(rows.pandas(name), TABLE_KEYS.get(name, OWN_VIEWS.get(name, ())))
        frame = rows.spark[name] if name in rows.spark else lake.read_or_empty(name)
        return TableRows(frame, TABLE_KEYS.get(name, OWN_VIEWS.get(name, ())))

    return {name: of(name) for name in dict.fromkeys(x.table for x in gates.expectations)}


def _published(lake: Lake, head: SnapshotHead, report: Report) -> Report:
    """Give the snapshot the status that the report says."""
    if report.broken and not report.failed:
        return replace(report, status=head.status)
    failed = report.failed
    status = SnapshotStatus.QUARANTINED if failed else SnapshotStatus.VALID
    _set_status(lake, head, status)
    used = snapshot_catalog(lake).in_place_of(head) if failed else None
    return replace(report, status=status.value, used=used)


def _set_status(lake: Lake, head: SnapshotHead, status: SnapshotStatus) -> None:
    """Give a snapshot a status; one that it has already is not written again."""
    if head.status == status.value:
        return
    rows = lake.rows(SNAPSHOTS.name, c.SNAPSHOT_ID, [head.snapshot_id])
    given = [[*(row | {c.STATUS: status.value}).values()] for row in rows]
    lake.merge(SNAPSHOTS.name, lake.arrow_rows(SNAPSHOTS.name, given))


def _results(lake: Lake, report: Report, snapshot_id: str | None) -> pa.Table:
    """Grain: one row per gate."""
    rows = [
        (
            report.validation_id,
            x.gate,
            report.scope.value,
            snapshot_id,
            x.suite,
            x.severity.value,
            x.verdict.value,
            x.found.checked,
            x.found.failing,
            x.title,
            x.why,
            x.remedy,
            x.found.error,
            x.engine,
            float(x.seconds),
            report.judged_at,
        )
        for x in report.results
    ]
    return lake.arrow_rows(GATE_RESULTS.name, rows)


def _failures(lake: Lake, report: Report, snapshot_id: str | None) -> pa.Table:
    """Grain: one row per failing row."""
    rows = [
        (
            report.validation_id,
            x.gate,
            number,
            snapshot_id,
            x.severity.value,
            str(row.get("detail") or ""),
            json.dumps(row, ensure_ascii=False, default=str),
        )
        for x in report.results
        for number, row in enumerate(x.found.rows, 1)
    ]
    return lake.arrow_rows(GATE_FAILURES.name, rows)
