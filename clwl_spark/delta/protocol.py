"""What a Delta table asks of those who read and write its files without Delta's help.

Source: "Delta Transaction Log Protocol": table features, reader and writer version requirements.
"""

import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow.dataset import FileSystemDataset
from pyarrow.fs import SubTreeFileSystem
from pyspark.sql.types import StructType

from clwl_spark.delta.creation import LOG
from clwl_spark.delta.opening import delta_table, has_log
from clwl_spark.storage import access
from clwl_spark.storage.files import fingerprint, is_file
from clwl_spark.storage.places import is_plain_uri, is_store, joined

NO_TRANSACTION: Final = -1
"""Comes before the version of any transaction."""
_KNOWN: Final = frozenset(
    {"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "timestampNtz"}
)
"""With timestampNtz a column may be a moment without a zone; files say so themselves."""
_ODD: Final = re.compile(r"[\[\]^|\\\n]|%[0-9A-Fa-f]{2}")
_LEGACY_WRITER: Final = 3
"""Writer versions up to here have the first three of these features and no other."""
_NAMED_FROM_READER: Final = 3
_NAMED_FROM_WRITER: Final = 7
"""From these versions on a table names its features; those before have a fixed set, unnamed."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """Makes an append idempotent: the same application and version is written once.

    The application comes from the routing's identity, never from a constant: after a lost
    checkpoint a constant would silently drop data.
    """

    application: str
    version: int


def is_odd_place(folder: str) -> bool:
    """Whether delta-rs cannot write to a folder of such a name: it ends in a panic, or goes astray.

    Reading it, and committing files that are there, works or is refused as by `opened`.
    """
    if is_store(folder):
        return not is_plain_uri(folder)
    return _ODD.search(str(Path(folder).absolute())) is not None


def odd_place(folder: str) -> str:
    """What a folder is for which `is_odd_place` holds, in words."""
    if is_store(folder):
        return (
            f"the name of {folder.rpartition('/')[0]} has a character that is no letter, digit or "
            "one of . _ - = + @ : / (rename it)"
        )
    return (
        f"the name of {Path(folder).absolute().parent} has one of the characters [ ] ^ | \\ or an "
        "escape like %20, which delta-rs takes for something else (rename it)"
    )


@dataclass(frozen=True, slots=True)
class _Opened:
    """A table as it was read, with the state of its log then (`_log_of`)."""

    table: DeltaTable
    log: tuple[object, ...]


_NEWEST: Final[dict[str, _Opened]] = {}
"""Tables by folder: a log takes milliseconds to read, and a run asks 40 times for eight of them."""
_MOST: Final = 100
"""Tables that are kept."""
_OPENING: Final[dict[str, threading.Lock]] = {}
"""Held while a table of an object store is opened, by folder."""


def opened(folder: str, version: int | None = None) -> DeltaTable | None:
    """A version of the table, the newest by default, to read; None where delta-rs can read none.

    The newest one is the object of the call before, as long as the log is the same.
    """
    if version is not None:
        return _read(folder, version)
    if not is_store(folder):
        return _newest(folder)
    # Threads that ask at once would each list the log.
    with _OPENING.setdefault(folder, threading.Lock()):
        return _newest(folder)


def _newest(folder: str) -> DeltaTable | None:
    seen = _NEWEST.get(folder)
    if seen is not None and seen.log and seen.log == _log_of(folder, seen.table.version()):
        return seen.table
    table = opened_to_write(folder)
    if table is not None:
        if len(_NEWEST) >= _MOST:
            _NEWEST.clear()
        _NEWEST[folder] = _Opened(table, _log_of(folder, table.version()))
    return table


def opened_to_write(folder: str) -> DeltaTable | None:
    """As `opened`, but the object is the caller's own: a write through it changes it.

    Of an object store, whose log takes a listing and some requests to read, it is the one that
    `opened` has kept, which forgets it.
    """
    if is_store(folder):
        seen = _NEWEST.pop(folder, None)
        if seen is not None and seen.log and seen.log == _log_of(folder, seen.table.version()):
            return seen.table
    return _read(folder, None)


def keep_opened(folder: str, table: DeltaTable) -> None:
    """Let `opened` have a table of an object store that was written to by this object."""
    if is_store(folder):
        _NEWEST[folder] = _Opened(table, _log_of(folder, table.version()))


def _read(folder: str, version: int | None) -> DeltaTable | None:
    if not has_log(folder):
        return None
    try:
        return delta_table(folder, version)
    except (DeltaError, OSError):
        return None


def types_of(found: DeltaTable) -> dict[str, str]:
    """A table's types in Spark's words, by column."""
    fields = StructType.fromJson(json.loads(found.schema().to_json()))
    return {x.name: x.dataType.simpleString() for x in fields}


def rows_of(table: DeltaTable) -> FileSystemDataset:
    """A table's rows, of which nothing is read yet; those of an object store are read by Arrow."""
    place = table.table_uri
    if not is_store(place):
        return table.to_pyarrow_dataset()
    store, path = access.within(place)
    return table.to_pyarrow_dataset(filesystem=SubTreeFileSystem(path, store))


def _log_of(folder: str, version: int) -> tuple[object, ...]:
    """What changes when a log does whose newest version this is; () = it is not the newest one."""
    log = joined(folder, LOG)
    newest = fingerprint(joined(log, f"{version:020}.json"))
    if newest is None or is_file(joined(log, f"{version + 1:020}.json")):
        return ()
    return (newest, None if is_store(folder) else fingerprint(log))


def unread_features(table: DeltaTable) -> list[str]:
    """Features that make a row something else than what a Parquet file says; none = plain."""
    protocol = table.protocol()
    if protocol.min_reader_version == 1:
        return []
    if protocol.min_reader_version < _NAMED_FROM_READER:
        return ["columnMapping"]
    return sorted(set(protocol.reader_features or ()) - _KNOWN)


def unwritten_features(table: DeltaTable) -> list[str]:
    """Features that a writer of this package does not have; none = it may write."""
    protocol = table.protocol()
    if protocol.min_writer_version <= _LEGACY_WRITER:
        return []
    if protocol.min_writer_version < _NAMED_FROM_WRITER:
        return [f"version {protocol.min_writer_version}"]
    return sorted(set(protocol.writer_features or ()) - _KNOWN)


def newest_transaction(table: DeltaTable, application: str) -> int:
    """The version of an application's newest transaction; NO_TRANSACTION = it has none."""
    newest = table.transaction_version(application)
    return NO_TRANSACTION if newest is None else int(newest)


def has_transaction(table: DeltaTable, application: str, version: int) -> bool:
    """Whether the table has the transaction, or a later one of the same application."""
    return newest_transaction(table, application) >= version
