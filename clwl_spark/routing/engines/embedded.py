"""A batch routed by this process and its workers: files in, files out, and no Java.

The parts are those of the other engines (intake, blocks, buckets, kernel, writers). What is
written, and in which order, is that of `routing.engines.batch`: outcomes, rejected messages,
history, the memory of the queue managers, and the run's counts last; each write is done once,
however often it is tried, and a batch that was killed is routed again from the memory before it, to
the same rows.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import pyarrow as pa

from clwl_spark.algorithm.request import Request
from clwl_spark.delta.commits import DataFile
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.logs import OnProgress
from clwl_spark.planning.facts import FACTS
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.batch import RouteOptions, binding_rules, counted
from clwl_spark.routing.engines.fitness import HERE_ROWS
from clwl_spark.routing.engines.gathered import distinct_requests, duplicates_of, memories_of
from clwl_spark.routing.engines.portions import bucket_tasks, grouped, spread
from clwl_spark.routing.engines.tasks import (
    BucketTask,
    Packed,
    PackTask,
    Routed,
    RouteTask,
    Stored,
    WriteTask,
    pack,
    route,
    write,
)
from clwl_spark.routing.engines.workers import Workers
from clwl_spark.routing.intake.duplicates import by_qmgr
from clwl_spark.routing.intake.pending_messages import Pending, pending_messages
from clwl_spark.routing.intake.routed_before import routed_before
from clwl_spark.routing.ledger.run_record import Run, RunSummary
from clwl_spark.routing.ledger.runs import claim, finish, write_again
from clwl_spark.routing.plans.facts_cache import FactsCache
from clwl_spark.routing.plans.gather import InUse, gathered_here
from clwl_spark.routing.plans.plan_maker import PlanMaker
from clwl_spark.routing.state.memory_table import memories_before, write_memories
from clwl_spark.storage.places import absolute
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES, REJECTED_MESSAGES
from clwl_spark.tables import columns as c

_TASK_ROWS: Final = 1_000_000
"""Rows of a task at the most, and of a file of outcomes."""
_LEAST_ROWS: Final = 100_000
"""Rows of a task at the least, if there are so many."""
_TASKS_A_WORKER: Final = 4
"""Tasks of buckets for each worker, so that none waits long for another one."""
_PLANNED_AT_ONCE: Final = 100_000
"""Requests; plans do not know of one another, and more at once take more memory."""


@dataclass(frozen=True, slots=True)
class EmbeddedEngine:
    """This process and its workers.

    Attributes:
        workers: of this machine.
        facts_cache: holds the facts of the last batch.
    """

    workers: Workers
    facts_cache: FactsCache
    name: ClassVar[str] = "embedded"

    def route(
        self, lake: Lake, run: Run, options: RouteOptions, ladder: Ladder, tell: OnProgress
    ) -> RunSummary:
        """Route what no batch has taken, as the run's batch.

        Args:
            lake: in folders of this machine, its tables created.
            run: that has begun; it is written down here.
            options: how to route.
            ladder: the rules.
            tell: is told (stage, done, of).

        Raises:
            LakeStateError: files or memory are not what they have to be; another run is faster.
            WorkerLostError: a worker was ended from outside.
        """
        started = time.time()
        pending = self._pending(lake, run)
        if not pending.splits and not run.resumed:
            return RunSummary(run.run_id, engine=self.name)
        run = replace(run, taken=pending.before, upto=pending.upto, checkpoint="")
        if run.resumed:
            write_again(lake, run)
        else:
            claim(lake, run)
        return _Batch(self, lake, run, options, started).route(pending, ladder, tell)

    def route_again(
        self, lake: Lake, run: Run, options: RouteOptions, ladder: Ladder, tell: OnProgress
    ) -> "RoutedAgain":
        """Route a batch that is done from the memory before it, and write nothing but its plans.

        Args:
            lake: in folders of this machine, its tables created.
            run: of the batch, as its row of `runs` says.
            options: how it was routed.
            ladder: the rules.
            tell: is told (stage, done, of).

        Raises:
            LakeStateError: which messages were routed, or the memory, is not known any more.
            WorkerLostError: a worker was ended from outside.
        """
        pending = self._pending(lake, run)
        batch = _Batch(self, lake, run, options, time.time())
        packed, routed = batch.routed(pending, ladder, tell)
        return RoutedAgain(batch, pending, packed, routed)

    def _pending(self, lake: Lake, run: Run) -> Pending:
        pending = pending_messages(lake, run, self.workers.folder)
        if pending is None:
            raise LakeStateError(
                f"which messages of lake {lake.root} are routed is known to a checkpoint of "
                "Spark's alone: give --engine spark"
            )
        return pending


@dataclass(frozen=True, slots=True)
class RoutedAgain:
    """A batch that was routed a second time, of which nothing is written yet."""

    _batch: "_Batch"
    _pending: Pending
    _packed: Sequence[Packed]
    _routed: Sequence[Routed]

    @property
    def summary(self) -> RunSummary:
        """What the batch comes to."""
        return self._batch.summary(self._packed, self._routed)

    @property
    def memories(self) -> dict[str, bytes]:
        """What the queue managers that routed remember after it (`history.to_bytes`)."""
        return memories_of(self._routed)

    def write(self, *, remembers: bool) -> None:
        """Write what the tables do not have of the batch.

        Args:
            remembers: `router_memory` is written, too.
        """
        self._batch.write_messages(self._pending, self._packed, self._routed)
        if remembers:
            self._batch.remember(self._routed)


@dataclass(frozen=True, slots=True)
class _Batch:
    engine: EmbeddedEngine
    lake: Lake
    run: Run
    options: RouteOptions
    started: float

    def route(self, pending: Pending, ladder: Ladder, tell: OnProgress) -> RunSummary:
        """Pack, plan, route and write; then the tables, one after the other."""
        packed, routed = self.routed(pending, ladder, tell)
        self.write_messages(pending, packed, routed)
        self.remember(routed)
        summary = self.summary(packed, routed)
        finish(self.lake, self.run, summary)
        return summary

    def routed(
        self, pending: Pending, ladder: Ladder, tell: OnProgress
    ) -> tuple[list[Packed], list[Routed]]:
        """Pack, plan and route; of the lake's tables only those of plans are written."""
        tell("planning", 0, 1)
        packed = self._pack(pending)
        memories = memories_before(self.lake, self.run)
        facts = self._facts(distinct_requests(packed), ladder)
        tell("routing", 0, 1)
        return packed, self._route(packed, facts, memories, pending.rows)

    def write_messages(
        self, pending: Pending, packed: Sequence[Packed], routed: Sequence[Routed]
    ) -> None:
        """Write outcomes and rejected messages, once."""
        files = self._write(pending, routed)
        if files:
            self.lake.add_files(OUTCOMES.name, files, self.run.once(OUTCOMES.name))
        self._reject([x for one in packed for x in one.rejected] + duplicates_of(routed))

    def remember(self, routed: Sequence[Routed]) -> None:
        """Write the history and the memories."""
        history = [x for one in routed for x in one.history]
        wanted = self.lake.arrow_schema(BALANCE_HISTORY.name)
        rows = [x.select(wanted.names).cast(wanted) for x in history]
        self.lake.merge(BALANCE_HISTORY.name, pa.concat_tables([wanted.empty_table(), *rows]))
        write_memories(self.lake, self.run, memories_of(routed))

    def _is_small(self, rows: int) -> bool:
        return rows <= HERE_ROWS

    def _buckets(self, rows: int) -> int:
        """How many buckets there are: one where so few rows are routed within this process."""
        return 1 if self._is_small(rows) else self.run.buckets

    def _pack(self, pending: Pending) -> list[Packed]:
        """The messages in blocks."""
        packing, skipped = uuid.uuid4().hex, self.lake.left_out
        tasks = [
            PackTask(
                splits,
                packing,
                self.run.pins,
                self._buckets(pending.rows),
                skipped,
                self._file(f"pack-{at}"),
            )
            for at, splits in enumerate(grouped(pending.splits, self._rows_a_task(pending.rows)))
        ]
        here = self._is_small(pending.rows)
        return [*self.engine.workers.do(pack, tasks, here=here)]

    def _rows_a_task(self, rows: int) -> int:
        share = rows // (self.engine.workers.processes * _TASKS_A_WORKER)
        return min(_TASK_ROWS, max(share, _LEAST_ROWS))

    def _facts(self, requests: Mapping[int, Request], ladder: Ladder) -> dict[str, str]:
        """Plan what has no plan yet; documents of `planning.facts` by queue manager."""
        lake, run, facts_cache = self.lake, self.run, self.engine.facts_cache
        kept: Any = facts_cache.facts_for(lake, run, requests)
        if kept is None:
            maker = PlanMaker(lake, run.pins, ladder)
            if run.resumed:
                maker.drop_candidates_without_plan()
            items = [*requests.items()]
            for at in range(0, len(items), _PLANNED_AT_ONCE):
                maker.make(dict(items[at : at + _PLANNED_AT_ONCE]))
            snapshots = [x.snapshot_id for x in run.pins]
            used = frozenset(requests) | facts_cache.plan_ids(run)
            in_use = InUse(snapshots, used, run.semantics.by_factor, maker.lines)
            made = gathered_here(lake, in_use, most=None)
            if made is None:
                raise LakeStateError("the plans cannot be read here: give --engine spark")
            facts_cache.keep(lake, run, made)
            kept = made.facts
        return dict(zip(kept[c.QMGR].to_pylist(), kept[FACTS].to_pylist(), strict=True))

    def _route(
        self,
        packed: Sequence[Packed],
        facts: Mapping[str, str],
        memories: Mapping[str, bytes],
        rows: int,
    ) -> list[Routed]:
        """Route buckets; those that ask for duplicates once more, when it is known of them."""
        buckets = bucket_tasks(self.run, self._buckets(rows), packed, facts, memories)
        routed = self._route_buckets(buckets, rows, "route")
        asking = {bucket for one in routed for bucket in one.asked}
        if not asking:
            return routed
        asked = pa.concat_tables(x for one in routed for found in one.asked.values() for x in found)
        told = by_qmgr(asked, routed_before(self.lake, self.run, asked))
        again = [
            replace(x, told={y: told[y] for y in x.facts if y in told})
            for x in buckets
            if x.bucket in asking
        ]
        return [*routed, *self._route_buckets(again, rows, "again")]

    def _route_buckets(self, buckets: Sequence[BucketTask], rows: int, name: str) -> list[Routed]:
        binding = binding_rules(self.options, self.run)
        how, exit_ = (
            (self.run.pins, binding, self.options.worker_memory_mib),
            self.options.message_exit,
        )
        shares = spread(buckets, self.engine.workers.processes * _TASKS_A_WORKER)
        tasks = [
            RouteTask(share, *how, self._file(f"{name}-{at}"), exit_)
            for at, share in enumerate(shares)
        ]
        return [*self.engine.workers.do(route, tasks, here=self._is_small(rows))]

    def _write(self, pending: Pending, routed: Iterable[Routed]) -> list[DataFile]:
        """Files of outcomes, not yet of the table; none where the table has them already."""
        if self.lake.has_transaction(OUTCOMES.name, self.run.once(OUTCOMES.name)):
            return []
        blocks: dict[str, list[Stored]] = defaultdict(list)
        for one in routed:
            for split, found in one.blocks.items():
                blocks[split] += found
        there = [x for x in pending.splits if x.name in blocks]
        folder = absolute(self.lake.path(OUTCOMES.name))
        tasks = [
            WriteTask(
                tuple((x.name, tuple(blocks[x.name])) for x in splits),
                folder,
                f"part-{at:05}-{self.run.run_id}.snappy.parquet",
            )
            for at, splits in enumerate(grouped(there, _TASK_ROWS))
        ]
        return [*self.engine.workers.do(write, tasks, here=self._is_small(pending.rows))]

    def _reject(self, rejected: Sequence[pa.Table]) -> None:
        if not rejected:
            return
        wanted = self.lake.arrow_schema(REJECTED_MESSAGES.name)
        rows = pa.concat_tables(rejected)
        at = pa.repeat(pa.scalar(self.run.started_at, pa.timestamp("us", "UTC")), rows.num_rows)
        rows = rows.append_column(c.REJECTED_AT, at).select(wanted.names).cast(wanted)
        self.lake.append(REJECTED_MESSAGES.name, rows, self.run.once(REJECTED_MESSAGES.name))

    def summary(self, packed: Sequence[Packed], routed: Sequence[Routed]) -> RunSummary:
        """What the batch comes to, as far as it is known by now."""
        peaks = [*(x.peak_mib for x in packed), *(x.peak_mib for x in routed)]
        unfit = sum(x.num_rows for one in packed for x in one.rejected)
        duplicates = (x for one in routed for x in one.duplicates.values())
        rejected = unfit + sum(x.num_rows for found in duplicates for x in found)
        messages = sum(x.messages for one in packed for x in one.blocks)
        summary = counted(self.run, [x for one in routed for x in one.figures])
        return replace(
            summary,
            messages=messages + unfit,
            rejected=rejected,
            snapshots=[x.snapshot_id for x in self.run.pins],
            seconds=round(time.time() - self.started, 3),
            worker_peak_mib=round(max(peaks, default=0.0), 1),
            engine=self.engine.name,
        )

    def _file(self, name: str) -> str:
        return str(self.engine.workers.folder / name)
