"""How far the streams that follow a lake's tables have come, told from their checkpoints.

Source: Spark's and Delta's own classes `OffsetSeqLog`, `CommitLog` and `DeltaSourceOffset`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clwl_spark.delta_files import is_uri
from clwl_spark.storage import Lake

BEFORE_ALL: Final = -1


@dataclass(frozen=True, slots=True)
class Follower:
    """A stream over a table.

    Attributes:
        name: of its checkpoint's folder.
        table_id: Delta's, of the table.
        version: of the table, up to which it has taken all; None = that cannot be told.
        reads_from: version of the first commit that it reads when it starts again: Spark lists
            what the last batch took once more before it looks for new commits.
    """

    name: str
    table_id: str
    version: int | None
    reads_from: int = 0


def followers(lake: Lake) -> list[Follower]:
    """The streams whose checkpoints are where the lake's own are, on this machine."""
    if not lake.is_here or is_uri(lake.checkpoint_root):
        return []
    folders = sorted(Path(lake.checkpoint_root).glob("*/offsets"))
    found = (_follower(x.parent) for x in folders)
    return [x for x in found if x is not None]


def _follower(checkpoint: Path) -> Follower | None:
    """The stream of a checkpoint; None where it is none over a Delta table, or has not begun."""
    batches = sorted(int(x.name) for x in (checkpoint / "offsets").iterdir() if x.name.isdecimal())
    if not batches:
        return None
    table_id = _end(checkpoint, batches[-1]).get("reservoirId")
    if not isinstance(table_id, str):
        return None
    done = [x for x in batches if (checkpoint / "commits" / str(x)).exists()]
    if not done:
        return Follower(checkpoint.name, table_id, BEFORE_ALL)
    last = _end(checkpoint, done[-1])
    before = _end(checkpoint, done[-1] - 1) if done[-1] > 0 else last
    return Follower(checkpoint.name, table_id, _taken(last), before.get("reservoirVersion", 0))


def _end(checkpoint: Path, batch: int) -> dict[str, Any]:
    """Where a batch ends; nothing where its file does not say it."""
    try:
        end = json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return {}
    return end if isinstance(end, dict) else {}


def _taken(end: dict[str, Any]) -> int | None:
    """The last version that was taken whole; None = the batch ended within one."""
    version, index = end.get("reservoirVersion"), end.get("index")
    if not isinstance(version, int) or not isinstance(index, int):
        return None
    return version - 1 if index < 0 and not end.get("isStartingVersion") else None
