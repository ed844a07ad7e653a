"""Files of messages that Delta's log has and the disk has not, or not whole."""

from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq

from clwl_spark.delta.files import active_files, newest_version
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LostMessagesError
from clwl_spark.storage import files
from clwl_spark.storage.files import is_file, parquet_file, parquet_source
from clwl_spark.storage.places import name_of
from clwl_spark.tables import MESSAGES


def unreadable_messages(lake: Lake, *, reads: bool) -> LostMessagesError | None:
    """The first file of messages that is gone or damaged, as an error; None = there is none.

    Args:
        lake: the lake.
        reads: whether the rows of all files are read, where the files' ends tell nothing; there may
            be terabytes of them.
    """
    there = _files(lake)
    for why_unreadable in (_why_by_its_end, _why_by_its_rows) if reads else (_why_by_its_end,):
        for path, rows in there:
            why = why_unreadable(path, rows)
            if why:
                return gone(lake, path, why)
    return None


def first_missing(there: Sequence[tuple[str, int]]) -> str | None:
    """The path of the first of files, (path, rows) each, that is not there; None = all are.

    A table may have many files, and most are there.
    """
    return files.first_missing([path for path, _ in there])


def gone(lake: Lake, path: str, why: str = "gone") -> LostMessagesError:
    """A file of messages that the table has by its log cannot be read.

    Args:
        lake: the lake.
        path: of the file.
        why: gone or damaged.
    """
    name = name_of(path)
    return LostMessagesError(
        f"file {name} of table messages in lake {lake.root} is {why}: restore it, or delete it "
        f"and take it out of the table (deltalake: DeltaTable.repair(), Spark: FSCK REPAIR TABLE), "
        "which gives its messages up"
    )


def _why_by_its_end(path: str, rows: int) -> str:
    """What is wrong with a file, as its end tells, which one that was cut has not; '' = nothing."""
    if not is_file(path):
        return "gone"
    with suppress(OSError, pa.ArrowException):
        return "" if pq.read_metadata(parquet_source(path)).num_rows == rows else "damaged"
    return "damaged"


def _why_by_its_rows(path: str, rows: int) -> str:
    """The same, once all of it is read."""
    with suppress(OSError, pa.ArrowException), parquet_file(path) as file:
        return "" if sum(x.num_rows for x in file.iter_batches()) == rows else "damaged"
    return "damaged"


def _files(lake: Lake) -> Sequence[tuple[str, int]]:
    """(path, rows) of the files of messages; none where the log does not say it."""
    folder = lake.path(MESSAGES.name)
    version = newest_version(folder)
    return (None if version is None else active_files(folder, version)) or []
