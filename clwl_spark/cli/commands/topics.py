"""`clwl topics`: cluster topics, their conflicts and costs."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import Snapshot


@dataclass(frozen=True, slots=True)
class TopicsWords:
    """Options of `clwl topics`."""

    snapshot: Snapshot = None
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="STRING",
            help="Only the topic object that a publication to this topic string meets.",
        ),
    ] = None
    qmgr: Annotated[
        str, typer.Option("--qmgr", metavar="QM", help="Only the costs of this queue manager.")
    ] = ""
    size: Annotated[
        list[int],
        typer.Option(
            "--size", metavar="N", help="The costs with N queue managers, too; may be repeated."
        ),
    ] = field(default_factory=list)
    save: Annotated[
        bool,
        typer.Option("--save", help="Write the tables topic_costs and topic_conflicts."),
    ] = False


def topics(common: Common, options: TopicsWords) -> int:
    """Show where definitions of a cluster topic contradict one another, and what topics cost.

    For each queue manager: proxy subscriptions that it holds and channels to and
    from it, with CLROUTE(DIRECT) against CLROUTE(TOPICHOST). Definitions that differ
    are those on which MQ writes AMQ9465 and AMQ9466.

    [bold]Examples[/bold]

    clwl topics --lake build/lake

    clwl topics --lake build/lake --topic /global/sports/football --size 100 --size 1000

    clwl topics --lake build/lake --qmgr QM1 --save --json
    """
    return run_command("topics", common, options)
