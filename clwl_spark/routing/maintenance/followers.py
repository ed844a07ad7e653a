"""How far the streams that follow a lake's tables have come, told from their checkpoints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.offsets import Offsets
from clwl_spark.storage.places import is_uri

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
    offsets = Offsets(checkpoint)
    batches = offsets.batches()
    table_id = offsets.end(batches[-1]).get("reservoirId") if batches else None
    if not isinstance(table_id, str):
        return None
    done = [x for x in batches if offsets.is_done(x)]
    if not done:
        return Follower(checkpoint.name, table_id, BEFORE_ALL)
    end = offsets.whole_end(done[-1])
    before = offsets.end(max(done[-1] - 1, 0))
    version = None if end is None else end[1]
    return Follower(checkpoint.name, table_id, version, before.get("reservoirVersion", 0))
