"""`clwl assert`: facts that must hold, for continuous integration of MQ configurations."""

from clwl_spark.checks.assertions.answering import SnapshotAnswers
from clwl_spark.checks.assertions.files import load_assertions
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.junit import junit_xml
from clwl_spark.checks.assertions.rendering import explained, report_table
from clwl_spark.checks.assertions.results import Verdict
from clwl_spark.cli.commands.assert_ import AssertWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import asked_snapshot, at_work
from clwl_spark.cli.written import write_whole
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.trace.trace import network_of
from clwl_spark.tables import SNAPSHOTS


def run(common: Common, options: AssertWords) -> int:
    """Judge, tell, and return the exit code."""
    assertions = load_assertions(options.paths)
    own = {"exit": options.exit}
    with at_work("assert", common, own, needs=SNAPSHOTS.name) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        network = network_of(work.lake, snapshot_id, {}, checkpoint)
        with work.screen.progress("assert") as tell:
            tell("assertions", 0, len(assertions))
            report = judge(assertions, SnapshotAnswers(network, ladder))
            tell("assertions", len(assertions), len(assertions))
        if options.junit is not None:
            write_whole(options.junit, junit_xml(report), "--junit")
        work.screen.document({"snapshot_id": snapshot_id, **report.to_json()})
        work.screen.show(report_table(report), *explained(report))
        if work.screen.quiet:
            for result in report.having(Verdict.ERROR):
                one = result.assertion
                note(f"{one.file}:{one.line}: {one.name}: {result.said}")
    if report.broken:
        return 2
    return int(bool(report.failed))
