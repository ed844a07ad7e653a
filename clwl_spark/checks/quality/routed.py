"""What routing gave between moments, grouped by plan and route, for counts to be compared with.

Outcomes are read once, and again with messages where some are bound; what is left of them has to
fit into the driver's memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf

from clwl_spark.checks.quality.count_attribution import Routed
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, DefBind, ObjectType
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.tables import (
    HOPS,
    MESSAGES,
    OUTCOMES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOT_RESETS,
    SNAPSHOTS,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import AT_QMGR, HOP

_ROUTE: Final = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL)
_AT: Final = "at"
_FIRST: Final = "first_at"
_LAST: Final = "last_at"
_SIZE: Final = "size"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The moments at which counts begin and end, those near to them included; microseconds."""

    starts: tuple[int, ...]

    def slot(self, at: Column) -> Column:
        """The last of these moments that is not after a moment between the first and the last."""
        starts = np.array(self.starts)

        def last(moments: pd.Series) -> pd.Series:
            return pd.Series(starts[np.searchsorted(starts, moments, side="right") - 1])

        return pandas_udf(last, "bigint")(at)  # type: ignore[call-overload, no-any-return]

    def has(self, at: Column) -> Column:
        """Which moments lie between the first and the last."""
        return at.between(self.starts[0], self.starts[-1])


def routed_between(lake: Lake, moments: Sequence[int]) -> Routed:
    """What routing gave, on later hops too, from the first moment to the last.

    Args:
        lake: where outcomes are.
        moments: in order, microseconds since 1970; messages are told apart by the last of these
            that is not after their put_time.

    Raises:
        MissingLakeError: there is no table of outcomes, or none of messages where some are bound.
    """
    bounds = _Bounds(tuple(moments) or (0,))
    taken = _taken(lake, bounds).toPandas()
    bound = taken.pop(c.BOUND).fillna(0).sum()
    opens = _opens(lake, bounds) if bound else _opens(lake, bounds).limit(0)
    return Routed(taken, _ways(lake).toPandas(), opens.toPandas(), _resets(lake).toPandas())


def _taken(lake: Lake, bounds: _Bounds) -> DataFrame:
    """Messages that were put in these times and routed, on their hops too.

    Grain: one row per moment of `bounds`, plan and route.
    """
    first = lake.read(OUTCOMES.name).withColumn(HOP, F.lit(1))
    later = lake.read_or_empty(HOPS.name).where(F.col(HOP) > 1)
    later = later.withColumn(c.QMGR, F.col(AT_QMGR)).withColumn(c.BOUND, F.lit(False))
    names = (c.QMGR, HOP, c.PLAN_ID, c.PUT_TIME, c.OBJECT_TYPE, c.REASON, c.BOUND, c.XMITQ, *_ROUTE)
    at = F.unix_micros(c.PUT_TIME)
    is_topic = F.coalesce(c.OBJECT_TYPE, F.lit("")) == ObjectType.TOPIC.value
    texts = (c.DEST_QMGR, c.CHANNEL, c.XMITQ)
    return (
        first.select(*names)
        .unionByName(later.select(*names))
        .where((F.col(c.REASON) == 0) & bounds.has(at))
        .select(
            bounds.slot(at).alias(_AT),
            c.QMGR,
            _plan(F.col(HOP)),
            c.BOUND,
            *(_text(x) for x in texts),
            F.when(~is_topic, _text(c.DEST_OBJECT)).otherwise("").alias(c.DEST_OBJECT),
        )
        .groupBy(_AT, c.QMGR, c.PLAN_ID, *_ROUTE, c.XMITQ)
        .agg(F.count("*").alias("outcomes"), F.count_if(c.BOUND).alias(c.BOUND))
    )


def _ways(lake: Lake) -> DataFrame:
    """Grain: one row per route of a plan; a local one has no channel."""
    plans = lake.read_or_empty(ROUTE_PLANS.name).select(c.PLAN_ID, c.QMGR)
    routes = lake.read_or_empty(ROUTE_CANDIDATES.name).where(F.col(c.ELIMINATED_BY).isNull())
    channel = F.when(F.col(c.IS_LOCAL), "").otherwise(_text(c.CHANNEL)).alias(c.CHANNEL)
    return (
        routes.withColumn(c.CHANNEL, channel)
        .join(plans, c.PLAN_ID)
        .select(c.QMGR, _plan(F.lit(1)), *(_text(x) for x in _ROUTE))
        .distinct()
    )


def _opens(lake: Lake, bounds: _Bounds) -> DataFrame:
    """Opens and groups of several messages in these times.

    Grain: one row per plan and the moments of `bounds` from which they begin and end.
    """
    default = (
        F.when(F.col(c.BIND_DEFAULT) == DefBind.OPEN.value, Bind.ON_OPEN.value)
        .when(F.col(c.BIND_DEFAULT) == DefBind.GROUP.value, Bind.ON_GROUP.value)
        .otherwise(Bind.NOT_FIXED.value)
    )
    plans = lake.read_or_empty(ROUTE_PLANS.name).select(c.PLAN_ID, c.BIND_DEFAULT)
    messages = lake.read(MESSAGES.name).select(c.QMGR, c.PUT_SEQ, c.BIND, c.OPEN_ID, c.GROUP_ID)
    asked = F.nullif(F.coalesce(c.BIND, F.lit(Bind.AS_Q_DEF.value)), F.lit(Bind.AS_Q_DEF.value))
    option = F.coalesce(asked, default)
    open_id = F.col(c.OPEN_ID).cast("string")
    if semantics_of(lake).shares_null_opens:
        open_id = F.coalesce(open_id, F.lit(""))
    key = F.when(option == Bind.ON_OPEN.value, open_id).when(
        option == Bind.ON_GROUP.value, F.hex(c.GROUP_ID)
    )
    at = F.unix_micros(c.PUT_TIME)
    put = (
        lake.read(OUTCOMES.name)
        .where((F.col(c.REASON) == 0) & bounds.has(at))
        .select(c.QMGR, c.PUT_SEQ, c.PLAN_ID, at.alias(_AT))
    )
    each = (
        put.join(messages, [c.QMGR, c.PUT_SEQ])
        .join(F.broadcast(plans), c.PLAN_ID)
        .groupBy(_plan(F.lit(1)), key.alias("key"))
        .agg(F.min(_AT).alias(_FIRST), F.max(_AT).alias(_LAST), F.count("*").alias(_SIZE))
        .where(F.col("key").isNotNull() & (F.col(_SIZE) > 1))
    )
    size = F.col(_SIZE)
    return (
        each.select(c.PLAN_ID, _slot_of(bounds, _FIRST), _slot_of(bounds, _LAST), _SIZE)
        .groupBy(c.PLAN_ID, _FIRST, _LAST)
        .agg(F.sum(size * (size - 1)).alias("squares"), F.max(size).alias("largest"))
    )


def _resets(lake: Lake) -> DataFrame:
    """Grain: one row per reset of a queue manager's history."""
    starts = lake.read_or_empty(SNAPSHOTS.name).select(
        c.SNAPSHOT_ID, F.unix_micros(c.VALID_FROM).alias(_AT)
    )
    resets = lake.read_or_empty(SNAPSHOT_RESETS.name).where(c.IS_RESET)
    return resets.join(starts, c.SNAPSHOT_ID).select(c.QMGR, _AT)


def _plan(hop: Column) -> Column:
    """A plan's name: plans of later hops have numbers of their own."""
    return F.concat_ws(" ", hop, c.PLAN_ID).alias(c.PLAN_ID)


def _slot_of(bounds: _Bounds, name: str) -> Column:
    return bounds.slot(F.col(name)).alias(name)


def _text(name: str) -> Column:
    return F.coalesce(F.col(name), F.lit("")).alias(name)
