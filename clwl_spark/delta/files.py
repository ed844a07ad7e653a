"""Small Delta tables read by delta-rs within this process, where Spark would run a job."""

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow.dataset import Dataset, FileSystemDataset, dataset

from clwl_spark.delta.creation import LOG
from clwl_spark.delta.opening import has_log
from clwl_spark.delta.protocol import opened, rows_of, unread_features
from clwl_spark.storage.files import first_missing, names_in, read_text
from clwl_spark.storage.places import is_store, is_uri, joined
from clwl_spark.tables.moments import MILLISECOND, moment_at

_FEW_COMMITS: Final = 100
_AN_ADD: Final = {"dataChange": True}
_COMMIT: Final = ".json"


def dataset_of(
    folder: str,
    wanted: pa.Schema,
    version: int | None = None,
    without: AbstractSet[str] = frozenset(),
    optional: AbstractSet[str] = frozenset(),
) -> Dataset | None:
    """A table where this process reads, of which nothing is read yet.

    Args:
        folder: of the Delta table.
        wanted: its columns.
        version: of the table; None = the newest.
        without: names of files that are left out.
        optional: names of columns that it may lack; they are null then.

    Returns:
        Its rows; none where there is no folder; None where Spark has to read: elsewhere, no Delta
        table, other columns, a file that is elsewhere, or a table that delta-rs does not know how
        to read (deletion vectors, column mapping).
    """
    if is_absent(folder):
        return dataset(wanted.empty_table())
    table = opened(folder, version)
    if table is None or first_missing([joined(folder, name) for name in _files(table)]):
        return None
    try:
        found = rows_of(table)
    except (DeltaError, OSError, pa.ArrowException):
        return None
    there = set(found.schema.names)
    lacking = [x for x in wanted if x.name in optional and x.name not in there]
    if lacking:
        found = found.replace_schema(pa.schema([*found.schema, *lacking]))
    types = {x.name: x.type for x in found.schema}
    if any(types.get(x.name) != x.type for x in wanted):
        return None
    return _without(found, without) if without else found


def _without(found: FileSystemDataset, names: AbstractSet[str]) -> Dataset:
    """A dataset without some of its files."""
    kept = [x for x in found.get_fragments() if x.path not in names]
    return FileSystemDataset(kept, found.schema, found.format, found.filesystem)


def greatest_rows(folder: str, column: str) -> pa.Table | None:
    """The rows of a table that have the greatest number in a column, whatever else there is.

    Only the files are opened whose statistics say that they may have it.

    Args:
        folder: of the Delta table, where this process reads.
        column: a column of whole numbers, of which Delta keeps statistics.

    Returns:
        The rows; None where Spark has to read: as by `dataset_of`, or without statistics.
    """
    table = opened(folder)
    if table is None:
        return None
    name = f"max.{column}"
    try:
        known = pa.table(table.get_add_actions(flatten=True))
        if known.num_rows == 0:
            return rows_of(table).to_table()
        if name not in known.column_names or known[name].null_count:
            return None
        greatest = pc.field(column) == pc.max(known[name])
        return rows_of(table).to_table(filter=greatest)
    except (DeltaError, OSError, pa.ArrowException):
        return None


def is_absent(folder: str) -> bool:
    """True where it is sure that there is no table: there is no folder, or in a store no log."""
    if is_store(folder):
        return not has_log(folder)
    return not is_uri(folder) and not Path(folder).exists()


@dataclass(frozen=True, slots=True)
class NewFiles:
    """The files that commits brought, (path, rows) each, in their order.

    Attributes:
        appended: by commits that only appended.
        changed: by commits that also took rows away; rows that were there before are among theirs.
    """

    appended: list[tuple[str, int]]
    changed: list[tuple[str, int]]


def active_files(folder: str, version: int) -> list[tuple[str, int]] | None:
    """The files of a table's version, (path, rows) each.

    Args:
        folder: of the Delta table, where this process reads.
        version: of it.

    Returns:
        They; None where the log does not say it, or rows are only marked as deleted.
    """
    table = opened(folder, version)
    if table is None or "deletionVectors" in unread_features(table):
        return None
    known = pa.table(table.get_add_actions(flatten=True))
    files = [joined(folder, x) for x in known["path"].to_pylist()]
    rows = known["num_records"].to_pylist()
    return None if None in rows else sorted(zip(files, rows, strict=True))


def new_files(folder: str, after: int, upto: int) -> NewFiles | None:
    """The files that commits after a version brought, up to another one.

    Commits that only move rows bring nothing.

    Args:
        folder: of the Delta table, where this process reads.
        after: version.
        upto: version.

    Returns:
        They; None where the log does not say it (any more), or rows are only marked as deleted.
    """
    found = NewFiles([], [])
    try:
        for actions in _commits(folder, after + 1, upto):
            takes_away = any(x["remove"]["dataChange"] for x in actions if "remove" in x)
            (found.changed if takes_away else found.appended).extend(_added(folder, actions))
    except (OSError, ValueError, KeyError):
        return None
    return found


def changes_after(folder: str, version: int) -> bool | None:
    """Whether commits after a version brought, changed or deleted rows.

    One that only moves rows, as compaction does, has not.

    Args:
        folder: of the Delta table, where this process reads.
        version: -1 = before the first one.

    Returns:
        None where the log does not say it any more.
    """
    newest = newest_version(folder)
    if newest is None:
        return None
    try:
        return any(
            action.get("dataChange", True)
            for actions in _commits(folder, version + 1, newest)
            for x in actions
            for action in (x.get("add"), x.get("remove"))
            if action
        )
    except (OSError, ValueError):
        return None


def commit_time(folder: str, version: int) -> datetime | None:
    """When a version of a table was made, as its writer says.

    Args:
        folder: of the Delta table, where this process reads.
        version: of it.

    Returns:
        None where the log does not say it (any more).
    """
    try:
        (actions,) = _commits(folder, version, version)
        said = next(x["commitInfo"]["timestamp"] for x in actions if "commitInfo" in x)
        return moment_at(int(said) * MILLISECOND)
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def is_only_appended(folder: str) -> bool:
    """Whether a table's rows are those of all its commits: each one only ever appended some.

    Args:
        folder: of the Delta table, where this process reads.

    Returns:
        True where the whole log says so; False where it does not, or is too long to be asked.
    """
    newest = newest_version(folder)
    if newest is None or newest > _FEW_COMMITS:
        return False
    described = 0
    try:
        for actions in _commits(folder, 0, newest):
            described += sum("metaData" in x for x in actions)
            if any("remove" in x or not x.get("add", _AN_ADD)["dataChange"] for x in actions):
                return False
    except (OSError, ValueError, KeyError):
        return False
    return described == 1


def _commits(folder: str, first: int, last: int) -> Iterator[list[dict[str, Any]]]:
    """The actions of each of these commits.

    Raises:
        OSError: the log has lost one.
        ValueError: one is no log.
    """
    for version in range(first, last + 1):
        commit = read_text(joined(folder, LOG, f"{version:020}{_COMMIT}"))
        yield [json.loads(line) for line in commit.splitlines()]


def transactions_of_files(folder: str, application: str) -> dict[str, int]:
    """By data file, the transaction of an application that brought it, as far as the log has it.

    Args:
        folder: of the Delta table, where this process reads.
        application: of the transactions.
    """
    found: dict[str, int] = {}
    log = joined(folder, LOG)
    for entry in (x for x in names_in(log) if x.endswith(_COMMIT)):
        actions = [json.loads(x) for x in read_text(joined(log, entry)).splitlines()]
        own = [x["txn"]["version"] for x in actions if _is_of(x, application)]
        if own:
            found |= {unquote(x["add"]["path"]): int(own[0]) for x in actions if "add" in x}
    return found


def _is_of(action: dict[str, Any], application: str) -> bool:
    return bool(action.get("txn", {}).get("appId") == application)


def _added(folder: str, actions: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """The files that a commit brought.

    Raises:
        KeyError, ValueError: it does not say how many rows a file has.
    """
    for added in (x["add"] for x in actions if "add" in x):
        if added["dataChange"]:
            if added.get("deletionVector") or is_uri(added["path"]):
                raise ValueError(added["path"])
            yield (
                joined(folder, unquote(added["path"])),
                json.loads(added["stats"])["numRecords"],
            )


def newest_version(folder: str) -> int | None:
    """The newest version of a table in a folder of this machine; None where only Spark can tell."""
    found = opened(folder)
    return None if found is None else int(found.version())


def _files(table: DeltaTable) -> list[str]:
    """Data files of the newest version, below the table's folder."""
    return [str(path) for path in pa.table(table.get_add_actions())["path"].to_pylist()]
