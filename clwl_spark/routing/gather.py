"""The facts of the plans that a run may use, gathered from the lake.

Plans in a folder of this machine are read and gathered within this process, unless they are very
many; then, and elsewhere, Spark does it (29,500 plans in a fresh session: 7.9 s instead of 1.2).

Source: SEMANTICS 5 (CLWLMRUC, resets), 7 (transmission queues).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.plan.facts import (
    PLAN_COLUMNS,
    ROUTE_COLUMNS,
    facts,
    senders,
    used_channels,
)
from clwl_spark.plan.facts_in_memory import facts_in_memory, routes_in_memory, senders_in_memory
from clwl_spark.plan.planning import Plans
from clwl_spark.routing.asked import FEW_REQUESTS
from clwl_spark.routing.plan_maker import PlanMaker, distinct_rows
from clwl_spark.routing.resets import resets_among
from clwl_spark.schemas import (
    BALANCE_HISTORY,
    CHANNEL_STATUS,
    QUEUE_MANAGERS,
    QUEUES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
)
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import ROWS_HERE, broadcast_if_small, checkpoint, fitting, inline
from clwl_spark.storage import Lake
from clwl_spark.topology.changes import neighbours
from clwl_spark.topology.views import VIEWER

_LOOKED_AT = tuple(x.name for x in (QUEUE_MANAGERS, QUEUES, CHANNEL_STATUS))


@dataclass(frozen=True, slots=True)
class InUse:
    """Which plans a run may use: where none are named, all of its snapshots.

    Attributes:
        snapshots: the run's.
        plan_ids: plans.
        found: more plans, that Spark has found: (plan_id).
    """

    snapshots: Sequence[str]
    plan_ids: frozenset[int] = frozenset()
    found: Sequence[DataFrame] = ()

    @property
    def is_all(self) -> bool:
        """Whether no plan is named."""
        return not self.plan_ids and not self.found


@dataclass(frozen=True, slots=True)
class Gathered:
    """Facts, and the plans that are in them.

    Attributes:
        facts: (qmgr, facts) of `plan.facts`, where they were gathered.
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
    resets = resets_among(lake, neighbours(in_use.snapshots))
    of_plans = (c.QMGR, *PLAN_COLUMNS)
    plans = _few(lake, ROUTE_PLANS.name, c.SNAPSHOT_ID, in_use.snapshots, names=of_plans, most=most)
    if in_use.found or resets is None or plans is None:
        return None
    if not in_use.is_all:
        plans = plans.filter(pc.is_in(plans[c.PLAN_ID], pa.array(in_use.plan_ids, pa.int64())))
    ids = plans[c.PLAN_ID].to_pylist()
    names = (*ROUTE_COLUMNS, c.ELIMINATED_BY)
    candidates = _few(lake, ROUTE_CANDIDATES.name, c.PLAN_ID, ids, names=names, most=most)
    chosen = (c.QMGR, c.DEST_QMGR, c.CHANNEL)
    history = _few(lake, BALANCE_HISTORY.name, names=chosen, most=most)
    topology = {name: lake.dataset(name) for name in _LOOKED_AT}
    tables = {name: table for name, table in topology.items() if table is not None}
    if candidates is None or history is None or len(tables) < len(topology):
        return None
    routes = routes_in_memory(plans, candidates)
    about = senders_in_memory(plans, [routes, history], tables)
    documents = facts_in_memory(plans, routes, about, resets)
    return Gathered(documents, frozenset(ids))


def _few(
    lake: Lake,
    table: str,
    column: str = "",
    values: Sequence[str] | Sequence[int] = (),
    *,
    names: Sequence[str],
    most: int | None,
) -> pa.Table | None:
    return lake.few_in_memory(table, column, values, most, names=names)


def gathered_by_spark(
    lake: Lake, maker: PlanMaker, in_use: InUse, made: Plans | None = None
) -> Gathered:
    """The facts of plans of any number.

    Args:
        lake: the lake.
        maker: has the topology, and the resets.
        in_use: the plans.
        made: the plans and candidates of all of them; None = as the lake has them.
    """
    there = made or _plans(lake, in_use)
    plans, candidates = there.plans, there.candidates
    keep = fitting(plans.count())
    of = keep(plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct())
    topology = maker.topology([snapshot_id for (snapshot_id,) in distinct_rows(of, c.SNAPSHOT_ID)])
    used = None
    if keep is not inline:
        history = lake.read_or_empty(BALANCE_HISTORY.name)
        used = broadcast_if_small(used_channels(plans, candidates, history), checkpoint)
    about = senders(of, topology, used)
    found = facts(plans, candidates, about, maker.known_resets())
    ids = [x for (x,) in plans.select(c.PLAN_ID).limit(FEW_REQUESTS + 1).collect()]
    if len(ids) > FEW_REQUESTS:
        return Gathered(checkpoint(found), None)
    return Gathered(inline(found), frozenset(ids))


def _plans(lake: Lake, in_use: InUse) -> Plans:
    """The plans, and at least their candidates."""
    plans = lake.read_or_empty(ROUTE_PLANS.name)
    if in_use.is_all:
        plans = plans.where(F.col(c.SNAPSHOT_ID).isin(list(in_use.snapshots)))
    else:
        rows = [(x,) for x in sorted(in_use.plan_ids)]
        named = frame_from_rows(lake.spark, rows, f"{c.PLAN_ID} bigint")
        used = reduce(DataFrame.union, [*in_use.found, named]).distinct()
        plans = plans.join(used, c.PLAN_ID, "left_semi")
    return Plans(checkpoint(plans), lake.read_or_empty(ROUTE_CANDIDATES.name))
