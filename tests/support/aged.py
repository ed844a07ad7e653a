"""Lakes that grow older, for what happens to files after days."""

import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DAY = 86_400


def grow_older(folder: Path | str, days: float) -> None:
    """Move all that was ever done in a folder back in time, as files and Delta's logs have it."""
    now = time.time()
    for file in [x for x in Path(folder).rglob("*") if x.is_file()]:
        if not file.exists():
            continue
        changed = file.stat().st_mtime
        if file.parent.name == "_delta_log":
            _rewrite(file, int(days * DAY * 1000))
        os.utime(file, (now, changed - days * DAY))
    for path in sorted(Path(folder).rglob("*"), reverse=True):
        if path.is_dir():
            os.utime(path, (now, path.stat().st_mtime - days * DAY))


def _rewrite(file: Path, milliseconds: int) -> None:
    """A commit or a checkpoint as of before."""
    if file.name.endswith(".checkpoint.parquet"):
        before = pq.read_table(file)
        actions = before.to_pylist()
        _move(actions, milliseconds)
        pq.write_table(pa.Table.from_pylist(actions, schema=before.schema), file)
    elif file.stem.isdecimal() and file.suffix == ".json":
        actions = [json.loads(x) for x in file.read_text().splitlines()]
        _move(actions, milliseconds)
        file.write_text("".join(f"{json.dumps(x)}\n" for x in actions))
    # Hadoop's file system would find that it is not what Spark has written.
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _move(actions: list[dict], milliseconds: int) -> None:
    for action in actions:
        for name, kind in (("remove", "deletionTimestamp"), ("commitInfo", "timestamp")):
            if (action.get(name) or {}).get(kind):
                action[name][kind] -= milliseconds


def listed(folder: Path | str) -> dict[str, tuple[int, float]]:
    """Size and time of change of each file in a folder."""
    files = (x for x in Path(folder).rglob("*") if x.is_file())
    return {str(x.relative_to(folder)): (x.stat().st_size, x.stat().st_mtime) for x in files}
