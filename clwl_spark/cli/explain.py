"""`clwl explain`: every candidate of one put, and why it won or lost."""

from collections.abc import Iterator

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.explain import ExplainWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import Work, asked_snapshot, at_work
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.explain.rendering import render
from clwl_spark.studies.explain.request import UNKNOWN_NAMES, ExplainRequest, Explanation, explain
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at, moment_text


def run(common: Common, options: ExplainWords) -> int:
    """Explain the put that the options describe, and return the exit code."""
    own = {
        "algorithm": options.algorithm,
        "edition": options.edition,
        "exit": options.exit,
    }
    with at_work("explain", common, own, needs=schemas.SNAPSHOTS.name) as work:
        explanation = explain(work.lake, explain_request(options, work))
        work.screen.document(explanation.to_json())
        work.screen.show(render(explanation), *_elsewhere(options, work, explanation))
    return 0


def _elsewhere(options: ExplainWords, work: Work, found: Explanation) -> Iterator[str]:
    """Of a name that the queue manager does not know: what else tells about it."""
    plan = found.plan
    if plan[c.REASON] not in UNKNOWN_NAMES or found.warnings:
        return
    words = ["--qmgr", options.qmgr]
    if options.at:
        words += ["--at", options.at]
    if options.snapshot:
        catalog = snapshot_catalog(work.lake)
        pins = [x for x in catalog.pins if x.snapshot_id == options.snapshot]
        if not pins or catalog.in_force(pins[0].valid_from) != options.snapshot:
            return
        words += ["--at", moment_text(moment_at(pins[0].valid_from))]
    name = plan[c.RESOLVED_QMGR] or plan[c.RESOLVED_OBJECT] or options.object_name
    told = work.command("repository", *words, "--object", name)
    yield f"where {name} is, and why {options.qmgr} does not know of it: {told}"


def explain_request(options: ExplainWords, work: Work) -> ExplainRequest:
    """The put that the options describe, with the lake's algorithm unless one is asked for."""
    return ExplainRequest(
        qmgr=options.qmgr,
        object_name=options.object_name,
        object_qmgr=options.object_qmgr,
        object_type=options.object_type,
        snapshot_id=asked_snapshot(work.lake, options) if options.at else options.snapshot,
        via=options.via,
        bind=options.bind,
        scope=options.scope,
        semantics=work.settings.wanted.or_those(semantics_of(work.lake)),
        exit_function=load_exit(work.settings.exit),
        empty_history=options.empty_history,
    )
