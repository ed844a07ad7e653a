"""What waits for a channel: outcomes, less what earlier events moved away, plus what they brought.

Nothing is told of messages that were sent: an outcome waits for its channel until an event moves
it. Source: SEMANTICS 8, P22, P27, P28.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, DefBind, ObjectType, Via
from clwl_spark.studies.reallocate.events import done_events
from clwl_spark.tables import MESSAGES, OUTCOMES, REALLOCATIONS, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

IDENTITY: Final = "identity"
REQUEST_KEY: Final = "request_key"
INELIGIBLE: Final = "ineligible"
IS_PUBLICATION: Final = "is_publication"
MOVED_AT: Final = "moved_at"
SYSTEM_PREFIX: Final = "SYSTEM."
_MESSAGE: Final = (c.QMGR, c.PUT_SEQ, c.MESSAGE_ID, c.PUT_TIME)
_ASKED: Final = (c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR)
_EFFECTIVE: Final = {
    DefBind.OPEN.value: Bind.ON_OPEN.value,
    DefBind.GROUP.value: Bind.ON_GROUP.value,
    DefBind.NOTFIXED.value: Bind.NOT_FIXED.value,
}
REASONS: Final = ("", *(reason.value for reason in w.IneligibleReason))
"""Words of the codes in column `ineligible`; 0 = eligible."""


def request_key() -> Column:
    """What a message asks for on its queue manager, whatever the snapshot (R is blank)."""
    return F.xxhash64(c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.VIA)


def waiting_outcomes(lake: Lake, channels: DataFrame) -> DataFrame:
    """The outcomes that wait now for one of the channels.

    Args:
        lake: with outcomes.
        channels: (qmgr, channel), distinct; small.

    Grain: one row per waiting outcome: the columns of `outcomes`, channel and xmitq those that it
    waits for and on now, and `via`, `message_key`, `duplicate`, `moved_at` (the last event that
    moved it, microseconds; null = none).
    """
    pairs = F.broadcast(channels)
    found = lake.read(OUTCOMES.name).where(F.col(c.CHANNEL).isNotNull())
    places = _places(lake, channels)
    if places is None:
        there = found.join(pairs, [c.QMGR, c.CHANNEL], "left_semi")
        return identified(lake, there).withColumn(MOVED_AT, F.lit(None).cast("bigint"))
    qmgrs = F.broadcast(channels.select(c.QMGR).distinct())
    named = identified(lake, found.join(qmgrs, c.QMGR, "left_semi"))
    placed = named.join(places, [c.QMGR, w.MESSAGE_KEY, w.DUPLICATE], "left")
    has_moved = F.col(MOVED_AT).isNotNull()
    return (
        placed.withColumn(
            c.CHANNEL, F.when(has_moved, F.col(w.TO_CHANNEL)).otherwise(F.col(c.CHANNEL))
        )
        .withColumn(c.XMITQ, F.when(has_moved, F.col(w.TO_XMITQ)).otherwise(F.col(c.XMITQ)))
        .drop(w.TO_CHANNEL, w.TO_XMITQ)
        .join(pairs, [c.QMGR, c.CHANNEL], "left_semi")
    )


def waiting_messages(lake: Lake, channels: DataFrame, direct: DataFrame) -> DataFrame:
    """What waits for the channels, with all that its re-allocation needs.

    Args:
        lake: with outcomes, messages and route_plans.
        channels: (qmgr, channel), distinct; small.
        direct: (plan_id) of publications that went out as DIRECT copies.

    A message that is no longer in `messages` counts as put with AS_Q_DEF, without logical order.

    Grain: one row per row of `waiting_outcomes`; `ineligible` is a code of `REASONS`.
    """
    plans = lake.read(ROUTE_PLANS.name).select(c.PLAN_ID, c.BIND_DEFAULT)
    copies = direct.select(c.PLAN_ID, F.lit(True).alias("is_copy"))
    rows = (
        waiting_outcomes(lake, channels)
        .join(_binds(lake, channels), [c.PUT_SEQ, IDENTITY], "left")
        .join(plans, c.PLAN_ID, "left")
        .join(F.broadcast(copies), c.PLAN_ID, "left")
        .fillna({"is_copy": False, c.LOGICAL_ORDER: False})
    )
    return rows.select(
        c.QMGR,
        c.PUT_SEQ,
        c.MESSAGE_ID,
        F.unix_micros(c.PUT_TIME).alias(c.PUT_TIME),
        w.MESSAGE_KEY,
        w.DUPLICATE,
        c.PLAN_ID,
        request_key().alias(REQUEST_KEY),
        _ineligible().cast("tinyint").alias(INELIGIBLE),
        _is_publication().alias(IS_PUBLICATION),
        c.CHANNEL,
        c.XMITQ,
    )


def sorted_by(rows: pa.Table, *columns: pa.ChunkedArray) -> pa.Table:
    """Rows in the order of columns, nulls first, as frames have it.

    A worker that needs an order sorts by itself: not every engine keeps that of a frame for it.
    """
    keys = [x for column in columns for x in (pc.is_valid(column), column)]
    table = pa.table(keys, names=[str(at) for at in range(len(keys))])
    return rows.take(pc.sort_indices(table, [(x, "ascending") for x in table.column_names]))


def done_reallocations(lake: Lake) -> DataFrame:
    """The rows of `reallocations` whose event counts; a killed run may have left others."""
    rows = lake.read_or_empty(REALLOCATIONS.name)
    return rows.join(done_events(lake).select(w.EVENT_ID), w.EVENT_ID, "left_semi")


def _places(lake: Lake, channels: DataFrame) -> DataFrame | None:
    """Where earlier events moved the messages of these queue managers; None = there are none.

    Grain: one row per moved outcome (qmgr, message_key, duplicate).
    """
    of_qmgrs = F.broadcast(channels.select(c.QMGR).distinct())
    moved = (
        done_reallocations(lake)
        .where(F.col(w.OUTCOME) == w.Reallocation.MOVED.value)
        .join(of_qmgrs, c.QMGR, "left_semi")
    )
    if moved.isEmpty():
        return None
    last = F.max_by(
        F.struct(w.TO_CHANNEL, w.TO_XMITQ, F.unix_micros(w.AT).alias(MOVED_AT)), w.EVENT_NUMBER
    )
    return (
        moved.groupBy(c.QMGR, w.MESSAGE_KEY, w.DUPLICATE)
        .agg(last.alias("last"))
        .select(c.QMGR, w.MESSAGE_KEY, w.DUPLICATE, "last.*")
    )


def identified(lake: Lake, outcomes: DataFrame) -> DataFrame:
    """Add `via`, and what names an outcome: `identity` (its message), `message_key`, `duplicate`.

    Equal outcomes of equal messages can stand for one another, so numbering them is enough.
    """
    via = lake.read(ROUTE_PLANS.name).select(c.PLAN_ID, c.VIA)
    named = (
        outcomes.join(via, c.PLAN_ID, "left")
        .withColumn(IDENTITY, _identity())
        .withColumn(w.MESSAGE_KEY, F.xxhash64(IDENTITY, c.PLAN_ID, c.DEST_QMGR, c.CHANNEL))
    )
    equal = Window.partitionBy(c.PUT_SEQ, IDENTITY, w.MESSAGE_KEY).orderBy(w.MESSAGE_KEY)
    return named.withColumn(w.DUPLICATE, F.row_number().over(equal) - 1)


def _binds(lake: Lake, channels: DataFrame) -> DataFrame:
    """The bind options of messages of these queue managers.

    Grain: one row per (put_seq, identity).
    """
    qmgrs = F.broadcast(channels.select(c.QMGR).distinct())
    messages = lake.read(MESSAGES.name).join(qmgrs, c.QMGR, "left_semi")
    defaulted = (
        messages.withColumn(c.OBJECT_TYPE, F.coalesce(c.OBJECT_TYPE, F.lit(ObjectType.QUEUE.value)))
        .withColumn(c.OBJECT_QMGR, F.coalesce(c.OBJECT_QMGR, F.lit("")))
        .withColumn(c.VIA, F.coalesce(c.VIA, F.lit(Via.LOCAL.value)))
        .withColumn(IDENTITY, _identity())
    )
    return defaulted.groupBy(c.PUT_SEQ, IDENTITY).agg(
        F.min(c.BIND).alias(c.BIND), F.bool_or(c.LOGICAL_ORDER).alias(c.LOGICAL_ORDER)
    )


def _identity() -> Column:
    """A hash of what a message is known by; equal put_seq occur, so message_id alone is not."""
    return F.xxhash64(*_MESSAGE, *_ASKED, c.VIA)


def _ineligible() -> Column:
    """The first reason why a message is left alone, as a code of `REASONS` (SEMANTICS 8, P28).

    ON_GROUP with logical order counts with and without a group id, as section 8 says it.
    """
    default = F.create_map(*(F.lit(x) for pair in _EFFECTIVE.items() for x in pair))
    asked = F.coalesce(c.BIND, F.lit(Bind.AS_Q_DEF.value))
    bind = F.when(asked == Bind.AS_Q_DEF.value, default[F.col(c.BIND_DEFAULT)]).otherwise(asked)
    binds = ~_is_publication()
    reasons = (
        binds & (bind == Bind.ON_OPEN.value),
        binds & (bind == Bind.ON_GROUP.value) & F.col(c.LOGICAL_ORDER),
        (F.col(c.OBJECT_QMGR) != "") | F.col("is_copy"),
        F.startswith(F.col(c.OBJECT_NAME), F.lit(SYSTEM_PREFIX)),
    )
    codes = (F.when(holds, F.lit(code)) for code, holds in enumerate(reasons, 1))
    return F.coalesce(*codes, F.lit(0))


def _is_publication() -> Column:
    return F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value
