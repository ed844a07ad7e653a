"""A snapshot as texts: one file per queue manager, each made by a worker of its own rows."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.snapshots.catalog import require_snapshots
from clwl_spark.snapshots.own_display import (
    TABLES_DISPLAYED,
    is_displayed,
    is_own,
    key_of,
    own_key,
)
from clwl_spark.snapshots.owned import OF, ROW, TEXT_OF, by_table, owned_rows
from clwl_spark.snapshots.spelling import LeftOut
from clwl_spark.snapshots.texts import texts_of
from clwl_spark.snapshots.views import DEFAULTS

SUFFIX: Final = ".mqsc"
_MADE: Final = "text_of string, texts array<string>, rows int, left_out array<array<string>>"


@dataclass(slots=True)
class Exported:
    """What an export wrote.

    Attributes:
        files: the files, in the order of the queue managers.
        texts: the texts, where no folder was given.
        rows: rows that the texts say.
        left_out: rows and attributes that no text can say.
    """

    files: list[Path] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    rows: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def export(lake: Lake, snapshot_id: str, qmgr: str | None, folder: Path | None) -> Exported:
    """Write a snapshot as MQSC and DISPLAY output, which `ingest` reads back to the same rows.

    Args:
        lake: where from.
        snapshot_id: the snapshot.
        qmgr: only the text of this queue manager: its definitions and what it sees.
        folder: a new or empty folder for one file per queue manager, `QM1.mqsc`; rows that one
            text cannot hold beside each other are in `QM1~2.mqsc` and so on. None = all in one.

    Raises:
        InputError: there is no such snapshot, or nothing of the queue manager in it.
        UsageError: the folder has files, or cannot be made.
    """
    require_snapshots(lake, snapshot_id)
    if folder is not None:
        _make(folder)
    exported = Exported()
    with _emptied_again(folder):
        for row in made_texts(lake, snapshot_id, qmgr).orderBy(TEXT_OF).toLocalIterator():
            exported.rows += row["rows"]
            exported.left_out += [LeftOut(*found) for found in row["left_out"]]
            if folder is None:
                _add_one(exported, row[TEXT_OF], row["texts"])
            else:
                exported.files += _written(folder, row[TEXT_OF], row["texts"])
    if not exported.files and not exported.texts:
        of_whom = f" of {qmgr}" if qmgr else ""
        raise InputError(f"snapshot '{snapshot_id}' has nothing{of_whom} that a text can say")
    return exported


@contextmanager
def _emptied_again(folder: Path | None) -> Iterator[None]:
    """A folder that was empty is so again if the export breaks off: half of one misleads."""
    try:
        yield
    except BaseException:
        for file in folder.iterdir() if folder is not None else ():
            file.unlink()
        raise


def made_texts(lake: Lake, snapshot_id: str, qmgr: str | None = None) -> DataFrame:
    """The texts of each queue manager.

    Grain: one row per queue manager that has or sees anything: text_of, texts, rows, left_out.
    """
    rows = owned_rows(lake, snapshot_id)
    if qmgr is not None:
        rows = rows.where(F.col(TEXT_OF) == qmgr)
    grouped = rows.groupBy(TEXT_OF).agg(F.collect_list(F.struct(OF, ROW)).alias("rows"))
    return grouped.mapInPandas(_make_texts, _MADE)


def _make_texts(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Texts of queue managers, in a worker."""
    for batch in batches:
        made = [_made(qmgr, rows) for qmgr, rows in zip(batch[TEXT_OF], batch["rows"], strict=True)]
        yield pd.DataFrame(made, columns=[TEXT_OF, "texts", "rows", "left_out"])


def _made(qmgr: str, rows: Any) -> tuple[str, list[str], int, list[list[str]]]:  # noqa: ANN401
    """The texts of one queue manager; `rows` are (table, JSON), in any order."""
    tables = by_table([(found[OF], json.loads(found[ROW])) for found in rows])
    _tell_defaults(qmgr, tables)
    texts, left_out = texts_of(qmgr, tables)
    whole = sum(1 for x in left_out if not x.column)
    told = [[x.row, x.column, x.why] for x in left_out]
    return qmgr, texts, len(rows) - whole, told


def _tell_defaults(qmgr: str, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Give what a queue manager displays of its own the defaults that its nulls mean (P1).

    Ingest fills what a display leaves open with what the definition tells.
    """
    for table in TABLES_DISPLAYED:
        rows = tables.get(table, ())
        defined = {own_key(key_of(table, x), qmgr): x for x in rows if not is_displayed(x)}
        for row in filter(is_own, rows):
            definition = defined.get(key_of(table, row), {})
            for name, default in DEFAULTS[table].items():
                if row.get(name) is None and definition.get(name) is not None:
                    row[name] = default


def _make(folder: Path) -> None:
    """Make the folder; files of an earlier export in it would be read with the new ones."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror}; give a new folder") from error
    if there:
        raise UsageError(f"--out {folder} is not empty: give a new folder")


def _written(folder: Path, qmgr: str, texts: list[str]) -> list[Path]:
    """Write the files of one queue manager; `/` and `%` of its name are escaped."""
    paths = []
    for number, text in enumerate(texts, 1):
        part = f"~{number}" if number > 1 else ""
        path = folder / f"{quote(qmgr, safe='')}{part}{SUFFIX}"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _add_one(exported: Exported, qmgr: str, texts: list[str]) -> None:
    """Add the first text of a queue manager: in one text, a second one would undo the first."""
    exported.texts += texts[:1]
    if texts[1:]:
        why = f"{len(texts) - 1} more text(s) with other definitions of the same objects"
        exported.left_out.append(LeftOut(qmgr, "", f"{why}: give --out a folder"))
