"""The files of SQL: views and questions, read into records. No Spark.

A file begins with lines `-- key: value`; lines `--   more` go on with the value. The rest is one
query. A view has the keys `title`, `row` (what a row is) and `column NAME` for each column, in
order; a question has `question` and `answers` (what to read from the result).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

from clwl_spark.algorithm.ladder import as_sql_values
from clwl_spark.errors import InputError, UsageError, did_you_mean
from clwl_spark.tables import TABLES

_FOLDER: Final = Path(__file__).parent
_LADDER: Final = "{ladder}"
"""In the text of a view: the rules, as `algorithm.ladder` has them."""
_KEYED: Final = re.compile(r"-- (title|row|question|answers|column \w+): (\S.*)")
_MORE: Final = re.compile(r"-- {3,}(\S.*)")
_COLUMN: Final = "column "
_COMMENT_OR_TEXT: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_SOURCE: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)", re.IGNORECASE)


class QuestionFileError(InputError):
    """A file of SQL whose header is incomplete or unreadable."""

    def __init__(self, file: str, wrong: str) -> None:
        """Name the file, what is wrong with its header, and how a header is written."""
        super().__init__(
            f"{file}: {wrong}; begin the file with lines '-- key: value' as those in "
            "clwl_spark/present/questions have them"
        )


class UnknownQuestionError(UsageError):
    """No question has that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        """Name the nearest question, or else the first ones."""
        super().__init__(f"no question {name!r}: {did_you_mean(name, known)}")


@dataclass(frozen=True, slots=True)
class Text:
    """A file of SQL.

    Attributes:
        words: values of the header by key, in order.
        sql: the query, without header and final semicolon.
    """

    words: Mapping[str, str]
    sql: str


@dataclass(frozen=True, slots=True)
class View:
    """A documented view.

    Attributes:
        name: as SQL knows it.
        title: what it is about.
        row: what a row is.
        columns: meanings by column name, in order.
        sql: its query.
    """

    name: str
    title: str
    row: str
    columns: Mapping[str, str]
    sql: str


@dataclass(frozen=True, slots=True)
class Question:
    """A ready question.

    Attributes:
        name: by which it is asked.
        question: in an administrator's words.
        answers: what to read from the result.
        sql: its query, which orders its rows.
    """

    name: str
    question: str
    answers: str
    sql: str


def read_text(content: str, file: str) -> Text:
    """Read header and query of a file.

    Args:
        content: of the file.
        file: its name, for errors.

    Raises:
        QuestionFileError: the header has a line of another form, or one key twice; or there is no
            query.
    """
    words: dict[str, str] = {}
    lines = content.splitlines()
    header = next((at for at, x in enumerate(lines) if not x.startswith("--")), len(lines))
    key = ""
    for number, line in enumerate(lines[:header], 1):
        if keyed := _KEYED.fullmatch(line.rstrip()):
            key = keyed[1]
            if key in words:
                raise QuestionFileError(file, f"line {number} has {key!r} for the second time")
            words[key] = keyed[2]
        elif key and (more := _MORE.fullmatch(line.rstrip())):
            words[key] += f" {more[1]}"
        else:
            raise QuestionFileError(file, f"line {number} is not 'key: value': {line}")
    sql = "\n".join(lines[header:]).strip().rstrip(";").rstrip()
    if not sql:
        raise QuestionFileError(file, "there is no query")
    return Text(words, sql)


def read_view(name: str, content: str) -> View:
    """The view that a file describes.

    Raises:
        QuestionFileError: the header lacks a title, what a row is, or columns.
    """
    text = read_text(content, f"{name}.sql")
    columns = {
        key.removeprefix(_COLUMN): meaning
        for key, meaning in text.words.items()
        if key.startswith(_COLUMN)
    }
    if not columns:
        raise QuestionFileError(f"{name}.sql", "'column NAME' is missing")
    title, row = _of(text, name, "title", "row")
    return View(name, title, row, columns, text.sql)


def read_question(name: str, content: str) -> Question:
    """The question that a file asks.

    Raises:
        QuestionFileError: the header lacks the question, or what to read from the answer.
    """
    text = read_text(content, f"{name}.sql")
    question, answers = _of(text, name, "question", "answers")
    return Question(name, question, answers, text.sql)


@cache
def all_views() -> Mapping[str, View]:
    """The package's views by name, each after those that it uses."""
    views = {name: read_view(name, content) for name, content in _files("views")}
    uses = {name: sorted(_among(view.sql, views)) for name, view in sorted(views.items())}
    order = TopologicalSorter(uses)
    return {name: views[name] for name in order.static_order()}


@cache
def all_questions() -> Mapping[str, Question]:
    """The package's questions by name, in the order of names."""
    return {name: read_question(name, content) for name, content in _files("asked")}


def question_named(name: str) -> Question:
    """The question of that name.

    Raises:
        UnknownQuestionError: there is none; it tells the nearest ones.
    """
    questions = all_questions()
    if name not in questions:
        raise UnknownQuestionError(name, questions)
    return questions[name]


def views_of(sql: str) -> list[View]:
    """The views that a query needs, directly or by way of others, in an order to create them."""
    views = all_views()
    needed: set[str] = set()
    found = _among(sql, views)
    while found:
        needed |= found
        found = {x for name in found for x in _among(views[name].sql, views)} - needed
    return [view for name, view in views.items() if name in needed]


def tables_of(*queries: str) -> list[str]:
    """The lake's tables that queries, and the views that they need, read; by name."""
    views = {view.name: view for sql in queries for view in views_of(sql)}
    read = (_among(sql, TABLES) for sql in (*queries, *(x.sql for x in views.values())))
    return sorted(set().union(*read))


def _among(sql: str, names: Iterable[str]) -> set[str]:
    """Those of the names that a query reads from."""
    return set(_SOURCE.findall(_COMMENT_OR_TEXT.sub("", sql))) & set(names)


def _of(text: Text, name: str, *keys: str) -> list[str]:
    """The values of keys that a header has to have, without others of its kind."""
    missing = [key for key in keys if key not in text.words]
    if missing:
        raise QuestionFileError(f"{name}.sql", f"{missing[0]!r} is missing")
    return [text.words[key] for key in keys]


def _files(folder: str) -> list[tuple[str, str]]:
    """Names and contents of the files of a folder, by name."""
    paths = sorted((_FOLDER / folder).glob("*.sql"))
    texts = (path.read_text(encoding="utf-8") for path in paths)
    filled = (text.replace(_LADDER, as_sql_values()) for text in texts)
    return list(zip((path.stem for path in paths), filled, strict=True))
