"""The plans that a batch needs, made before it is routed and kept in the lake.

Source: SEMANTICS 2 to 4 (plans), C1 (resets).
"""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import SplitError
from clwl_spark.plan.planning import Ladder, Plans
from clwl_spark.routing.asked import few_requests
from clwl_spark.routing.engines.arrow import ArrowEngine
from clwl_spark.routing.engines.choose import Engine
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.gather import InUse, gathered_by_spark, gathered_here
from clwl_spark.routing.intake import distinct_requests
from clwl_spark.routing.kept import Keeper
from clwl_spark.routing.notes import Note
from clwl_spark.routing.plan_maker import REQUESTS, PlanMaker, shared_id
from clwl_spark.routing.requests import Request
from clwl_spark.routing.runs import Run
from clwl_spark.routing.splits import spark_hash
from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows
from clwl_spark.spark.local import interpreting
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.spark.streams import run_batches
from clwl_spark.storage import Lake

_FEW = 2_000
"""Up to so many requests, what is about them is interpreted: that takes 1 ms a request longer than
compiled code, which takes 2 s to compile (29,500 requests: 82 s interpreted, 54 compiled)."""


class PlanProvider:
    """Makes plans for one run and remembers which of them the run's messages use."""

    def __init__(
        self, lake: Lake, run: Run, ladder: Ladder, engine: Engine, keeper: Keeper | None = None
    ) -> None:
        """Plan for `run` into `lake`, and route with `engine` as long as it can.

        Args:
            lake: the lake.
            run: whose messages are planned for.
            ladder: the rules.
            engine: which reads the messages.
            keeper: holds what the run before this one in the same process has left.
        """
        self.engine = engine
        self._keeper = keeper or Keeper()
        self._kept: DataFrame | None = None
        self._lake = lake
        self._run = run
        self._maker = PlanMaker(lake, run.pins, ladder)
        self._asked = Note(lake, run, "asked", REQUESTS)
        self.missing = Note(lake, run, "missing", f"{c.PLAN_ID} bigint")
        self._used: list[DataFrame] = []
        self._used_here: frozenset[int] = frozenset()
        self._all_made: Plans | None = None
        self._is_quick = False
        if run.resumed:
            self._maker.drop_candidates_without_plan()

    def plan_new_messages(self) -> None:
        """Plan what the messages that no run has looked at yet ask for."""
        if isinstance(self.engine, ArrowEngine):
            asked = few_requests(self._lake, self._run)
            if asked is not None:
                self._plan_few(asked)
                return
        try:
            self._plan_stream()
        except SplitError as error:
            self.go_sparks_way(error)
            self._plan_stream()

    def _plan_few(self, asked: Sequence[Request]) -> None:
        """Plan requests in memory, unless the facts of the run before have their plans."""
        self._kept = self._keeper.facts_for(self._lake, self._run, asked)
        if self._kept is not None or not asked:
            return
        requests: dict[int, Request] = {}
        for request in asked:
            if requests.setdefault(spark_hash(request), request) != request:
                raise shared_id(spark_hash(request))
        self._is_quick = len(asked) <= _FEW
        with self._quickly():
            made = self._maker.make_few(requests)
        if made:
            self._used_here = frozenset(requests)
        else:
            rows = ((x, *y) for x, y in requests.items())
            self._plan(frame_from_rows(self._lake.spark, rows, REQUESTS), len(asked))

    def go_sparks_way(self, error: SplitError) -> None:
        """Route with Spark alone from here on: there is a file that Arrow cannot read."""
        logging.getLogger(__name__).warning("routing goes on with engine spark: %s", error)
        self.engine = SparkEngine(self.engine.partitions)

    def _plan_stream(self) -> None:
        """Plan what a stream finds that no run has looked at.

        Where it hands out two batches, as after a kill, those of the first are missing later.
        """
        run = self._run
        before = run.taken.version if run.taken is not None and run.begins_checkpoint else None
        messages = self.engine.asking(self._lake.stream("messages", before), run.pins)
        write = partial(_write_requests, self.engine, run, self._asked)
        checkpoint_of = f"{self._lake.checkpoint_root}/plan-{run.planning_checkpoint}"
        run_batches(messages, write, checkpoint_of)
        requests = checkpoint(self._asked.read())
        rows = requests.count()
        if rows:
            self._plan(requests, rows)

    def plan_missing(self) -> None:
        """Plan requests of which only the plan's id is known; reads all messages to find them.

        Messages that come between planning and routing need it, and a run that goes on with a
        killed one whose planning had seen them.
        """
        found = distinct_requests(self._lake.read("messages"), self._run.pins)
        wanted = F.broadcast(self.missing.read())
        requests = checkpoint(found.join(wanted, c.PLAN_ID, "left_semi"))
        self._plan(requests, requests.count())
        if self._kept is not None:
            # Which other plans the run uses was not worked out: all may be.
            self._kept = self._all_made = None
            self._used.clear()

    def _plan(self, requests: DataFrame, rows: int) -> None:
        """Plan those requests that have no plan yet, and count all as used by this run.

        Profile: of 110 s for 10 million messages and 1,000 requests, 36 s were planning, most of
        them in compiling some 60 queries: what is about few requests is interpreted.
        """
        self._is_quick = rows <= _FEW
        is_first = not self._used and not self._run.resumed
        self._used.append(requests.select(c.PLAN_ID))
        with self._quickly():
            made = self._maker.make(requests, rows)
        self._all_made = made if is_first else None

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
            all_made = None if in_use.plan_ids else self._all_made
            made = gathered_by_spark(self._lake, self._maker, in_use, all_made)
        self._keeper.keep(self._lake, self._run, made)
        self._all_made = None
        return made.facts

    def _in_use(self) -> InUse:
        """The plans that the run may use, and those of the run before: facts serve more so."""
        snapshots = [pin.snapshot_id for pin in self._run.pins]
        if self._run.resumed or not (self._used or self._used_here):
            return InUse(snapshots)
        return InUse(snapshots, self._used_here | self._keeper.plan_ids(self._run), self._used)


def _write_requests(engine: Engine, run: Run, asked: Note, asking: DataFrame, _: int) -> None:
    """Leave the distinct requests of a batch."""
    asked.write(engine.requests(asking, run.pins))
