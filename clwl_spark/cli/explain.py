"""`clwl explain`: every candidate of one put, and why it won or lost."""

from clwl_spark import tables as schemas
from clwl_spark.cli.words.options import Common
from clwl_spark.cli.words.routing import ExplainWords
from clwl_spark.cli.work import Work, asked_snapshot, at_work
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.explain.rendering import render
from clwl_spark.studies.explain.request import ExplainRequest, explain


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
        work.screen.show(render(explanation))
    return 0


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
