"""How far the messages are taken: what a run's row says, or Spark's checkpoint.

Source: Spark's and Delta's own classes `OffsetSeqLog`, `CommitLog` and `DeltaSourceOffset`: the
last line of a batch's file in `offsets` says where it ends in the table's log, and its file in
`commits` that it is done.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clwl_spark.delta_files import changes_after, is_uri
from clwl_spark.delta_versions import versions_of
from clwl_spark.routing.runs import UNKNOWN, Run, Taken
from clwl_spark.schemas import MESSAGES
from clwl_spark.storage import Lake


def all_taken(lake: Lake, run: Run) -> bool:
    """Whether it is certain that there is nothing to route.

    Args:
        lake: the lake.
        run: a run that has begun.
    """
    taken, now = taken_before(lake, run), newest(lake)
    if taken is None or now is None or taken.table_id != now.table_id:
        return False
    if taken.version == UNKNOWN:
        return False
    return changes_after(lake.path(MESSAGES.name), taken.version) is False


def newest(lake: Lake) -> Taken | None:
    """The table `messages` as it is now; None where only Spark can tell."""
    found = versions_of(lake, [MESSAGES.name])
    return Taken(*found[0]) if found and found[0] is not None else None


def taken_before(lake: Lake, run: Run) -> Taken | None:
    """What the batches before the run's have taken.

    Returns:
        It; None where only the stream can tell.
    """
    if run.taken is not None:
        return run.taken
    if not _is_here(lake) or not run.checkpoint:
        return None
    before = run.batch_id - 1
    return _whole(_end(lake, run, before)) if _is_last(lake, run, before) else None


def taken_by_batch(lake: Lake, run: Run) -> Taken | None:
    """What is taken after the run's batch, as the checkpoint that it goes through says.

    Returns:
        It; None where the checkpoint is elsewhere or does not have the batch.
    """
    if not _is_here(lake) or not run.checkpoint:
        return None
    return _whole(_end(lake, run, run.batch_id))


def is_checkpoint_lost(lake: Lake, run: Run) -> bool:
    """Whether it is certain that the run's checkpoint lacks the batch before, but needs it not.

    Args:
        lake: the lake.
        run: that has begun.
    """
    if run.taken is None or not _is_here(lake) or run.batch_id == run.first_batch:
        return False
    return not _file(lake, run, "offsets", run.batch_id - 1).exists()


def committed_batch(lake: Lake, run: Run) -> int | None:
    """The newest batch that the checkpoint which a run goes through has done.

    Returns:
        None where it is elsewhere, or has done none.
    """
    if not _is_here(lake) or not run.checkpoint:
        return None
    commits = Path(lake.checkpoint_root, run.checkpoint, "commits")
    done = [int(x.name) for x in commits.glob("*") if x.name.isdecimal()]
    return max(done) + run.first_batch if done else None


def _is_here(lake: Lake) -> bool:
    return lake.is_here and not is_uri(lake.checkpoint_root)


def _whole(end: Mapping[str, Any]) -> Taken | None:
    """The table and its last version that is taken whole; None = the end is within one."""
    version, index = end.get("reservoirVersion"), end.get("index")
    if not isinstance(version, int) or not isinstance(index, int):
        return None
    at_its_start = index < 0 and not end.get("isStartingVersion")
    return Taken(str(end.get("reservoirId")), version - 1) if at_its_start else None


def _is_last(lake: Lake, run: Run, batch_id: int) -> bool:
    """Whether a batch is done and no other one has begun, in the checkpoint's own words."""
    done = _file(lake, run, "commits", batch_id).exists()
    return done and not _file(lake, run, "offsets", batch_id + 1).exists()


def _end(lake: Lake, run: Run, batch_id: int) -> dict[str, Any]:
    """Where a batch ends in the log of `messages`; nothing where the checkpoint does not say it."""
    try:
        lines = _file(lake, run, "offsets", batch_id).read_text().splitlines()
        end = json.loads(lines[-1])
    except (OSError, ValueError, IndexError):
        return {}
    return end if isinstance(end, dict) else {}


def _file(lake: Lake, run: Run, folder: str, batch_id: int) -> Path:
    at = batch_id - run.first_batch
    return Path(lake.checkpoint_root, run.checkpoint, folder, str(at))
