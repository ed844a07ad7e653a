"""What the machine refuses while a batch is routed, told with the remedy.

A full disk, a folder that cannot be written, a file of messages that is gone or damaged, and memory
that is short come as errors of many kinds, from Python, Arrow and delta-rs. Whatever was written of
the batch by then is written once, so the next run goes on.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from deltalake.exceptions import DeltaError

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import (
    CannotWriteError,
    ClwlError,
    OutOfMemoryError,
    is_cannot_write,
    is_full_disk,
)
from clwl_spark.routing.engines.fitness import count_waiting
from clwl_spark.routing.intake.message_files import unreadable_messages
from clwl_spark.storage.files import refusal
from clwl_spark.storage.places import is_store
from clwl_spark.tables import MESSAGES, RUNS

_MEBIBYTE: Final = 2**20
_BYTES_A_MESSAGE: Final = 100
"""Of outcomes in the lake, or of blocks in the temporary folder, at the most."""
_ENGINES: Final = (OSError, MemoryError, pa.ArrowException, DeltaError)
GOES_ON: Final = "nothing is lost, the next run goes on"


@contextmanager
def faults_named(lake: Lake) -> Iterator[None]:
    """For the block, what the machine refuses becomes an error with its remedy.

    Raises:
        CannotWriteError: a disk is full, or a folder cannot be written.
        LostMessagesError: a file of messages is gone or damaged.
        OutOfMemoryError: memory is short.
        StorageError: the object store of the lake does not answer, or refuses.
    """
    try:
        yield
    except ClwlError:
        raise
    except _ENGINES as error:
        named = _named(lake, error) if lake.is_here else None
        if named is None:
            raise
        raise named from error


def _named(lake: Lake, error: Exception) -> ClwlError | None:
    """The error in words; None where nothing is known of it."""
    if is_store(lake.root) and (refused := refusal(lake.root, error)):
        return refused
    if is_full_disk(error):
        return _full(lake)
    if is_cannot_write(error):
        return CannotWriteError(
            f"lake {lake.root} cannot be written ({_reason(error)}): let this user write to its "
            f"folders; {GOES_ON}"
        )
    if _is_short_memory(error):
        return OutOfMemoryError(
            f"memory is short: lower worker_memory_mib, or give --engine spark; {GOES_ON}"
        )
    # What the system refuses has a number, what Arrow finds in a file has none.
    is_of_data = isinstance(error, OSError | pa.ArrowException) and not getattr(error, "errno", 0)
    return unreadable_messages(lake, reads=is_of_data)


def _is_short_memory(error: Exception) -> bool:
    """Whether it is: Python's, Arrow's, or the system's word, for which Arrow gives no number."""
    is_told = isinstance(error, MemoryError | pa.ArrowMemoryError)
    return is_told or os.strerror(errno.ENOMEM) in str(error)


def _reason(error: Exception) -> str:
    return "no permission" if "ermission" in str(error) else "it is read-only"


def _full(lake: Lake) -> CannotWriteError:
    """The fuller one of the two places that a batch is written to."""
    place, free = min(
        ((x, shutil.disk_usage(x).free) for x in (lake.root, tempfile.gettempdir())),
        key=lambda found: found[1],
    )
    rows = count_waiting(lake.path(MESSAGES.name), lake.path(RUNS.name))
    return CannotWriteError(
        f"the disk of {place} is full ({free // _MEBIBYTE:,} MiB are left): make room, "
        f"about {rows * _BYTES_A_MESSAGE // _MEBIBYTE + 1:,} MiB are needed for the {rows:,} "
        f"messages that wait; {GOES_ON}"
    )
