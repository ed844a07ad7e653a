"""The `runs` table: what a run uses is written down before it routes, its counts afterwards.

A run that was killed is found again as RUNNING; the next run then uses the same snapshots for the
same micro-batch, so that its outcomes are those that the killed one would have given.
"""

import platform
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.intake import Pin
from clwl_spark.schemas import RUNS
from clwl_spark.storage import Lake
from clwl_spark.vocabulary import Algorithm, SnapshotStatus

RUNNING: Final = "RUNNING"
DONE: Final = "DONE"
_PACKAGES: Final = ("clwl-spark", "pyspark", "delta-spark", "pyarrow", "pandas", "numba")


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
class Run:
    """A run that has begun.

    Attributes:
        run_id: the run.
        batch_id: the micro-batch that it routes.
        pins: the valid snapshots that it uses, in order.
        algorithm: the lake's algorithm.
        router_id: names the lake's checkpoint.
        started_at: when it began.
        resumed: a killed run of the same batch is gone on with.
        written: messages of the batch where all its tables were written, else None.
    """

    run_id: str
    batch_id: int
    pins: tuple[Pin, ...]
    algorithm: Algorithm
    router_id: str
    started_at: datetime
    resumed: bool = False
    written: int | None = None


def begin(lake: Lake, algorithm: Algorithm | None) -> Run:
    """Begin a run, or go on with the one that was killed; it is written down.

    Raises:
        LakeStateError: the lake was routed with another algorithm.
    """
    newest = lake.read_few(RUNS.name, or_empty=False).orderBy(F.desc("batch_id")).limit(1).collect()
    last = newest[0] if newest else None
    if last is None:
        batch_id, used, router_id = 0, algorithm or Algorithm.V9, uuid.uuid4().hex
    else:
        _refuse_other(lake, Algorithm(last["algorithm"]), algorithm)
        if last[c.STATUS] == RUNNING:
            return _again(lake, last)
        batch_id, used = last["batch_id"] + 1, Algorithm(last["algorithm"])
        router_id = last["router_id"]
    pins = tuple(valid_pins(lake))
    run = Run(uuid.uuid4().hex, batch_id, pins, used, router_id, datetime.now(UTC))
    lake.append(RUNS.name, _row(lake, run, RunSummary(run.run_id), RUNNING))
    return run


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
    rows = (
        lake.read_few(RUNS.name, or_empty=False)
        .where(F.col("batch_id") == run.batch_id - 1)
        .collect()
    )
    if not rows:
        raise LakeStateError(f"table runs has no batch {run.batch_id - 1}: restore the table")
    return _again(lake, rows[0])


def _again(lake: Lake, row: Row) -> Run:
    """Go on with a run, with the snapshots that it began with."""
    used = F.col(c.SNAPSHOT_ID).isin(row["snapshots"])
    return Run(
        row[c.RUN_ID],
        row["batch_id"],
        tuple(_pins(lake.read_few("snapshots", or_empty=False).where(used))),
        Algorithm(row["algorithm"]),
        row["router_id"],
        row["started_at"],
        resumed=True,
        written=row["messages"] if row[c.STATUS] == DONE else None,
    )


def valid_pins(lake: Lake) -> list[Pin]:
    """The valid snapshots by (valid_from, snapshot_id).

    Raises:
        MissingLakeError: there is no table `snapshots`.
    """
    valid = lake.read_few("snapshots", or_empty=False).where(
        (F.col(c.STATUS) == SnapshotStatus.VALID.value) & F.col(c.VALID_FROM).isNotNull()
    )
    return _pins(valid)


def _pins(snapshots: DataFrame) -> list[Pin]:
    rows = snapshots.select(c.SNAPSHOT_ID, F.unix_micros(c.VALID_FROM).alias("at")).collect()
    pins = [Pin(row[c.SNAPSHOT_ID], row["at"]) for row in rows]
    return sorted(pins, key=lambda pin: (pin.valid_from, pin.snapshot_id.encode()))


def finish(lake: Lake, run: Run, summary: RunSummary) -> None:
    """Write the run's counts, once all tables of its batch are written."""
    lake.merge(RUNS.name, _row(lake, run, summary, DONE))


def abandon(lake: Lake, run: Run) -> None:
    """Take back a run that found nothing to route."""
    of_run = f"DELETE FROM {lake.sql_name(RUNS.name)} WHERE run_id = '{run.run_id}'"  # noqa: S608
    lake.spark.sql(of_run)


def _row(lake: Lake, run: Run, summary: RunSummary, status: str) -> DataFrame:
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
        summary.by_reason,
        summary.seconds,
        summary.worker_peak_mib,
        run.algorithm.value,
        run.router_id,
        _versions(_PACKAGES),
    )
    return lake.spark.createDataFrame([row], RUNS.schema)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
