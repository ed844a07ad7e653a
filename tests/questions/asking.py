"""What tests of questions share: the lake's tables in DuckDB, the views, and results as rows."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import duckdb

from clwl_spark.present.questions.running import ask
from clwl_spark.present.questions.script import empty_table
from clwl_spark.present.questions.texts import Question, all_views
from clwl_spark.spark.named import NamedFrames
from clwl_spark.tables import MESSAGES, TABLES

LATE = 5
"""put_seq of the message that comes last."""
EVIL = "<script>"
NOBODYS = "NOBODYS"
"""A queue that nobody puts to, and a topic string that somebody publishes to."""
ALL_ROWS = 100_000


def select_all(view: str) -> str:
    return f"SELECT * FROM {view}"  # noqa: S608  (a view of our own)


def all_rows(named: NamedFrames, question: Question) -> list[dict[str, object]]:
    """A question's rows, from Spark."""
    answer = ask(named, question, ALL_ROWS)
    assert not answer.more
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def required(table):
    """The table as others may write it: without the columns that are this package's own.

    Of `messages` SQL names more columns than those that must be there.
    """
    own = () if table is MESSAGES else [x for x in table.columns if x.optional]
    return replace(table, columns=tuple(x for x in table.columns if x not in own))


def duck(datasets: Mapping[str, object] | None = None) -> duckdb.DuckDBPyConnection:
    """DuckDB with these tables of a lake, and all others empty."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name, table in TABLES.items():
        if name in (datasets or {}):
            connection.register(name, datasets[name])
        else:
            connection.execute(f'CREATE VIEW "{name}" AS {empty_table(required(table))}')
    return connection


def with_views(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    for view in all_views().values():
        connection.execute(f"CREATE VIEW {view.name} AS {view.sql}")
    return connection


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, object]]:
    connection.execute(sql)
    names = [x[0] for x in connection.description]
    return [dict(zip(names, row, strict=True)) for row in connection.fetchall()]


def comparable(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Rows with floats and moments as the two engines can agree on them."""
    return [{name: _rounded(value) for name, value in row.items()} for row in rows]


def _rounded(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return round(value, 9) if isinstance(value, float) else value


def at_hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def shares(counts: Mapping[object, int], group: Callable[[object], object]) -> dict[object, float]:
    """Each count's share of its group's."""
    totals: dict[object, int] = {}
    for key, count in counts.items():
        totals[group(key)] = totals.get(group(key), 0) + count
    return {key: count / totals[group(key)] for key, count in counts.items()}
