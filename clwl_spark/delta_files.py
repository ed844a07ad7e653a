"""Small Delta tables read by delta-rs within this process, where Spark would run a job."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

FEW_ROWS: Final = 20_000
_BYTES_A_ROW: Final = 200
"""More than a row of topology takes in a file: larger files have more rows."""

_URI: Final = re.compile(r"\w[\w+.-]+:")


def few_rows(
    folder: str, column: str = "", values: Sequence[str] = (), most: int = FEW_ROWS
) -> pa.Table | None:
    """The rows of a table in a folder of this machine, where they are few.

    Args:
        folder: of the Delta table.
        column: a string column; '' = all rows.
        values: the rows that have one of these values in it.
        most: rows that are few.

    Returns:
        The rows; None where Spark has to read: elsewhere, no Delta table, more rows, or a table
        that delta-rs does not know how to read (deletion vectors, column mapping).
    """
    if _URI.match(folder) or not (Path(folder) / "_delta_log").is_dir():
        return None
    try:
        table = DeltaTable(folder)
        if sum(Path(folder, name).stat().st_size for name in _files(table)) > most * _BYTES_A_ROW:
            return None
        dataset = table.to_pyarrow_dataset()
        kept = pc.field(column).isin(list(values)) if column else None
        rows = dataset.to_table(filter=kept)
    except (DeltaError, OSError, pa.ArrowException):
        return None
    return rows if rows.num_rows <= most else None


def is_absent(folder: str) -> bool:
    """True where it is sure that there is no table: a folder of this machine that is not there."""
    return not _URI.match(folder) and not Path(folder).exists()


def _files(table: DeltaTable) -> list[str]:
    """Data files of the newest version, below the table's folder."""
    return [str(path) for path in pa.table(table.get_add_actions())["path"].to_pylist()]
