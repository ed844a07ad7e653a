"""Data files that were written without Spark become part of a Delta table, all in one commit."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction

from clwl_spark.delta.attempts import Attempt
from clwl_spark.delta.opening import delta_table
from clwl_spark.delta.protocol import (
    has_transaction,
    keep_opened,
    opened,
    opened_to_write,
    types_of,
    unread_features,
    unwritten_features,
)
from clwl_spark.errors import OtherWriterError
from clwl_spark.storage.places import name_of
from clwl_spark.tables import Table
from clwl_spark.tables.require import wrong_columns

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
    wrong = wrong_columns(types_of(found), table)
    words = (*_apart(found), *_other_types(wrong), *needs)
    return next((f"{table.name} {x}" for x in words), "")


def unwritable(folder: str, table: Table) -> str:
    """Why files cannot be added to a table without Delta's help; '' = they can be."""
    found = opened(folder)
    if found is None:
        return f"{folder} is no table in a folder of this machine"
    properties = found.metadata().configuration
    constraints = [f"has the constraint {x}" for x in properties if x.startswith(_CONSTRAINT)]
    needs = [f"needs a writer with {x}" for x in unwritten_features(found)]
    words = (*_apart(found), *_unlike(found, table), *constraints, *needs)
    return next((f"{table.name} {x}" for x in words), "")


def is_committed(folder: str, application: str, version: int) -> bool:
    """Whether the table has this transaction already."""
    found = opened(folder)
    return has_transaction(delta_table(folder) if found is None else found, application, version)


def commit_files(folder: str, files: Sequence[DataFile], application: str, version: int) -> None:
    """Append files to a table, all or none; the application's transaction goes with them.

    Where the table has the transaction already, as of another machine that went on with the same
    batch, nothing is done; where it comes meanwhile, delta-rs refuses.

    Raises:
        OtherWriterError: the table was changed meanwhile, otherwise than by an append.
    """
    table = opened_to_write(folder) or delta_table(folder)
    if has_transaction(table, application, version):
        return
    this, now = Attempt.at(folder, table.version()), int(time.time() * 1000)
    try:
        table.create_write_transaction(
            [AddAction(x.name, x.size, {}, now, True, json.dumps(x.statistics)) for x in files],
            mode="append",
            schema=table.schema(),
            commit_properties=this.properties((application, version)),
        )
    except (DeltaError, OSError) as error:
        if this.is_done():
            return
        if not this.is_worth_another(error):
            raise
        raise other_writer(folder) from error
    keep_opened(folder, table)


def other_writer(folder: str) -> OtherWriterError:
    """Another writer of a table was faster."""
    lake, _, _ = folder.rpartition("/")
    return OtherWriterError(
        f"somebody else wrote to table {name_of(folder)} of lake {lake} meanwhile: run the "
        "command again, it goes on where this one ended"
    )


def _apart(found: DeltaTable) -> list[str]:
    """Whether rows have values that are not in their files."""
    return ["is partitioned"] if found.metadata().partition_columns else []


def mark_transaction(folder: str, application: str, version: int) -> None:
    """Commit a transaction of an application to a table, without rows."""
    commit_files(folder, [], application, version)


def _unlike(found: DeltaTable, table: Table) -> list[str]:
    """In what a table is not as the contract has it, as far as files for it are concerned."""
    types = types_of(found)
    wrong = [x.name for x in table.columns if types.get(x.name) != x.type]
    fields = found.schema().fields
    added = [x.name for x in fields if x.name not in table.names and not x.nullable]
    words = f"has more columns that may not be null: {', '.join(added)}"
    return [*_other_types(wrong), *([words] if added else [])]


def _other_types(columns: Sequence[str]) -> list[str]:
    return [f"has other types in {', '.join(columns)}"] if columns else []
