"""How far the messages are taken: what a run's row says, or Spark's checkpoint."""

from pathlib import Path

from clwl_spark.delta.files import changes_after
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.offsets import Offsets
from clwl_spark.delta.versions import versions_of
from clwl_spark.routing.ledger.run_record import UNKNOWN, Run, Taken
from clwl_spark.storage.places import is_uri
from clwl_spark.tables import MESSAGES


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
    offsets, before = _offsets(lake, run), run.batch_id - 1 - run.first_batch
    return _taken(offsets, before) if offsets.is_last(before) else None


def taken_by_batch(lake: Lake, run: Run) -> Taken | None:
    """What is taken after the run's batch, as the checkpoint that it goes through says.

    Returns:
        It; None where the checkpoint is elsewhere or does not have the batch.
    """
    if not _is_here(lake) or not run.checkpoint:
        return None
    return _taken(_offsets(lake, run), run.batch_id - run.first_batch)


def is_checkpoint_lost(lake: Lake, run: Run) -> bool:
    """Whether it is certain that the run's checkpoint lacks the batch before, but needs it not.

    Args:
        lake: the lake.
        run: that has begun.
    """
    if run.taken is None or not _is_here(lake) or run.batch_id == run.first_batch:
        return False
    return not _offsets(lake, run).has_begun(run.batch_id - 1 - run.first_batch)


def committed_batch(lake: Lake, run: Run) -> int | None:
    """The newest batch that the checkpoint which a run goes through has done.

    Returns:
        None where it is elsewhere, or has done none.
    """
    if not _is_here(lake) or not run.checkpoint:
        return None
    done = _offsets(lake, run).done()
    return done[-1] + run.first_batch if done else None


def _is_here(lake: Lake) -> bool:
    return lake.is_here and not is_uri(lake.checkpoint_root)


def _taken(offsets: Offsets, batch: int) -> Taken | None:
    """What is taken after a batch of the checkpoint; None = its end is within a version."""
    end = offsets.whole_end(batch)
    return None if end is None else Taken(*end)


def _offsets(lake: Lake, run: Run) -> Offsets:
    return Offsets(Path(lake.checkpoint_root, run.checkpoint))
