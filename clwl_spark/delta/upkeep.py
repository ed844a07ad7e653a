"""A Delta table in a folder of this machine, kept small: compaction, vacuum, checkpoint, log.

delta-rs compacts, writes checkpoints and says which files no version needs. They are deleted here:
so a dry run knows them all, the table gets no commit for it, and files stay that a version within
`keep` has although a checkpoint of the log has forgotten when they were removed.

Source: "Delta Transaction Log Protocol": checkpoints, metadata clean-up, change data files.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from clwl_spark.delta.creation import LOG

_TARGET_SIZE: Final = ("delta.targetFileSize", 100 * 2**20)
"""Bytes of a file that compaction makes, and up to which it takes one: delta-rs' own default."""
_FILE_RETENTION: Final = ("delta.deletedFileRetentionDuration", timedelta(0))
_LOG_RETENTION: Final = ("delta.logRetentionDuration", timedelta(days=30))
_FOREVER: Final = timedelta(days=36_500)
_INTERVAL: Final = re.compile(r"(\d+) (week|day|hour|minute|second)s?")
_COMMITS_A_CHECKPOINT: Final = 10
_ATTEMPTS: Final = 3
_OF_VERSION: Final = re.compile(r"(\d{20})\.")
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint\.parquet")
_FEED: Final = "_change_data/"


@dataclass(frozen=True, slots=True)
class Permission:
    """What may be done to a table now.

    Attributes:
        compact: many small files may become few.
        vacuum: files may be deleted that no version of the last `keep` needs.
        checkpoint: the log may get a checkpoint.
        log_from: log files of this version and later ones stay, somebody reads on from there;
            None = nobody does.
        why: a sentence, where not everything may be done.
    """

    compact: bool = True
    vacuum: bool = True
    checkpoint: bool = True
    log_from: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class TableUpkeep:
    """What was done to a table, or would be; None = only the table's own engine knows.

    Attributes:
        table: its name.
        files_before: data files of the newest version.
        files_after: those of the version after compaction.
        files_deleted: data files that no version needed any more.
        orphans: those of them that no version ever had: a killed writer left them.
        log_files_deleted: commits and checkpoints that time travel needs no more.
        bytes_freed: by what was deleted.
        log_checkpoint: version of the checkpoint that the log got; None = it needs no new one.
        note: a sentence on what was left undone; '' = nothing was.
    """

    table: str
    files_before: int | None
    files_after: int | None
    files_deleted: int | None = 0
    orphans: int | None = 0
    log_files_deleted: int | None = 0
    bytes_freed: int | None = 0
    log_checkpoint: int | None = None
    note: str = ""


def maintain_folder(
    folder: str, permission: Permission, keep: timedelta, *, dry_run: bool
) -> TableUpkeep:
    """Compact a table, delete what no version of the last `keep` needs, and shorten its log.

    Args:
        folder: of the Delta table, on this machine; delta-rs knows all of its features.
        permission: what may be done.
        keep: how long deleted files and log files stay; longer where the table's properties say so.
        dry_run: change nothing, and say what would be done.

    Raises:
        DeltaError: the table is damaged.
        OSError: a file cannot be deleted.
    """
    gone, orphans = _unneeded(folder, keep) if permission.vacuum else ([], 0)
    logs = expired_log_files(folder, keep, permission.log_from) if permission.vacuum else []
    freed = sum(x.stat().st_size for x in (*gone, *logs))
    allowed = _while_the_log_is_kept(folder, permission, logs)
    before = len(_sizes(DeltaTable(folder)))
    after, note = _compacted(folder, dry_run=dry_run) if allowed.compact else (before, "")
    checkpoint = None
    if allowed.checkpoint:
        checkpoint = _checkpoint_due(folder, 1 if dry_run and after != before else 0)
    if not dry_run:
        if checkpoint is not None:
            DeltaTable(folder).create_checkpoint()
        _delete((*gone, *logs))
    return TableUpkeep(
        Path(folder).name,
        before,
        after,
        len(gone),
        orphans,
        len(logs),
        freed,
        checkpoint,
        allowed.why or note,
    )


def expired_log_files(folder: str, keep: timedelta, log_from: int | None) -> list[Path]:
    """Files of the log that no version within `keep`, and nobody who reads on, needs.

    All versions from a checkpoint on can be built again, so commits before one that is itself
    older than `keep` may go.

    Args:
        folder: of the table.
        keep: or the table's own log retention, if that is longer.
        log_from: as in `Permission`.
    """
    oldest = _now() - max(keep, _retention(DeltaTable(folder), *_LOG_RETENTION))
    return [*_before_checkpoint(folder, oldest, log_from), *_left_by_writers(folder, oldest)]


def _before_checkpoint(folder: str, oldest: datetime, log_from: int | None) -> list[Path]:
    """Log files older than a moment, and than the last checkpoint before that moment."""
    files = [x for x in Path(folder, LOG).iterdir() if _OF_VERSION.match(x.name)]
    expired = {x: int(x.name[:20]) for x in files if _changed_at(x) <= oldest}
    checkpoints = [
        version
        for x, version in expired.items()
        if _CHECKPOINT.fullmatch(x.name) and (log_from is None or version < log_from)
    ]
    first = max(checkpoints, default=0)
    return sorted(x for x, version in expired.items() if version < first)


def _left_by_writers(folder: str, oldest: datetime) -> list[Path]:
    """Commits of killed writers that never got their name."""
    return [x for x in Path(folder, LOG).glob("*.tmp") if _changed_at(x) <= oldest]


def _compacted(folder: str, *, dry_run: bool) -> tuple[int, str]:
    """Compact a table; its data files then, and why it was not done if it was not."""
    table = DeltaTable(folder)
    sizes = _sizes(table)
    planned = files_after_compaction(sizes, _target_size(table))
    if dry_run or planned == len(sizes):
        return planned, ""
    for _ in range(_ATTEMPTS):
        try:
            table.optimize.compact()
        except CommitFailedError:
            table = DeltaTable(folder)
            continue
        return len(_sizes(DeltaTable(folder))), ""
    return len(_sizes(DeltaTable(folder))), (
        "not compacted: others change the table just now; run the command again"
    )


def files_after_compaction(sizes: Sequence[int], target: int) -> int:
    """How many files there are after compaction, by delta-rs' plan: neighbours that fit together.

    Args:
        sizes: bytes of the files, in the table's order.
        target: bytes of a file.
    """
    small = [x for x in sizes if x < target]
    files, filled = len(sizes) - len(small), target
    for size in small:
        if filled + size > target:
            files, filled = files + 1, 0
        filled += size
    return files


def _unneeded(folder: str, keep: timedelta) -> tuple[list[Path], int]:
    """Data files that no version within `keep` needs, and how many of them no version ever had."""
    table = DeltaTable(folder)
    kept = max(keep, _retention(table, *_FILE_RETENTION))
    found = [x for x in _vacuumed(table, kept, full=True) if x.endswith(".parquet")]
    if not found:
        return [], 0
    named, removed_since = _in_log(folder, _now() - kept)
    gone = [x for x in found if x not in removed_since and Path(folder, x).is_file()]
    named |= set(_vacuumed(table, kept, full=False))
    orphans = [x for x in gone if x not in named and not x.startswith(_FEED)]
    return [Path(folder, x) for x in gone], len(orphans)


def _vacuumed(table: DeltaTable, keep: timedelta, *, full: bool) -> list[str]:
    """What delta-rs would delete: of all files, or of those that the log says were removed."""
    hours = math.ceil(keep / timedelta(hours=1))
    return table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=full)


def _in_log(folder: str, since: datetime) -> tuple[set[str], set[str]]:
    """Files that the log's commits name; those that commits since a moment have removed."""
    named: set[str] = set()
    removed: set[str] = set()
    for commit in Path(folder, LOG).glob(f"{'[0-9]' * 20}.json"):
        is_young = _changed_at(commit) > since
        for kind, path in _paths(commit.read_text().splitlines()):
            named.add(path)
            if kind == "remove" and is_young:
                removed.add(path)
    return named, removed


def _paths(commit: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(action, file) of a commit's lines."""
    for line in commit:
        actions: dict[str, Any] = json.loads(line)
        for kind in ("add", "remove", "cdc"):
            if found := actions.get(kind):
                yield kind, unquote(found["path"])


def _while_the_log_is_kept(folder: str, permission: Permission, logs: Sequence[Path]) -> Permission:
    """What may be done by delta-rs, which shortens the log whenever it commits or checkpoints.

    It goes by the table's own retention, and knows neither `keep` nor who reads on.

    Args:
        folder: of the table.
        permission: what may be done as far as rows and files go.
        logs: files of the log that may go.
    """
    oldest = _now() - _retention(DeltaTable(folder), *_LOG_RETENTION)
    if set(_before_checkpoint(folder, oldest, None)) <= set(logs):
        return permission
    why = permission.why or (
        "not compacted: delta-rs would delete commits with it that --keep or a stream needs; set "
        f"the table's property {_LOG_RETENTION[0]} to more"
    )
    return replace(permission, compact=False, checkpoint=False, why=why)


def _checkpoint_due(folder: str, to_come: int) -> int | None:
    """The version that the log should get a checkpoint of, after so many commits; None = none."""
    names = [x.name for x in Path(folder, LOG).iterdir()]
    last = max((int(x[:20]) for x in names if ".checkpoint." in x), default=0)
    version = DeltaTable(folder).version() + to_come
    return version if version - last >= _COMMITS_A_CHECKPOINT else None


def _delete(files: Iterable[Path]) -> None:
    """Delete files, and the checksums that Hadoop's file system has put beside them."""
    for file in files:
        file.unlink(missing_ok=True)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _sizes(table: DeltaTable) -> list[int]:
    """Bytes of the version's data files."""
    return [int(x) for x in pa.table(table.get_add_actions())["size_bytes"].to_pylist()]


def _target_size(table: DeltaTable) -> int:
    name, default = _TARGET_SIZE
    given = table.metadata().configuration.get(name, "")
    return int(given) if given.isdecimal() else default


def _retention(table: DeltaTable, name: str, default: timedelta) -> timedelta:
    """A property that is an interval; one that is not understood keeps everything."""
    text = table.metadata().configuration.get(name)
    if text is None:
        return default
    parts = _INTERVAL.findall(text)
    found = sum((int(n) * timedelta(**{f"{unit}s": 1}) for n, unit in parts), timedelta())
    return found or _FOREVER


def _changed_at(file: Path) -> datetime:
    """When a file was changed; now, where its writer has just given it another name."""
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except FileNotFoundError:
        return _now()


def _now() -> datetime:
    return datetime.now(UTC)
