"""`clwl repository`: views of a lake, simulated ones, and what REFRESH CLUSTER costs."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from clwl_spark.cli.commands.repository import RepositoryWords
from clwl_spark.cli.moments import moment_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import Screen
from clwl_spark.cli.work import Work, at_work, screen_of, settings_of
from clwl_spark.errors import UsageError
from clwl_spark.settings import duration
from clwl_spark.studies.repository.cost import cost_table
from clwl_spark.studies.repository.events import Story, read_story
from clwl_spark.studies.repository.knowledge import knowledge_of, story_json
from clwl_spark.studies.repository.objects import NAME
from clwl_spark.studies.repository.rendering import render_costs, render_story, render_view
from clwl_spark.studies.repository.transitions import play
from clwl_spark.studies.repository.view import RepositoryView, repository_view


def run(common: Common, options: RepositoryWords) -> int:
    """Answer what the options ask, and return the exit code."""
    if options.events is not None and options.refresh_cost is not None:
        raise UsageError("--events and --refresh-cost are two questions: leave one out")
    if options.refresh_cost is not None:
        _show_costs(_screen(common), options)
    elif options.events is not None:
        _show_story(_screen(common), options, read_story(options.events))
    else:
        _show_view(common, options)
    return 0


def _screen(common: Common) -> Screen:
    """A screen for what needs no lake."""
    return screen_of(common, settings_of(common), "repository")


def _show_view(common: Common, options: RepositoryWords) -> None:
    """A queue manager's view of a lake's snapshot."""
    if options.qmgr is None:
        raise UsageError("whose view? give --qmgr QM, or --events FILE, or --refresh-cost N,N")
    at = None if options.at is None else moment_of("--at", options.at)
    with at_work("repository", common, needs="snapshots") as work:
        view = repository_view(work.lake, options.qmgr, at, options.object_name)
        work.screen.document(view.to_json())
        work.screen.show(render_view(view))
        moment = ["--at", options.at] if options.at else []
        work.screen.show(*_next_steps(work, view, (options.qmgr, options.object_name), moment))


def _next_steps(
    work: Work, view: RepositoryView, asked: tuple[str, str | None], moment: Sequence[str]
) -> Iterator[str]:
    """What to look at next, of an object that is asked about and is not known, or of all."""
    qmgr, object_name = asked
    if object_name is None:
        if view.missing:
            words = ["--qmgr", qmgr, "--object", view.missing[0][NAME], *moment]
            yield f"the way of the first: {work.command('repository', *words)}"
        return
    if view.known:
        return
    if not view.missing:
        yield (
            f"nobody has {object_name} in snapshot {view.snapshot_id}: check the name "
            "(case counts), or ingest its owner's definitions"
        )
    words = ["--from", qmgr, "--object", object_name, *moment]
    yield f"what a put to it comes to: {work.command('explain', *words)}"


def _show_story(screen: Screen, options: RepositoryWords, story: Story) -> None:
    """Simulated knowledge, of one queue manager or all."""
    until = None if options.at is None else _time(options.at, story)
    cluster = play(story, until)
    asked = options.qmgr
    names = [asked] if asked else sorted({node.name for node in cluster.alive()})
    found = [knowledge_of(cluster, name, options.object_name) for name in names]
    screen.document(story_json(cluster, found))
    screen.show(render_story(cluster, found))


def _show_costs(screen: Screen, options: RepositoryWords) -> None:
    """Messages of REFRESH CLUSTER in clusters of several sizes."""
    try:
        sizes = [int(size) for size in str(options.refresh_cost).split(",")]
    except ValueError as error:
        raise UsageError(
            f"--refresh-cost {options.refresh_cost}: give whole numbers, like 10,100,1000"
        ) from error
    table = cost_table(sizes, options.full, options.queues)
    screen.document({"full": options.full, "queues": options.queues, "refresh": table})
    screen.show(render_costs(table, options.full, options.queues))


def _time(text: str, story: Story) -> datetime:
    """The moment that --at names, which may count from the story's start."""
    try:
        return story.moment_of(duration(text))
    except UsageError:
        return moment_of("--at", text)
