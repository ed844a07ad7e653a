"""`clwl ask`: ready questions about what was routed, and the views that they are asked of."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from clwl_spark.cli.commands.ask import AskWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import Screen
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import at_work, screen_of, settings_of
from clwl_spark.cli.written import write_whole
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.present.questions.page import page
from clwl_spark.present.questions.rendering import (
    answer_document,
    cell,
    questions_document,
    views_document,
)
from clwl_spark.present.questions.running import (
    Answer,
    FolderLakeError,
    ask,
    create_views,
    prepared,
)
from clwl_spark.present.questions.script import question_script, views_script
from clwl_spark.present.questions.texts import (
    Question,
    View,
    all_questions,
    all_views,
    question_named,
    tables_of,
)
from clwl_spark.spark.named import NamedFrames
from clwl_spark.tables import OUTCOMES


def run(common: Common, options: AskWords) -> int:
    """Ask, list, print or write what the options say, and return the exit code."""
    _check(options)
    question = question_named(options.name) if options.name is not None else None
    if options.sql:
        return _printed(common, question)
    if options.create_views:
        return _made_permanent(common)
    if options.page is not None:
        return _written(common, options.page, options.limit)
    if question is not None:
        return _asked(common, question, options.limit)
    return _listed(_screen(common), options)


def _check(options: AskWords) -> None:
    """Refuse words that do not go together, before Spark starts."""
    ways = {
        "NAME": options.name is not None,
        "--views": options.views,
        "--create-views": options.create_views,
        "--page": options.page is not None,
    }
    given = [way for way, is_given in ways.items() if is_given]
    if options.sql and given[:1] != ["NAME"]:
        given.append("--sql")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} ask for different things: give one of them")


def _asked(common: Common, question: Question, limit: int) -> int:
    """Answer one question."""
    with at_work("ask", common, needs=OUTCOMES.name, reads=tables_of(question.sql)) as work:
        with _prepared(work.lake, [question]) as named:
            answer = ask(named, question, limit)
        work.screen.document(answer_document(answer))
        work.screen.show(*answer_table(answer))
    return 0


def _prepared(lake: Lake, questions: Sequence[Question]) -> AbstractContextManager[NamedFrames]:
    """As `prepared`; a lake without outcomes is told so, rather than shown as empty."""
    lake.read(OUTCOMES.name)
    return prepared(lake, questions)


def answer_table(answer: Answer) -> list[RenderableType]:
    """The question, its rows, and what to read from them."""
    rows = [
        [cell(x, value) for x, value in zip(answer.columns, row, strict=True)]
        for row in answer.rows
    ]
    names = {name: name.replace("_", " ") for name in answer.columns}
    numbers = [names[name] for name in answer.numbers]
    asked = answer.question.question
    shown = listing(list(names.values()), rows, numbers, title=asked)
    parts: list[RenderableType] = [shown] if rows else [Text(f"{asked} None.")]
    if answer.more:
        parts.append(Text(f"The first {len(rows):,} rows; more with --limit N", "dim"))
    return [*parts, Text(answer.question.answers, "dim")]


def _written(common: Common, file: Path, limit: int) -> int:
    """Answer all questions on one page."""
    questions = list(all_questions().values())
    with at_work(
        "ask", common, needs=OUTCOMES.name, reads=tables_of(*(x.sql for x in questions))
    ) as work:
        answers = []
        with (
            _prepared(work.lake, questions) as named,
            work.screen.progress("asking") as tell,
        ):
            for done, question in enumerate(questions):
                tell("questions", done, len(questions))
                answers.append(ask(named, question, limit))
            tell("questions", len(questions), len(questions))
        text = page(work.lake.root, answers, all_views().values(), datetime.now(UTC))
        write_whole(file, text, "--page")
        rows = {x.question.name: len(x.rows) for x in answers}
        work.screen.document({"page": str(file), "rows": rows})
        work.screen.show(f"{len(answers)} answers in {file}")
    return 0


def _made_permanent(common: Common) -> int:
    """Make the views permanent."""
    settings = settings_of(common)
    if not settings.catalog:
        raise FolderLakeError(settings.lake)
    with at_work("ask", common, needs=OUTCOMES.name) as work:
        names = create_views(work.lake)
        work.screen.document({"views": names})
        work.screen.show(*map(Text, names))
    return 0


def _printed(common: Common, question: Question | None) -> int:
    """Print SQL for DuckDB as it is, to be piped."""
    lake = settings_of(common).lake
    script = views_script(lake) if question is None else question_script(question, lake)
    screen = _screen(common)
    screen.document({"sql": script})
    if not screen.as_json:
        screen.out.write(script)
    return 0


def _listed(screen: Screen, options: AskWords) -> int:
    """List the views, or the questions."""
    if options.views:
        views = all_views()
        screen.document(views_document(views))
        screen.show(*(part for view in views.values() for part in _described(view)))
        return 0
    questions = list(all_questions().values())
    screen.document(questions_document(questions))
    rows = [[x.name, x.question] for x in questions]
    screen.show(listing(["name", "question"], rows), "\nclwl ask NAME --lake DIR answers one")
    return 0


def _described(view: View) -> list[RenderableType]:
    """A view and its columns."""
    rows = [[name, meaning] for name, meaning in view.columns.items()]
    head = Text.assemble((view.name, "bold"), f": {view.title}. A row is {view.row}.")
    return [head, listing(["column", "meaning"], rows), Text()]


def _screen(common: Common) -> Screen:
    """The screen of what needs no lake."""
    return screen_of(common, settings_of(common), "ask")
