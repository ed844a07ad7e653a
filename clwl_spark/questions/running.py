"""Questions asked of a lake, and its views made permanent in a catalog."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark.sql import SparkSession

from clwl_spark.errors import UsageError
from clwl_spark.questions.texts import Question, View, all_views, tables_of, views_of
from clwl_spark.schemas import TABLES
from clwl_spark.side_by_side import together
from clwl_spark.storage import Lake

_ZONE: Final = "spark.sql.session.timeZone"


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


def prepared(lake: Lake, questions: Iterable[Question]) -> SparkSession:
    """A session in which the questions can be asked; the lake's own one is left as it is.

    Tables of the lake that the questions read are temporary views of their bare names there, those
    that the lake lacks have no rows; then come the views, each after those it uses.

    Args:
        lake: the lake.
        questions: what will be asked.

    Raises:
        MissingColumnsError: a table lacks columns, or has them with other types.
    """
    queries = [question.sql for question in questions]
    session = _apart(lake.spark)
    session.conf.set(_ZONE, "UTC")
    read = replace(lake, spark=session).read_or_empty
    tables = tables_of(*queries)
    for name, frame in zip(tables, together(lake.spark, read, tables), strict=True):
        frame.createOrReplaceTempView(name)
    needed = {view.name for sql in queries for view in views_of(sql)}
    for name, view in all_views().items():
        if name in needed:
            session.sql(view.sql).createOrReplaceTempView(name)
    return session


def ask(session: SparkSession, question: Question, limit: int) -> Answer:
    """Ask one question.

    Args:
        session: of `prepared`, for this question among others.
        question: the question.
        limit: most rows that are wanted, from 1.
    """
    table = session.sql(question.sql).limit(limit + 1).toArrow()
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
    session = _apart(lake.spark)
    there = replace(lake, spark=session)
    views = all_views().values()
    there.create([TABLES[name] for name in tables_of(*(view.sql for view in views))])
    # A view's query is kept with the schema that bare names are looked up in.
    session.sql("USE " + ".".join(f"`{part}`" for part in lake.root.split(".")))
    for view in views:
        session.sql(_statement(view, there))
    return [f"{lake.root}.{view.name}" for view in views]


def _apart(spark: SparkSession) -> SparkSession:
    """A session with temporary views and a current schema of its own; Connect has none such."""
    return spark.newSession() if hasattr(spark, "newSession") else spark


def _statement(view: View, lake: Lake) -> str:
    """The statement that makes a view permanent."""
    columns = ",\n  ".join(f"`{name}` COMMENT {_text(x)}" for name, x in view.columns.items())
    comment = _text(f"{view.title}. A row is {view.row}")
    return (
        f"CREATE OR REPLACE VIEW {lake.sql_name(view.name)} (\n  {columns}\n) "
        f"COMMENT {comment} AS\n{view.sql}"
    )


def _text(text: str) -> str:
    """A text within Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
