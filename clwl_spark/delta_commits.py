"""Data files that were written without Spark become part of a Delta table, all in one commit."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction

from clwl_spark.delta_protocol import (
    has_transaction,
    opened,
    unread_features,
    unwritten_features,
)
from clwl_spark.schemas import Table

_CONSTRAINT: Final = "delta.constraints."


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file in a table's folder.

    Attributes:
        name: of the file.
        size: bytes.
        statistics: Delta's, of its rows: numRecords, minValues, maxValues, nullCount.
    """

    name: str
    size: int
    statistics: dict[str, Any]


def unreadable(folder: str, table: Table) -> str:
    """Why the files of a table cannot be read without Delta's help; '' = they can be."""
    found = opened(folder)
    if found is None:
        return f"{folder} is no table in a folder of this machine"
    needs = [f"needs a reader with {x}" for x in unread_features(found)]
    return next((f"{table.name} {words}" for words in (*_unlike(found, table), *needs)), "")


def unwritable(folder: str, table: Table) -> str:
    """Why files cannot be added to a table without Delta's help; '' = they can be."""
    found = opened(folder)
    if found is None:
        return f"{folder} is no table in a folder of this machine"
    properties = found.metadata().configuration
    constraints = [f"has the constraint {x}" for x in properties if x.startswith(_CONSTRAINT)]
    needs = [f"needs a writer with {x}" for x in unwritten_features(found)]
    words = (*_unlike(found, table), *constraints, *needs)
    return next((f"{table.name} {x}" for x in words), "")


def is_committed(folder: str, application: str, version: int) -> bool:
    """Whether the table has this transaction already."""
    return has_transaction(DeltaTable(folder), application, version)


def commit_files(folder: str, files: Sequence[DataFile], application: str, version: int) -> None:
    """Append files to a table, all or none; the application's transaction goes with them."""
    table = DeltaTable(folder)
    now = int(time.time() * 1000)
    table.create_write_transaction(
        [AddAction(x.name, x.size, {}, now, True, json.dumps(x.statistics)) for x in files],
        mode="append",
        schema=table.schema(),
        commit_properties=CommitProperties(app_transactions=[Transaction(application, version)]),
    )


def mark_transaction(folder: str, application: str, version: int) -> None:
    """Commit a transaction of an application to a table, without rows."""
    commit_files(folder, [], application, version)


def _unlike(found: DeltaTable, table: Table) -> list[str]:
    """In what a table is not as the contract has it, as far as its files are concerned."""
    columns = json.loads(found.schema().to_json())["fields"]
    types = {x["name"]: x["type"] for x in columns}
    wrong = [x.name for x in table.columns if types.get(x.name) != _delta_type(x.type)]
    added = [x["name"] for x in columns if x["name"] not in table.names and not x["nullable"]]
    reasons = (
        (bool(found.metadata().partition_columns), "is partitioned"),
        (bool(wrong), f"has other types in {', '.join(wrong)}"),
        (bool(added), f"has more columns that may not be null: {', '.join(added)}"),
    )
    return [words for holds, words in reasons if holds]


def _delta_type(spark_type: str) -> str:
    """A column's type as Delta writes it."""
    return {"bigint": "long", "int": "integer"}.get(spark_type, spark_type)
