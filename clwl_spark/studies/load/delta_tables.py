"""A Delta table of puts, which grows by versions as a file of lines grows by bytes.

Rows that were appended since the version that was loaded are new. Files that were only written
anew, as by OPTIMIZE, hold no new rows.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from clwl_spark.studies.load.files import Found, UnreadableFileError
from clwl_spark.studies.load.known import Known, Part
from clwl_spark.studies.load.load_file import LoadFile, LoadOptions, LoadReject
from clwl_spark.studies.load.one_file import take_table

_LOG: Final = "_delta_log"


def apart(files: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The files that belong to no Delta table, and the folders of tables that the others are of."""
    plain: list[Path] = []
    tables: dict[Path, None] = {}
    seen: dict[Path, Path | None] = {}
    for file in files:
        root = _table_above(file.parent, seen)
        if root is None:
            plain.append(file)
        else:
            tables[root] = None
    return plain, [*tables]


def _table_above(folder: Path, seen: dict[Path, Path | None]) -> Path | None:
    """The outermost folder of a table that a folder is in, or is; None = there is none."""
    if folder not in seen:
        above = None if folder == folder.parent else _table_above(folder.parent, seen)
        seen[folder] = above or (folder if (folder / _LOG).is_dir() else None)
    return seen[folder]


def table_of(folder: Path, known: Known, options: LoadOptions) -> LoadFile | None:
    """What is new in a Delta table; None = nothing.

    Args:
        folder: where it is.
        known: what the lake has.
        options: how it is read.
    """
    name = str(folder)
    try:
        table = DeltaTable(name)
        size, bounds = table.version() + 1, options.bounds.name
        contents = {x: _content(table, x) for x in range(1, size + 1)}
        start = max((x for x, y in contents.items() if known.has(y, x, bounds)), default=0)
        if start == size:
            return None
        found = LoadFile(name, known.part_from(start, contents[size], bounds), size)
        take_table(found, Found(_rows(table, folder, range(start, found.size))), options)
    except (DeltaError, UnreadableFileError, OSError, ValueError) as error:
        found = LoadFile(name, Part(0, name), 0)
        found.rejects.append(LoadReject(name, 0, "", f"a Delta table that cannot be read: {error}"))
    found.leave_written()
    return found


def _content(table: DeltaTable, size: int) -> str:
    """What a table is known by that has so many versions."""
    return hashlib.sha256(f"delta {table.metadata().id} {size}".encode()).hexdigest()


def _rows(table: DeltaTable, folder: Path, versions: range) -> pa.Table:
    """The rows of a table; where versions before these are loaded, those appended since."""
    if versions.start == 0:
        return table.to_pyarrow_table()
    schema = pa.schema(table.schema().to_arrow())
    parts = [schema.empty_table()]
    for version in versions:
        added = set(_appended(folder, version))
        if added:
            table.load_as_version(version)
            parts += _of_files(table, added, schema)
    return pa.concat_tables(parts)


def _appended(folder: Path, version: int) -> Iterator[str]:
    """The files that a version adds rows by.

    Raises:
        UnreadableFileError: it takes rows away, or is not known any more.
    """
    log = folder / _LOG / f"{version:020}.json"
    if not log.exists():
        raise UnreadableFileError(
            f"version {version} is no longer in its log: load its rows from files of their own"
        )
    for line in log.read_text().splitlines():
        action: dict[str, Any] = json.loads(line)
        if action.get("remove", {}).get("dataChange"):
            raise UnreadableFileError(
                f"version {version} changes or deletes rows that may be loaded: load from a "
                "table that is only appended to"
            )
        if action.get("add", {}).get("dataChange"):
            yield unquote(action["add"]["path"])


def _of_files(table: DeltaTable, names: set[str], schema: pa.Schema) -> Sequence[pa.Table]:
    """The rows of some files of the table, with the values of their partitions."""
    fragments = table.to_pyarrow_dataset(schema=schema).get_fragments()
    return [x.to_table(schema=schema) for x in fragments if _is_one(x.path, names)]


def _is_one(path: str, names: set[str]) -> bool:
    return path in names or any(path.endswith(f"/{x}") for x in names)
