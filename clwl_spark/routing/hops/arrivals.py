"""Outcomes of one hop as rows of `hops`, and those that go on as messages of the next hop.

How a message goes on is told in `studies.trace.places`, which does the same for a single put.

Order: what one queue manager sends arrives in the order of its put_seq there; between senders, the
greatest put_time that a sender has reached decides. Transit takes no time: a message keeps its
put_time, and with it its snapshot. It is put with the DEFBIND of what it meets, since the channel
and not the application opens the queue. No arrival has an open_id: each is an open of its own, or
where these are shared (`Semantics.null_open_id`), arrivals to one object are of one that the queue
manager's channels keep. A group stays one.
"""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Bind, ClusterRoute, ObjectType, PlanKind, Via
from clwl_spark.routing.hops.hop_batches import HopBatch
from clwl_spark.routing.hops.tickets import (
    TRAIL,
    has_been_at,
    no_trail,
    place_hash,
    ticket,
    unpacked,
)
from clwl_spark.tables import HOPS, MESSAGES, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import AT_QMGR, AT_SEQ, CAME_BACK, CUT_OFF, ENDS, HOP, End

OTHER_END: Final = "other_end"
NEXT_QMGR: Final = "next_qmgr"
NEXT_FOR: Final = "next_object_qmgr"
OWN_ID: Final = "own_id"
_IS_DEFINED: Final = "is_defined"
_PER_BATCH: Final = 1 << 40
"""put_seq of an arrival = batch * this + its place within the batch."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What outcomes are joined with.

    Attributes:
        plans: `with_other_ends`.
        defined: (snapshot_id, qmgr) of the queue managers that snapshots define.
        groups: (qmgr, put_seq, `OWN_ID`, group_id, logical_order) of messages in groups; None
            where no queue has DEFBIND(GROUP), since then they do not matter.
    """

    plans: DataFrame
    defined: DataFrame
    groups: DataFrame | None = None


def with_other_ends(plans: DataFrame, defined: DataFrame, links: DataFrame) -> DataFrame:
    """Where the transmission queues of plans lead.

    Args:
        plans: rows of `route_plans`.
        defined: (snapshot_id, qmgr).
        links: rows of `xmitq_links`.

    Grain: one row per plan: (plan_id, kind, clroute, resolved_qmgr, other_end); `other_end` is null
    where it is not known, or the plan does not end on a transmission queue.
    """
    known = F.broadcast(defined)
    named = known.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(c.XMITQ), F.lit(True).alias("by_name"))
    meant = known.select(
        c.SNAPSHOT_ID, F.col(c.QMGR).alias(c.RESOLVED_QMGR), F.lit(True).alias("by_qmgr")
    )
    told = F.broadcast(links)
    reached = known.select(
        c.SNAPSHOT_ID, F.col(c.QMGR).alias(c.REMOTE_QMGR), F.lit(True).alias("by_link")
    )
    other = F.when(F.col(c.REMOTE_QMGR).isNotNull(), F.when(F.col("by_link"), F.col(c.REMOTE_QMGR)))
    for flag, name in (("by_name", c.XMITQ), ("by_qmgr", c.RESOLVED_QMGR)):
        usable = F.col(c.REMOTE_QMGR).isNull() & F.col(flag) & (F.col(name) != F.col(c.QMGR))
        other = F.coalesce(other, F.when(usable, F.col(name)))
    ends_there = (F.col(c.KIND) == PlanKind.XMITQ.value) & (F.col(c.REASON) == 0)
    return (
        plans.select(*(x for x in ROUTE_PLANS.names if x != c.RESOLUTION_PATH))
        .join(told, [c.QMGR, c.XMITQ], "left")
        .join(reached, [c.SNAPSHOT_ID, c.REMOTE_QMGR], "left")
        .join(named, [c.SNAPSHOT_ID, c.XMITQ], "left")
        .join(meant, [c.SNAPSHOT_ID, c.RESOLVED_QMGR], "left")
        .select(
            c.PLAN_ID,
            c.KIND,
            c.CLROUTE,
            c.RESOLVED_QMGR,
            F.when(ends_there, other).alias(OTHER_END),
        )
    )


def followed(outcomes: DataFrame, hop: int, know: Knowledge, *, is_last: bool) -> DataFrame:
    """Each outcome of a hop with how its way ends, or where it goes on.

    Args:
        outcomes: rows of `outcomes` of that hop.
        hop: its number, from 1.
        know: what they are joined with.
        is_last: no more hops are followed: what goes on is cut off as LOOP or MORE_HOPS.

    Grain: one row per outcome: the columns of `hops`, and `TRAIL`, `NEXT_QMGR`, `NEXT_FOR`, and
    `clroute` of the plan; `NEXT_QMGR` and `NEXT_FOR` are null where the way ends.
    """
    place = place_hash(AT_QMGR, c.OBJECT_NAME, c.OBJECT_QMGR)
    defined = know.defined.select(
        c.SNAPSHOT_ID, F.col(c.QMGR).alias(c.DEST_QMGR), F.lit(True).alias(_IS_DEFINED)
    )
    rows = (
        _with_origin(outcomes, hop)
        .join(know.plans, c.PLAN_ID, "left")
        .join(F.broadcast(defined), [c.SNAPSHOT_ID, c.DEST_QMGR], "left")
        .withColumn(HOP, F.lit(hop))
        .withColumn(CAME_BACK, has_been_at(F.col(TRAIL), place, hop - 1))
        .withColumn(ENDS, _ends())
    )
    over_channel = F.col(c.CHANNEL).isNotNull()
    # A topic host sends on to all but the one that a publication came from.
    named = F.when(
        over_channel,
        F.when(F.col(c.KIND) == PlanKind.QMGR.value, F.col(c.RESOLVED_QMGR))
        .when(F.col(c.KIND) == PlanKind.TOPIC.value, F.col(AT_QMGR))
        .otherwise(""),
    ).otherwise(F.col(c.DEST_QMGR))
    goes_on = F.col(ENDS).isNull()
    to = F.when(over_channel, F.col(c.DEST_QMGR)).otherwise(F.col(OTHER_END))
    rows = rows.withColumns(
        {
            NEXT_QMGR: F.when(goes_on, to),
            NEXT_FOR: F.when(goes_on, F.coalesce(named, F.lit(""))),
            TRAIL: F.concat(F.col(TRAIL), place),
        }
    )
    if is_last:
        loop, more = (F.lit(end.value) for end in CUT_OFF)
        cut = F.when(F.col(CAME_BACK), loop).otherwise(more)
        rows = rows.withColumn(ENDS, F.coalesce(ENDS, cut))
    return rows.select(*HOPS.names, TRAIL, NEXT_QMGR, NEXT_FOR, c.CLROUTE)


def own_id(hop: int) -> Column:
    """What tells messages of one put_seq apart: a first put's message_id; later ones have none."""
    return F.coalesce(F.col(c.MESSAGE_ID), no_trail()) if hop == 1 else no_trail()


def arrivals(rows: DataFrame, batch: HopBatch, groups: DataFrame | None) -> DataFrame:
    """The messages of the next hop.

    Args:
        rows: `followed`.
        batch: of the hop's outcomes; later batches come later.
        groups: as in `Knowledge`.

    Grain: one row per row that goes on, columns of `messages`.
    """
    # Equal put_seq, which only a first put has: by message_id (SEMANTICS P25).
    in_order = (F.col(AT_SEQ), F.coalesce(F.col(c.MESSAGE_ID), no_trail()))
    of_sender = Window.partitionBy(AT_QMGR).orderBy(*in_order)
    arrived = F.max(c.PUT_TIME).over(of_sender.rowsBetween(Window.unboundedPreceding, 0))
    going = rows.where(F.col(NEXT_QMGR).isNotNull()).withColumn("arrived", arrived)
    if groups is not None:
        keys = groups.withColumnsRenamed({c.QMGR: AT_QMGR, c.PUT_SEQ: AT_SEQ})
        going = going.withColumn(OWN_ID, own_id(batch.hop))
        going = going.join(keys, [AT_QMGR, AT_SEQ, OWN_ID], "left")
    else:
        nothing = {c.GROUP_ID: _none("binary"), c.LOGICAL_ORDER: _none("boolean")}
        going = going.withColumns(nothing)
    order = Window.partitionBy(NEXT_QMGR).orderBy("arrived", AT_QMGR, *in_order)
    via = F.when(F.col(c.CHANNEL).isNotNull(), Via.CLUSTER.value).otherwise(Via.LOCAL.value)
    packed = ticket(F.col(c.QMGR), F.col(c.PUT_SEQ), F.col(c.MESSAGE_ID), F.col(TRAIL))
    columns = {
        c.QMGR: F.col(NEXT_QMGR),
        c.PUT_SEQ: F.lit(batch.batch_id * _PER_BATCH).cast("bigint") + F.row_number().over(order),
        c.MESSAGE_ID: packed,
        c.PUT_TIME: F.col(c.PUT_TIME),
        c.OBJECT_TYPE: F.col(c.OBJECT_TYPE),
        c.OBJECT_NAME: F.when(_goes_to_host(), F.col(c.OBJECT_NAME)).otherwise(
            F.col(c.DEST_OBJECT)
        ),
        c.OBJECT_QMGR: F.col(NEXT_FOR),
        c.BIND: F.lit(Bind.AS_Q_DEF.value),
        c.OPEN_ID: _none("bigint"),
        c.GROUP_ID: F.col(c.GROUP_ID),
        c.LOGICAL_ORDER: F.col(c.LOGICAL_ORDER),
        c.VIA: via,
        c.PERSISTENT: _none("boolean"),
        c.MSG_LENGTH: _none("int"),
        c.SCOPE: _none("string"),
        c.SYNTHETIC: _none("boolean"),
    }
    return going.select(*(columns[name].alias(name) for name in MESSAGES.names))


def _with_origin(outcomes: DataFrame, hop: int) -> DataFrame:
    """Outcomes with the first put's key, and the present queue manager under its own name."""
    here = outcomes.withColumns({AT_QMGR: F.col(c.QMGR), AT_SEQ: F.col(c.PUT_SEQ)})
    if hop == 1:
        return here.withColumn(TRAIL, no_trail())
    return here.withColumns(unpacked(F.col(c.MESSAGE_ID)))


def _ends() -> Column:
    """How the way ends with an outcome; null where it goes on."""
    is_topic = F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value
    ends_as_topic = is_topic & ~_goes_to_host()
    at_queue = F.when(is_topic, End.TOPIC.value).otherwise(End.QUEUE.value)
    leaves = F.lit(End.LEAVES.value)
    not_defined = F.when(F.col(c.KIND) == PlanKind.QMGR.value, leaves).otherwise(End.QUEUE.value)
    return (
        F.when(F.col(c.REASON) != 0, End.DEAD_END.value)
        .when(F.col(c.IS_LOCAL) | ends_as_topic, at_queue)
        .when(F.col(c.CHANNEL).isNull(), F.when(F.col(OTHER_END).isNull(), leaves))
        .when(F.col(_IS_DEFINED).isNull(), F.when(is_topic, at_queue).otherwise(not_defined))
    )


def _goes_to_host() -> Column:
    """Whether an outcome is a publication's way to a topic host, which sends it on."""
    return F.col(c.CLROUTE).eqNullSafe(ClusterRoute.TOPICHOST.value)


def _none(type_: str) -> Column:
    return F.lit(None).cast(type_)
