"""What a Delta table asks of those who read and write its files without Delta's help.

Source: "Delta Transaction Log Protocol": table features, reader and writer version requirements.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from clwl_spark.delta.creation import LOG

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
    return _ODD.search(str(Path(folder).absolute())) is not None


def odd_place(folder: str) -> str:
    """What a folder is for which `is_odd_place` holds, in words."""
    return (
        f"the name of {Path(folder).absolute().parent} has one of the characters [ ] ^ | \\ or an "
        "escape like %20, which delta-rs takes for something else (rename it)"
    )


def opened(folder: str, version: int | None = None) -> DeltaTable | None:
    """A version of the table, the newest by default; None where delta-rs can read none."""
    if not (Path(folder) / LOG).is_dir():
        return None
    try:
        return DeltaTable(folder, version=version)
    except (DeltaError, OSError):
        return None


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
