"""The long-run share of every route of many plans, as columns: no driver meets the rows.

Source: SEMANTICS 4 (R1, R2), 5, P33.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.shares import Route, long_run_shares
from clwl_spark.mq.vocabulary import PlanKind, Reason
from clwl_spark.rules.marking import in_play
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.snapshots.views import DEFAULTS, VIEWER, Topology, own_rows
from clwl_spark.tables import columns as c

SHARE: Final = "share"
END_COLUMNS: Final = (
    c.REASON,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.CHANNEL,
    c.IS_ALIAS,
    c.CLUSTER,
    c.IS_LOCAL,
    c.STATUS,
    c.STATUS_TIER,
    c.CLWLWGHT,
    SHARE,
)
"""What is said of each end of a choice."""

_ROUTE: Final = (*ROUTE_ORDER, c.CHANNEL_CLUSTER, c.IS_LOCAL, c.STATUS, c.STATUS_TIER, c.CLWLWGHT)


def taken_channel() -> Column:
    """The channel of an end of `route_shares`: none where a message stays, as in outcomes.

    Such a message chose one of its own queue manager's CLUSRCVRs, whichever it is.
    """
    return F.when(~F.col(c.IS_LOCAL), F.col(c.CHANNEL)).alias(c.CHANNEL)


def route_shares(
    plans: DataFrame, candidates: DataFrame, topology: Topology, carried: Sequence[str] = ()
) -> DataFrame:
    """Where the messages of plans go in the long run, from an empty history.

    Args:
        plans: rows of `route_plans`, and whatever else is to stay beside each end.
        candidates: their rows of `route_candidates`.
        topology: the snapshots of the plans.
        carried: further columns of `candidates` that are to stand beside each route.

    Grain: one row per (plan, choice, end): a route, also one with share 0, or where the choice
    ends without one: locally, on a transmission queue, with a reason. The shares of a choice sum
    to 1; a message makes `choices` of them. A local route has the channel and cluster of its
    CLUSRCVR. Columns: those of `plans`, `choice`, and END_COLUMNS, of which `reason` is the
    choice's own.
    """
    listed = (
        candidates.where(in_play())
        .groupBy(c.PLAN_ID, c.CHOICE)
        .agg(F.sort_array(F.collect_list(F.struct(*_ROUTE, *carried))).alias("routes"))
    )
    choices = plans.withColumnRenamed(c.REASON, "plan_reason").withColumn(
        c.CHOICE, F.explode(F.sequence(F.lit(0), F.col("choices") - 1))
    )
    with_routes = (
        choices.join(listed, [c.PLAN_ID, c.CHOICE], "left")
        .join(F.broadcast(_recently_used(plans, topology)), [c.SNAPSHOT_ID, c.QMGR], "left")
        .fillna({c.CLWLMRUC: int(DEFAULTS["queue_managers"][c.CLWLMRUC])})
    )
    shares = F.when(F.col("routes").isNotNull(), _shares_of(_shape()))
    types = {name: candidates.schema[name].dataType for name in carried}
    nothing = [F.lit(None).cast(type_).alias(name) for name, type_ in types.items()]
    ends = F.when(
        F.col("routes").isNull(), F.array(F.struct(*_without_route(), *nothing))
    ).otherwise(
        F.transform(
            F.arrays_zip("routes", "_shares"),
            lambda x: F.struct(
                *_route_end(x["routes"], x["_shares"]),
                *(x["routes"][name].alias(name) for name in carried),
            ),
        )
    )
    return (
        with_routes.withColumn("_shares", shares)
        .withColumn("_end", F.explode(ends))
        .drop("routes", "_shares", "plan_reason", c.CLWLMRUC)
        .select("*", "_end.*")
        .drop("_end")
    )


def _recently_used(plans: DataFrame, topology: Topology) -> DataFrame:
    """CLWLMRUC of the senders that have rows, by (snapshot_id, qmgr)."""
    senders = plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    found = own_rows(senders, topology.queue_managers, ())
    return found.select(c.SNAPSHOT_ID, F.col(VIEWER).alias(c.QMGR), c.CLWLMRUC)


def _shape() -> Column:
    """All that shares depend on, so that few choices among many differ in it.

    `R50,R50,L20|2|1,1,2`: locality and CLWLWGHT by route, how many remote ones CLWLMRUC keeps, and
    which routes share a channel (left out where none do).
    """
    routes = F.col("routes")
    key = F.transform(routes, lambda x: F.struct(x[c.DEST_QMGR], x[c.CHANNEL]))
    own = F.when(F.size(F.array_distinct(key)) == F.size(key), F.lit("")).otherwise(
        F.concat_ws(",", F.transform(key, lambda x: F.array_position(key, x).cast("string")))
    )
    weights = F.transform(
        routes,
        lambda x: F.concat(F.when(x[c.IS_LOCAL], "L").otherwise("R"), x[c.CLWLWGHT].cast("string")),
    )
    kept = F.least(F.col(c.CLWLMRUC), F.size(routes)).cast("string")
    return F.concat_ws("|", F.concat_ws(",", weights), kept, own)


@lru_cache(maxsize=100_000)
def shares_of_shape(shape: str) -> list[float]:
    """The shares of the routes of a shape, in route order; none for no routes."""
    weights, kept, channels = shape.split("|")
    if not weights:  # Spark calls it where there are no routes, too, and drops the answer.
        return []
    words = weights.split(",")
    keys = channels.split(",") if channels else [str(at) for at in range(len(words))]
    routes = [
        Route(key, key, word[0] == "L", int(word[1:]))
        for word, key in zip(words, keys, strict=True)
    ]
    return [float(share) for share in long_run_shares(routes, int(kept))]


def _shares_of(shape: Column) -> Column:
    return F.udf(shares_of_shape, "array<double>", useArrow=True)(shape)


def _route_end(route: Column, share: Column) -> tuple[Column, ...]:
    """END_COLUMNS of a route."""
    return (
        F.lit(Reason.NONE.value).alias(c.REASON),
        route[c.DEST_QMGR].alias(c.DEST_QMGR),
        route[c.DEST_OBJECT].alias(c.DEST_OBJECT),
        route[c.CHANNEL].alias(c.CHANNEL),
        route[c.IS_ALIAS].alias(c.IS_ALIAS),
        route[c.CHANNEL_CLUSTER].alias(c.CLUSTER),
        route[c.IS_LOCAL].alias(c.IS_LOCAL),
        route[c.STATUS].alias(c.STATUS),
        route[c.STATUS_TIER].alias(c.STATUS_TIER),
        route[c.CLWLWGHT].alias(c.CLWLWGHT),
        share.alias(SHARE),
    )


def _without_route() -> tuple[Column, ...]:
    """END_COLUMNS where there is no route to choose."""
    ends_here = F.col(c.KIND).isin(PlanKind.LOCAL.value, PlanKind.XMITQ.value)
    ends_well = ends_here & (F.col("plan_reason") == 0)
    reason = (
        F.when(F.col("plan_reason") != 0, F.col("plan_reason"))
        .when(ends_here, F.lit(Reason.NONE.value))
        .otherwise(F.lit(Reason.NO_DESTINATIONS_AVAILABLE.value))
    )
    is_local = ends_well & (F.col(c.KIND) == PlanKind.LOCAL.value)
    qmgr = F.when(is_local, F.col(c.QMGR)).when(ends_well, F.col(c.RESOLVED_QMGR))
    return (
        reason.alias(c.REASON),
        qmgr.alias(c.DEST_QMGR),
        F.when(ends_well, F.col(c.RESOLVED_OBJECT)).alias(c.DEST_OBJECT),
        F.lit(None).cast("string").alias(c.CHANNEL),
        F.lit(None).cast("boolean").alias(c.IS_ALIAS),
        F.lit(None).cast("string").alias(c.CLUSTER),
        is_local.alias(c.IS_LOCAL),
        F.lit(None).cast("string").alias(c.STATUS),
        F.lit(None).cast("int").alias(c.STATUS_TIER),
        F.lit(None).cast("int").alias(c.CLWLWGHT),
        F.lit(1.0).alias(SHARE),
    )
