"""The `runs` table: what a run uses is written down before it routes, its counts afterwards.

A run that was killed is found again as RUNNING; the next run then uses the same snapshots for the
same micro-batch, so that its outcomes are those that the killed one would have given.
"""

import platform
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import Any, Final

import pyarrow as pa

from clwl_spark.algorithm.semantics import ANY, NEWEST, Semantics, Wanted
from clwl_spark.delta.files import commit_time
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Duplicates
from clwl_spark.routing.intake.blocks import BUCKETS
from clwl_spark.routing.ledger.imported import imported_semantics
from clwl_spark.routing.ledger.run_record import UNKNOWN, Run, RunSummary, Taken, first_checkpoint
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.semantics import semantics_in
from clwl_spark.tables import MESSAGES, OUTCOMES, ROUTER_MEMORY, RUNS
from clwl_spark.tables import columns as c

RUNNING: Final = "RUNNING"
DONE: Final = "DONE"
_PACKAGES: Final = ("clwl-spark", "pyspark", "delta-spark", "pyarrow", "pandas", "numba")
_BATCH: Final = "batch_id"
_CHECKPOINT: Final = "checkpoint"
_STREAM: Final = "stream"


def begin(lake: Lake, wanted: Wanted = ANY, duplicates: Duplicates = Duplicates.KEEP) -> Run:
    """Begin a run, or go on with the one that was killed, as it was begun; nothing is written.

    Args:
        lake: which has `outcomes` already.
        wanted: the semantics that are asked for.
        duplicates: what becomes of messages that were routed before.

    Raises:
        LakeStateError: the lake was routed with other semantics.
    """
    runs_version = lake.version(RUNS.name)
    last = newest_run(lake)
    if last is None:
        imported = imported_semantics(lake)
        if imported is not None:
            _refuse_other(lake, imported, wanted)
        used = imported or wanted.or_those(NEWEST)
        router_id = f"{BUCKETS}-{uuid.uuid4().hex}"
        run = Run(uuid.uuid4().hex, 0, (), used, router_id, datetime.now(UTC))
    else:
        _refuse_other(lake, semantics_in(last), wanted)
        if last[c.STATUS] == RUNNING:
            return _again(lake, last)
        run = after(last)
        run = replace(run, taken=still_taken(lake, run.taken, last["finished_at"]))
    return replace(
        run,
        pins=snapshot_catalog(lake).pins,
        memory_version=lake.version(ROUTER_MEMORY.name),
        outcomes_version=lake.version(OUTCOMES.name) if duplicates == Duplicates.REJECT else None,
        runs_version=runs_version,
    )


def still_taken(lake: Lake, taken: Taken | None, finished_at: datetime | None) -> Taken | None:
    """What was taken, unless `messages` is an older copy that was appended to again.

    The commit that a version of a table is made by came before the run that took it ended.

    Args:
        lake: the lake.
        taken: as the run's row says.
        finished_at: when the run ended; None = it has not.

    Returns:
        With version UNKNOWN where the table is another one by now.
    """
    if taken is None or taken.version < 0 or finished_at is None or not lake.is_here:
        return taken
    made = commit_time(lake.path(MESSAGES.name), taken.version)
    return taken if made is None or made <= finished_at else replace(taken, version=UNKNOWN)


def after(row: Mapping[str, Any]) -> Run:
    """The run that comes after one that is done, as its row of `runs` says; it has no pins yet."""
    return Run(
        uuid.uuid4().hex,
        row[_BATCH] + 1,
        (),
        semantics_in(row),
        row["router_id"],
        datetime.now(UTC),
        taken=_upto(row),
        checkpoint=_checkpoint_of(row),
        is_first_here=row.get("memory_version") is None,
    )


def without_checkpoint(lake: Lake, row: Mapping[str, Any]) -> None:
    """Let the batch after one that is done begin with the lake's memory, not with Spark's.

    Raises:
        LakeStateError: which messages are routed is known to Spark's checkpoint alone.
    """
    if _upto(row) is None:
        raise LakeStateError(
            f"which messages of lake {lake.root} are routed is known to Spark's checkpoint alone: "
            "route it once more first"
        )
    if row[_CHECKPOINT] is not None:
        _write(lake, {**row, _CHECKPOINT: None})


def _upto(row: Mapping[str, Any]) -> Taken | None:
    """What is taken after a run's batch, as its row says."""
    version = row.get("messages_version")
    return None if version is None else Taken(row["messages_id"], version)


def _checkpoint_of(row: Mapping[str, Any]) -> str:
    """The checkpoint that knows a run's batch; '' = none does."""
    is_older = row.get("memory_version") is None
    return first_checkpoint(row["router_id"]) if is_older else row[_CHECKPOINT] or ""


def claim(lake: Lake, run: Run) -> None:
    """Write down what a run uses; one that is gone on with is there already.

    Raises:
        LakeStateError: another run has claimed the batch in the meantime.
    """
    if run.resumed:
        return
    once = Transaction(f"clwl-{RUNS.name}", run.runs_version)
    lake.append(RUNS.name, _row(lake, run, RunSummary(run.run_id), RUNNING), once)
    if not lake.rows(RUNS.name, c.RUN_ID, [run.run_id]):
        raise routed_elsewhere(lake)


def write_again(lake: Lake, run: Run) -> None:
    """Write down what a run that has begun uses instead."""
    lake.merge(RUNS.name, _row(lake, run, RunSummary(run.run_id), RUNNING))


def routed_elsewhere(lake: Lake) -> LakeStateError:
    """Another run routes the lake at this moment."""
    return LakeStateError(
        f"lake {lake.root} is being routed by another run: wait until it ends; a run that was "
        "killed is gone on with by the next one"
    )


def _refuse_other(lake: Lake, first: Semantics, wanted: Wanted) -> None:
    """Refuse semantics that are not the lake's."""
    if wanted.or_those(first) != first:
        raise LakeStateError(
            f"lake {lake.root} was first routed with {first}; "
            f"{wanted} would mix two histories: route into another lake"
        )


def previous(lake: Lake, run: Run) -> Run:
    """The run before this one: its batch was written, but the checkpoint does not know.

    Raises:
        LakeStateError: there is none.
    """
    return run_of_batch(lake, run.batch_id - 1)


def run_of_batch(lake: Lake, batch_id: int) -> Run:
    """The run that has routed a batch, or has begun to, with the snapshots that it began with.

    Raises:
        LakeStateError: there is none.
    """
    rows = [row for row in lake.rows(RUNS.name) if row[_BATCH] == batch_id]
    if not rows:
        raise LakeStateError(f"table runs has no batch {batch_id}: restore the table")
    return _again(lake, rows[0])


def newest_run(lake: Lake) -> dict[str, Any] | None:
    """The row of the newest batch; None = no run was ever written down."""
    rows = lake.greatest(RUNS.name, _BATCH)
    return rows[0] if rows else None


def _again(lake: Lake, row: dict[str, Any]) -> Run:
    """Go on with a run, with the snapshots that it began with."""
    pins = snapshot_catalog(lake).pins_of(row["snapshots"])
    before, upto = row["messages_from"], _upto(row)
    memory_version = row["memory_version"]
    return Run(
        row[c.RUN_ID],
        row[_BATCH],
        pins,
        semantics_in(row),
        row["router_id"],
        row["started_at"],
        lake.version(ROUTER_MEMORY.name) if memory_version is None else memory_version,
        None if before is None else Taken(row["messages_id"], before),
        upto,
        _checkpoint_of(row),
        row["outcomes_version"],
        is_first_here=memory_version is None,
        resumed=True,
        written=row["messages"] if row[c.STATUS] == DONE else None,
    )


def finish(lake: Lake, run: Run, summary: RunSummary) -> None:
    """Write the run's counts, once all tables of its batch are written."""
    lake.merge(RUNS.name, _row(lake, run, summary, DONE))


def write_stream(lake: Lake, run: Run, figures: Mapping[str, int]) -> None:
    """Add what Spark says of the stream to a run that is done; it is told when its batch is over.

    A process that is killed in between leaves null, and nothing else.
    """
    if figures:
        (row,) = lake.rows(RUNS.name, c.RUN_ID, [run.run_id])
        _write(lake, {**row, _STREAM: list(figures.items())})


def _write(lake: Lake, row: Mapping[str, Any]) -> None:
    lake.merge(RUNS.name, lake.arrow_rows(RUNS.name, [[row[x] for x in RUNS.names]]))


def summary_of(lake: Lake, run: Run) -> RunSummary:
    """What a run did, as `finish` has written it; nothing, if it did not."""
    row = lake.rows(RUNS.name, c.RUN_ID, [run.run_id])[0]
    if row[c.STATUS] != DONE:
        return RunSummary(run.run_id)
    own = {name: row[name] for name in RunSummary.__slots__ if row.get(name) is not None}
    return RunSummary(**{**own, "by_reason": dict(sorted(own["by_reason"]))})


def abandon(lake: Lake, run: Run) -> None:
    """Take back a run that found nothing to route."""
    lake.delete(RUNS.name, "run_id", run.run_id)


def _row(lake: Lake, run: Run, summary: RunSummary, status: str) -> pa.Table:
    end = run.upto or run.taken
    row = (
        run.run_id,
        run.started_at,
        datetime.now(UTC) if status == DONE else None,
        status,
        run.batch_id,
        [pin.snapshot_id for pin in run.pins],
        summary.messages,
        summary.outcomes,
        summary.rejected,
        summary.out_of_order,
        list(summary.by_reason.items()),
        summary.seconds,
        summary.worker_peak_mib,
        run.semantics.algorithm.value,
        run.semantics.edition.value,
        run.router_id,
        list(_versions().items()),
        summary.engine if status == DONE else None,
        end.table_id if end else None,
        run.taken.version if run.taken else None,
        run.upto.version if run.upto else None,
        run.memory_version,
        run.checkpoint or None,
        run.outcomes_version,
        run.semantics.null_open_id.value if run.semantics.shares_null_opens else None,
        summary.own_opens,
        None,
    )
    return lake.arrow_rows(RUNS.name, [row])


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
