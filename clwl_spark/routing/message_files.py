"""Files of messages that Delta's log has and the disk has not, or not whole."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clwl_spark.delta_files import active_files, newest_version
from clwl_spark.errors import LostMessagesError
from clwl_spark.schemas import MESSAGES
from clwl_spark.storage import Lake


def unreadable_messages(lake: Lake) -> LostMessagesError | None:
    """The first file of messages that is gone or damaged, as an error; None = there is none."""
    for path, rows in _files(lake):
        why = _why_unreadable(path, rows)
        if why:
            return gone(lake, path, why)
    return None


def first_missing(files: Sequence[tuple[str, int]]) -> str | None:
    """The path of the first of files, (path, rows) each, that is not on the disk; None = all are.

    A table may have many files, and most are there.
    """
    return next((path for path, _ in files if not Path(path).is_file()), None)


def gone(lake: Lake, path: str, why: str = "gone") -> LostMessagesError:
    """A file of messages that the table has by its log cannot be read.

    Args:
        lake: the lake.
        path: of the file.
        why: gone or damaged.
    """
    name = Path(path).name
    return LostMessagesError(
        f"file {name} of table messages in lake {lake.root} is {why}: restore it, or delete it "
        f"and take it out of the table (deltalake: DeltaTable.repair(), Spark: FSCK REPAIR TABLE), "
        "which gives its messages up"
    )


def _why_unreadable(path: str, rows: int) -> str:
    """What is wrong with a file; '' = it can be read."""
    if not Path(path).is_file():
        return "gone"
    with suppress(OSError, pa.ArrowException):
        with pq.ParquetFile(path) as file:
            found = sum(x.num_rows for x in file.iter_batches())
        return "" if found == rows else "damaged"
    return "damaged"


def _files(lake: Lake) -> Sequence[tuple[str, int]]:
    """(path, rows) of the files of messages; none where the log does not say it."""
    folder = lake.path(MESSAGES.name)
    version = newest_version(folder)
    return (None if version is None else active_files(folder, version)) or []
