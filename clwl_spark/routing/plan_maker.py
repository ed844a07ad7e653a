"""Plans in the lake: those that are missing are made, or copied from the snapshot before.

Source: SEMANTICS 2 to 4 (plans), C1 (resets).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import LakeStateError
from clwl_spark.plan.carried import COPIED_FROM, carried_over
from clwl_spark.plan.planning import REQUEST, REQUEST_TYPES, Ladder, Plans, make_plans
from clwl_spark.routing.intake import Pin
from clwl_spark.routing.requests import Request
from clwl_spark.routing.resets import judged_pairs
from clwl_spark.schemas import ROUTE_CANDIDATES, ROUTE_PLANS, SNAPSHOT_RESETS
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import ROWS_HERE, Keep, checkpoint, fitting
from clwl_spark.storage import Lake
from clwl_spark.topology.changes import neighbours, resets
from clwl_spark.topology.differences import PAIR, Differences, pair_rows
from clwl_spark.topology.views import VIEWER, Topology, read_topology

POSITION: Final = "position"
MANY: Final = 100_000
"""Fewer requests are planned as soon as snapshots are compared: 1,000 queue managers, 1 % of the
channels changed, 100,000 requests 28 s anew and 31 compared, a million some 160 and 82."""
REQUESTS: Final = f"{c.PLAN_ID} bigint, {REQUEST_TYPES}"


class PlanMaker:
    """Makes the plans that the lake lacks, with what they need of the topology read once."""

    def __init__(self, lake: Lake, pins: Sequence[Pin], ladder: Ladder) -> None:
        """Plan into `lake`.

        Args:
            lake: the lake.
            pins: the snapshots in force, by (valid_from, snapshot_id).
            ladder: the rules.
        """
        self._lake = lake
        self._pins = pins
        self._ladder = ladder
        self._read_snapshots: set[str] = set()
        self._read: Topology | None = None
        self._compared: dict[frozenset[tuple[str, ...]], Differences] = {}

    def make(self, requests: DataFrame, rows: int) -> Plans | None:
        """Plan those of so many requests that have no plan yet.

        Returns:
            The plans and candidates of all requests, as rows of their tables, where none had a
            plan; else None: some are in the lake alone.
        """
        keep = fitting(rows)
        known = self._lake.read_or_empty(ROUTE_PLANS.name).select(c.PLAN_ID, *REQUEST)
        new = keep(requests.join(known.select(c.PLAN_ID), c.PLAN_ID, "left_anti"))
        _assert_unique(requests.unionByName(known).distinct())
        self._make_resets(requests.select(c.QMGR).distinct(), keep)
        if rows >= MANY:
            new = checkpoint(self._without_carried(new))
        left = new.count()
        made = self._make_new(new, left)
        return made if left == rows else None

    def make_these(self, requests: Mapping[int, Request]) -> None:
        """Plan those requests, by plan_id, that have no plan yet."""
        if len(requests) >= MANY or not self.make_few(requests):
            rows = ((x, *y) for x, y in requests.items())
            self.make(frame_from_rows(self._lake.spark, rows, REQUESTS), len(requests))

    def make_few(self, requests: Mapping[int, Request]) -> bool:
        """As `make`, without Spark where nothing is missing.

        Args:
            requests: by plan_id.

        Returns:
            False, and nothing is made, where only Spark can tell which plans are there.
        """
        names = (c.PLAN_ID, *REQUEST)
        known = self._lake.few_in_memory(ROUTE_PLANS.name, most=ROWS_HERE, names=names)
        resets_known = judged_pairs(self._lake)
        if known is None or resets_known is None:
            return False
        known = known.filter(pc.is_in(known[c.PLAN_ID], pa.array(requests, pa.int64())))
        new = dict(requests)
        for plan_id, *request in zip(*(known[x].to_pylist() for x in names), strict=True):
            new.pop(plan_id, None)
            if requests[plan_id] != tuple(request):
                raise shared_id(plan_id)
        qmgrs = sorted({qmgr for _, qmgr, *_ in requests.values()})
        wanted = {(x, *pair) for x in qmgrs for pair in self._neighbours()}
        if not wanted <= resets_known.keys():
            rows = frame_from_rows(self._lake.spark, [(x,) for x in qmgrs], f"{c.QMGR} string")
            self._make_resets(rows, fitting(len(wanted)))
        if new:
            rows = frame_from_rows(self._lake.spark, ((x, *y) for x, y in new.items()), REQUESTS)
            self._make_new(rows, len(new))
        return True

    def _make_new(self, new: DataFrame, rows: int) -> Plans | None:
        """Plan so many requests that have no plan."""
        keep = fitting(rows)
        asked = distinct_rows(new, c.SNAPSHOT_ID, c.OBJECT_TYPE)
        if not asked:
            return None
        topology = self.topology(sorted({snapshot_id for snapshot_id, _ in asked}))
        made = make_plans(new, topology, self._ladder, keep, {x for _, x in asked})
        made = replace(made, plans=keep(self._with_epochs(made.plans)))
        self._append(ROUTE_CANDIDATES.name, made.candidates)
        self._append(ROUTE_PLANS.name, made.plans)
        return made

    def _without_carried(self, new: DataFrame) -> DataFrame:
        """Copy the plans that the snapshot before has already; the requests that are left."""
        known = self._lake.read_or_empty(ROUTE_PLANS.name)
        planned = {snapshot_id for (snapshot_id,) in distinct_rows(known, c.SNAPSHOT_ID)}
        asked = {snapshot_id for (snapshot_id,) in distinct_rows(new, c.SNAPSHOT_ID)}
        pairs = [(x, y) for x, y in self._neighbours() if x in asked and y in planned]
        if not pairs or self._ladder.exit_function is not None:
            return new
        carried = checkpoint(
            carried_over(new, known, self._differences(pairs, checkpoint), checkpoint)
        )
        of = carried.drop(c.SNAPSHOT_ID)
        candidates = _copied(self._lake.read_or_empty(ROUTE_CANDIDATES.name), of)
        self._lake.append(ROUTE_CANDIDATES.name, candidates.select(*ROUTE_CANDIDATES.names))
        plans = _copied(known.drop(c.SNAPSHOT_ID, c.RESET_EPOCH), carried)
        placed = self._with_epochs(plans)
        self._lake.append(ROUTE_PLANS.name, placed.select(*ROUTE_PLANS.names))
        return new.join(carried, c.PLAN_ID, "left_anti")

    def _append(self, table: str, frame: DataFrame) -> None:
        """Append rows that are worked out; without Spark, where they fit in memory."""
        if not self._lake.is_here or frame.count() > ROWS_HERE:
            self._lake.append(table, frame)
            return
        wanted = self._lake.arrow_schema(table)
        self._lake.append(table, frame.select(*wanted.names).toArrow().cast(wanted))

    def topology(self, snapshot_ids: Sequence[str]) -> Topology:
        """The topology of these snapshots, read once per run; it is small beside messages."""
        if self._read is None or not set(snapshot_ids) <= self._read_snapshots:
            self._read_snapshots |= set(snapshot_ids)
            self._read = read_topology(self._lake, sorted(self._read_snapshots), checkpoint)
        return self._read

    def _make_resets(self, qmgrs: DataFrame, keep: Keep) -> None:
        """Find out, for queue managers that send, which snapshots reset their history."""
        pairs = self._pairs()
        if pairs is None:
            return
        wanted = qmgrs.crossJoin(pairs)
        known = self._lake.read_or_empty(SNAPSHOT_RESETS.name)
        keys = [c.QMGR, c.SNAPSHOT_ID, c.PREVIOUS_ID]
        new = keep(wanted.join(known, keys, "left_anti"))
        if new.isEmpty():
            return
        differences = self._differences(distinct_rows(new, *PAIR), keep)
        made = resets(new.withColumnRenamed(c.QMGR, VIEWER), differences, keep)
        self._lake.append(SNAPSHOT_RESETS.name, made)

    def known_resets(self) -> DataFrame:
        """The resets among the run's snapshots, with the position of each.

        Grain: one row per (qmgr, snapshot that resets it).
        """
        known = self._lake.read_or_empty(SNAPSHOT_RESETS.name).where(c.IS_RESET)
        pairs = self._pairs()
        if pairs is None:
            return known.where(F.lit(False)).withColumn(POSITION, F.lit(0))
        positions = self._positions()
        return known.join(F.broadcast(pairs), [c.SNAPSHOT_ID, c.PREVIOUS_ID], "left_semi").join(
            F.broadcast(positions), c.SNAPSHOT_ID
        )

    def _with_epochs(self, plans: DataFrame) -> DataFrame:
        """Add `reset_epoch`: resets of the queue manager up to the plan's snapshot."""
        placed = plans.join(F.broadcast(self._positions()), c.SNAPSHOT_ID).select(
            c.PLAN_ID, c.QMGR, POSITION
        )
        at = self.known_resets().select(c.QMGR, F.col(POSITION).alias("reset_at"))
        epochs = (
            placed.join(at, c.QMGR)
            .where(F.col("reset_at") <= F.col(POSITION))
            .groupBy(c.PLAN_ID)
            .agg(F.count(F.lit(1)).alias(c.RESET_EPOCH))
        )
        return plans.join(epochs, c.PLAN_ID, "left").fillna({c.RESET_EPOCH: 0})

    def _differences(self, pairs: Collection[tuple[str, ...]], keep: Keep) -> Differences:
        """What differs between neighbouring snapshots, worked out once per run."""
        wanted = frozenset(pairs)
        if wanted not in self._compared:
            topology = self.topology(sorted({x for pair in wanted for x in pair}))
            rows = pair_rows(self._lake.spark, wanted)
            self._compared[wanted] = Differences(rows, topology, keep)
        return self._compared[wanted]

    def _pairs(self) -> DataFrame | None:
        """Neighbouring snapshots, (snapshot_id, previous_id); None where there is but one."""
        pairs = self._neighbours()
        return pair_rows(self._lake.spark, pairs) if pairs else None

    def _neighbours(self) -> list[tuple[str, str]]:
        """Each snapshot with the one before it."""
        return neighbours([pin.snapshot_id for pin in self._pins])

    def _positions(self) -> DataFrame:
        """The position of each snapshot, (snapshot_id, position)."""
        rows = [(pin.snapshot_id, at) for at, pin in enumerate(self._pins)]
        return frame_from_rows(self._lake.spark, rows, "snapshot_id string, position int")

    def drop_candidates_without_plan(self) -> None:
        """A run that was killed between the two writes of `plan` left candidates only."""
        candidates = self._lake.read(ROUTE_CANDIDATES.name).select(c.PLAN_ID).distinct()
        plans = self._lake.read(ROUTE_PLANS.name).select(c.PLAN_ID)
        rows = candidates.join(plans, c.PLAN_ID, "left_anti").collect()
        if rows:
            self._lake.delete(ROUTE_CANDIDATES.name, c.PLAN_ID, *(row[c.PLAN_ID] for row in rows))


def _copied(rows: DataFrame, carried: DataFrame) -> DataFrame:
    """The rows of the plans that are carried over, under their new ids."""
    return rows.withColumnRenamed(c.PLAN_ID, COPIED_FROM).join(carried, COPIED_FROM)


def _assert_unique(plans: DataFrame) -> None:
    """Refuse two requests of one id (`planning.plan_id`).

    Raises:
        LakeStateError: it happened.
    """
    shared = plans.groupBy(c.PLAN_ID).count().where("count > 1").head(1)
    if shared:
        raise shared_id(shared[0][c.PLAN_ID])


def shared_id(plan_id: int) -> LakeStateError:
    """Two requests have one id."""
    return LakeStateError(f"two requests share plan_id {plan_id}: report it with both requests")


def distinct_rows(frame: DataFrame, *columns: str) -> list[tuple[str, ...]]:
    """The distinct rows of these columns."""
    return [tuple(row) for row in frame.select(*columns).distinct().collect()]
