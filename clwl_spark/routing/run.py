"""One run of routing: plan what is asked for, route one micro-batch, write, count.

Exactly once. Before a run routes, its row in `runs` says which micro-batch it routes with which
snapshots. All writes of a batch carry the batch's number as transaction or are merges, and the
batch's frame is evaluated before any of them: a batch that was killed between a table's commit
and the checkpoint's is routed again from the state before it, with the same snapshots, to the
same rows, and what was written is not written twice.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from pyspark import StorageLevel
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import ClwlError, LakeStateError
from clwl_spark.plan.planning import Ladder
from clwl_spark.routing.blocks import KIND, KIND_REJECTS, MESSAGES, PAYLOAD, REJECT
from clwl_spark.routing.intake import JSON_OPTIONS
from clwl_spark.routing.provide import PlanProvider
from clwl_spark.routing.runs import Run, RunSummary, abandon, begin, finish
from clwl_spark.routing.sender import KIND_HISTORY, KIND_MISSING, KIND_OUTCOMES
from clwl_spark.routing.stream import FIGURES, routed_blocks
from clwl_spark.routing.unpack import (
    ANSWERS,
    DATA,
    figures,
    missing_plan_ids,
    unpack_history,
    unpack_outcomes,
    unpack_rejects,
)
from clwl_spark.rules.exit import load_exit
from clwl_spark.schemas import (
    BALANCE_HISTORY,
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    RUNS,
    SNAPSHOT_RESETS,
)
from clwl_spark.storage import Lake, Transaction
from clwl_spark.vocabulary import Algorithm

WRITTEN: Final = (
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_PLANS,
    ROUTE_CANDIDATES,
    BALANCE_HISTORY,
    SNAPSHOT_RESETS,
    RUNS,
)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """How to route.

    Attributes:
        algorithm: None = the lake's, and v9 for a new lake.
        binding_ttl: a binding without a message for longer is forgotten.
        exit_function: `module:function` of the cluster workload exit; blank = none.
        worker_memory_mib: what a Python worker may use for one queue manager's messages; beyond
            it they wait on local disk.
        state_partitions: parts that queue managers are spread over; fixed by a lake's first run.
    """

    algorithm: Algorithm | None = None
    binding_ttl: timedelta = timedelta(hours=24)
    exit_function: str = ""
    worker_memory_mib: int = 512
    state_partitions: int = 8


def route(
    lake: Lake, options: RouteOptions = RouteOptions(), progress: Progress | None = None
) -> RunSummary:
    """Route every message that is not routed yet, and stop.

    Args:
        lake: where the messages and the topology are; outcomes are written there.
        options: how to route.
        progress: is told (stage, done, of) as work goes on.

    Raises:
        MissingLakeError: there are no messages or no snapshots table.
        LakeStateError: the checkpoint does not belong to the lake, or another algorithm's lake.
    """
    started = time.monotonic()
    lake.read("messages")
    lake.read("snapshots")
    lake.create(WRITTEN)
    exit_function = load_exit(options.exit_function)
    tell = progress or (lambda _stage, _done, _of: None)
    while True:
        run = begin(lake, options.algorithm)
        provider = PlanProvider(lake, run, Ladder(run.algorithm, exit_function))
        tell("planning", 0, 1)
        provider.plan_new_messages()
        tell("routing", 0, 1)
        batch = _Batch(lake, run, options, provider)
        try:
            summary = batch.route()
        except _AlreadyRoutedError:
            finish(lake, run, RunSummary(run.run_id))
            continue
        tell("done", 1, 1)
        seconds = time.monotonic() - started
        summary = replace(
            summary, seconds=round(seconds, 3), snapshots=[x.snapshot_id for x in run.pins]
        )
        if summary.batch_id is None:
            abandon(lake, run)
        else:
            finish(lake, run, summary)
        return summary


def follow(
    lake: Lake,
    options: RouteOptions,
    poll_seconds: float,
    stop: Callable[[], bool],
    progress: Progress | None = None,
) -> Iterator[RunSummary]:
    """Route what comes, run after run, until `stop` says so; a summary for each run that routed.

    Each run reads the snapshots anew, so one that arrives counts from its `valid_from` on.
    """
    while not stop():
        summary = route(lake, options, progress)
        if summary.batch_id is not None:
            yield summary
        waited = time.monotonic() + poll_seconds
        while not stop() and time.monotonic() < waited:
            time.sleep(min(0.2, poll_seconds))


class _AlreadyRoutedError(ClwlError):
    """The killed run that was gone on with had routed its batch to the end."""


class _PlansMissingError(ClwlError):
    """Messages ask for plans that were not made yet."""

    def __init__(self, plan_ids: Sequence[int]) -> None:
        self.plan_ids = plan_ids
        super().__init__(f"{len(plan_ids)} plans are missing")


class _Batch:
    """One micro-batch of the stateful query."""

    def __init__(
        self, lake: Lake, run: Run, options: RouteOptions, provider: PlanProvider
    ) -> None:
        self._lake = lake
        self._run = run
        self._options = options
        self._provider = provider
        self._summary = RunSummary(run.run_id)
        self._failed: ClwlError | None = None

    def route(self) -> RunSummary:
        """Route the batch; where plans are missing, make them and route it again."""
        for _ in range(3):
            try:
                self._run_query()
            except _PlansMissingError as missing:
                self._provider.plan_missing(missing.plan_ids)
            else:
                return self._summary
        raise LakeStateError(
            "messages ask for plans that cannot be made: were messages deleted while they were "
            "routed? restore them, or route into another lake"
        )

    def _run_query(self) -> None:
        spark = self._lake.spark
        before = spark.conf.get("spark.sql.shuffle.partitions")
        spark.conf.set("spark.sql.shuffle.partitions", str(self._options.state_partitions))
        micros = int(self._options.binding_ttl / timedelta(microseconds=1))
        blocks = routed_blocks(
            self._lake.stream("messages"),
            self._provider.facts(),
            self._run.pins,
            micros,
            self._options.worker_memory_mib,
        )
        checkpoint = f"{self._lake.checkpoint_root}/route-{self._run.router_id}"
        try:
            query = (
                blocks.writeStream.foreachBatch(self._write_batch)
                .option("checkpointLocation", checkpoint)
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        except StreamingQueryException:
            if self._failed is not None:
                failed, self._failed = self._failed, None
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
        if batch_id == self._run.batch_id:
            return
        if self._run.resumed and batch_id == self._run.batch_id + 1:
            raise _AlreadyRoutedError("the batch is routed")
        raise LakeStateError(
            f"the checkpoint in {self._lake.checkpoint_root} is at batch {batch_id}, the lake's "
            f"runs at {self._run.batch_id}: one of them was lost or copied; restore both from "
            "the same moment, or route into another lake"
        )

    def _write(self, blocks: DataFrame, batch_id: int) -> None:
        """Evaluate the batch once, then write its tables; each write is idempotent."""
        blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            said = blocks.select(KIND, MESSAGES, FIGURES, F.when(
                F.col(KIND) == KIND_MISSING, F.col(DATA)
            ).alias(DATA)).collect()
            missing = [x for row in said if row[DATA] for x in missing_plan_ids(row[DATA])]
            if missing:
                raise _PlansMissingError(missing)
            self._summary = _summary(self._run, batch_id, said)
            self._write_tables(blocks, batch_id)
        finally:
            blocks.unpersist()

    def _write_tables(self, blocks: DataFrame, batch_id: int) -> None:
        parts = self._options.state_partitions
        outcomes = (
            _of(blocks, KIND_OUTCOMES)
            .select(c.QMGR, DATA, ANSWERS, PAYLOAD)
            .repartition(parts)
            .mapInArrow(unpack_outcomes, OUTCOMES.schema)
        )
        self._lake.append(OUTCOMES.name, outcomes, self._once(OUTCOMES.name, batch_id))
        if self._summary.rejected:
            rejected = self._rejected(_of(blocks, KIND_REJECTS))
            once = self._once(REJECTED_MESSAGES.name, batch_id)
            self._lake.append(REJECTED_MESSAGES.name, rejected, once)
        history = _of(blocks, KIND_HISTORY).select(c.QMGR, DATA)
        self._lake.merge(
            BALANCE_HISTORY.name, history.mapInArrow(unpack_history, BALANCE_HISTORY.schema)
        )

    def _rejected(self, blocks: DataFrame) -> DataFrame:
        """Rejected messages with all their columns."""
        documents = blocks.select(PAYLOAD).mapInArrow(unpack_rejects, f"{REJECT} string")
        parsed = F.from_json(REJECT, REJECTED_MESSAGES.schema, JSON_OPTIONS).alias("row")
        at = F.lit(self._run.started_at)
        return documents.select(parsed).select("row.*").withColumn(c.REJECTED_AT, at)

    def _once(self, table: str, batch_id: int) -> Transaction:
        return Transaction(f"clwl-{self._run.router_id}-{table}", batch_id)


def _of(blocks: DataFrame, kind: str) -> DataFrame:
    return blocks.where(F.col(KIND) == kind)


def _summary(run: Run, batch_id: int, said: "list[object]") -> RunSummary:
    """Add up what the blocks say of themselves."""
    reasons: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    peak = 0.0
    for row in said:
        found = figures(row[FIGURES])  # type: ignore[index]
        reasons.update(found.get("by_reason", {}))  # type: ignore[arg-type]
        totals["outcomes"] += int(found.get("outcomes", 0))  # type: ignore[call-overload]
        totals["out_of_order"] += int(found.get("out_of_order", 0))  # type: ignore[call-overload]
        peak = max(peak, float(found.get("peak_mib", 0.0)))  # type: ignore[arg-type]
        totals["messages"] += row[MESSAGES]  # type: ignore[index]
        if row[KIND] == KIND_REJECTS:  # type: ignore[index]
            totals["rejected"] += row[MESSAGES]  # type: ignore[index]
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
