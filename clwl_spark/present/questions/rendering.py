"""How questions, views and answers are told: cells as text, and documents for --json."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from clwl_spark.present.printable import printable
from clwl_spark.present.questions.running import Answer
from clwl_spark.present.questions.texts import Question, View, tables_of, views_of
from clwl_spark.tables.moments import moment_text

_NAMES: Final = ("reason", "put_seq", "first_put_seq")
"""Columns whose numbers are names, and so are written without separators."""

_SHARES: Final = ("share", "_share", "share_before", "share_after", "_deviation")


def cell(column: str, value: object) -> str:
    """A value for readers: shares in percent, moments in UTC, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return moment_text(value, "seconds")
    if isinstance(value, float):
        return f"{value:.1%}" if column.endswith(_SHARES) else f"{value:,.1f}"
    if isinstance(value, int) and column not in _NAMES:
        return f"{value:,}"
    return printable(str(value))


def answer_document(answer: Answer) -> dict[str, Any]:
    """An answer for --json; shares are fractions, moments ISO 8601."""
    return {
        "name": answer.question.name,
        "question": answer.question.question,
        "answers": answer.question.answers,
        "columns": list(answer.columns),
        "rows": [
            {name: _plain(x) for name, x in zip(answer.columns, row, strict=True)}
            for row in answer.rows
        ],
        "more": answer.more,
    }


def questions_document(questions: Iterable[Question]) -> dict[str, Any]:
    """The questions for --json."""
    return {
        "questions": [
            {
                "name": x.name,
                "question": x.question,
                "answers": x.answers,
                "views": [view.name for view in views_of(x.sql)],
                "tables": tables_of(x.sql),
            }
            for x in questions
        ]
    }


def views_document(views: Mapping[str, View]) -> dict[str, Any]:
    """The views for --json."""
    return {
        "views": [
            {
                "name": x.name,
                "title": x.title,
                "row": x.row,
                "columns": [{"name": name, "comment": y} for name, y in x.columns.items()],
                "views": [view.name for view in views_of(x.sql)],
                "tables": tables_of(x.sql),
            }
            for x in views.values()
        ]
    }


def _plain(value: object) -> object:
    return moment_text(value) if isinstance(value, datetime) else value
