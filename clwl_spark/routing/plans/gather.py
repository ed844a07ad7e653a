"""The facts of the plans that a run may use, gathered from the lake.

Plans in a folder of this machine are read and gathered within this process, unless they are very
many; then, and elsewhere, Spark does it (29,500 plans in a fresh session: 7.9 s instead of 1.2).

Source: SEMANTICS 5 (CLWLMRUC, resets), 7 (transmission queues).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset, dataset
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST, Request
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.facts import (
    PLAN_COLUMNS,
    ROUTE_COLUMNS,
    STEP_COLUMNS,
    facts,
    senders,
    used_channels,
)
from clwl_spark.planning.facts_in_memory import facts_in_memory, routes_in_memory, senders_in_memory
from clwl_spark.routing.intake.pending_requests import FEW_REQUESTS
from clwl_spark.routing.plans.lines import Lines, Step, ends_of
from clwl_spark.routing.plans.plan_maker import PlanMaker, distinct_rows
from clwl_spark.routing.state.resets import resets_among
from clwl_spark.snapshots.changes import neighbours
from clwl_spark.snapshots.views import VIEWER
from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows
from clwl_spark.spark.materialize import ROWS_HERE, broadcast_if_small, checkpoint, fitting, inline
from clwl_spark.tables import (
    BALANCE_HISTORY,
    CHANNEL_STATUS,
    QUEUE_MANAGERS,
    QUEUES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
)
from clwl_spark.tables import columns as c

_LOOKED_AT = tuple(x.name for x in (QUEUE_MANAGERS, QUEUES, CHANNEL_STATUS))
_STEP_ROWS: Final = pa.schema([(c.QMGR, pa.string()), *((x, pa.int64()) for x in STEP_COLUMNS)])


@dataclass(frozen=True, slots=True)
class InUse:
    """Which plans a run may use.

    Attributes:
        snapshots: the run's.
        plan_ids: plans; none = all of its snapshots.
        by_factor: of the semantics that they were made by.
        lines: among the snapshots; None = of plans that take the place of others nothing is said.
    """

    snapshots: Sequence[str]
    plan_ids: frozenset[int] = frozenset()
    by_factor: bool = False
    lines: Lines | None = None

    @property
    def heads(self) -> Mapping[str, str]:
        """The head of each snapshot that continues one."""
        return {} if self.lines is None else self.lines.heads


@dataclass(frozen=True, slots=True)
class Gathered:
    """Facts, and the plans that are in them.

    Attributes:
        facts: (qmgr, facts) of `planning.facts`, where they were gathered.
        plan_ids: None = more than one process should hold.
    """

    facts: DataFrame | pa.Table
    plan_ids: frozenset[int] | None


def gathered_here(lake: Lake, in_use: InUse, most: int | None = ROWS_HERE) -> Gathered | None:
    """The facts of plans that were read within this process; None where only Spark can.

    Args:
        lake: the lake.
        in_use: the plans.
        most: rows of a table that are read here; None = however many there are.
    """
    of_plans = dict.fromkeys((c.QMGR, *PLAN_COLUMNS, *REQUEST))
    named = (c.SNAPSHOT_ID, in_use.snapshots)
    plans = lake.few_in_memory(ROUTE_PLANS.name, *named, most, names=[*of_plans])
    if plans is None:
        return None
    steps, lacking = _complete(_steps(lake, in_use, plans), plans[c.PLAN_ID].to_pylist())
    plans = _used(plans, in_use, steps, lacking)
    topology = _topology(lake, pc.unique(plans[c.SNAPSHOT_ID]).to_pylist())
    ids = plans[c.PLAN_ID].to_pylist()
    names = (*ROUTE_COLUMNS, c.ELIMINATED_BY)
    candidates = lake.few_in_memory(ROUTE_CANDIDATES.name, c.PLAN_ID, ids, most, names=names)
    chosen = (c.QMGR, c.DEST_QMGR, c.CHANNEL)
    history = lake.few_in_memory(BALANCE_HISTORY.name, most=most, names=chosen)
    if topology is None or candidates is None or history is None:
        return None
    routes = routes_in_memory(plans, candidates)
    about = senders_in_memory(plans, [routes, history], topology)
    resets = resets_among(lake, neighbours(in_use.snapshots))
    rows = _step_rows(steps) if steps else None
    documents = facts_in_memory(
        plans, routes, about, resets, by_factor=in_use.by_factor, steps=rows
    )
    return Gathered(documents, frozenset(ids))


def _steps(lake: Lake, in_use: InUse, plans: pa.Table) -> list[Step]:
    """Which plans take the place of those in use, and when.

    Args:
        lake: has the candidates.
        in_use: the plans.
        plans: rows of route_plans, with REQUEST.
    """
    if in_use.lines is None or not in_use.lines.by_head:
        return []
    requests = {
        row[c.PLAN_ID]: Request(*(row[x] for x in REQUEST))
        for row in plans.select([c.PLAN_ID, *REQUEST]).to_pylist()
        if row[c.SNAPSHOT_ID] in in_use.lines.by_head
        and (not in_use.plan_ids or row[c.PLAN_ID] in in_use.plan_ids)
    }
    return in_use.lines.steps(requests, ends_of(lake, requests))


def _complete(steps: Sequence[Step], there: Iterable[int]) -> tuple[list[Step], frozenset[int]]:
    """The steps of plans of which all that take their place are there, and the other plans.

    A line that has grown since these were planned asks for more: whoever needs them is told so.
    """
    known = frozenset(there)
    lacking = frozenset(x.plan_id for x in steps if x.to not in known)
    return [x for x in steps if x.plan_id not in lacking], lacking


def _used(
    plans: pa.Table, in_use: InUse, steps: Sequence[Step], lacking: frozenset[int]
) -> pa.Table:
    """The plans in use and those that take their place; all stand for the head of their line."""
    if lacking:
        is_lacking = pc.is_in(plans[c.PLAN_ID], pa.array(lacking, pa.int64()))
        plans = plans.filter(pc.invert(is_lacking))
    if in_use.plan_ids:
        ids = in_use.plan_ids | {x.to for x in steps}
        plans = plans.filter(pc.is_in(plans[c.PLAN_ID], pa.array(ids, pa.int64())))
    if not in_use.heads:
        return plans
    heads = [in_use.heads.get(x, x) for x in plans[c.SNAPSHOT_ID].to_pylist()]
    at = plans.schema.get_field_index(c.SNAPSHOT_ID)
    return plans.set_column(at, c.SNAPSHOT_ID, pa.array(heads, pa.string()))


def _topology(lake: Lake, snapshot_ids: Sequence[str]) -> dict[str, Dataset] | None:
    """What is looked at of some snapshots; None where only Spark can read it."""
    found: dict[str, Dataset] = {}
    for name in _LOOKED_AT:
        here = lake.dataset(name, c.SNAPSHOT_ID, snapshot_ids)
        if here is None and not (lake.is_here and lake.steps()):
            return None
        found[name] = (
            dataset(lake.in_memory(name, c.SNAPSHOT_ID, snapshot_ids)) if here is None else here
        )
    return found


def _step_rows(steps: Sequence[Step]) -> pa.Table:
    """(qmgr, *STEP_COLUMNS), in the order of the steps."""
    rows = [(x.request.qmgr, x.plan_id, x.since, x.to) for x in steps]
    columns = zip(*rows, strict=True) if rows else ((),) * len(_STEP_ROWS)
    return pa.table(
        [pa.array(x, y.type) for x, y in zip(columns, _STEP_ROWS, strict=True)], schema=_STEP_ROWS
    )


def gathered_by_spark(lake: Lake, maker: PlanMaker, in_use: InUse) -> Gathered:
    """The facts of plans of any number.

    Args:
        lake: the lake.
        maker: has the topology, and the resets.
        in_use: the plans.
    """
    steps, plans = _with_steps(lake, in_use, checkpoint(_plans(lake, in_use)))
    candidates = lake.read_or_empty(ROUTE_CANDIDATES.name)
    keep = fitting(plans.count())
    of = keep(plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct())
    topology = maker.topology([snapshot_id for (snapshot_id,) in distinct_rows(of, c.SNAPSHOT_ID)])
    used = None
    if keep is not inline:
        history = lake.read_or_empty(BALANCE_HISTORY.name)
        used = broadcast_if_small(used_channels(plans, candidates, history), checkpoint)
    about = senders(of, topology, used)
    resets = maker.known_resets()
    rows = frame_from_arrow(lake.spark, _step_rows(steps)) if steps else None
    found = facts(plans, candidates, about, resets, by_factor=in_use.by_factor, steps=rows)
    ids = [x for (x,) in plans.select(c.PLAN_ID).limit(FEW_REQUESTS + 1).collect()]
    if len(ids) > FEW_REQUESTS:
        return Gathered(checkpoint(found), None)
    return Gathered(inline(found), frozenset(ids))


def _with_steps(lake: Lake, in_use: InUse, plans: DataFrame) -> tuple[list[Step], DataFrame]:
    """As `_steps` and `_used`; what is in use of lines is gathered here, whoever reads it."""
    if in_use.lines is None or not in_use.lines.by_head:
        return [], plans
    of_heads = plans.where(F.col(c.SNAPSHOT_ID).isin([*in_use.lines.by_head]))
    steps = _steps(lake, in_use, of_heads.select(c.PLAN_ID, *REQUEST).toArrow())
    more = sorted({x.to for x in steps} - in_use.plan_ids)
    others = lake.read_or_empty(ROUTE_PLANS.name, c.PLAN_ID, more)
    there = [x for (x,) in others.select(c.PLAN_ID).collect()]
    steps, lacking = _complete(steps, {*there, *in_use.plan_ids})
    if in_use.plan_ids:
        plans = plans.unionByName(others)
    if lacking:
        left = frame_from_rows(lake.spark, ([x] for x in lacking), f"{c.PLAN_ID} bigint")
        plans = plans.join(F.broadcast(left), c.PLAN_ID, "left_anti")
    heads = frame_from_rows(
        lake.spark, in_use.heads.items(), f"{c.SNAPSHOT_ID} string, head string"
    )
    named = F.coalesce("head", c.SNAPSHOT_ID)
    joined = plans.join(F.broadcast(heads), c.SNAPSHOT_ID, "left").withColumn(c.SNAPSHOT_ID, named)
    return steps, checkpoint(joined.select(*plans.columns))


def _plans(lake: Lake, in_use: InUse) -> DataFrame:
    """The rows of route_plans."""
    if in_use.plan_ids:
        return lake.read_or_empty(ROUTE_PLANS.name, c.PLAN_ID, sorted(in_use.plan_ids))
    return lake.read_or_empty(ROUTE_PLANS.name, c.SNAPSHOT_ID, in_use.snapshots)
