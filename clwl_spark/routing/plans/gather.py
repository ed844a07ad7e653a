"""The facts of the plans that a run may use, gathered from the lake.

Plans in a folder of this machine are read and gathered within this process, unless they are very
many; then, and elsewhere, Spark does it (29,500 plans in a fresh session: 7.9 s instead of 1.2).

Source: SEMANTICS 5 (CLWLMRUC, resets), 7 (transmission queues).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.planning.facts import (
    PLAN_COLUMNS,
    ROUTE_COLUMNS,
    facts,
    senders,
    used_channels,
)
from clwl_spark.planning.facts_in_memory import facts_in_memory, routes_in_memory, senders_in_memory
from clwl_spark.routing.intake.pending_requests import FEW_REQUESTS
from clwl_spark.routing.plans.plan_maker import PlanMaker, distinct_rows
from clwl_spark.routing.state.resets import resets_among
from clwl_spark.snapshots.changes import neighbours
from clwl_spark.snapshots.views import VIEWER
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


@dataclass(frozen=True, slots=True)
class InUse:
    """Which plans a run may use.

    Attributes:
        snapshots: the run's.
        plan_ids: plans; none = all of its snapshots.
        by_factor: of the semantics that they were made by.
    """

    snapshots: Sequence[str]
    plan_ids: frozenset[int] = frozenset()
    by_factor: bool = False


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
    topology = {name: lake.dataset(name) for name in _LOOKED_AT}
    tables = {name: table for name, table in topology.items() if table is not None}
    of_plans = (c.QMGR, *PLAN_COLUMNS)
    named = (c.SNAPSHOT_ID, in_use.snapshots)
    plans = lake.few_in_memory(ROUTE_PLANS.name, *named, most, names=of_plans)
    if plans is None or len(tables) < len(topology):
        return None
    if in_use.plan_ids:
        plans = plans.filter(pc.is_in(plans[c.PLAN_ID], pa.array(in_use.plan_ids, pa.int64())))
    ids = plans[c.PLAN_ID].to_pylist()
    names = (*ROUTE_COLUMNS, c.ELIMINATED_BY)
    candidates = lake.few_in_memory(ROUTE_CANDIDATES.name, c.PLAN_ID, ids, most, names=names)
    chosen = (c.QMGR, c.DEST_QMGR, c.CHANNEL)
    history = lake.few_in_memory(BALANCE_HISTORY.name, most=most, names=chosen)
    if candidates is None or history is None:
        return None
    routes = routes_in_memory(plans, candidates)
    about = senders_in_memory(plans, [routes, history], tables)
    resets = resets_among(lake, neighbours(in_use.snapshots))
    documents = facts_in_memory(plans, routes, about, resets, by_factor=in_use.by_factor)
    return Gathered(documents, frozenset(ids))


def gathered_by_spark(lake: Lake, maker: PlanMaker, in_use: InUse) -> Gathered:
    """The facts of plans of any number.

    Args:
        lake: the lake.
        maker: has the topology, and the resets.
        in_use: the plans.
    """
    plans = checkpoint(_plans(lake, in_use))
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
    found = facts(plans, candidates, about, resets, by_factor=in_use.by_factor)
    ids = [x for (x,) in plans.select(c.PLAN_ID).limit(FEW_REQUESTS + 1).collect()]
    if len(ids) > FEW_REQUESTS:
        return Gathered(checkpoint(found), None)
    return Gathered(inline(found), frozenset(ids))


def _plans(lake: Lake, in_use: InUse) -> DataFrame:
    """The rows of route_plans."""
    if in_use.plan_ids:
        return lake.read_or_empty(ROUTE_PLANS.name, c.PLAN_ID, sorted(in_use.plan_ids))
    return lake.read_or_empty(ROUTE_PLANS.name, c.SNAPSHOT_ID, in_use.snapshots)
