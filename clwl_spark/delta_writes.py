"""Rows in memory written to Delta tables by delta-rs, where Spark would run jobs.

An append of few rows takes Spark 0.5 s and a merge 2 s; delta-rs 20 ms. Every function here looks
at the table first and leaves it to Spark unless it is certain what a writer has to do there: the
table is in a folder of this machine, its columns, constraints and properties are those that the
contract declares, and its protocol has no feature but those. Both CHECK and NOT NULL are enforced
by delta-rs, and a commit that another writer's commit contradicts is refused.
"""

import json
from collections.abc import Callable
from typing import Final

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

from clwl_spark.delta_creation import properties
from clwl_spark.delta_protocol import (
    has_transaction,
    opened,
    unread_features,
    unwritten_features,
)
from clwl_spark.schemas import Table

_ATTEMPTS: Final = 5


def append_rows(
    folder: str, table: Table, rows: pa.Table, once: tuple[str, int] | None = None
) -> bool:
    """Append rows; once where Spark or this has written the transaction already.

    Args:
        folder: of the table, on this machine.
        table: what it is in the contract.
        rows: with the contract's columns and types; where there are none, nothing is committed.
        once: application and version of the append's transaction.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to.
    """
    found = _known(folder, table)
    if found is None:
        return False
    if rows.num_rows == 0 or (once and has_transaction(found, *once)):
        return True
    given = CommitProperties(app_transactions=[Transaction(*once)]) if once else None
    try:
        write_deltalake(found, rows, mode="append", commit_properties=given)
    except CommitFailedError:
        return False
    return True


def merge_rows(folder: str, table: Table, rows: pa.Table) -> bool:
    """Update the rows whose key is there, insert the others.

    Args:
        folder: of the table, on this machine.
        table: what it is in the contract; its keys are not null.
        rows: with the contract's columns and types; a key's once.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to, which refuses a key
        that comes twice.
    """
    keys = list(table.keys)
    same = " AND ".join(f"t.{key} = s.{key}" for key in keys)
    if not all(x.required for x in table.columns if x.key):
        return False
    if rows.group_by(keys).aggregate([]).num_rows < rows.num_rows:
        return False

    def merge(found: DeltaTable) -> None:
        merging = found.merge(rows, same, source_alias="s", target_alias="t")
        merging.when_matched_update_all().when_not_matched_insert_all().execute()

    return rows.num_rows == 0 or _changed(folder, table, merge)


def delete_rows(folder: str, table: Table, condition: str) -> bool:
    """Delete the rows for which the SQL `condition` holds.

    Returns:
        Whether that is done; False = nothing was deleted, and Spark has to.
    """
    return _changed(folder, table, lambda found: found.delete(condition))


def columns_in(folder: str) -> list[str] | None:
    """Names of a table's columns; None where only Spark can tell."""
    found = opened(folder)
    return None if found is None else [field.name for field in found.schema().fields]


def _changed(folder: str, table: Table, change: Callable[[DeltaTable], object]) -> bool:
    """Change a table, if it is known; again and anew, as long as another writer is faster."""
    for _ in range(_ATTEMPTS):
        found = _known(folder, table)
        if found is None:
            return False
        try:
            change(found)
        except CommitFailedError:
            continue
        return True
    return False


def _known(folder: str, table: Table) -> DeltaTable | None:
    """The table, if it is as the contract declares it in all that a writer has to respect."""
    found = opened(folder)
    if found is None or unread_features(found) or unwritten_features(found):
        return None
    metadata = found.metadata()
    if metadata.partition_columns or metadata.configuration != properties(table):
        return None
    fields = json.loads(found.schema().to_json())["fields"]
    return found if list(map(_bare, fields)) == _declared(table) else None


def _declared(table: Table) -> list[tuple[str, ...]]:
    return [_bare(field) for field in json.loads(table.schema.json())["fields"]]


def _bare(field: dict[str, object]) -> tuple[str, ...]:
    """A column's name, type, whether it may be null, and what is said of it but for comments."""
    said = {x: y for x, y in dict(field["metadata"]).items() if x != "comment"}  # type: ignore[call-overload]
    kind = json.dumps(field["type"], sort_keys=True)
    return str(field["name"]), kind, str(field["nullable"]), json.dumps(said, sort_keys=True)
