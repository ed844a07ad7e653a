"""The plans that waiting messages choose by while a channel has an event's status.

A situation is (queue manager, snapshot, channel, status): all else is as at a put, so its plans are
those of the snapshot with one status replaced, judged again by the same rules.

Source: SEMANTICS 8, P22, P30, P31.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import ORDER, later_than_put_enabled
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import STATUS_TIERS, Algorithm
from clwl_spark.planning.facts import FACTS, facts, senders
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.planning.topics import routed_by_topic
from clwl_spark.rules import eliminate
from clwl_spark.rules.marking import CHOICE_KEY
from clwl_spark.rules.routes import choice_reason
from clwl_spark.snapshots.views import VIEWER, Topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize
from clwl_spark.studies.reallocate.events import Event
from clwl_spark.studies.reallocate.waiting import REQUEST_KEY, request_key
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

SITUATIONS: Final = "situations"
STOPPED_CHANNEL: Final = "stopped_channel"
STOPPED_STATUS: Final = "stopped_status"
STOPPED_TIER: Final = "stopped_tier"
IS_DIRECT: Final = "is_direct"
ASKED: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.VIA)
"""What a message asks for again, whatever the snapshot."""
BALANCED: Final = 15
FROM_RULE_2_ON: Final = 0
_SITUATION_TYPES: Final = (
    "qmgr string, snapshot_id string, stopped_channel string, stopped_status string, "
    "stopped_tier int"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What requests lead to in their situations.

    Attributes:
        plans: one row per (situation, request): the columns of `route_plans` with a plan_id of
            its own, the situation, `request_key`, `is_direct` and `deciding_rule`.
        candidates: one row per candidate: `schemas.ROUTE_CANDIDATES`.
    """

    plans: DataFrame
    candidates: DataFrame


def situations(lake: Lake, events: Sequence[Event]) -> DataFrame:
    """The distinct situations of events, one row each."""
    found = {
        (x.what.qmgr, x.snapshot_id, x.what.channel, x.what.status, STATUS_TIERS[x.what.status])
        for x in events
    }
    return frame_from_rows(lake.spark, sorted(found), _SITUATION_TYPES)


def judge(
    lake: Lake,
    asked: DataFrame,
    met: DataFrame,
    topology: Topology,
    ladder: Ladder,
    keep: Materialize,
) -> Judged:
    """Plan requests in their situations.

    Args:
        lake: its plans are taken where they are there already.
        asked: `ASKED`, distinct.
        met: `situations`.
        topology: the snapshots of the situations.
        ladder: the lake's rules.
        keep: what to do with frames that several steps read.
    """
    of_snapshot = met.select(c.QMGR, c.SNAPSHOT_ID).distinct()
    requests = keep(
        asked.join(F.broadcast(of_snapshot), c.QMGR)
        # What waits was not kept local, so it has no scope of its own.
        .withColumn(c.SCOPE, F.lit(None).cast("string"))
        .select(plan_id().alias(c.PLAN_ID), *REQUEST)
    )
    plans, candidates = _plans(lake, requests, topology, ladder, keep)
    direct = direct_plans(requests, topology, ladder).withColumn(IS_DIRECT, F.lit(True))
    situated = (
        plans.join(direct, c.PLAN_ID, "left")
        .fillna({IS_DIRECT: False})
        .join(F.broadcast(met), [c.QMGR, c.SNAPSHOT_ID])
        .withColumn("base_id", F.col(c.PLAN_ID))
        .withColumn(c.PLAN_ID, F.xxhash64("base_id", STOPPED_CHANNEL, STOPPED_STATUS))
        .withColumn(REQUEST_KEY, request_key())
    )
    situated = keep(situated)
    choosing = situated.where(~F.col(IS_DIRECT))
    rows = _with_event_status(candidates.withColumnRenamed(c.PLAN_ID, "base_id"), choosing)
    again = keep(eliminate(keep(rows), ladder.algorithm, ladder.exit_function))
    said = _verdicts(again, choosing, ladder.algorithm)
    judged = situated.join(said, c.PLAN_ID, "left").withColumn(
        c.REASON, F.coalesce("choice_reason", c.REASON)
    )
    return Judged(keep(judged), again.select(*ROUTE_CANDIDATES.names))


def direct_plans(requests: DataFrame, topology: Topology, ladder: Ladder) -> DataFrame:
    """The requests that are publications to a topic with CLROUTE(DIRECT): (plan_id).

    Those that their scope keeps local are none of them: P31 has them MOVED to the local queue.

    Args:
        requests: (plan_id, *REQUEST); may carry more.
        topology: the snapshots that they name.
        ladder: the lake's rules.
    """
    asked = requests.select(c.PLAN_ID, *REQUEST).withColumnRenamed(c.QMGR, VIEWER)
    return routed_by_topic(asked, topology, ladder.semantics.edition)[1]


def situation_facts(
    judged: Judged, topology: Topology, ladder: Ladder, keep: Materialize
) -> DataFrame:
    """What routing's choice needs of each queue manager, and which plan is whose.

    Grain: one row per queue manager: (qmgr, facts, situations), two JSON documents.
    """
    plans = judged.plans
    choosing = plans.where(~F.col(IS_DIRECT))
    of = keep(plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct())
    no_resets = plans.select(c.QMGR, c.SNAPSHOT_ID).where(F.lit(False))
    about, by_factor = senders(of, topology), ladder.semantics.by_factor
    found = facts(choosing, judged.candidates, about, no_resets, by_factor=by_factor)
    listed = F.struct(
        c.PLAN_ID,
        c.SNAPSHOT_ID,
        STOPPED_CHANNEL,
        STOPPED_STATUS,
        REQUEST_KEY,
        IS_DIRECT,
        w.DECIDING_RULE,
    )
    by_qmgr = plans.groupBy(c.QMGR).agg(F.to_json(F.collect_list(listed)).alias(SITUATIONS))
    return by_qmgr.join(found, c.QMGR, "left").select(c.QMGR, FACTS, SITUATIONS)


def _plans(
    lake: Lake, requests: DataFrame, topology: Topology, ladder: Ladder, keep: Materialize
) -> tuple[DataFrame, DataFrame]:
    """Plans and candidates of requests: the lake's, and new ones where it has none."""
    ids = requests.select(c.PLAN_ID)
    kept = [x for x in ROUTE_PLANS.names if x != c.RESET_EPOCH]
    there = keep(lake.read(ROUTE_PLANS.name).join(F.broadcast(ids), c.PLAN_ID, "left_semi"))
    known = lake.read(ROUTE_CANDIDATES.name).join(F.broadcast(ids), c.PLAN_ID, "left_semi")
    new = keep(requests.join(there.select(c.PLAN_ID), c.PLAN_ID, "left_anti"))
    if new.isEmpty():
        return there.select(*kept), known
    made = make_plans(new, topology, ladder, keep)
    return there.select(*kept).unionByName(made.plans), known.unionByName(made.candidates)


def _with_event_status(candidates: DataFrame, plans: DataFrame) -> DataFrame:
    """The candidates of each situated plan, its channel with the event's status (P22, P30)."""
    of_plan = plans.select(c.PLAN_ID, "base_id", STOPPED_CHANNEL, STOPPED_STATUS, STOPPED_TIER)
    stopped = (F.col(c.CHANNEL) == F.col(STOPPED_CHANNEL)) & ~F.col(c.IS_LOCAL)
    return (
        candidates.drop(c.ELIMINATED_BY)
        .join(F.broadcast(of_plan), "base_id")
        .withColumn(c.STATUS, F.when(stopped, F.col(STOPPED_STATUS)).otherwise(F.col(c.STATUS)))
        .withColumn(
            c.STATUS_TIER, F.when(stopped, F.col(STOPPED_TIER)).otherwise(F.col(c.STATUS_TIER))
        )
        .select(*(x for x in ROUTE_CANDIDATES.names if x != c.ELIMINATED_BY))
    )


def _verdicts(judged: DataFrame, plans: DataFrame, algorithm: Algorithm) -> DataFrame:
    """The reason of each choice, and the rule that decides where the channel stays favoured.

    Grain: one row per plan with candidates: (plan_id, choice_reason, deciding_rule).
    """
    with_channel = judged.join(F.broadcast(plans.select(c.PLAN_ID, STOPPED_CHANNEL)), c.PLAN_ID)
    return (
        with_channel.groupBy(*CHOICE_KEY)
        .agg(
            choice_reason(later_than_put_enabled(algorithm)).alias("choice_reason"),
            _deciding_rule(algorithm).alias(w.DECIDING_RULE),
        )
        .drop(c.CHOICE)
    )


def _deciding_rule(algorithm: Algorithm) -> Column:
    """The first rule after which only rows of the channel were left: the others' last one.

    A local row is no row of the channel, whatever its name. 0 where no other row was left from
    rule 2 on, 15 where one survived all rules.

    Source: SEMANTICS 8, `deciding_rule`.
    """
    steps = [(number, at) for at, numbers in enumerate(ORDER[algorithm]) for number in numbers]
    place = F.create_map(*(F.lit(x) for step in steps for x in step))
    other = (F.col(c.CHANNEL) != F.col(STOPPED_CHANNEL)) | F.col(c.IS_LOCAL)
    survives = F.bool_or(other & F.col(c.ELIMINATED_BY).isNull())
    at = F.max(F.when(other, place[F.col(c.ELIMINATED_BY)]))
    last = F.max_by(c.ELIMINATED_BY, F.when(other, place[F.col(c.ELIMINATED_BY)]))
    rule_2 = dict(steps)[2]
    return (
        F.when(survives, F.lit(BALANCED))
        .when(at.isNull() | (at <= rule_2), F.lit(FROM_RULE_2_ON))
        .otherwise(last)
    )
