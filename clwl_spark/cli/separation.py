"""`clwl separation`: who is behind whom on channels and transmission queues."""

from clwl_spark.cli.commands.separation import SeparationWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import asked_snapshot, at_work
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.separation.rendering import render
from clwl_spark.studies.separation.separation import SeparationQuestion, separation_of
from clwl_spark.tables import SNAPSHOTS


def run(common: Common, options: SeparationWords) -> int:
    """Show what shares channels and transmission queues, and return the exit code."""
    with at_work("separation", common, needs=SNAPSHOTS.name) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        question = SeparationQuestion(
            snapshot_id, options.qmgr or "", options.objects, options.limit
        )
        found = separation_of(work.lake, question, Ladder(semantics_of(work.lake)))
        work.screen.document(found.to_json())
        work.screen.show(render(found))
    return 0
