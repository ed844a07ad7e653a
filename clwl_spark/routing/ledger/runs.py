"""The `runs` table: what a run uses is written down before it routes, its counts afterwards.

A run that was killed is found again as RUNNING; the next run then uses the same snapshots for the
same micro-batch, so that its outcomes are those that the killed one would have given.
"""

import platform
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import Any, Final

import pyarrow as pa

from clwl_spark.delta.commits import mark_transaction
from clwl_spark.delta.files import commit_time
from clwl_spark.delta.lake import Lake, Transaction
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Algorithm, Duplicates, SnapshotStatus
from clwl_spark.routing.intake.blocks import BUCKETS
from clwl_spark.routing.intake.by_spark import Pin
from clwl_spark.tables import MESSAGES, OUTCOMES, ROUTER_MEMORY, RUNS, SNAPSHOTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import micros

RUNNING: Final = "RUNNING"
DONE: Final = "DONE"
_PACKAGES: Final = ("clwl-spark", "pyspark", "delta-spark", "pyarrow", "pandas", "numba")
_BATCH: Final = "batch_id"
_CHECKPOINT: Final = "checkpoint"
_FROM: Final = "-from-"
NOTHING: Final = -1
"""The version of `messages` up to which nothing was taken."""
UNKNOWN: Final = -2
"""Stands for the version where the table is not what was routed: keys tell what is new."""
_SNAPSHOTS: Final = "snapshots"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did.

    `messages` = outcomes (a DIRECT publication counted once) + `rejected`; `batch_id` is None
    where there was nothing to route.
    """

    run_id: str
    messages: int = 0
    outcomes: int = 0
    rejected: int = 0
    out_of_order: int = 0
    by_reason: dict[str, int] = field(default_factory=dict)
    snapshots: list[str] = field(default_factory=list)
    seconds: float = 0.0
    worker_peak_mib: float = 0.0
    batch_id: int | None = None
    engine: str = "spark"

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl route --json` (CONTRACT)."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Taken:
    """How far batches have taken the messages.

    Attributes:
        table_id: Delta's id of the table `messages`; '' = nothing was taken.
        version: of it, up to which all was taken; NOTHING = none, UNKNOWN = only keys tell.
    """

    table_id: str = ""
    version: int = NOTHING


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has begun.

    Attributes:
        run_id: the run.
        batch_id: the micro-batch that it routes.
        pins: the valid snapshots that it uses, in order.
        algorithm: the lake's algorithm.
        router_id: names what the lake's routing writes; first in it is the number of buckets.
        started_at: when it began.
        memory_version: the version of `router_memory` that the batch begins with.
        taken: what the batches before took; None = only Spark's checkpoint knows.
        upto: what is taken after it; None = not known yet.
        checkpoint: folder of Spark's stateful query; '' = there is none that knows the batches
            before.
        outcomes_version: the version of `outcomes` that the batch begins with, whose messages are
            not routed again; None = duplicates are kept.
        runs_version: the version of `runs` that it was begun with.
        is_first_here: the lake was routed by a version of this package that knew no
            `router_memory`, and not yet by one that does.
        resumed: a killed run of the same batch is gone on with.
        written: messages of the batch where all its tables were written, else None.
    """

    run_id: str
    batch_id: int
    pins: tuple[Pin, ...]
    algorithm: Algorithm
    router_id: str
    started_at: datetime
    memory_version: int = 0
    taken: Taken | None = Taken()
    upto: Taken | None = None
    checkpoint: str = ""
    outcomes_version: int | None = None
    runs_version: int = 0
    is_first_here: bool = False
    resumed: bool = False
    written: int | None = None

    @property
    def buckets(self) -> int:
        """In how many buckets queue managers are; 0 = each is one of its own, as it once was."""
        number, dash, _ = self.router_id.partition("-")
        return int(number) if dash else 0

    @property
    def first_batch(self) -> int:
        """The batch that the checkpoint begins with: it counts from there."""
        _, _, first = self.checkpoint.partition(_FROM)
        return int(first) if first else 0

    @property
    def planning_checkpoint(self) -> str:
        """What the checkpoint of the stream that plans is called; it begins with the other one."""
        return self.router_id + "".join(self.checkpoint.partition(_FROM)[1:])

    @property
    def begins_checkpoint(self) -> bool:
        """Whether the checkpoint begins with the run's batch, and that is not the first of all."""
        return bool(self.batch_id) and self.first_batch == self.batch_id

    @property
    def rejects_duplicates(self) -> bool:
        """Whether messages that batches before have routed are set aside."""
        return self.outcomes_version is not None

    def once(self, table: str) -> Transaction:
        """What makes the batch's append to a table be done once."""
        return Transaction(f"clwl-{self.router_id}-{table}", self.batch_id)

    def with_new_checkpoint(self) -> "Run":
        """The run with a checkpoint that begins with its batch."""
        behind = f"{_FROM}{self.batch_id}" if self.batch_id else ""
        return replace(self, checkpoint=f"{_folder(self.router_id)}{behind}")


def _folder(router_id: str) -> str:
    """Folder of the first checkpoint, such that a package which knows no buckets has none."""
    return f"{'buckets' if '-' in router_id else 'route'}-{router_id}"


def begin(lake: Lake, algorithm: Algorithm | None, duplicates: Duplicates = Duplicates.KEEP) -> Run:
    """Begin a run, or go on with the one that was killed, as it was begun; nothing is written.

    Args:
        lake: which has `outcomes` already.
        algorithm: None = the lake's.
        duplicates: what becomes of messages that were routed before.

    Raises:
        LakeStateError: the lake was routed with another algorithm.
    """
    runs_version = lake.version(RUNS.name)
    last = newest_run(lake)
    if last is None:
        imported = imported_algorithm(lake)
        if imported is not None:
            _refuse_other(lake, imported, algorithm)
        used = imported or algorithm or Algorithm.V9
        router_id = f"{BUCKETS}-{uuid.uuid4().hex}"
        run = Run(uuid.uuid4().hex, 0, (), used, router_id, datetime.now(UTC))
    else:
        _refuse_other(lake, Algorithm(last["algorithm"]), algorithm)
        if last[c.STATUS] == RUNNING:
            return _again(lake, last)
        run = after(last)
        run = replace(run, taken=still_taken(lake, run.taken, last["finished_at"]))
    return replace(
        run,
        pins=tuple(valid_pins(lake)),
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
        Algorithm(row["algorithm"]),
        row["router_id"],
        datetime.now(UTC),
        taken=_upto(row),
        checkpoint=_checkpoint_of(row),
        is_first_here=row.get("memory_version") is None,
    )


def mark_imported(lake: Lake, algorithm: Algorithm, batch_id: int) -> None:
    """Say that the memory before a batch was imported, and of which algorithm it is."""
    if lake.is_here:
        mark_transaction(lake.path(ROUTER_MEMORY.name), _imported(algorithm), batch_id)


def imported_before(lake: Lake) -> int:
    """The last batch before which a memory was imported; 0 = none was since the first one."""
    of = ROUTER_MEMORY.name
    return max(0, *(lake.newest_transaction(of, _imported(x)) for x in Algorithm))


def imported_algorithm(lake: Lake) -> Algorithm | None:
    """The algorithm that `mark_imported` has said; None = nothing was imported."""
    if not lake.is_here:
        return None
    of = ROUTER_MEMORY.name
    return next((x for x in Algorithm if lake.newest_transaction(of, _imported(x)) >= 0), None)


def _imported(algorithm: Algorithm) -> str:
    """The application of the transaction that an import of a memory is."""
    return f"clwl-imported-{algorithm.value}"


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
        changed = {**row, _CHECKPOINT: None}
        lake.merge(RUNS.name, lake.arrow_rows(RUNS.name, [[changed[x] for x in RUNS.names]]))


def _upto(row: Mapping[str, Any]) -> Taken | None:
    """What is taken after a run's batch, as its row says."""
    version = row.get("messages_version")
    return None if version is None else Taken(row["messages_id"], version)


def _checkpoint_of(row: Mapping[str, Any]) -> str:
    """The checkpoint that knows a run's batch; '' = none does."""
    is_older = row.get("memory_version") is None
    return _folder(row["router_id"]) if is_older else row[_CHECKPOINT] or ""


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


def _refuse_other(lake: Lake, first: Algorithm, wanted: Algorithm | None) -> None:
    """Refuse an algorithm that is not the lake's."""
    if wanted not in (None, first):
        raise LakeStateError(
            f"lake {lake.root} was first routed with algorithm {first.value}; "
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
    used = set(row[_SNAPSHOTS])
    rows = lake.rows(SNAPSHOTS.name)
    before, upto = row["messages_from"], _upto(row)
    memory_version = row["memory_version"]
    return Run(
        row[c.RUN_ID],
        row[_BATCH],
        tuple(_pins([x for x in rows if x[c.SNAPSHOT_ID] in used])),
        Algorithm(row["algorithm"]),
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


def valid_pins(lake: Lake) -> list[Pin]:
    """The valid snapshots by (valid_from, snapshot_id).

    Raises:
        MissingLakeError: there is no table `snapshots`.
    """
    rows = lake.rows(SNAPSHOTS.name)
    valid = SnapshotStatus.VALID.value
    return _pins([x for x in rows if x[c.STATUS] == valid and x[c.VALID_FROM] is not None])


def _pins(snapshots: list[dict[str, Any]]) -> list[Pin]:
    pins = [Pin(row[c.SNAPSHOT_ID], micros(row[c.VALID_FROM])) for row in snapshots]
    return sorted(pins, key=lambda pin: (pin.valid_from, pin.snapshot_id.encode()))


def finish(lake: Lake, run: Run, summary: RunSummary) -> None:
    """Write the run's counts, once all tables of its batch are written."""
    lake.merge(RUNS.name, _row(lake, run, summary, DONE))


def summary_of(lake: Lake, run: Run) -> RunSummary:
    """What a run did, as `finish` has written it; nothing, if it did not."""
    row = lake.rows(RUNS.name, c.RUN_ID, [run.run_id])[0]
    if row[c.STATUS] != DONE:
        return RunSummary(run.run_id)
    own = {name: row[name] for name in RunSummary.__slots__}
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
        run.algorithm.value,
        run.router_id,
        list(_versions().items()),
        summary.engine if status == DONE else None,
        end.table_id if end else None,
        run.taken.version if run.taken else None,
        run.upto.version if run.upto else None,
        run.memory_version,
        run.checkpoint or None,
        run.outcomes_version,
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
