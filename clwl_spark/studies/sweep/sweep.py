"""Many failures tried at once: which traffic moves, waits or overloads what, in one Spark job.

A failure changes no more than the status of channels, and only for the worse. A row that lost by
its status or before loses again, and one that lost by NETPRTY was in nobody's way. So only
requests of which a route is hit meet the rules again, each once for each case that hits it, or of
which a row is hit that lost by a later rule: by its NETPRTY it may have kept out another channel to
its queue manager. With a cluster workload exit, which may look at anything, all requests with a
candidate that is hit meet them again.

Source: SEMANTICS 4, 5; `studies.sweep.outages` says what a failure is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST
from clwl_spark.mq.vocabulary import TIER_OF_WAITING, ObjectType
from clwl_spark.planning.plans import Ladder, Plans, judged_by, unjudged
from clwl_spark.rules import eliminate
from clwl_spark.rules.exit import seeing_all
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.snapshots.views import VIEWER, Topology, viewers
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize, checkpoint
from clwl_spark.studies.shares.expected import SHARE, route_shares
from clwl_spark.studies.sweep.outages import Case, Channels, channels_of, down_qmgrs
from clwl_spark.tables import ROUTE_CANDIDATES
from clwl_spark.tables import columns as c

CASE: Final = "case_id"
REQUEST_PLAN: Final = "request_plan_id"
SHARE_BEFORE: Final = "share_before"
WAITS: Final = "waits"
_LIKE: Final = "like_plan_id"
_CANDIDATES: Final = "candidates_hash"
_AFTER_NETPRTY: Final = (13, 14)
_HIT_SCHEMA: Final = (
    "case_id int, on_qmgr string, dest_qmgr string, channel string, hit_status string, hit_tier int"
)


@dataclass(frozen=True, slots=True)
class Base:
    """Traffic as it goes before anything fails.

    Attributes:
        plans: one row per request: rows of `route_plans` less `reset_epoch`, and `messages`.
        candidates: their rows of `route_candidates`, with `share_before`.
        ends: `expected.route_shares` of them.
        topology: the snapshot.
        channels: its CLUSRCVRs.
        ladder: the rules.
    """

    plans: DataFrame
    candidates: DataFrame
    ends: DataFrame
    topology: Topology
    channels: Channels
    ladder: Ladder


def base_of(
    traffic: DataFrame, topology: Topology, ladder: Ladder, keep: Materialize = checkpoint
) -> Base:
    """Plan the traffic.

    Args:
        traffic: (plan_id, *REQUEST, messages), distinct requests of one snapshot.
        topology: the snapshot.
        ladder: the rules.
        keep: what to do with frames that several steps read.
    """
    return bases_of(traffic, topology, [ladder], keep)[0]


def bases_of(
    traffic: DataFrame,
    topology: Topology,
    ladders: Sequence[Ladder],
    keep: Materialize = checkpoint,
) -> list[Base]:
    """Plan the traffic once, by the rules of each ladder, which are of one edition.

    Arguments as of `base_of`.
    """
    traffic = keep(traffic)
    requests = traffic.select(c.PLAN_ID, *REQUEST)
    found_types = [row[0] for row in traffic.select(c.OBJECT_TYPE).distinct().collect()]
    types = found_types or tuple(ObjectType)
    found = unjudged(requests, topology, ladders[0], keep, types)
    channels = channels_of(topology)

    def planned(ladder: Ladder) -> Base:
        made = judged_by(ladder, found, keep)
        return Base(*_with_shares(made, traffic, topology, keep), topology, channels, ladder)

    return [planned(x) for x in ladders]


def _with_shares(
    made: Plans, traffic: DataFrame, topology: Topology, keep: Materialize
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Plans, candidates and ends, as `Base` has them."""
    plans = keep(made.plans.join(traffic.drop(*REQUEST), c.PLAN_ID))
    ends = keep(route_shares(plans, made.candidates, topology))
    # One row per route: the row of its lowest cluster alone is in play.
    shares = ends.where(F.col(c.CHANNEL).isNotNull()).select(
        c.PLAN_ID,
        c.CHOICE,
        *ROUTE_ORDER,
        F.col(c.CLUSTER).alias(c.CHANNEL_CLUSTER),
        F.col(SHARE).alias(SHARE_BEFORE),
    )
    keys = [c.PLAN_ID, c.CHOICE, *ROUTE_ORDER, c.CHANNEL_CLUSTER]
    return plans, keep(made.candidates.join(shares, keys, "left")), ends


def case_ends(base: Base, cases: Sequence[Case]) -> DataFrame:
    """Where the messages of the requests that cases hit go then.

    Args:
        base: the traffic.
        cases: failures; a row's `case_id` is the position of its case.

    Grain: one row per (case, request hit by it, choice, end), as `expected.route_shares`;
    `plan_id` is of the case's own, `request_plan_id` the request's. Adds `share_before` (null
    where the route is new) and `waits`: the route's channel is RETRYING or worse, so that messages
    stay on the transmission queue. Requests of a queue manager that is down are left out.

    Raises:
        NothingHitError: a case names something that the snapshot does not have.
    """
    hits = _hits(base, cases)
    affected = checkpoint(_with_likes(base, _affected(base, hits, cases), cases))
    own_id = F.xxhash64(CASE, _LIKE)
    plans = base.plans.join(affected.drop(c.QMGR), c.PLAN_ID).withColumns(
        {REQUEST_PLAN: F.col(c.PLAN_ID), c.PLAN_ID: own_id}
    )
    met = base.candidates.join(affected.where(F.col(c.PLAN_ID) == F.col(_LIKE)), c.PLAN_ID)
    rows = _with_hits(met, hits).withColumn(c.PLAN_ID, own_id)
    names = [x for x in ROUTE_CANDIDATES.names if x != c.ELIMINATED_BY]
    exit_function = base.ladder.exit_function
    if exit_function is not None:
        senders = plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
        known = viewers(senders, base.topology)
        exit_function = seeing_all(exit_function, plans, known, base.topology)
    rows = rows.select(*names, SHARE_BEFORE)
    judged = checkpoint(eliminate(rows, base.ladder.algorithm, exit_function))
    ends = route_shares(plans, judged, base.topology, [SHARE_BEFORE])
    if exit_function is not None:
        ends = _ending_as_before(ends, base)
    return with_waits(ends)


def _ending_as_before(ends: DataFrame, base: Base) -> DataFrame:
    """Give choices without a route, which only an exit can leave, the share that they had before.

    Grain: as `ends`.
    """
    keys = [REQUEST_PLAN, c.CHOICE, c.REASON]
    ended = base.ends.where(F.col(c.CHANNEL).isNull()).withColumnRenamed(c.PLAN_ID, REQUEST_PLAN)
    known = ended.select(*keys, F.lit(1.0).alias("_ended"))
    joined = ends.join(known, keys, "left")
    same = F.col(c.CHANNEL).isNull() & F.col("_ended").isNotNull()
    share = F.when(same, F.col("_ended")).otherwise(F.col(SHARE_BEFORE))
    return joined.withColumn(SHARE_BEFORE, share).drop("_ended")


def with_waits(ends: DataFrame) -> DataFrame:
    """Add `waits`: messages stay on the transmission queue, as the channel is RETRYING or worse."""
    waits = ~F.col(c.IS_LOCAL) & (F.col(c.STATUS_TIER) >= TIER_OF_WAITING)
    return ends.withColumn(WAITS, F.coalesce(waits, F.lit(False)))


def _hits(base: Base, cases: Sequence[Case]) -> DataFrame:
    """The channels that each case hits.

    Grain: one row per (case, sender or '' for all, queue manager, channel).
    """
    rows = [
        (number, hit.on, hit.dest_qmgr, hit.channel, hit.status, hit.tier)
        for number, case in enumerate(cases)
        for hit in base.channels.hits(case)
    ]
    return frame_from_rows(base.plans.sparkSession, rows, _HIT_SCHEMA)


def _affected(base: Base, hits: DataFrame, cases: Sequence[Case]) -> DataFrame:
    """The requests that each case hits: (case_id, plan_id, qmgr), less those not put then."""
    rows = base.candidates.where(~F.col(c.IS_LOCAL))
    if base.ladder.exit_function is None:
        later = F.col(c.ELIMINATED_BY).isin(*_AFTER_NETPRTY)
        rows = rows.where(F.col(c.ELIMINATED_BY).isNull() | later)
    of_sender = base.plans.select(c.PLAN_ID, c.QMGR)
    found = (
        rows.select(c.PLAN_ID, c.DEST_QMGR, c.CHANNEL, c.STATUS_TIER)
        .join(F.broadcast(hits), [c.DEST_QMGR, c.CHANNEL])
        .where(F.col(c.STATUS_TIER) < F.col("hit_tier"))
        .join(of_sender, c.PLAN_ID)
        .where((F.col("on_qmgr") == "") | (F.col("on_qmgr") == F.col(c.QMGR)))
        .select(CASE, c.PLAN_ID, c.QMGR)
        .distinct()
    )
    return found.join(F.broadcast(not_put(base, cases)), [CASE, c.QMGR], "left_anti")


def _with_likes(base: Base, affected: DataFrame, cases: Sequence[Case]) -> DataFrame:
    """Add the request whose candidates meet the rules for all that have the same in a case.

    An exit may tell requests apart by more than their candidates.

    Grain: as `affected`.
    """
    if base.ladder.exit_function is not None:
        return affected.withColumn(_LIKE, F.col(c.PLAN_ID))
    told = [x for x in base.candidates.columns if x != c.PLAN_ID]
    # The hash of a row passes nulls over, wherever they are.
    row = F.xxhash64(*told, *(F.col(x).isNull() for x in told))
    alike = base.candidates.groupBy(c.PLAN_ID).agg(F.bit_xor(row).alias(_CANDIDATES))
    seen_by_one = any(outage.on for case in cases for outage in case)
    same = Window.partitionBy(CASE, _CANDIDATES, *([c.QMGR] if seen_by_one else []))
    return (
        affected.join(alike, c.PLAN_ID)
        .withColumn(_LIKE, F.min(c.PLAN_ID).over(same))
        .drop(_CANDIDATES)
    )


def not_put(base: Base, cases: Sequence[Case]) -> DataFrame:
    """The queue managers that are down in each case, where nothing is put: (case_id, qmgr)."""
    rows = [(number, qmgr) for number, case in enumerate(cases) for qmgr in down_qmgrs(case)]
    return frame_from_rows(base.plans.sparkSession, rows, "case_id int, qmgr string")


def _with_hits(rows: DataFrame, hits: DataFrame) -> DataFrame:
    """Candidate rows with the status that the case gives their channel, where that is worse."""
    of_all = hits.where(F.col("on_qmgr") == "").drop("on_qmgr")
    of_one = hits.where(F.col("on_qmgr") != "").withColumnRenamed("on_qmgr", c.QMGR)
    worse = ~F.col(c.IS_LOCAL) & (F.col("hit_tier") > F.col(c.STATUS_TIER))
    for found in (of_all, of_one):
        keys: list[str] = [x for x in (CASE, c.QMGR, c.DEST_QMGR, c.CHANNEL) if x in found.columns]
        joined = rows.join(F.broadcast(found), keys, "left")
        rows = joined.withColumns(
            {
                c.STATUS: F.when(worse, F.col("hit_status")).otherwise(F.col(c.STATUS)),
                c.STATUS_TIER: F.when(worse, F.col("hit_tier")).otherwise(F.col(c.STATUS_TIER)),
            }
        ).drop("hit_status", "hit_tier")
    return rows
