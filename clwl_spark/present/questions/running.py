"""Questions asked of a lake, and its views made permanent in a catalog."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.place import name_in_catalog
from clwl_spark.errors import UsageError
from clwl_spark.present.questions.texts import Question, View, all_views, tables_of, views_of
from clwl_spark.spark.conf import with_settings
from clwl_spark.spark.frames import to_arrow
from clwl_spark.spark.named import NamedFrames, in_schema, named_frames
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import TABLES

_IN_UTC: Final = {"spark.sql.session.timeZone": "UTC"}


class FolderLakeError(UsageError):
    """Views are to be made permanent in a lake that is a folder."""

    def __init__(self, lake: str) -> None:
        """Name the lake, and what can be done instead."""
        super().__init__(
            f"lake {lake or '(none)'} is a folder, which cannot keep views: give --catalog "
            "CATALOG.SCHEMA, or let `clwl ask --sql` print them for DuckDB"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question came to.

    Attributes:
        question: the question.
        columns: names of the result's columns.
        numbers: those of them that hold numbers.
        rows: values in the order of columns; moments are in UTC.
        more: there are rows beyond the limit.
    """

    question: Question
    columns: tuple[str, ...]
    numbers: frozenset[str]
    rows: tuple[tuple[Any, ...], ...]
    more: bool


@contextmanager
def prepared(lake: Lake, questions: Iterable[Question]) -> Iterator[NamedFrames]:
    """What the questions can be asked of, for the block; the lake's session is left as it was.

    There are the tables of the lake that the questions read, where the lake lacks one without
    rows, and the views, each made of those before it.

    Args:
        lake: the lake.
        questions: what will be asked.

    Raises:
        MissingColumnsError: a table lacks columns, or has them with other types.
    """
    queries = [question.sql for question in questions]
    tables = tables_of(*queries)
    with with_settings(lake.spark, _IN_UTC), named_frames(lake.spark) as named:
        frames = run_parallel(lake.spark, lake.read_or_empty, tables)
        for name, frame in zip(tables, frames, strict=True):
            named.add(name, frame)
        needed = {view.name for sql in queries for view in views_of(sql)}
        for name, view in all_views().items():
            if name in needed:
                named.add(name, named.query(view.sql))
        yield named


def ask(named: NamedFrames, question: Question, limit: int) -> Answer:
    """Ask one question.

    Args:
        named: of `prepared`, for this question among others.
        question: the question.
        limit: most rows that are wanted, from 1.
    """
    table = to_arrow(named.query(question.sql).limit(limit + 1))
    rows = [tuple(row.values()) for row in table.to_pylist()]
    types = zip(table.column_names, map(str, table.schema.types), strict=True)
    numbers = frozenset(name for name, kind in types if kind.startswith(("int", "double")))
    columns = tuple(table.column_names)
    return Answer(question, columns, numbers, tuple(rows[:limit]), len(rows) > limit)


def create_views(lake: Lake) -> list[str]:
    """Make all views permanent in the lake's catalog, with comments; return their full names.

    Views of these names are replaced. Tables that they read and the lake lacks are created, empty.

    Args:
        lake: a lake in a catalog.

    Raises:
        FolderLakeError: the lake is a folder, which cannot keep views.
    """
    if not lake.in_catalog:
        raise FolderLakeError(lake.root)
    views = all_views().values()
    lake.create([TABLES[name] for name in tables_of(*(view.sql for view in views))])
    # A view's query is kept with the schema that bare names are looked up in.
    with in_schema(lake.spark, lake.root):
        for statement in view_statements(lake.root).values():
            lake.spark.sql(statement)
    return [f"{lake.root}.{view.name}" for view in views]


def view_statements(schema: str) -> dict[str, str]:
    """Spark's SQL that makes each view permanent, by its name, in a session that uses the schema.

    Args:
        schema: `catalog.schema`.
    """
    return {name: _statement(view, schema) for name, view in all_views().items()}


def _statement(view: View, schema: str) -> str:
    """The statement that makes a view permanent."""
    columns = ",\n  ".join(f"`{name}` COMMENT {_text(x)}" for name, x in view.columns.items())
    comment = _text(f"{view.title}. A row is {view.row}")
    return (
        f"CREATE OR REPLACE VIEW {name_in_catalog(schema, view.name)} (\n  {columns}\n) "
        f"COMMENT {comment} AS\n{view.sql}"
    )


def _text(text: str) -> str:
    """A text within Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
