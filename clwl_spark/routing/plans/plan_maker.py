"""Plans in the lake: those that are missing are made, or copied from the snapshot before.

Source: SEMANTICS 2 to 4 (plans), C1 (resets).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES, Request
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.planning.carried import COPIED_FROM, carried_over
from clwl_spark.planning.plans import Ladder, judged_by, make_plans, unjudged
from clwl_spark.routing.plans.lines import Line, Lines, ends_of
from clwl_spark.routing.plans.variants import varied
from clwl_spark.routing.state.resets import judged_pairs, resets_among
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.snapshots.changes import neighbours, resets
from clwl_spark.snapshots.channels import channels_in_view
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.differences import Differences, pair_rows
from clwl_spark.snapshots.views import VIEWER, Topology, in_clusters, viewers
from clwl_spark.spark.frames import frame_from_rows, rows_at_hand
from clwl_spark.spark.materialize import Materialize, checkpoint, fitting
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS, SNAPSHOT_RESETS
from clwl_spark.tables import columns as c

POSITION: Final = "position"
MANY: Final = 100_000
"""Fewer requests are planned as soon as snapshots are compared: 1,000 queue managers, 1 % of the
channels changed, 100,000 requests 28 s anew and 31 compared, a million some 160 and 82."""
REQUESTS: Final = f"{c.PLAN_ID} bigint, {REQUEST_TYPES}"
_VIEWED_PAIRS: Final = f"{VIEWER} string, {c.SNAPSHOT_ID} string, {c.PREVIOUS_ID} string"


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
        self.lines = Lines(lake, pins)

    def make(self, requests: Mapping[int, Request]) -> None:
        """Plan those requests, by plan_id, that have no plan yet.

        Raises:
            LakeStateError: another request has the plan_id of one of them.
        """
        new = self._unplanned(requests)
        self._make_resets({qmgr for _, qmgr, *_ in requests.values()})
        self._make_heads(new)
        if self.lines.by_head:
            self._make_variants(requests)

    def _unplanned(self, requests: Mapping[int, Request]) -> dict[int, Request]:
        """Those that have no plan yet.

        Raises:
            LakeStateError: another request has the plan_id of one of them.
        """
        names = (c.PLAN_ID, *REQUEST)
        known = self._lake.in_memory(ROUTE_PLANS.name, c.PLAN_ID, [*requests], names=names)
        new = dict(requests)
        for plan_id, *request in zip(*(known[x].to_pylist() for x in names), strict=True):
            new.pop(plan_id, None)
            if requests[plan_id] != tuple(request):
                raise shared_id(plan_id)
        return new

    def _make_heads(self, new: Mapping[int, Request]) -> None:
        """Plan requests that have no plan, each in its own snapshot."""
        if not new:
            return
        rows = self._rows(new)
        if len(new) < MANY:
            self._make_new(rows, len(new))
            return
        left = checkpoint(self._without_carried(checkpoint(rows)))
        self._make_new(left, left.count())

    def _rows(self, requests: Mapping[int, Request]) -> DataFrame:
        rows = ((x, *y) for x, y in requests.items())
        return frame_from_rows(self._lake.spark, rows, REQUESTS)

    def _make_variants(self, requests: Mapping[int, Request]) -> None:
        """Plan what requests lead to where statuses change along a line."""
        ends = ends_of(self._lake, requests)
        steps = {x.to: x for x in self.lines.steps(requests, ends)}
        new = self._unplanned({x: step.request for x, step in steps.items() if x not in requests})
        if not new:
            return
        wanted = [steps[x] for x in new]
        bases = {x.plan_id: requests[x.plan_id] for x in wanted}
        keep = fitting(len(new))
        topology = self.topology(sorted({x.snapshot_id for x in bases.values()}))
        types = {x.object_type for x in bases.values()}
        found = unjudged(self._rows(bases), topology, self._ladder, keep, types)
        made = judged_by(self._ladder, varied(found, wanted, keep), keep)
        self._append(ROUTE_CANDIDATES.name, made.candidates)
        self._append(ROUTE_PLANS.name, keep(self._with_epochs(made.plans)))

    def _make_new(self, new: DataFrame, rows: int) -> None:
        """Plan so many requests that have no plan."""
        keep = fitting(rows)
        asked = distinct_rows(new, c.SNAPSHOT_ID, c.OBJECT_TYPE)
        if not asked:
            return
        topology = self.topology(sorted({snapshot_id for snapshot_id, _ in asked}))
        made = make_plans(new, topology, self._ladder, keep, {x for _, x in asked})
        self._append(ROUTE_CANDIDATES.name, made.candidates)
        self._append(ROUTE_PLANS.name, keep(self._with_epochs(made.plans)))

    def _without_carried(self, new: DataFrame) -> DataFrame:
        """Copy the plans that the snapshot before has already; the requests that are left."""
        known = self._lake.read_or_empty(ROUTE_PLANS.name)
        planned = {snapshot_id for (snapshot_id,) in distinct_rows(known, c.SNAPSHOT_ID)}
        asked = {snapshot_id for (snapshot_id,) in distinct_rows(new, c.SNAPSHOT_ID)}
        pairs = [(x, y) for x, y in self._judged_here() if x in asked and y in planned]
        if not pairs or self._ladder.exit_function is not None:
            return new
        carried = checkpoint(
            carried_over(
                new,
                known,
                self._differences(pairs, checkpoint),
                checkpoint,
                self._ladder.semantics.edition,
            )
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
        is_unknown = self._lake.is_here and rows_at_hand(frame) is None
        self._lake.append(table, frame, None, frame.count() if is_unknown else None)

    def topology(self, snapshot_ids: Sequence[str]) -> Topology:
        """The topology of these snapshots, read once per run; it is small beside messages.

        Raises:
            LakeStateError: it has a key more than once.
        """
        if self._read is None or not set(snapshot_ids) <= self._read_snapshots:
            self._read_snapshots |= set(snapshot_ids)
            self._read = consistent_topology(self._lake, sorted(self._read_snapshots), checkpoint)
        return self._read

    def _make_resets(self, qmgrs: Collection[str]) -> None:
        """Find out, for queue managers that send, which snapshots reset their history."""
        known = judged_pairs(self._lake)
        for line in self.lines.by_head.values():
            self._make_resets_along(line, qmgrs, known)
        wanted = ((x, *pair) for x in sorted(qmgrs) for pair in self._judged_here())
        new = [x for x in wanted if x not in known]
        if not new:
            return
        keep = fitting(len(new))
        pairs = frame_from_rows(self._lake.spark, new, _VIEWED_PAIRS)
        differences = self._differences({(x, y) for _, x, y in new}, keep)
        found = resets(pairs, differences, keep)
        self._lake.append(SNAPSHOT_RESETS.name, found, None, len(new))

    def _make_resets_along(
        self, line: Line, qmgrs: Collection[str], known: Collection[tuple[str, str, str]]
    ) -> None:
        """Find out the same along a line: a channel that is seen becomes available.

        Pairs at which no channel does are not written down.
        """
        may = [x for x in line.may_reset() if x[0] in qmgrs and x[:3] not in known]
        if not may:
            return
        head = line.pins[0].snapshot_id
        asked = frame_from_rows(
            self._lake.spark,
            sorted({(head, x[0]) for x in may}),
            f"{c.SNAPSHOT_ID} string, {VIEWER} string",
        )
        topology = self.topology([head])
        seen = channels_in_view(checkpoint(viewers(asked, topology)), topology)
        rows = seen.where(in_clusters(c.CLUSTER)).select(VIEWER, c.QMGR, c.CHANNEL).distinct()
        there = {(x[0], (x[1], x[2])) for x in rows.collect()}
        found = [
            (qmgr, later, earlier, any((qmgr, x) in there for x in ends))
            for qmgr, later, earlier, ends in may
        ]
        self._lake.append(SNAPSHOT_RESETS.name, self._lake.arrow_rows(SNAPSHOT_RESETS.name, found))

    def known_resets(self) -> DataFrame:
        """The resets among the run's snapshots, with the position of each.

        Grain: one row per (qmgr, snapshot that resets it).
        """
        at = {pin.snapshot_id: position for position, pin in enumerate(self._pins)}
        known = resets_among(self._lake, self._neighbours()).items()
        rows = ((qmgr, x, at[x]) for qmgr, found in known for x in found)
        return frame_from_rows(
            self._lake.spark, rows, f"qmgr string, snapshot_id string, {POSITION} int"
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

    def _differences(self, pairs: Collection[tuple[str, ...]], keep: Materialize) -> Differences:
        """What differs between neighbouring snapshots, worked out once per run."""
        wanted = frozenset(pairs)
        if wanted not in self._compared:
            topology = self.topology(sorted({x for pair in wanted for x in pair}))
            rows = pair_rows(self._lake.spark, wanted)
            self._compared[wanted] = Differences(rows, topology, keep)
        return self._compared[wanted]

    def _neighbours(self) -> list[tuple[str, str]]:
        """Each snapshot with the one before it."""
        return neighbours([pin.snapshot_id for pin in self._pins])

    def _judged_here(self) -> list[tuple[str, str]]:
        """As `_neighbours`, of the heads of lines alone."""
        return [x for x in self._neighbours() if x[0] not in self.lines.heads]

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


def shared_id(plan_id: int) -> LakeStateError:
    """Two requests have one id."""
    return LakeStateError(f"two requests share plan_id {plan_id}: report it with both requests")


def by_plan_id(pairs: Iterable[tuple[int, Request]]) -> dict[int, Request]:
    """Requests by plan_id, of pairs that may come twice.

    Raises:
        LakeStateError: two of them have one id.
    """
    found: dict[int, Request] = {}
    for plan_id, request in pairs:
        if found.setdefault(plan_id, request) != request:
            raise shared_id(plan_id)
    return found


def distinct_rows(frame: DataFrame, *columns: str) -> list[tuple[str, ...]]:
    """The distinct rows of these columns."""
    return [tuple(row) for row in frame.select(*columns).distinct().collect()]
