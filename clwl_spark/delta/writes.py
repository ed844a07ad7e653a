"""Rows in memory written to Delta tables by delta-rs, where Spark would run jobs.

An append of few rows takes Spark 0.5 s and a merge 2 s; delta-rs 20 ms. Every function here looks
at the table first and leaves it to Spark unless it is certain what a writer has to do there: the
table is where this process writes, its columns, constraints and properties are those that the
contract declares, and its protocol has no feature but those. Both CHECK and NOT NULL are enforced
by delta-rs, and a commit that another writer's commit contradicts is refused.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, Schema, write_deltalake
from deltalake.exceptions import DeltaError
from pyarrow.dataset import Dataset

from clwl_spark.delta.attempts import Attempt
from clwl_spark.delta.commits import other_writer
from clwl_spark.delta.creation import old_checks, properties
from clwl_spark.delta.opening import delta_table
from clwl_spark.delta.protocol import (
    has_transaction,
    is_odd_place,
    keep_opened,
    opened,
    opened_to_write,
    unread_features,
    unwritten_features,
)
from clwl_spark.errors import InputError
from clwl_spark.tables import Table

_ATTEMPTS: Final = 6
_WAIT_SECONDS: Final = 0.05
"""Before the second attempt, at the most; twice as long before each later one."""


def append_rows(
    folder: str, table: Table, rows: pa.Table | Dataset, once: tuple[str, int] | None = None
) -> bool:
    """Append rows; once where Spark or this has written the transaction already.

    Args:
        folder: of the table, on this machine.
        table: what it is in the contract.
        rows: with the contract's columns and types; where there are none, nothing is committed.
        once: application and version of the append's transaction.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to.

    Raises:
        OtherWriterError: another writer is faster, each time.
    """
    for attempt in range(_ATTEMPTS):
        found = _known(folder, table)
        if found is None:
            return False
        if not _count(rows) or (once and has_transaction(found, *once)):
            return True
        given = rows if isinstance(rows, pa.Table) else rows.scanner().to_reader()
        this = Attempt.at(folder, found.version())
        try:
            with _offences_named(table):
                write_deltalake(
                    found, given, mode="append", commit_properties=this.properties(once)
                )
        except (DeltaError, OSError) as error:
            if this.is_done():
                return True
            if not this.is_worth_another(error):
                raise
            _wait(attempt)
            continue
        keep_opened(folder, found)
        return True
    raise other_writer(folder)


def _wait(attempt: int) -> None:
    """Let another writer finish, longer each time."""
    time.sleep(_WAIT_SECONDS * 2**attempt * random.random())  # noqa: S311  (no secret)


def _count(rows: pa.Table | Dataset) -> int:
    return int(rows.num_rows if isinstance(rows, pa.Table) else rows.count_rows())


def merge_rows(
    folder: str, table: Table, rows: pa.Table, once: tuple[str, int] | None = None
) -> bool:
    """Update the rows whose key is there, insert the others.

    Args:
        folder: of the table, on this machine.
        table: what it is in the contract; its keys are not null.
        rows: with the contract's columns and types; a key's once.
        once: application and version of the merge's transaction.

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

    def merge(found: DeltaTable, this: Attempt) -> None:
        if once and has_transaction(found, *once):
            return
        given = this.properties(once)
        merging = found.merge(
            rows, same, source_alias="s", target_alias="t", commit_properties=given
        )
        merging.when_matched_update_all().when_not_matched_insert_all().execute()

    return rows.num_rows == 0 or _changed(folder, table, merge)


def replace_rows(folder: str, table: Table, rows: pa.Table, condition: str) -> bool:
    """Replace the rows for which `one_of` holds by these.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to.
    """

    def replace(found: DeltaTable, this: Attempt) -> None:
        given = this.properties()
        write_deltalake(found, rows, mode="overwrite", predicate=condition, commit_properties=given)

    return _changed(folder, table, replace)


def change_rows(folder: str, table: Table, rows: pa.Table, gone: str, condition: str) -> bool:
    """Insert rows or replace those of their key; delete those where `gone` is true.

    Args:
        folder: of the table, on this machine.
        table: what it is in the contract; its keys are not null.
        rows: with the contract's columns and types, and `gone`; a key's once.
        gone: name of a boolean column.
        condition: `one_of`, true for all rows that may change, in the table called t.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to.
    """
    same = " AND ".join(f"t.{key} = s.{key}" for key in table.keys)
    values = {name: f"s.{name}" for name in table.names}

    def change(found: DeltaTable, this: Attempt) -> None:
        on, given = f"{same} AND {condition}", this.properties()
        merging = found.merge(rows, on, source_alias="s", target_alias="t", commit_properties=given)
        merging = merging.when_matched_delete(f"s.{gone}")
        merging = merging.when_matched_update(values)
        merging.when_not_matched_insert(values, f"NOT s.{gone}").execute()

    return rows.num_rows == 0 or _changed(folder, table, change)


def add_columns(folder: str, table: Table) -> bool:
    """Give a table the optional columns that it lacks.

    Returns:
        Whether it has them all now.
    """
    found = opened(folder)
    if found is None or unwritten_features(found):
        return False
    there = {field.name for field in found.schema().fields}
    wanted = {x.name for x in table.columns if x.optional} - there
    fields = Schema.from_json(table.schema.json()).fields
    if absent := [x for x in fields if x.name in wanted]:
        delta_table(folder).alter.add_columns(absent)
    return True


def renew_checks(folder: str, table: Table) -> bool:
    """Give a table that an earlier version made the contract's CHECKs in place of its own.

    A new word for a column (an error, say) would be refused by the CHECK of before. The rows that
    are there must fit the new one.

    Returns:
        Whether the CHECKs that it has are the contract's now; False = only Spark can tell.
    """
    found = opened(folder)
    if found is None or is_odd_place(folder) or unwritten_features(found):
        return False
    for name, check in old_checks(found.metadata().configuration, table).items():
        to_write = delta_table(folder)
        to_write.alter.drop_constraint(name)
        to_write.alter.add_constraint({name: check})
    return True


def one_of(column: str, values: Sequence[str | int]) -> str:
    """delta-rs' SQL that is true where a column has one of the values."""
    quoted = (str(x) if isinstance(x, int) else "'" + x.replace("'", "''") + "'" for x in values)
    return f"{column} IN ({', '.join(quoted)})"


def delete_rows(folder: str, table: Table, condition: str) -> bool:
    """Delete the rows for which `one_of` holds.

    Returns:
        Whether that is done; False = nothing was deleted, and Spark has to.
    """

    def delete(found: DeltaTable, this: Attempt) -> None:
        found.delete(condition, commit_properties=this.properties())

    return _changed(folder, table, delete)


def clear_rows(folder: str, table: Table, column: str, condition: str) -> bool:
    """Set a column to null in the rows for which a condition holds, made of `one_of`.

    Returns:
        Whether that is done; False = nothing was written, and Spark has to.
    """

    def clear(found: DeltaTable, this: Attempt) -> None:
        given = this.properties()
        found.update({column: "NULL"}, predicate=condition, commit_properties=given)

    return _changed(folder, table, clear)


def columns_in(folder: str) -> list[str] | None:
    """Names of a table's columns; None where only Spark can tell."""
    found = opened(folder)
    return None if found is None else [field.name for field in found.schema().fields]


def _changed(folder: str, table: Table, change: Callable[[DeltaTable, Attempt], None]) -> bool:
    """Change a table, if it is known; again and anew, as long as another writer is faster.

    Raises:
        OtherWriterError: it always is.
    """
    for attempt in range(_ATTEMPTS):
        found = _known(folder, table)
        if found is None:
            return False
        this = Attempt.at(folder, found.version())
        try:
            with _offences_named(table):
                change(found, this)
        except (DeltaError, OSError) as error:
            if this.is_done():
                return True
            if not this.is_worth_another(error):
                raise
            _wait(attempt)
            continue
        keep_opened(folder, found)
        return True
    raise other_writer(folder)


@contextmanager
def _offences_named(table: Table) -> Iterator[None]:
    """A row that breaks a rule of the table becomes an error with its remedy.

    Raises:
        InputError: a key is null, or a value is none that its column may have.
    """
    try:
        yield
    except DeltaError as error:
        if "failed validation check" in str(error):
            checked = ", ".join(x.name for x in table.columns if x.check)
            words = f"a row breaks a rule of the table, of {checked}; correct it"
        elif "declared as non-nullable" in str(error):
            words = "a key column is null; fill it"
        else:
            raise
        raise InputError(f"table '{table.name}': {words}") from error


def _known(folder: str, table: Table) -> DeltaTable | None:
    """The table, if it is as the contract declares it in all that a writer has to respect."""
    found = opened_to_write(folder)
    if found is None or is_odd_place(folder):
        return None
    if unread_features(found) or unwritten_features(found):
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
