"""`clwl topics`: a snapshot's cluster topics, where they conflict and what they cost."""

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.topics import TopicsWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import at_work
from clwl_spark.studies.topics.design import TopicQuestion, design_of, save
from clwl_spark.studies.topics.rendering import render
from clwl_spark.studies.topics.strings import check_topic_string


def run(common: Common, options: TopicsWords) -> int:
    """Show the topics that the options ask for, and return the exit code."""
    if options.topic is not None:
        check_topic_string(options.topic)
    question = TopicQuestion(options.snapshot, options.topic or "", options.qmgr, options.size)
    with at_work("topics", common, needs=schemas.SNAPSHOTS.name) as work:
        found = design_of(work.lake, question)
        if options.save:
            save(work.lake, found.snapshot_id)
        work.screen.document(found.to_json())
        work.screen.show(render(found))
    return 0
