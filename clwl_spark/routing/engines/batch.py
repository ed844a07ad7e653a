"""One micro-batch of the stateful query: evaluated once, then written table by table.

All writes carry the batch's number as transaction, or are merges, so that a batch that was killed
between a table's commit and the checkpoint's can be routed again.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.semantics import ANY, Wanted
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import ClwlError, LakeStateError, SplitError
from clwl_spark.mq.vocabulary import Duplicates
from clwl_spark.routing.engines.choose import AUTO, Engine
from clwl_spark.routing.engines.stream import FIGURES, Bounds, routed_blocks, state_settings
from clwl_spark.routing.intake.blocks import KIND, KIND_REJECTS, MESSAGES, SPLIT, from_ipc
from clwl_spark.routing.intake.duplicate_notes import DuplicateNotes
from clwl_spark.routing.ledger.run_record import APPLY, Run, RunSummary
from clwl_spark.routing.ledger.runs import finish, summary_of, write_stream
from clwl_spark.routing.ledger.source_offsets import taken_by_batch
from clwl_spark.routing.notes import Note
from clwl_spark.routing.output.routed import (
    CHANNELS,
    KIND_ASKED,
    KIND_HISTORY,
    KIND_MEMORY,
    KIND_MISSING,
    KIND_OUTCOMES,
)
from clwl_spark.routing.output.unpack import DATA, figures, missing_plan_ids, unpack_history
from clwl_spark.routing.plans.provide import PlanProvider
from clwl_spark.routing.state.bindings import BindingRules
from clwl_spark.routing.state.history import MEMORY
from clwl_spark.routing.state.memory_table import (
    PAYLOAD,
    memory_batches,
    memory_frame,
    remembers_before,
    unpack_memories,
    write_memories,
)
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.conf import with_settings
from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows
from clwl_spark.spark.materialize import ROWS_HERE, persisted
from clwl_spark.spark.streams import run_batches
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES, REJECTED_MESSAGES, ROUTER_MEMORY
from clwl_spark.tables import columns as c

PLANNING_ATTEMPTS: Final = 4
_PARTITIONS: Final = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """How to route.

    Attributes:
        wanted: the semantics that are asked for.
        binding_ttl: a binding without a message for longer is forgotten.
        duplicates: what becomes of messages that were routed before.
        exit_function: `module:function` of the cluster workload exit; blank = none.
        message_exit: `module:function` that is asked for each message; blank = none.
        worker_memory_mib: what a Python worker may use for one bucket's messages; beyond it they
            wait on local disk.
        state_partitions: parts that queue managers are spread over; fixed by a lake's first run.
        engine: "embedded", "arrow", "spark" or "auto": see `routing.engines.choose`.
        is_onward: the messages are on their way (`planning.plans.Ladder`).
        operator: Spark's operator that keeps the state of the stream, APPLY or TRANSFORM.
    """

    wanted: Wanted = ANY
    binding_ttl: timedelta = timedelta(hours=24)
    duplicates: Duplicates = Duplicates.KEEP
    exit_function: str = ""
    message_exit: str = ""
    worker_memory_mib: int = 512
    state_partitions: int = 8
    engine: str = AUTO
    is_onward: bool = False
    operator: str = APPLY


def of_lake(options: RouteOptions, lake: Lake) -> RouteOptions:
    """The options, by the lake's semantics where they ask for none."""
    return replace(options, wanted=options.wanted.or_those(semantics_of(lake)).wanted)


def binding_rules(options: RouteOptions, run: Run) -> BindingRules:
    """How a run binds messages."""
    ttl = options.binding_ttl // timedelta(microseconds=1)
    return BindingRules(ttl, run.semantics.shares_null_opens)


class EarlierBatchError(ClwlError):
    """The checkpoint is at the batch before: its run was killed when all was written but that."""


class CheckpointLostError(ClwlError):
    """The checkpoint does not know the batches before, which the lake's tables have whole."""


class LaterBatchError(ClwlError):
    """The batch that was gone on with is routed; what follows belongs to another run."""


class PlansMissingError(ClwlError):
    """Messages ask for plans that were not made yet; which ones is left in a note."""


class DuplicatesAskedError(ClwlError):
    """Whether messages are duplicates has to be looked up; which ones is left in a note."""


def route_batch(lake: Lake, run: Run, options: RouteOptions, provider: PlanProvider) -> RunSummary:
    """Route the micro-batch of a run; where plans are missing, make them and route it again.

    Args:
        lake: the lake.
        run: which is written down.
        options: how to route.
        provider: has the plans.

    Raises:
        EarlierBatchError: the checkpoint has to route the batch before first.
        CheckpointLostError: a new checkpoint has to be begun.
        LakeStateError: the checkpoint is ahead of the lake.
    """
    query = _Query(lake, run, options, provider, DuplicateNotes(lake, run), time.time())
    for _ in range(PLANNING_ATTEMPTS):
        try:
            told = query.start()
        except PlansMissingError:
            provider.plan_missing()
        except DuplicatesAskedError:
            query.duplicates.look_up()
        except SplitError as error:
            provider.go_sparks_way(error)
        except LaterBatchError:
            return summary_of(lake, run)
        else:
            write_stream(lake, run, told)
            return summary_of(lake, run)
    raise LakeStateError(
        "messages ask for plans that cannot be made: were messages deleted while they were "
        "routed? restore them, or route into another lake"
    )


@dataclass(frozen=True, slots=True)
class _Query:
    """The query that routes a run's batch, each time that it is tried.

    Attributes:
        lake: the lake.
        run: which is written down.
        options: how to route.
        provider: has the plans.
        duplicates: what is known of them.
        started: when it began, in seconds since 1970.
    """

    lake: Lake
    run: Run
    options: RouteOptions
    provider: PlanProvider
    duplicates: DuplicateNotes
    started: float

    def start(self) -> dict[str, int]:
        """Route the batch, and write it; what Spark says of the stream (`figures_of`)."""
        lake, run, engine = self.lake, self.run, self.provider.engine
        bounds = Bounds(
            binding_rules(self.options, run),
            self.options.worker_memory_mib,
            run.rejects_duplicates,
            self.options.message_exit,
        )
        before = run.taken.version if run.taken is not None and run.begins_checkpoint else None
        messages = lake.stream("messages", before)
        known = self.duplicates
        blocks = routed_blocks(messages, self._facts(), run, bounds, engine, known.set_aside)
        batch = _Batch(lake, run, engine, self.provider.missing, known.note, self.started)
        settings = {
            _PARTITIONS: str(self.options.state_partitions),
            **state_settings(lake.spark, run.operator),
        }
        with with_settings(lake.spark, settings):
            return run_batches(blocks, batch.write, f"{lake.checkpoint_root}/{run.checkpoint}")

    def _facts(self) -> DataFrame:
        """Facts, with all else that a bucket has to know.

        Grain: one row per queue manager, (qmgr, facts, memory), and (told) where duplicates are
        rejected.
        """
        facts = _with_memory(self.lake, self.run, self.provider)
        return self.duplicates.with_told(facts) if self.run.rejects_duplicates else facts


def _with_memory(lake: Lake, run: Run, provider: PlanProvider) -> DataFrame:
    """Facts, with the memory that Spark's state does not have where it begins with a later batch.

    The first batch of all begins with a memory that was imported, if there is one.

    Grain: one row per queue manager, (qmgr, facts, memory).
    """
    facts = provider.facts()
    if not run.first_batch and (run.batch_id or not remembers_before(lake, run)):
        return facts.withColumn(MEMORY, F.lit(None).cast("binary"))
    # One that is null is damaged, and not that of a queue manager which has none.
    payload = F.coalesce(F.col(PAYLOAD), F.lit(b""))
    memory = memory_frame(lake, run).select(c.QMGR, payload.alias(MEMORY))
    return facts.join(memory, c.QMGR, "left")


@dataclass(frozen=True, slots=True)
class _Batch:
    """The micro-batch of a run; with Spark Connect, in a process of the server's.

    Attributes:
        lake: where it is written.
        run: whose it is.
        engine: how blocks become outcomes.
        missing: says which plans are not there.
        asked: says what has to be known of duplicates.
        started: when it began, in seconds since 1970.
    """

    lake: Lake
    run: Run
    engine: Engine
    missing: Note
    asked: Note
    started: float

    def write(self, blocks: DataFrame, batch_id: int) -> None:
        """Evaluate the batch once, then write its tables; each write is idempotent.

        A batch whose transactions are known already must be evaluated all the same, else its
        state is never written and the query stays stuck.
        """
        self._check(batch_id)
        with persisted(blocks) as kept:
            lacking = F.when(F.col(KIND).isin(KIND_MISSING, KIND_ASKED), F.col(DATA)).alias(DATA)
            said = kept.select(KIND, MESSAGES, FIGURES, SPLIT, lacking).collect()
            missing, asked = (
                [bytes(x[DATA]) for x in said if x[KIND] == kind]
                for kind in (KIND_MISSING, KIND_ASKED)
            )
            self._refuse_missing([x for data in missing for x in missing_plan_ids(data)])
            self._refuse_unknown(asked)
            summary = _summary(self.run, said)
            if self.run.written not in (None, summary.messages):
                raise self._behind(batch_id)
            splits = {row[SPLIT] for row in said if row[KIND] == KIND_OUTCOMES}
            channels = sum(figures(x[FIGURES])[CHANNELS] for x in said if x[KIND] == KIND_HISTORY)
            self._write_tables(kept, summary, splits, channels)
        seconds = round(time.time() - self.started, 3)
        run = replace(self.run, upto=taken_by_batch(self.lake, self.run))
        finish(self.lake, run, replace(summary, seconds=seconds, engine=self.engine.name))

    def _check(self, batch_id: int) -> None:
        """The checkpoint's batch must be the run's."""
        run, batch = self.run, batch_id + self.run.first_batch
        if batch == run.batch_id:
            return
        if run.resumed and batch == run.batch_id + 1:
            raise LaterBatchError("the batch is routed")
        if batch > run.batch_id:
            raise self._foreign_checkpoint(batch)
        is_there = batch_id > 0 or run.batch_id == 1
        if is_there and not run.resumed and batch == run.batch_id - 1:
            raise EarlierBatchError("the batch before was not committed")
        raise self._behind(batch)

    def _behind(self, batch: int) -> ClwlError:
        """What to do with a checkpoint that does not have what the lake's runs took."""
        if self.run.taken is None:
            return self._foreign_checkpoint(batch)
        return CheckpointLostError("the checkpoint is behind")

    def _foreign_checkpoint(self, batch: int) -> LakeStateError:
        return LakeStateError(
            f"the checkpoint in {self.lake.checkpoint_root} is at batch {batch}, the lake's "
            f"runs at {self.run.batch_id}: one of them was lost or copied; restore both as of "
            "one moment, or route into another lake"
        )

    def _refuse_missing(self, plan_ids: Sequence[int]) -> None:
        if plan_ids:
            rows = [(x,) for x in plan_ids]
            self.missing.write(frame_from_rows(self.lake.spark, rows, self.missing.schema))
            raise PlansMissingError(f"{len(plan_ids)} plans are missing")

    def _refuse_unknown(self, asked: Sequence[bytes]) -> None:
        if asked:
            keys = pa.concat_tables([from_ipc(x) for x in asked])
            self.asked.write(frame_from_arrow(self.lake.spark, keys))
            raise DuplicatesAskedError(f"{keys.num_rows} messages may be duplicates")

    def _write_tables(
        self, blocks: DataFrame, summary: RunSummary, splits: set[str], channels: int
    ) -> None:
        once = self.run.once(OUTCOMES.name)
        self.engine.write_outcomes(self.lake, _of(blocks, KIND_OUTCOMES), splits, once)
        if summary.rejected:
            at = F.lit(self.run.started_at)
            rejected = self.engine.rejected(_of(blocks, KIND_REJECTS)).withColumn(c.REJECTED_AT, at)
            once = self.run.once(REJECTED_MESSAGES.name)
            self.lake.append(REJECTED_MESSAGES.name, rejected, once, summary.rejected)
        self.lake.merge(BALANCE_HISTORY.name, self._history(blocks, channels))
        self._remember(blocks, channels)

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

    def _remember(self, blocks: DataFrame, channels: int) -> None:
        """Write the memories; in memory unless there are very many channels in them."""
        states = _of(blocks, KIND_MEMORY).select(DATA)
        if channels <= ROWS_HERE:
            found = [unpack_memories(x) for x in states.toArrow()[DATA].to_pylist()]
            write_memories(self.lake, self.run, {x: y for one in found for x, y in one.items()})
            return
        rows = states.mapInArrow(partial(memory_batches, self.run.batch_id), ROUTER_MEMORY.schema)
        self.lake.merge(ROUTER_MEMORY.name, rows)


def _of(blocks: DataFrame, kind: str) -> DataFrame:
    return blocks.where(F.col(KIND) == kind)


def _summary(run: Run, said: Sequence[Any]) -> RunSummary:
    """Add up what the blocks say of themselves."""
    summary = counted(run, [row[FIGURES] for row in said])
    rejected = sum(row[MESSAGES] for row in said if row[KIND] == KIND_REJECTS)
    messages = sum(row[MESSAGES] for row in said)
    return replace(summary, messages=messages, rejected=rejected)


def counted(run: Run, figures_of_blocks: Iterable[str]) -> RunSummary:
    """Outcomes of a run by what its routed blocks say of themselves (`routed.RoutedBlock`)."""
    reasons: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    peak = 0.0
    for text in figures_of_blocks:
        found = figures(text)
        reasons.update(found.get("by_reason", {}))
        totals["outcomes"] += found.get("outcomes", 0)
        totals["out_of_order"] += found.get("out_of_order", 0)
        totals["own_opens"] += found.get("own_opens", 0)
        peak = max(peak, found.get("peak_mib", 0.0))
    return RunSummary(
        run.run_id,
        outcomes=totals["outcomes"],
        out_of_order=totals["out_of_order"],
        own_opens=totals["own_opens"],
        by_reason=dict(sorted(reasons.items())),
        snapshots=[x.snapshot_id for x in run.pins],
        worker_peak_mib=round(peak, 1),
        batch_id=run.batch_id,
    )
