"""`clwl validate`: quality gates on a snapshot, on outcomes, on observed counts."""

import structlog

from clwl_spark.checks.quality.hook import run_hook, words_of
from clwl_spark.checks.quality.judge import refuse_broken
from clwl_spark.checks.quality.observed import validate_observed
from clwl_spark.checks.quality.page import page, sentence
from clwl_spark.checks.quality.rendering import explained, report_table
from clwl_spark.checks.quality.results import Report
from clwl_spark.checks.quality.validate import ValidateOptions, validate_outcomes, validate_snapshot
from clwl_spark.cli.commands.validate import ValidateWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import Work, at_work
from clwl_spark.cli.written import write_whole
from clwl_spark.errors import UsageError
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES, OUTCOMES, SNAPSHOTS, TOPOLOGY


def run(common: Common, options: ValidateWords) -> int:
    """Judge, tell, and return the exit code."""
    _check(options)
    with at_work("validate", common, needs=SNAPSHOTS.name, reads=_read(options)) as work:
        with work.screen.progress("validating") as tell:
            tell("gates", 0, 1)
            report = _judged(work, options)
            tell("gates", 1, 1)
        tell_report(work, report, explain=options.explain)
        _write(report, options)
        _call(report, options, work.lake.root)
    if report.failed:
        return 1
    refuse_broken(report.results)
    return 0


def tell_report(work: Work, report: Report, *, explain: bool) -> None:
    """Show a report, and log what it comes to."""
    structlog.get_logger().info(
        "validated", subject=report.subject, status=report.status, seconds=report.seconds
    )
    work.screen.document(report.to_json())
    work.screen.show(report_table(report), *(explained(report) if explain else []))
    if report.failed and not explain:
        work.screen.show("Why, the failing rows and what to do: the same with --explain")
    if report.failed and work.screen.as_json:
        note(f"clwl: {report.subject}: {sentence(report)}")


def _judged(work: Work, options: ValidateWords) -> Report:
    how = ValidateOptions(
        tuple(options.gates),
        data_docs=options.data_docs,
        least_agreement=work.settings.least_agreement,
    )
    if options.outcomes:
        return validate_outcomes(work.lake, how)
    if options.observed:
        return validate_observed(work.lake, how)
    return validate_snapshot(work.lake, options.snapshot, how)


def _read(options: ValidateWords) -> list[str]:
    """Names of the tables whose rows are judged."""
    if options.observed:
        return [table.name for table in (MESSAGES, OUTCOMES, OBSERVED_ROUTES)]
    return [table.name for table in ((MESSAGES, OUTCOMES) if options.outcomes else TOPOLOGY)]


def _check(options: ValidateWords) -> None:
    """Refuse words that do not go together, before Spark starts."""
    if options.outcomes and options.observed:
        raise UsageError("--outcomes and --observed are two validations: leave one out")
    if options.snapshot and (options.outcomes or options.observed):
        raise UsageError("--snapshot is for the gates of a snapshot: leave it out")
    if options.on_failure is not None:
        words_of(options.on_failure)


def _write(report: Report, options: ValidateWords) -> None:
    """Write the page that is asked for."""
    if options.html is not None:
        write_whole(options.html, page(report), "--html")


def _call(report: Report, options: ValidateWords, lake: str) -> None:
    """Run the command for failures, if there is one; its own failure changes no exit code."""
    if options.on_failure is None or not (report.failed or report.broken):
        return
    if wrong := run_hook(options.on_failure, report, lake):
        note(f"clwl: --on-failure: {wrong}")
