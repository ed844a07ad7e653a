"""What goes by a channel: outcomes, less what earlier events moved away, plus what they brought.

Which of them wait is told in `who_waits`. Source: SEMANTICS 8, P22, P23, P27, P28.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, DefBind, ObjectType, Via
from clwl_spark.studies.reallocate.events import done_events
from clwl_spark.studies.reallocate.who_waits import WhoWaits
from clwl_spark.tables import MESSAGES, OUTCOMES, REALLOCATIONS, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

IDENTITY: Final = "identity"
REQUEST_KEY: Final = "request_key"
INELIGIBLE: Final = "ineligible"
IS_PUBLICATION: Final = "is_publication"
MOVED_AT: Final = "moved_at"
PUT_AT: Final = "put_at"
PUT_TO: Final = "put_to"
PUT_BY: Final = "put_by"
RANK: Final = "rank"
_CHOSE_ANEW: Final = (w.Reallocation.MOVED.value, w.Reallocation.STILL_FAVOURED.value)
_TOLD: Final = (w.TO_CHANNEL, w.TO_XMITQ, w.TO_QMGR, w.TO_OBJECT, w.TO_CLUSTER)
SYSTEM_PREFIX: Final = "SYSTEM."
_IS_NAMED: Final = "is_named"
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
    """What a message asks for on its queue manager, whatever the snapshot."""
    return F.xxhash64(c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.VIA)


def waiting_outcomes(lake: Lake, channels: DataFrame, at: int | None = None) -> DataFrame:
    """The outcomes whose channel now is one of the channels (P27).

    Args:
        lake: with outcomes.
        channels: (qmgr, channel), distinct; small.
        at: a moment, in microseconds: events after it have not been; None = after all events.

    Grain: one row per outcome: the columns of `outcomes`, channel and xmitq those that it goes by
    now, and `via`, `message_key`, `duplicate`, `moved_at` (the last event that moved it,
    microseconds; null = none), `put_at` (its put time by P27, microseconds).
    """
    pairs = F.broadcast(channels)
    found = lake.read(OUTCOMES.name).where(F.col(c.CHANNEL).isNotNull())
    qmgrs = channels.select(c.QMGR).distinct()
    places = _places(lake, qmgrs, at)
    if places is None:
        found = found.join(pairs, [c.QMGR, c.CHANNEL], "left_semi")
        return _placed(identified(lake, found), None)
    named = identified(lake, found.join(F.broadcast(qmgrs), c.QMGR, "left_semi"))
    return _placed(named, places).join(pairs, [c.QMGR, c.CHANNEL], "left_semi")


def outcomes_now(lake: Lake, outcomes: DataFrame, at: int | None = None) -> DataFrame:
    """Outcomes as earlier events left them (P27).

    Args:
        lake: theirs.
        outcomes: rows of `outcomes`, all of a message.
        at: a moment, in microseconds: events after it have not been; None = after all events.

    Grain: one row per outcome, as `waiting_outcomes` has it, with `put_to` and `put_by`, the queue
    manager and channel chosen at the put; what went to a local queue has no channel, and is local.
    """
    places = _places(lake, outcomes.select(c.QMGR).distinct(), at)
    first = {PUT_TO: F.col(c.DEST_QMGR), PUT_BY: F.col(c.CHANNEL)}
    return _placed(identified(lake, outcomes).withColumns(first), places)


def _placed(named: DataFrame, places: DataFrame | None) -> DataFrame:
    """Identified outcomes with the place that they have now."""
    if places is None:
        times = {MOVED_AT: F.lit(None).cast("bigint"), PUT_AT: F.unix_micros(c.PUT_TIME)}
        return named.withColumns(times)
    placed = named.join(places, [c.QMGR, w.MESSAGE_KEY, w.DUPLICATE], "left")
    has_moved = F.col(MOVED_AT).isNotNull()
    now = {
        c.CHANNEL: F.col(w.TO_CHANNEL),
        c.XMITQ: F.col(w.TO_XMITQ),
        c.DEST_QMGR: F.col(w.TO_QMGR),
        # Events of before these two columns were there do not tell them.
        c.DEST_OBJECT: F.coalesce(w.TO_OBJECT, c.DEST_OBJECT),
        c.CLUSTER: F.col(w.TO_CLUSTER),
        c.IS_LOCAL: F.col(w.TO_CHANNEL).isNull() & F.col(w.TO_XMITQ).isNull(),
    }
    return (
        placed.withColumns({x: F.when(has_moved, y).otherwise(F.col(x)) for x, y in now.items()})
        .withColumn(PUT_AT, F.coalesce(PUT_AT, F.unix_micros(c.PUT_TIME)))
        .drop(*_TOLD)
    )


def unsent(outcomes: DataFrame, waits: WhoWaits, at: int) -> DataFrame:
    """Those that wait at a moment, and those put later.

    Args:
        outcomes: `waiting_outcomes` of one channel.
        waits: which wait.
        at: the moment, in microseconds.
    """
    is_later = F.col(PUT_AT) > at
    if waits.last is not None:
        ranked = from_the_end(outcomes, at)
        return ranked.where(is_later | (F.col(RANK) <= waits.last)).drop(RANK)
    if waits.put_from is not None:
        return outcomes.where(F.col(PUT_AT) >= waits.put_from)
    return outcomes if waits.is_known else outcomes.where(is_later)


def from_the_end(outcomes: DataFrame, at: int) -> DataFrame:
    """Number what goes by one channel from its end, as a backlog counts it.

    Args:
        outcomes: `waiting_outcomes` of one channel.
        at: a moment, in microseconds; what was put later is numbered by itself.

    Grain: one row per row, with `rank`, from 1.
    """
    order = (c.PUT_SEQ, c.MESSAGE_ID, w.MESSAGE_KEY, w.DUPLICATE)
    newest = Window.partitionBy(F.col(PUT_AT) > at).orderBy(*(F.desc(x) for x in order))
    return outcomes.withColumn(RANK, F.row_number().over(newest))


def waiting_messages(lake: Lake, channels: DataFrame, named: DataFrame) -> DataFrame:
    """What goes by the channels, with all that its re-allocation needs.

    Args:
        lake: with outcomes, messages and route_plans.
        channels: (qmgr, channel), distinct; small.
        named: (plan_id) of the plans whose messages are for one queue manager (P23).

    A message that is no longer in `messages` counts as put with AS_Q_DEF, without logical order.

    Grain: one row per row of `waiting_outcomes`; `ineligible` is a code of `REASONS`.
    """
    plans = lake.read(ROUTE_PLANS.name).select(c.PLAN_ID, c.BIND_DEFAULT)
    for_one = named.select(c.PLAN_ID, F.lit(True).alias(_IS_NAMED))
    rows = (
        waiting_outcomes(lake, channels)
        .join(_binds(lake, channels), [c.PUT_SEQ, IDENTITY], "left")
        .join(plans, c.PLAN_ID, "left")
        .join(F.broadcast(for_one), c.PLAN_ID, "left")
        .fillna({_IS_NAMED: False, c.LOGICAL_ORDER: False})
    )
    return rows.select(
        c.QMGR,
        c.PUT_SEQ,
        c.MESSAGE_ID,
        F.col(PUT_AT).alias(c.PUT_TIME),
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


def _places(lake: Lake, qmgrs: DataFrame, at: int | None) -> DataFrame | None:
    """Where earlier events left what chose anew on these queue managers; None = nothing has.

    Args:
        lake: theirs.
        qmgrs: (qmgr), distinct; small.
        at: as for `waiting_outcomes`.

    Grain: one row per such outcome (qmgr, message_key, duplicate); where it is now (`to_...`) and
    `moved_at` are null where none moved it.
    """
    of_qmgrs = F.broadcast(qmgrs)
    chose = (
        done_reallocations(lake)
        .where(F.col(w.OUTCOME).isin(*_CHOSE_ANEW))
        .join(of_qmgrs, c.QMGR, "left_semi")
    )
    event_at = F.unix_micros(w.AT)
    if at is not None:
        chose = chose.where(event_at <= at)
    if chose.isEmpty():
        return None
    moved = F.when(F.col(w.OUTCOME) == w.Reallocation.MOVED.value, F.col(w.EVENT_NUMBER))
    last = F.max_by(F.struct(*_TOLD, event_at.alias(MOVED_AT)), moved)
    return (
        chose.groupBy(c.QMGR, w.MESSAGE_KEY, w.DUPLICATE)
        .agg(last.alias("last"), F.max(event_at).alias(PUT_AT))
        .select(c.QMGR, w.MESSAGE_KEY, w.DUPLICATE, "last.*", PUT_AT)
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
        F.col(_IS_NAMED),
        F.startswith(F.col(c.OBJECT_NAME), F.lit(SYSTEM_PREFIX)),
    )
    codes = (F.when(holds, F.lit(code)) for code, holds in enumerate(reasons, 1))
    return F.coalesce(*codes, F.lit(0))


def _is_publication() -> Column:
    return F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value
