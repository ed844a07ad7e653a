"""The plans that a batch needs, made before it is routed and kept in the lake.

Source: SEMANTICS 2 to 4 (plans), C1 (resets).
"""

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST, Request
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import SplitError
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.choose import Engine, unread_by_arrow
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.intake.by_spark import distinct_requests
from clwl_spark.routing.intake.pending_requests import few_requests
from clwl_spark.routing.intake.splits import spark_hash
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.notes import Note
from clwl_spark.routing.plans.facts_cache import FactsCache
from clwl_spark.routing.plans.gather import InUse, gathered_by_spark, gathered_here
from clwl_spark.routing.plans.plan_maker import REQUESTS, PlanMaker, by_plan_id
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.spark.local import interpreting
from clwl_spark.spark.streams import run_batches
from clwl_spark.tables import columns as c

_FEW = 2_000
"""Up to so many requests, what is about them is interpreted: that takes 1 ms a request longer than
compiled code, which takes 2 s to compile (29,500 requests: 82 s interpreted, 54 compiled)."""


class PlanProvider:
    """Makes plans for one run and remembers which of them the run's messages use."""

    def __init__(
        self,
        lake: Lake,
        run: Run,
        ladder: Ladder,
        engine: Engine,
        facts_cache: FactsCache | None = None,
    ) -> None:
        """Plan for `run` into `lake`, and route with `engine` as long as it can.

        Args:
            lake: the lake.
            run: whose messages are planned for.
            ladder: the rules.
            engine: which reads the messages.
            facts_cache: holds what the run before this one in the same process has left.
        """
        self.engine = engine
        self._facts_cache = facts_cache or FactsCache()
        self._kept: DataFrame | None = None
        self._lake = lake
        self._run = run
        self._maker = PlanMaker(lake, run.pins, ladder)
        self._asked = Note(lake, run, "asked", REQUESTS)
        self.missing = Note(lake, run, "missing", f"{c.PLAN_ID} bigint")
        self._used: frozenset[int] = frozenset()
        self._is_quick = False
        if run.resumed:
            self._maker.drop_candidates_without_plan()

    def plan_new_messages(self) -> None:
        """Plan what the messages that no run has looked at yet ask for.

        Unless the facts of the run before have their plans.
        """
        requests = self._new_requests()
        if not self._run.resumed:
            self._kept = self._facts_cache.facts_for(self._lake, self._run, requests)
        if self._kept is None:
            self._plan(requests)

    def _new_requests(self) -> dict[int, Request]:
        """The distinct requests of new messages, by plan_id."""
        asked = None if unread_by_arrow(self._lake) else few_requests(self._lake, self._run)
        if asked is not None:
            return by_plan_id((spark_hash(x), x) for x in asked)
        try:
            return self._of_stream()
        except SplitError as error:
            self.go_sparks_way(error)
            return self._of_stream()

    def go_sparks_way(self, error: SplitError) -> None:
        """Route with Spark alone from here on: there is a file that Arrow cannot read."""
        logging.getLogger(__name__).warning("routing goes on with engine spark: %s", error)
        self.engine = SparkEngine(self.engine.partitions)

    def _of_stream(self) -> dict[int, Request]:
        """The distinct requests that a stream finds.

        Where it hands out two batches, as after a kill, those of the first are missing later.
        """
        run = self._run
        before = run.taken.version if run.taken is not None and run.begins_checkpoint else None
        messages = self.engine.asking(self._lake.stream("messages", before), run.pins)
        write = partial(_write_requests, self.engine, run, self._asked)
        checkpoint_of = f"{self._lake.checkpoint_root}/plan-{run.planning_checkpoint}"
        run_batches(messages, write, checkpoint_of)
        return _requests_in(self._asked.read())

    def plan_missing(self) -> None:
        """Plan requests of which only the plan's id is known; reads all messages to find them.

        Messages that come between planning and routing need it, and a run that goes on with a
        killed one whose planning had seen them.
        """
        found = distinct_requests(self._lake.read("messages"), self._run.pins)
        wanted = F.broadcast(self.missing.read())
        self._plan(_requests_in(found.join(wanted, c.PLAN_ID, "left_semi")))
        if self._kept is not None:
            # Which other plans the run uses was not worked out: all may be.
            self._kept, self._used = None, frozenset()

    def _plan(self, requests: Mapping[int, Request]) -> None:
        """Plan those requests that have no plan yet, and count all as used by this run.

        Profile: of 110 s for 10 million messages and 1,000 requests, 36 s were planning, most of
        them in compiling some 60 queries: what is about few requests is interpreted.
        """
        if not requests:
            return
        self._is_quick = len(requests) <= _FEW
        self._used |= frozenset(requests)
        with self._quickly():
            self._maker.make(requests)

    def _quickly(self) -> AbstractContextManager[None]:
        """For the block, interpret what is about few plans; compiling it takes longer."""
        return interpreting(self._lake.spark) if self._is_quick else nullcontext()

    def facts(self) -> DataFrame:
        """What the run's queue managers need for routing.

        Grain: one row per queue manager, (qmgr, facts).
        """
        if self._kept is not None:
            return self._kept
        with self._quickly():
            return self._made_facts()

    def _made_facts(self) -> DataFrame:
        in_use = self._in_use()
        here = gathered_here(self._lake, in_use)
        made = here and replace(here, facts=frame_from_arrow(self._lake.spark, here.facts))
        if made is None:
            made = gathered_by_spark(self._lake, self._maker, in_use)
        self._facts_cache.keep(self._lake, self._run, made)
        return made.facts

    def _in_use(self) -> InUse:
        """The plans that the run may use, and those of the run before: facts serve more so."""
        snapshots = [pin.snapshot_id for pin in self._run.pins]
        used: frozenset[int] = frozenset()
        if self._used and not self._run.resumed:
            used = self._used | self._facts_cache.plan_ids(self._run)
        return InUse(snapshots, used, self._run.semantics.by_factor, self._maker.lines)


def _write_requests(engine: Engine, run: Run, asked: Note, asking: DataFrame, _: int) -> None:
    """Leave the distinct requests of a batch."""
    asked.write(engine.requests(asking, run.pins))


def _requests_in(rows: DataFrame) -> dict[int, Request]:
    """Requests by plan_id, of rows (plan_id, *REQUEST)."""
    found = rows.distinct().toArrow()
    columns = (found[x].to_pylist() for x in REQUEST)
    requests = (Request(*x) for x in zip(*columns, strict=True))
    return by_plan_id(zip(found[c.PLAN_ID].to_pylist(), requests, strict=True))
