"""The simple case, which the other ways to route are written for; its plans are given to them.

Every message is put to a cluster queue and nothing is bound. What `clwl route` does besides -
resolving names, judging candidates, bindings, snapshots that reset, publications, rejects, going on
after a crash - they leave out.
"""

from pathlib import Path

import polars as pl

from clwl_spark import tables as schemas
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.mq.vocabulary import DefBind, PlanKind
from clwl_spark.tables import columns as c

STEP = "step"
ROUTE_ORDER = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)
"""Of two routes that are alike in use the first one in this order is taken (SEMANTICS 5)."""
ENDS = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER, c.XMITQ, c.IS_LOCAL)
COMPARED = (c.SNAPSHOT_ID, c.PLAN_ID, c.REASON, *ENDS)
_XMITQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"


def table(lake: Path, name: str) -> pl.LazyFrame:
    """A table of the lake."""
    return pl.scan_delta(str(lake / name))


def routes(planned: Path) -> pl.DataFrame:
    """What each request may choose from, as outcomes say it.

    Args:
        planned: a lake with `route_plans` and `route_candidates`.

    Grain: one row per route, those of a plan together and in route order: REQUEST, plan_id, the
    route's (dest_qmgr, channel) as `to`, ENDS and STEP, what a choice adds to its channel.

    Raises:
        SystemExit: the plans are not the simple case.
    """
    plans = table(planned, schemas.ROUTE_PLANS.name).collect()
    survivors = table(planned, schemas.ROUTE_CANDIDATES.name).filter(
        pl.col(c.ELIMINATED_BY).is_null()
    )
    simple = plans.filter(
        (pl.col(c.KIND) == PlanKind.QUEUE.value)
        & (pl.col(c.REASON) == 0)
        & (pl.col(c.BIND_DEFAULT) == DefBind.NOTFIXED.value)
    )
    found = survivors.collect().sort(c.PLAN_ID, *ROUTE_ORDER)
    chosen = found.filter(~pl.col(c.IS_LOCAL))[c.PLAN_ID].n_unique()
    if plans[c.SNAPSHOT_ID].n_unique() != 1 or {simple.height, chosen} != {plans.height}:
        raise SystemExit(f"{planned}: not the simple case")
    over = pl.when(~pl.col(c.IS_LOCAL))
    shown = found.select(
        c.PLAN_ID,
        pl.struct(c.DEST_QMGR, c.CHANNEL).alias("to"),
        c.DEST_QMGR,
        c.DEST_OBJECT,
        over.then(c.CHANNEL).alias(c.CHANNEL),
        over.then(c.CHANNEL_CLUSTER).alias(c.CLUSTER),
        over.then(pl.lit(_XMITQ)).alias(c.XMITQ),
        c.IS_LOCAL,
        c.CLWLWGHT,
        (1000 // pl.col(c.CLWLWGHT)).alias(STEP),
    )
    return shown.join(
        plans.select(*REQUEST, c.PLAN_ID), on=c.PLAN_ID, how="left", maintain_order="left"
    )


def differing(one: Path, other: Path) -> int:
    """How many outcomes of two lakes are not the same, or in one of them only."""
    left, right = (
        table(lake, schemas.OUTCOMES.name)
        .select(c.QMGR, c.PUT_SEQ, pl.struct(COMPARED).hash(1).alias(at))
        .collect()
        for lake, at in ((one, "one"), (other, "other"))
    )
    met = left.join(right, on=[c.QMGR, c.PUT_SEQ], how="full", coalesce=True)
    return met.filter(~pl.col("one").eq_missing(pl.col("other"))).height
