"""One micro-batch of the stateful query: evaluated once, then written table by table.

All writes carry the batch's number as transaction, or are merges, so that a batch that was killed
between a table's commit and the checkpoint's can be routed again.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import ClwlError, LakeStateError, SplitError
from clwl_spark.keeping import ROWS_HERE
from clwl_spark.routing.blocks import KIND, KIND_REJECTS, MESSAGES, SPLIT
from clwl_spark.routing.engines import AUTO, refused_by_arrow
from clwl_spark.routing.provide import PlanProvider
from clwl_spark.routing.routed import CHANNELS, KIND_HISTORY, KIND_MISSING, KIND_OUTCOMES
from clwl_spark.routing.runs import Run, RunSummary, finish
from clwl_spark.routing.stream import FIGURES, Bounds, routed_blocks
from clwl_spark.routing.unpack import DATA, figures, missing_plan_ids, unpack_history
from clwl_spark.schemas import BALANCE_HISTORY, OUTCOMES, REJECTED_MESSAGES
from clwl_spark.storage import Lake, Transaction
from clwl_spark.streams import lent
from clwl_spark.vocabulary import Algorithm

PLANNING_ATTEMPTS = 3


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


class _LaterBatchError(ClwlError):
    """The batch that was gone on with is routed; what follows belongs to another run."""


class _PlansMissingError(ClwlError):
    """Messages ask for plans that were not made yet."""

    def __init__(self, plan_ids: Sequence[int]) -> None:
        self.plan_ids = plan_ids
        super().__init__(f"{len(plan_ids)} plans are missing")


class Batch:
    """The micro-batch of a run."""

    def __init__(self, lake: Lake, run: Run, options: RouteOptions, provider: PlanProvider) -> None:
        """Route `run` in `lake` with the plans of `provider`."""
        self._lake = lake
        self._run = run
        self._options = options
        self._provider = provider
        self._summary = RunSummary(run.run_id)
        self._failed: ClwlError | None = None
        self._started = time.monotonic()

    def route(self) -> RunSummary:
        """Route the batch; where plans are missing, make them and route it again.

        Raises:
            EarlierBatchError: the checkpoint has to route the batch before first.
            LakeStateError: the checkpoint does not belong to the lake.
        """
        for _ in range(PLANNING_ATTEMPTS):
            try:
                self._run_query()
            except _PlansMissingError as missing:
                self._provider.plan_missing(missing.plan_ids)
            except _LaterBatchError:
                return self._summary
            except SplitError as error:
                self._provider.go_sparks_way(error)
            else:
                return self._summary
        raise LakeStateError(
            "messages ask for plans that cannot be made: were messages deleted while they were "
            "routed? restore them, or route into another lake"
        )

    def _run_query(self) -> None:
        spark = self._lake.spark
        before = spark.conf.get("spark.sql.shuffle.partitions")
        blocks = routed_blocks(
            self._lake.stream("messages"),
            self._provider.facts(),
            self._run,
            Bounds(
                self._options.binding_ttl // timedelta(microseconds=1),
                self._options.worker_memory_mib,
            ),
            self._provider.engine,
        )
        checkpoint = f"{self._lake.checkpoint_root}/{self._run.checkpoint}"
        spark.conf.set("spark.sql.shuffle.partitions", str(self._options.state_partitions))
        try:
            with lent(self._write_batch) as write_batch:
                query = (
                    blocks.writeStream.foreachBatch(write_batch)
                    .option("checkpointLocation", checkpoint)
                    .trigger(availableNow=True)
                    .start()
                )
                query.awaitTermination()
        except StreamingQueryException as error:
            failed, self._failed = self._failed or refused_by_arrow(error), None
            if failed is not None:
                raise failed from None
            raise
        finally:
            spark.conf.set("spark.sql.shuffle.partitions", str(before))

    def _write_batch(self, blocks: DataFrame, batch_id: int) -> None:
        try:
            self._check_batch(batch_id)
            self._write(blocks, batch_id)
        except ClwlError as error:
            self._failed = error
            raise

    def _check_batch(self, batch_id: int) -> None:
        """The checkpoint's batch must be the run's."""
        run = self._run
        if batch_id == run.batch_id:
            return
        if run.resumed and batch_id == run.batch_id + 1:
            raise _LaterBatchError("the batch is routed")
        if not run.resumed and batch_id == run.batch_id - 1:
            raise EarlierBatchError("the batch before was not committed")
        raise self._foreign_checkpoint(batch_id)

    def _foreign_checkpoint(self, batch_id: int) -> LakeStateError:
        return LakeStateError(
            f"the checkpoint in {self._lake.checkpoint_root} is at batch {batch_id}, the lake's "
            f"runs at {self._run.batch_id}: one of them was lost or copied; restore both as of "
            "one moment, or route into another lake"
        )

    def _write(self, blocks: DataFrame, batch_id: int) -> None:
        """Evaluate the batch once, then write its tables; each write is idempotent.

        A batch whose transactions are known already must be evaluated all the same, else its
        state is never written and the query stays stuck.
        """
        blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            missing = F.when(F.col(KIND) == KIND_MISSING, F.col(DATA)).alias(DATA)
            said = blocks.select(KIND, MESSAGES, FIGURES, SPLIT, missing).collect()
            plan_ids = [x for row in said if row[DATA] for x in missing_plan_ids(row[DATA])]
            if plan_ids:
                raise _PlansMissingError(plan_ids)
            summary = _summary(self._run, batch_id, said)
            if self._run.written not in (None, summary.messages):
                raise self._foreign_checkpoint(batch_id)
            splits = {row[SPLIT] for row in said if row[KIND] == KIND_OUTCOMES}
            channels = sum(figures(x[FIGURES])[CHANNELS] for x in said if x[KIND] == KIND_HISTORY)
            self._write_tables(blocks, summary, splits, channels)
        finally:
            blocks.unpersist()
        seconds = round(time.monotonic() - self._started, 3)
        pinned = [pin.snapshot_id for pin in self._run.pins]
        engine = self._provider.engine.name
        self._summary = replace(summary, seconds=seconds, snapshots=pinned, engine=engine)
        finish(self._lake, self._run, self._summary)

    def _write_tables(
        self, blocks: DataFrame, summary: RunSummary, splits: set[str], channels: int
    ) -> None:
        engine = self._provider.engine
        once = self._once(OUTCOMES.name)
        engine.write_outcomes(self._lake, _of(blocks, KIND_OUTCOMES), splits, once)
        if summary.rejected:
            at = F.lit(self._run.started_at)
            rejected = engine.rejected(_of(blocks, KIND_REJECTS)).withColumn(c.REJECTED_AT, at)
            self._lake.append(REJECTED_MESSAGES.name, rejected, self._once(REJECTED_MESSAGES.name))
        self._lake.merge(BALANCE_HISTORY.name, self._history(blocks, channels))

    def _history(self, blocks: DataFrame, channels: int) -> DataFrame | pa.Table:
        """Rows of `balance_history`; in memory unless they are very many.

        Half a million of them take Spark 6 s to merge, and delta-rs half a second.
        """
        history = _of(blocks, KIND_HISTORY).select(DATA)
        if channels > ROWS_HERE:
            return history.mapInArrow(unpack_history, BALANCE_HISTORY.schema)
        wanted = self._lake.arrow_schema(BALANCE_HISTORY.name)
        rows = unpack_history(iter(history.toArrow().to_batches()))
        found = [pa.table(x).cast(wanted) for x in rows]
        return pa.concat_tables([wanted.empty_table(), *found])

    def _once(self, table: str) -> Transaction:
        return Transaction(f"clwl-{self._run.router_id}-{table}", self._run.batch_id)


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
