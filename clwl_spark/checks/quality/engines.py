"""Two engines for the same SQL: SQLite in memory where the rows fit, Spark beyond.

Rules are written in SQL that both understand (`runs_on: any`); a rule of users runs on Spark
unless it promises that. SQLite starts at once, where Spark needs a third of a second per query.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from clwl_spark.checks.quality.results import KEPT_ROWS, Found, Row
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.spark.named import NamedFrames

_PREPARED: Final = (
    "PRAGMA case_sensitive_like = ON",
    "PRAGMA journal_mode = OFF",
    "PRAGMA temp_store = MEMORY",
)
_BATCH: Final = 50_000
_AFFINITY: Final = {"int": "INTEGER", "boo": "INTEGER", "dou": "REAL", "flo": "REAL"}


@dataclass(frozen=True, slots=True)
class View:
    """A table that SQL can name: made from others by a query."""

    name: str
    query: str


class SqliteEngine:
    """Rows in memory."""

    name = "sqlite"

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        views: Iterable[View],
        indexes: Mapping[str, Sequence[str]],
    ) -> None:
        """Load the tables, make the views of them as tables, and index those.

        `indexes` has by table the column lists that rules join on.
        """
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        for statement in _PREPARED:
            self._database.execute(statement)
        self._database.execute("BEGIN")
        for name, table in tables.items():
            self._load(name, table)
        for view in views:
            self._database.execute(f'CREATE TABLE "{view.name}" AS {view.query}')
            for columns in indexes.get(view.name, ()):
                name = f"{view.name} by {columns}"
                self._database.execute(f'CREATE INDEX "{name}" ON "{view.name}" ({columns})')
        self._database.execute("COMMIT")

    def failing(self, sql: str) -> Found:
        """The rows that the SQL returns."""
        try:
            cursor = self._database.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            rows = tuple(dict(zip(names, x, strict=True)) for x in islice(cursor, KEPT_ROWS))
            more = sum(1 for _ in cursor)
        except sqlite3.Error as error:
            return Found(0, error=str(error))
        return Found(len(rows) + more, rows)

    def close(self) -> None:
        """Give the memory back."""
        self._database.close()

    def _load(self, name: str, table: pa.Table) -> None:
        columns = ", ".join(
            f'"{x.name}" {_AFFINITY.get(str(x.type)[:3], "TEXT")}' for x in table.schema
        )
        self._database.execute(f'CREATE TABLE "{name}" ({columns})')
        marks = ", ".join("?" * table.num_columns)
        insert = f'INSERT INTO "{name}" VALUES ({marks})'  # noqa: S608  (our own names)
        for batch in table.to_batches(_BATCH):
            cells = (_cells(column) for column in batch.columns)
            self._database.executemany(insert, zip(*cells, strict=True))


class SparkEngine:
    """Rows as Spark has them."""

    name = "spark"

    def __init__(
        self, spark: SparkSession, tables: Mapping[str, DataFrame], views: Iterable[View]
    ) -> None:
        """Name the tables and the views of them."""
        self._named = NamedFrames(spark)
        for name, frame in tables.items():
            self._add(name, frame)
        for view in views:
            self._add(view.name, self._named.query(view.query))

    def failing(self, sql: str) -> Found:
        """The rows that the SQL returns."""
        try:
            frame = self._named.query(sql)
            rows = tuple(_plain(x.asDict(recursive=True)) for x in frame.take(KEPT_ROWS))
            failing = len(rows) if len(rows) < KEPT_ROWS else frame.count()
        except PySparkException as error:
            first = next((x for x in str(error).splitlines() if x.strip()), "it raised")
            return Found(0, error=first.strip())
        return Found(failing, rows)

    def close(self) -> None:
        """Take the names back."""
        self._named.forget()

    def _add(self, name: str, frame: DataFrame) -> None:
        # Views are made of views: with the queries still in them, their plans would double each
        # time and fill the memory.
        self._named.add(name, checkpoint(frame))


def _cells(column: pa.Array) -> list[Any]:
    """Cells as SQLite takes them: moments and lists as text."""
    cells: list[Any] = column.to_pylist()
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return [None if x is None else str(x) for x in cells]
    if pa.types.is_nested(column.type):
        return [None if x is None else str(x) for x in cells]
    return cells


def _plain(row: Row) -> Row:
    """Cells that JSON can say."""
    return {
        name: x if isinstance(x, (str, int, float, bool, type(None))) else str(x)
        for name, x in row.items()
    }
