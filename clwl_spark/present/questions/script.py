"""Questions and views as scripts that DuckDB runs. No Spark."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from clwl_spark.present.questions.texts import Question, View, all_views, tables_of, views_of
from clwl_spark.tables import SNAPSHOT_CHANGES, SNAPSHOT_CONTENT, TABLES, Table

_LINE: Final = 98
_TYPES: Final[Mapping[str, str]] = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "timestamp": "TIMESTAMPTZ",
    "array<string>": "VARCHAR[]",
    "map<string,string>": "MAP(VARCHAR, VARCHAR)",
    "map<string,bigint>": "MAP(VARCHAR, BIGINT)",
}


def question_script(question: Question, lake: str = "") -> str:
    """A question with all that it needs, ready for DuckDB.

    Args:
        question: the question.
        lake: folder or URI of a path lake; blank = the script leaves the tables to the reader.

    Returns:
        SQL: comments, a view per table of the lake, the views, the question.
    """
    head = _remark(f"{question.question} {question.answers}")
    views = views_of(question.sql)
    return "\n".join([*head, *_sources(tables_of(question.sql), lake), *map(_made, views)]) + (
        f"\n{question.sql};\n"
    )


def views_script(lake: str = "") -> str:
    """All views, ready for DuckDB; `lake` as for `question_script`."""
    views = all_views().values()
    head = _remark("The views that questions are asked of.")
    tables = tables_of(*(view.sql for view in views))
    return "\n".join([*head, *_sources(tables, lake), *map(_made, views)])


def empty_table(table: Table) -> str:
    """A query that has the table's columns and no rows, for DuckDB."""
    columns = (f'  CAST(NULL AS {_TYPES[x.type]}) AS "{x.name}"' for x in table.columns)
    return "SELECT\n" + ",\n".join(columns) + "\nWHERE false"


def _sources(tables: Iterable[str], lake: str) -> list[str]:
    """Statements that make the lake's tables readable by bare name."""
    zone = "SET TimeZone = 'UTC'; -- hours are UTC's"
    if not lake:
        return [f"-- It reads the tables {', '.join(tables)}.", zone, ""]
    names = list(tables)
    views = [f"CREATE OR REPLACE TEMP VIEW {x} AS {_scan(lake, x)};" for x in names]
    return [*_partial(names, lake), "INSTALL delta;", "LOAD delta;", zone, *views, ""]


def _partial(tables: Iterable[str], lake: str) -> list[str]:
    """What to know where the lake has snapshots that are stored as changes of the one before."""
    content = {x.name for x in SNAPSHOT_CONTENT}
    if not content.intersection(tables) or not _is_there(lake, SNAPSHOT_CHANGES.name):
        return []
    return _remark(
        "This lake has a timeline: of its later snapshots the tables of the topology have no rows, "
        f"as {SNAPSHOT_CHANGES.name} has what changed. Ask by `clwl ask`, which puts them together."
    )


def _is_there(lake: str, table: str) -> bool:
    return (Path(lake) / table / "_delta_log").is_dir()


def _scan(lake: str, table: str) -> str:
    """A query of a table of the lake; one that a folder lacks is empty."""
    root = Path(lake)
    if root.is_dir() and not _is_there(lake, table):
        return empty_table(TABLES[table])
    place = f"{root.absolute() if root.is_dir() else lake.rstrip('/')}/{table}"
    quoted = place.replace("'", "''")
    return f"SELECT * FROM delta_scan('{quoted}')"  # noqa: S608  (the path is quoted)


def _made(view: View) -> str:
    """The statement that makes a view."""
    told = "\n".join(_remark(f"{view.title}. A row is {view.row}."))
    return f"{told}\nCREATE OR REPLACE TEMP VIEW {view.name} AS\n{view.sql};\n"


def _remark(text: str) -> list[str]:
    """A text as lines of comments."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= _LINE:
            lines.append("")
        lines[-1] += f" {word}"
    return [f"--{line}" for line in lines]
