"""How far the checkpoint has taken the messages: told from its files, without starting a stream.

Source: Spark's and Delta's own classes `OffsetSeqLog`, `CommitLog` and `DeltaSourceOffset`: the
last line of a batch's file in `offsets` says where it ends in the table's log, and its file in
`commits` that it is done.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clwl_spark.delta_files import is_uri
from clwl_spark.delta_versions import versions_of
from clwl_spark.routing.runs import Run
from clwl_spark.schemas import MESSAGES
from clwl_spark.storage import Lake

BEFORE_ALL: Final = -1


def all_taken(lake: Lake, run: Run) -> bool:
    """Whether it is certain that there is nothing to route.

    False where there are versions without new messages, too: the stream finds out.

    Args:
        lake: the lake.
        run: a run that has begun.
    """
    taken = taken_until(lake, run)
    return taken not in (None, BEFORE_ALL) and taken >= lake.version(MESSAGES.name)


def taken_until(lake: Lake, run: Run) -> int | None:
    """The version of `messages` up to which the batches before the run's have taken all.

    Args:
        lake: the lake.
        run: a run that has begun.

    Returns:
        The version, BEFORE_ALL for the first batch; None where only the stream can tell, and for
        a run that is gone on with.
    """
    if run.resumed or not lake.is_here or is_uri(lake.checkpoint_root):
        return None
    checkpoint = Path(lake.checkpoint_root, run.checkpoint)
    if run.batch_id == 0 and not checkpoint.exists():
        return BEFORE_ALL
    end = _end(checkpoint, run.batch_id - 1)
    return _version_before(end) if _is_of_messages(end, lake) else None


def _is_of_messages(end: Mapping[str, Any], lake: Lake) -> bool:
    """Whether it is the table `messages` of now that a batch ended in."""
    messages = versions_of(lake, [MESSAGES.name])
    if not messages or messages[0] is None:
        return False
    return bool(end.get("reservoirId") == messages[0][0])


def _version_before(end: Mapping[str, Any]) -> int | None:
    """The last version that a batch has taken whole; None = it ended within one."""
    version, index = end.get("reservoirVersion"), end.get("index")
    if not isinstance(version, int) or not isinstance(index, int):
        return None
    at_its_start = index < 0 and not end.get("isStartingVersion")
    return version - 1 if at_its_start else None


def _end(checkpoint: Path, batch_id: int) -> dict[str, Any]:
    """Where a batch ends, if it is the last one of the checkpoint and done; else nothing."""
    offsets, done, later = (
        checkpoint / folder / str(at)
        for folder, at in (("offsets", batch_id), ("commits", batch_id), ("offsets", batch_id + 1))
    )
    if later.exists() or not done.exists():
        return {}
    try:
        end = json.loads(offsets.read_text().splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return {}
    return end if isinstance(end, dict) else {}
