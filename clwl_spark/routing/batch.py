"""One micro-batch of the stateful query: evaluated once, then written table by table.

All writes carry the batch's number as transaction, or are merges, so that a batch that was killed
between a table's commit and the checkpoint's can be routed again.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import ClwlError, LakeStateError, SplitError
from clwl_spark.routing.blocks import KIND, KIND_REJECTS, MESSAGES, SPLIT
from clwl_spark.routing.engines import AUTO, Engine
from clwl_spark.routing.notes import Note
from clwl_spark.routing.provide import PlanProvider
from clwl_spark.routing.routed import CHANNELS, KIND_HISTORY, KIND_MISSING, KIND_OUTCOMES
from clwl_spark.routing.runs import Run, RunSummary, finish, summary_of
from clwl_spark.routing.stream import FIGURES, Bounds, routed_blocks
from clwl_spark.routing.unpack import DATA, figures, missing_plan_ids, unpack_history
from clwl_spark.schemas import BALANCE_HISTORY, OUTCOMES, REJECTED_MESSAGES
from clwl_spark.spark.conf import with_settings
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import ROWS_HERE, persisted
from clwl_spark.spark.streams import run_batches
from clwl_spark.storage import Lake, Transaction
from clwl_spark.vocabulary import Algorithm

PLANNING_ATTEMPTS: Final = 3
_PARTITIONS: Final = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """How to route.

    Attributes:
        algorithm: None = the lake's, and v9 for a new lake.
        binding_ttl: a binding without a message for longer is forgotten.
        exit_function: `module:function` of the cluster workload exit; blank = none.
        worker_memory_mib: what a Python worker may use for one bucket's messages; beyond it they
            wait on local disk.
        state_partitions: parts that queue managers are spread over; fixed by a lake's first run.
        engine: "spark", "arrow", or "auto": see `routing.engines`.
    """

    algorithm: Algorithm | None = None
    binding_ttl: timedelta = timedelta(hours=24)
    exit_function: str = ""
    worker_memory_mib: int = 512
    state_partitions: int = 8
    engine: str = AUTO


class EarlierBatchError(ClwlError):
    """The checkpoint is at the batch before: its run was killed when all was written but that."""


class LaterBatchError(ClwlError):
    """The batch that was gone on with is routed; what follows belongs to another run."""


class PlansMissingError(ClwlError):
    """Messages ask for plans that were not made yet; which ones is left in a note."""


def route_batch(lake: Lake, run: Run, options: RouteOptions, provider: PlanProvider) -> RunSummary:
    """Route the micro-batch of a run; where plans are missing, make them and route it again.

    Args:
        lake: the lake.
        run: which is written down.
        options: how to route.
        provider: has the plans.

    Raises:
        EarlierBatchError: the checkpoint has to route the batch before first.
        LakeStateError: the checkpoint does not belong to the lake.
    """
    started = time.time()
    for _ in range(PLANNING_ATTEMPTS):
        try:
            _run_query(lake, run, options, provider, started)
        except PlansMissingError:
            provider.plan_missing()
        except SplitError as error:
            provider.go_sparks_way(error)
        except LaterBatchError:
            return summary_of(lake, run)
        else:
            return summary_of(lake, run)
    raise LakeStateError(
        "messages ask for plans that cannot be made: were messages deleted while they were "
        "routed? restore them, or route into another lake"
    )


def _run_query(
    lake: Lake, run: Run, options: RouteOptions, provider: PlanProvider, started: float
) -> None:
    bounds = Bounds(options.binding_ttl // timedelta(microseconds=1), options.worker_memory_mib)
    messages = lake.stream("messages")
    blocks = routed_blocks(messages, provider.facts(), run, bounds, provider.engine)
    write = _Batch(lake, run, provider.engine, provider.missing, started).write
    with with_settings(lake.spark, {_PARTITIONS: str(options.state_partitions)}):
        run_batches(blocks, write, f"{lake.checkpoint_root}/{run.checkpoint}")


@dataclass(frozen=True, slots=True)
class _Batch:
    """The micro-batch of a run; with Spark Connect, in a process of the server's.

    Attributes:
        lake: where it is written.
        run: whose it is.
        engine: how blocks become outcomes.
        missing: says which plans are not there.
        started: when it began, in seconds since 1970.
    """

    lake: Lake
    run: Run
    engine: Engine
    missing: Note
    started: float

    def write(self, blocks: DataFrame, batch_id: int) -> None:
        """Evaluate the batch once, then write its tables; each write is idempotent.

        A batch whose transactions are known already must be evaluated all the same, else its
        state is never written and the query stays stuck.
        """
        self._check(batch_id)
        with persisted(blocks) as kept:
            missing = F.when(F.col(KIND) == KIND_MISSING, F.col(DATA)).alias(DATA)
            said = kept.select(KIND, MESSAGES, FIGURES, SPLIT, missing).collect()
            self._refuse_missing(
                [x for row in said if row[DATA] for x in missing_plan_ids(row[DATA])]
            )
            summary = _summary(self.run, batch_id, said)
            if self.run.written not in (None, summary.messages):
                raise self._foreign_checkpoint(batch_id)
            splits = {row[SPLIT] for row in said if row[KIND] == KIND_OUTCOMES}
            channels = sum(figures(x[FIGURES])[CHANNELS] for x in said if x[KIND] == KIND_HISTORY)
            self._write_tables(kept, summary, splits, channels)
        seconds = round(time.time() - self.started, 3)
        finish(self.lake, self.run, replace(summary, seconds=seconds, engine=self.engine.name))

    def _check(self, batch_id: int) -> None:
        """The checkpoint's batch must be the run's."""
        run = self.run
        if batch_id == run.batch_id:
            return
        if run.resumed and batch_id == run.batch_id + 1:
            raise LaterBatchError("the batch is routed")
        if not run.resumed and batch_id == run.batch_id - 1:
            raise EarlierBatchError("the batch before was not committed")
        raise self._foreign_checkpoint(batch_id)

    def _foreign_checkpoint(self, batch_id: int) -> LakeStateError:
        return LakeStateError(
            f"the checkpoint in {self.lake.checkpoint_root} is at batch {batch_id}, the lake's "
            f"runs at {self.run.batch_id}: one of them was lost or copied; restore both as of "
            "one moment, or route into another lake"
        )

    def _refuse_missing(self, plan_ids: Sequence[int]) -> None:
        if plan_ids:
            rows = [(x,) for x in plan_ids]
            self.missing.write(frame_from_rows(self.lake.spark, rows, self.missing.schema))
            raise PlansMissingError(f"{len(plan_ids)} plans are missing")

    def _write_tables(
        self, blocks: DataFrame, summary: RunSummary, splits: set[str], channels: int
    ) -> None:
        once = self._once(OUTCOMES.name)
        self.engine.write_outcomes(self.lake, _of(blocks, KIND_OUTCOMES), splits, once)
        if summary.rejected:
            at = F.lit(self.run.started_at)
            rejected = self.engine.rejected(_of(blocks, KIND_REJECTS)).withColumn(c.REJECTED_AT, at)
            self.lake.append(REJECTED_MESSAGES.name, rejected, self._once(REJECTED_MESSAGES.name))
        self.lake.merge(BALANCE_HISTORY.name, self._history(blocks, channels))

    def _history(self, blocks: DataFrame, channels: int) -> DataFrame | pa.Table:
        """Rows of `balance_history`; in memory unless they are very many.

        Half a million of them take Spark 6 s to merge, and delta-rs half a second.
        """
        history = _of(blocks, KIND_HISTORY).select(DATA)
        if channels > ROWS_HERE:
            return history.mapInArrow(unpack_history, BALANCE_HISTORY.schema)
        wanted = self.lake.arrow_schema(BALANCE_HISTORY.name)
        rows = unpack_history(iter(history.toArrow().to_batches()))
        found = [pa.table(x).cast(wanted) for x in rows]
        return pa.concat_tables([wanted.empty_table(), *found])

    def _once(self, table: str) -> Transaction:
        return Transaction(f"clwl-{self.run.router_id}-{table}", self.run.batch_id)


def _of(blocks: DataFrame, kind: str) -> DataFrame:
    return blocks.where(F.col(KIND) == kind)


def _summary(run: Run, batch_id: int, said: Sequence[Any]) -> RunSummary:
    """Add up what the blocks say of themselves."""
    reasons: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    peak = 0.0
    for row in said:
        found: dict[str, Any] = figures(row[FIGURES])
        reasons.update(found.get("by_reason", {}))
        totals["outcomes"] += found.get("outcomes", 0)
        totals["out_of_order"] += found.get("out_of_order", 0)
        peak = max(peak, found.get("peak_mib", 0.0))
        totals["messages"] += row[MESSAGES]
        totals["rejected"] += row[MESSAGES] if row[KIND] == KIND_REJECTS else 0
    return RunSummary(
        run.run_id,
        messages=totals["messages"],
        outcomes=totals["outcomes"],
        rejected=totals["rejected"],
        out_of_order=totals["out_of_order"],
        by_reason=dict(sorted(reasons.items())),
        worker_peak_mib=round(peak, 1),
        batch_id=batch_id,
    )
