"""What a lake's tables have lost of the batches that `runs` says are done.

Tables are restored, copied and cut off by hand. A batch that `runs` has and another table has not
would never be routed again, and the next one would begin with the wrong memory. So each run first
compares the tables by what is in them: the transactions of a batch's appends, the batch of
`router_memory`, the positions in `messages`. Batches of earlier versions of this package, whose
rows say no `memory_version`, are not compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow.compute as pc
from pyarrow.dataset import Dataset

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.run_record import UNKNOWN, Run
from clwl_spark.routing.ledger.runs import DONE, after
from clwl_spark.routing.ledger.source_offsets import committed_batch, newest, taken_by_batch
from clwl_spark.tables import MESSAGES, OUTCOMES, REJECTED_MESSAGES, ROUTER_MEMORY, RUNS
from clwl_spark.tables import columns as c

BATCH: Final = "batch_id"
NO_BATCH: Final = -1
"""Comes before the first batch."""
_COUNTED: Final = ((OUTCOMES.name, "outcomes"), (REJECTED_MESSAGES.name, "rejected"))
"""Tables that a batch is appended to, and the column of `runs` that says with how many rows."""
_SINCE: Final = "memory_version"
"""Is null in rows of versions of this package whose batches are not compared."""
_RESTORE: Final = "restore all tables of the lake as of one moment, or route into another lake"


@dataclass(frozen=True, slots=True)
class Losses:
    """Batches that are done, of which tables have nothing.

    Attributes:
        outcomes: batches that `outcomes` has lost, ascending.
        rejected: batches that `rejected_messages` has lost, ascending.
        memory: batches after which `router_memory` is not as it was, ascending.
    """

    outcomes: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    memory: tuple[int, ...] = ()

    @property
    def batches(self) -> list[int]:
        """All of them, ascending."""
        return sorted({*self.outcomes, *self.rejected, *self.memory})

    def by_table(self) -> dict[str, tuple[int, ...]]:
        """The lost batches of each table that has lost some."""
        tables = (OUTCOMES.name, REJECTED_MESSAGES.name, ROUTER_MEMORY.name)
        lost = zip(tables, (self.outcomes, self.rejected, self.memory), strict=True)
        return {table: batches for table, batches in lost if batches}


def refuse_losses(lake: Lake) -> None:
    """Compare the tables with `runs`, before anything is routed.

    Args:
        lake: with all tables that routing writes.

    Raises:
        LakeStateError: a table has lost a batch, or they are not of one moment.
    """
    for table, batches in losses(lake).by_table().items():
        raise LakeStateError(
            f"table {table} of lake {lake.root} has lost batch {batches[0]}, which table runs says "
            "is done: `clwl state repair` routes its messages again, to the same rows"
        )


def losses(lake: Lake) -> Losses:
    """What the tables have lost; in folders of this machine, else of `router_memory` alone.

    Raises:
        LakeStateError: the tables are not of one moment, and it cannot be told what was lost.
    """
    rows = lake.greatest(RUNS.name, BATCH)
    remembered = remembered_batch(lake)
    last = rows[0][BATCH] if rows else NO_BATCH
    if remembered > last:
        raise _behind(lake, RUNS.name, f"{ROUTER_MEMORY.name} is of batch {remembered}", last)
    if not rows:
        return Losses()
    _refuse_older_messages(lake, rows[0])
    runs = lake.dataset(RUNS.name)
    if runs is None:
        return _of_newest(rows[0], remembered)
    lost = {}
    for table, count in _COUNTED:
        known = lake.newest_transaction(table, after(rows[0]).once(table).application)
        if known > last:
            raise _behind(lake, RUNS.name, f"{table} has batch {known}", last)
        lost[count] = _batches(runs, known, count)
    lost["memory"] = _batches(runs, remembered, "outcomes")
    return Losses(**lost)


def done_after(lake: Lake, batch_id: int) -> tuple[int, ...]:
    """The batches behind one that are done and routed messages; in folders of this machine."""
    runs = lake.dataset(RUNS.name)
    return () if runs is None else _batches(runs, batch_id, "outcomes")


def refuse_foreign_checkpoint(lake: Lake, run: Run) -> None:
    """Compare Spark's checkpoint with `runs`, before it is gone on with.

    Args:
        lake: the lake.
        run: that has begun.

    Raises:
        LakeStateError: it has batches that the lake has not, or has taken other messages; or only
            keys tell which messages are new.
    """
    if run.taken is not None and run.taken.version == UNKNOWN:
        raise LakeStateError(
            f"table messages of lake {lake.root} was changed after it was routed, as an older copy "
            "that is appended to again is: give --engine embedded, which tells new rows by key"
        )
    committed = committed_batch(lake, run)
    if committed is None:
        return
    before = replace(run, batch_id=run.batch_id - 1)
    end = taken_by_batch(lake, before) if committed == before.batch_id else None
    is_other = None not in (end, run.taken) and end != run.taken and not run.begins_checkpoint
    if committed >= run.batch_id or is_other:
        raise LakeStateError(
            f"checkpoint {lake.checkpoint_root}/{run.checkpoint} has routed other messages than "
            f"the lake's runs up to batch {before.batch_id}: {_RESTORE}; without the checkpoint, "
            "routing goes on from the lake's own router_memory"
        )


def remembered_batch(lake: Lake) -> int:
    """The newest batch that `router_memory` is of; NO_BATCH = none."""
    greatest = pc.max(lake.in_memory(ROUTER_MEMORY.name, names=[BATCH])[BATCH]).as_py()
    return NO_BATCH if greatest is None else int(greatest)


def _refuse_older_messages(lake: Lake, row: Mapping[str, Any]) -> None:
    """What was taken of `messages` must be there still, where it is the same table."""
    now, version = newest(lake), row.get("messages_version")
    version = row.get("messages_from") if version is None else version
    if now is None or version is None or now.table_id != row["messages_id"]:
        return
    if now.version < version:
        raise _behind(lake, MESSAGES.name, f"version {version} of it is routed", now.version)


def _behind(lake: Lake, table: str, known: str, there: int) -> LakeStateError:
    return LakeStateError(
        f"table {table} of lake {lake.root} is older than others: it ends with {there}, and "
        f"{known}: {_RESTORE}"
    )


def _of_newest(row: Mapping[str, Any], remembered: int) -> Losses:
    """What `router_memory` has lost, where only Spark can tell more."""
    is_compared = row[c.STATUS] == DONE and row.get(_SINCE) is not None
    is_lost = is_compared and row["outcomes"] > 0 and row[BATCH] > remembered
    return Losses(memory=(row[BATCH],)) if is_lost else Losses()


def _batches(runs: Dataset, behind: int, count: str) -> tuple[int, ...]:
    """Batches behind one that are done and wrote rows that a column of `runs` counts, ascending.

    A filter must not ask whether `memory_version` is null: delta-rs says of files without the
    column that it is valid in all of their rows.
    """
    wanted = (pc.field(c.STATUS) == DONE) & (pc.field(BATCH) > behind) & (pc.field(count) > 0)
    rows = runs.to_table([BATCH, _SINCE], filter=wanted)
    return tuple(sorted(rows.filter(rows[_SINCE].is_valid())[BATCH].to_pylist()))
