"""What tables have lost of batches that are done, routed again to the same rows.

A batch is routed from the messages, the snapshots and the memory that its row of `runs` says, and
compared with what is known of it before a row is written.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import pyarrow as pa
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import EngineError, LakeStateError, LostMessagesError
from clwl_spark.logs import OnProgress
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.batch import RouteOptions
from clwl_spark.routing.engines.embedded import EmbeddedEngine, RoutedAgain
from clwl_spark.routing.engines.fitness import unfit_here
from clwl_spark.routing.engines.workers import workers
from clwl_spark.routing.ledger.losses import (
    BATCH,
    NO_BATCH,
    Losses,
    done_after,
    losses,
    remembered_batch,
)
from clwl_spark.routing.ledger.one_runner import one_runner
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.ledger.runs import (
    RUNNING,
    newest_run,
    run_of_batch,
    summary_of,
    write_again,
)
from clwl_spark.routing.ledger.source_offsets import newest
from clwl_spark.routing.plans.facts_cache import FactsCache
from clwl_spark.routing.run import WRITTEN
from clwl_spark.routing.state.history import from_bytes, is_damaged
from clwl_spark.routing.state.memory_file import history_of
from clwl_spark.routing.state.memory_table import (
    PAYLOAD,
    current_rows,
    damaged_memories,
    memories_in,
    memory_rows,
)
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.catalog import apart
from clwl_spark.tables import BALANCE_HISTORY, MESSAGES, OUTCOMES, ROUTER_MEMORY
from clwl_spark.tables import columns as c

_COMPARED: Final = ("messages", "outcomes", "rejected", "out_of_order", "by_reason")
_RESTORE: Final = "restore it, or route into another lake"


@dataclass(frozen=True, slots=True)
class Repaired:
    """A batch that was routed again.

    Attributes:
        batch_id: the batch.
        messages: that were routed.
        tables: that had lost it.
    """

    batch_id: int
    messages: int
    tables: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl state repair --json`."""
        return {**asdict(self), "tables": list(self.tables)}


def repair(lake: Lake, options: RouteOptions, tell: OnProgress) -> list[Repaired]:
    """Route again what tables have lost of batches that are done, in order.

    The table `balance_history` is brought in line with the memory, too.

    Args:
        lake: whose tables they are.
        options: how the batches were routed: nothing but their `binding_ttl` and exit is not known
            any more.
        tell: told (stage, done, of).

    Returns:
        What was routed again; nothing where nothing was lost.

    Raises:
        EngineError: the lake is not in folders of this machine, or needs Spark.
        LakeStateError: what a batch was routed from is not there any more, or does not lead to
            what is known of it.
    """
    lake.create(WRITTEN)
    _refuse_elsewhere(lake)
    with one_runner(lake), workers() as pool:
        lost = losses(lake)
        engine = EmbeddedEngine(pool, FactsCache())
        repaired = [_repair(lake, engine, lost, x, options, tell) for x in lost.batches]
        for batch_id, qmgrs in damaged_memories(lake).items():
            repaired.append(_mend(lake, engine, batch_id, qmgrs, (options, tell)))
        _align_history(lake)
        if repaired:
            _renew_run_in_hand(lake)
    return repaired


def _renew_run_in_hand(lake: Lake) -> None:
    """Let a batch that was killed before it wrote its memory begin with what was repaired."""
    last = newest_run(lake)
    if last is None or last[c.STATUS] != RUNNING or last.get("memory_version") is None:
        return
    if remembered_batch(lake) < last[BATCH]:
        run = run_of_batch(lake, last[BATCH])
        write_again(lake, replace(run, memory_version=lake.version(ROUTER_MEMORY.name)))


def _mend(
    lake: Lake,
    engine: EmbeddedEngine,
    batch_id: int,
    qmgrs: AbstractSet[str],
    how: tuple[RouteOptions, OnProgress],
) -> Repaired:
    """Route a batch again, and write what some queue managers remember after it.

    Raises:
        LakeStateError: no batch wrote it, or the batch cannot be routed again.
    """
    if batch_id == NO_BATCH:
        raise LakeStateError(
            f"the rows of {', '.join(sorted(qmgrs))} in table router_memory are damaged, and were "
            "imported: import them again with --replace"
        )
    again, run = _again(lake, engine, batch_id, *how)
    memories = {x: again.memories[x] for x in qmgrs if x in again.memories}
    if memories.keys() != qmgrs:
        raise _unknown(run, f"it comes to no memory of {min(qmgrs - memories.keys())}")
    lake.merge(ROUTER_MEMORY.name, memory_rows(lake, batch_id, memories))
    return Repaired(batch_id, again.summary.messages, (ROUTER_MEMORY.name,))


def _refuse_elsewhere(lake: Lake) -> None:
    why = "its tables are not in folders of this machine"
    if lake.is_here:
        why = unfit_here(lake.path(MESSAGES.name), lake.path(OUTCOMES.name))
    if why:
        raise EngineError(f"lake {lake.root} cannot be repaired: {why}; {_RESTORE}")


def _repair(
    lake: Lake,
    engine: EmbeddedEngine,
    lost: Losses,
    batch_id: int,
    options: RouteOptions,
    tell: OnProgress,
) -> Repaired:
    """Route one batch again, compare it, and write what is lost of it."""
    again, _ = _again(lake, engine, batch_id, options, tell)
    again.write(remembers=batch_id in lost.memory)
    tables = tuple(table for table, batches in lost.by_table().items() if batch_id in batches)
    return Repaired(batch_id, again.summary.messages, tables)


def _again(
    lake: Lake, engine: EmbeddedEngine, batch_id: int, options: RouteOptions, tell: OnProgress
) -> tuple[RoutedAgain, Run]:
    """Route one batch again, and compare it with what is known of it.

    Raises:
        LakeStateError: what it was routed from is gone, or does not lead to what is known of it.
    """
    run = _with_outcomes(lake, _with_memory(lake, run_of_batch(lake, batch_id)))
    _refuse_unknown_messages(lake, run)
    ladder = Ladder(run.semantics, load_exit(options.exit_function), options.is_onward)
    if ladder.exit_function is not None:
        run = replace(run, pins=apart(run.pins))
    try:
        again = engine.route_again(lake, run, options, ladder, tell)
    except (LostMessagesError, OSError, pa.ArrowException) as error:
        raise _unknown(run, "files of its messages are gone") from error
    _refuse_other(lake, run, again)
    return again, run


def _unknown(run: Run, why: str) -> LakeStateError:
    return LakeStateError(f"batch {run.batch_id} cannot be routed again: {why}; {_RESTORE}")


def _refuse_unknown_messages(lake: Lake, run: Run) -> None:
    """Refuse a batch of which it is not known which messages it took.

    Raises:
        LakeStateError: its row does not say it, or says it of another table.
    """
    now = newest(lake)
    if run.taken is None or run.upto is None:
        raise _unknown(run, "its row of table runs does not say which messages it took")
    if now is None or now.table_id != run.upto.table_id:
        raise _unknown(run, "table messages is another one than it was")


def _with_memory(lake: Lake, run: Run) -> Run:
    """The run with the version of `router_memory` that is of the batch before it.

    Raises:
        LakeStateError: there is none any more.
    """
    if remembered_batch(lake) < run.batch_id:
        # The batches before are there, or were repaired just now, in versions of their own.
        run = replace(run, memory_version=lake.version(ROUTER_MEMORY.name))
    try:
        rows = lake.rows_as_of(ROUTER_MEMORY.name, run.memory_version)
    except (EngineError, DeltaError, OSError, pa.ArrowException) as error:
        raise _unknown(run, "files of the memory before it are gone") from error
    table = rows.toArrow() if isinstance(rows, DataFrame) else rows
    batch = max(table[BATCH].to_pylist(), default=NO_BATCH)
    between = [x for x in done_after(lake, batch) if x < run.batch_id]
    if batch >= run.batch_id or between:
        raise _unknown(run, f"version {run.memory_version} of table router_memory is another one")
    return run


def _with_outcomes(lake: Lake, run: Run) -> Run:
    """The run with a version of `outcomes` that has the batches before it, and not itself.

    Where the table has lost the batch, that is the one that it has now.
    """
    newest = lake.newest_transaction(OUTCOMES.name, run.once(OUTCOMES.name).application)
    if run.rejects_duplicates and newest < run.batch_id:
        return replace(run, outcomes_version=lake.version(OUTCOMES.name))
    return run


def _refuse_other(lake: Lake, run: Run, again: RoutedAgain) -> None:
    """Refuse what does not lead to what is known of the batch.

    Raises:
        LakeStateError: to other counts, or to another memory.
    """
    was, now = (_counts(x) for x in (summary_of(lake, run), again.summary))
    rows = [x for x in current_rows(lake).to_pylist() if x[BATCH] == run.batch_id]
    memories = {x[c.QMGR]: x[PAYLOAD] for x in rows if not is_damaged(x[PAYLOAD])}
    both = memories.keys() & again.memories.keys()
    differ = [name for name in _COMPARED if was[name] != now[name]]
    if any(from_bytes(memories[x]) != from_bytes(again.memories[x]) for x in both):
        differ.append(ROUTER_MEMORY.name)
    if differ:
        raise LakeStateError(
            f"batch {run.batch_id} routed again differs from what is known of it, in "
            f"{', '.join(differ)}: set binding_ttl and exit as they were then, or restore the "
            "tables"
        )


def _counts(summary: Any) -> Mapping[str, Any]:  # noqa: ANN401
    return {name: getattr(summary, name) for name in _COMPARED}


def _align_history(lake: Lake) -> None:
    """Write the rows of `balance_history` that the memory has otherwise."""
    wanted = history_of(lake, memories_in(current_rows(lake)))
    there = lake.in_memory(BALANCE_HISTORY.name)
    differ = wanted.join(there, wanted.column_names, join_type="left anti")
    lake.merge(BALANCE_HISTORY.name, differ.select(wanted.column_names).cast(wanted.schema))
