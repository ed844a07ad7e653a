"""Delta tables opened by delta-rs, in folders of this machine and in object stores."""

import time
from pathlib import Path
from typing import Final

from deltalake import DeltaTable

from clwl_spark.delta.creation import LOG
from clwl_spark.errors import StorageError
from clwl_spark.storage import access
from clwl_spark.storage.files import is_file, refusal
from clwl_spark.storage.places import is_store, joined, name_of

_LAST_CHECKPOINT: Final = "_last_checkpoint"
_WAITS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds between two looks at a listing that lacks a commit which is there."""


def has_log(folder: str) -> bool:
    """Whether there is something of a Delta table's log; of a store no folder is listed for it.

    Raises:
        StorageError: the store does not answer, or refuses.
    """
    log = joined(folder, LOG)
    if not is_store(folder):
        return Path(log).is_dir()
    return is_file(joined(log, f"{0:020}.json")) or is_file(joined(log, _LAST_CHECKPOINT))


def delta_table(folder: str, version: int | None = None) -> DeltaTable:
    """A version of a Delta table, the newest by default.

    Raises:
        DeltaError: there is no table, or it is damaged.
        OSError: a file of it cannot be read.
        StorageError: the store does not answer, or refuses; or its listing lags.
    """
    if not is_store(folder):
        return DeltaTable(folder, version=version)
    table = _of_store(folder, version)
    return table if version is not None else _settled(folder, table)


def _of_store(folder: str, version: int | None = None) -> DeltaTable:
    try:
        return DeltaTable(folder, version=version, storage_options=access.options(folder))
    except OSError as error:
        refused = refusal(folder, error)
        if refused is None:
            raise
        raise refused from None


def _settled(folder: str, table: DeltaTable) -> DeltaTable:
    """The table as of the newest commit that is there by its name, whatever a listing says.

    Raises:
        StorageError: the listing does not come to have it.
    """
    newest = table.version()
    while is_file(joined(folder, LOG, f"{newest + 1:020}.json")):
        newest += 1
    for wait in _WAITS:
        if table.version() >= newest:
            return table
        time.sleep(wait)
        table = _of_store(folder)
    if table.version() >= newest:
        return table
    raise StorageError(
        f"the store's listing of table {name_of(folder)} lacks commit {newest}, which is there: "
        "run the command again, it goes on where this one ended"
    )
