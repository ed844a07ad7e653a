"""`clwl topics`: a snapshot's cluster topics, where they conflict and what they cost."""

from clwl_spark import schemas
from clwl_spark.commands.words.options import Common
from clwl_spark.commands.words.publishing import TopicsWords
from clwl_spark.commands.work import at_work
from clwl_spark.publishing.design import TopicQuestion, design_of, save
from clwl_spark.publishing.rendering import render
from clwl_spark.publishing.strings import check_topic_string


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
