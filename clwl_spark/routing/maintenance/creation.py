"""Every table of the contract, made empty before anybody writes a row."""

from collections.abc import Sequence
from typing import Any

from clwl_spark.delta.creation import create_statement
from clwl_spark.delta.lake import Behind, Creation, Lake
from clwl_spark.delta.place import name_in_catalog, name_of_folder
from clwl_spark.tables import TABLES


def create_tables(lake: Lake) -> list[Creation]:
    """Make the tables that are not there, and give the others the optional columns they lack.

    Rows, properties and other columns of a table that is there stay as they are.

    Raises:
        EngineError: a table has features that engine embedded does not write.
    """
    return lake.create(TABLES.values())


def upgrade_tables(lake: Lake, *, dry_run: bool) -> list[Behind]:
    """Give the tables that are there what this version's have and those of earlier ones lack.

    Columns that are added are null in the rows that are there, and optional for who writes. No row
    changes, no table is made, and what is not the contract's stays.

    Args:
        lake: the lake.
        dry_run: only tell.

    Returns:
        What each table that is there lacked; one per table.

    Raises:
        EngineError: a table has features that engine embedded does not write.
    """
    found = [(x, lake.behind(x)) for x in TABLES.values()]
    there = [(table, behind) for table, behind in found if behind is not None]
    if not dry_run:
        lake.create([table for table, behind in there if behind.columns or behind.checks])
    return [behind for _, behind in there]


def create_statements(place: str, *, in_catalog: bool) -> dict[str, str]:
    """Spark's SQL that makes each table, by the table's name.

    Args:
        place: folder or URI of a lake, or `catalog.schema`.
        in_catalog: whether it is the latter.
    """
    names = {
        x: name_in_catalog(place, x) if in_catalog else name_of_folder(f"{place.rstrip('/')}/{x}")
        for x in TABLES
    }
    return {x: create_statement(names[x], table) for x, table in TABLES.items()}


def to_json(made: Sequence[Creation]) -> dict[str, Any]:
    """The document of `clwl init --json`."""
    return {
        "made": [x.table for x in made if x.is_new],
        "there": [x.table for x in made if not x.is_new],
        "added_columns": {x.table: list(x.added) for x in made if x.added},
    }
