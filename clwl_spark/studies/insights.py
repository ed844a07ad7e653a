"""What a whole topology shows, for all traffic at once: which rules decide, and what deceives.

- Deciding rules: the last rule of the ladder that took a destination away, by messages.
- Idle attributes: set otherwise than MQ's default, and no put is decided by them.
- False availability: a queue has several hosts, and yet its messages hang on one.
- Views: what queue managers see otherwise than its owner defines it, or do not see.
- Releases: where a queue manager of MQ 7 would send otherwise than one of MQ 9, by its rules and
  by its balancing.

Source: SEMANTICS 4, R3, S2; Dick's article (rank and priority), Hughson's deck (views, the older
algorithm).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import ORDER, PUT_ENABLED, RECENTLY_USED
from clwl_spark.mq.vocabulary import Algorithm, DefBind, PlanKind
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import Topology, own_qmgrs
from clwl_spark.studies.attributes_set import attributes_set, by_recent_use
from clwl_spark.studies.release_balancing import balancing_moves
from clwl_spark.studies.shares.expected import SHARE, taken_channel
from clwl_spark.studies.shares.traffic import AS_Q_DEF, MESSAGES_OF
from clwl_spark.studies.sweep.sweep import Base, bases_of
from clwl_spark.tables import columns as c

Row = dict[str, Any]

_ROUNDED: Final = 9
_MEMBERSHIP: Final = (1, 2)
_RANKS: Final = (3, 4)
_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Insights:
    """What a topology shows; messages are of the traffic that was looked at.

    Attributes:
        deciding: (rule, messages, requests); 0 = no rule, balancing or one destination alone.
        idle: (attribute, set_on, requests_decided, messages_decided) of what is set and idle.
        illusions: (qmgr, object_name, object_qmgr, hosts, destinations, why, messages).
        views: (observer, table, differs, unknown, absent): rows seen otherwise, that nobody
            defines, and that are defined in a cluster of the observer's and not in its view.
        releases: (qmgr, object_name, object_qmgr, messages, moved): what the rules of the other
            release would send otherwise.
        balancing: the same columns: what the other release's balancing would send otherwise over
            the same routes.
        failing: (qmgr, object_type, object_name, object_qmgr, via, reason, messages) of requests
            that fail.
    """

    deciding: Sequence[Row]
    idle: Sequence[Row]
    illusions: Sequence[Row]
    views: Sequence[Row]
    releases: Sequence[Row]
    balancing: Sequence[Row]
    failing: Sequence[Row] = ()

    def to_json(self) -> Row:
        """The document of `clwl insights --json`."""
        return asdict(self)


def insights(
    traffic: DataFrame, topology: Topology, ladder: Ladder, views: Sequence[Row]
) -> Insights:
    """Look at all of it.

    Args:
        traffic: (plan_id, *REQUEST, messages, as_q_def) of one snapshot.
        topology: the snapshot.
        ladder: the rules.
        views: `own_views.own_views` of the snapshot.
    """
    older = Algorithm.V7 if ladder.algorithm is Algorithm.V9 else Algorithm.V9
    base, other = bases_of(
        traffic,
        topology,
        [ladder, replace(ladder, semantics=replace(ladder.semantics, algorithm=older))],
    )
    judged = base.candidates.join(base.plans.select(c.PLAN_ID, MESSAGES_OF), c.PLAN_ID)
    return Insights(
        deciding=_deciding(base, judged, topology),
        idle=attributes_set(base, judged, topology),
        illusions=_illusions(base, judged),
        views=views,
        releases=_releases(base, other),
        balancing=balancing_moves(base, topology, ladder.semantics.edition),
        failing=_failing(base),
    )


def _failing(base: Base) -> list[Row]:
    """Requests whose messages end with a reason, the most messages first."""
    asked = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.VIA)
    rows = base.plans.where(F.col(c.REASON) != 0).select(*asked, c.REASON, MESSAGES_OF)
    return _rows(rows.orderBy(F.desc(MESSAGES_OF), *_ASKED, c.OBJECT_TYPE, c.VIA).limit(_MOST))


def _deciding(base: Base, judged: DataFrame, topology: Topology) -> list[Row]:
    """By rule, the messages whose last eliminated destination it took; the most first.

    Rule 15 takes some from each choice that has more remote routes than the CLWLMRUC of its queue
    manager: which ones, the history says.
    """
    order = ORDER[base.ladder.algorithm]
    places = {number: at for at, numbers in enumerate(order) for number in numbers}
    pairs = [F.lit(x) for pair in places.items() for x in pair]
    place = F.create_map(*pairs)[F.col(c.ELIMINATED_BY)]
    counted = ~F.col(c.ELIMINATED_BY).isin(*_MEMBERSHIP, 0)
    last = judged.groupBy(c.PLAN_ID).agg(
        F.max_by(F.when(counted, F.col(c.ELIMINATED_BY)), F.when(counted, place)).alias("rule")
    )
    limited = by_recent_use(base, own_qmgrs(topology.queue_managers)).select(c.PLAN_ID).distinct()
    is_limited = F.col("limited").isNotNull()
    chosen = (
        base.plans.join(last, c.PLAN_ID)
        .join(limited.withColumn("limited", F.lit(True)), c.PLAN_ID, "left")
        .withColumn("rule", F.when(is_limited, RECENTLY_USED).otherwise(F.col("rule")))
        .fillna({"rule": 0})
    )
    rows = chosen.groupBy("rule").agg(
        F.sum(MESSAGES_OF).alias(MESSAGES_OF), F.count(F.lit(1)).alias("requests")
    )
    return _rows(rows.orderBy(F.desc(MESSAGES_OF), "rule"))


def _illusions(base: Base, judged: DataFrame) -> list[Row]:
    """Queues with several hosts of which the messages of a put, or of an open, hang on one.

    They hang on it if ranks and disabled puts, which look at no status, leave no other. A host that
    a later rule takes away gets them when this one is down.
    """
    inside = ~F.coalesce(F.col(c.ELIMINATED_BY).isin(*_MEMBERSHIP), F.lit(False))
    hosts = (
        judged.where(inside)
        .groupBy(c.PLAN_ID)
        .agg(
            F.count_distinct(c.DEST_QMGR).alias("hosts"),
            _hosts_not_taken_by(*_RANKS).alias("unranked"),
            _hosts_not_taken_by(*_RANKS, PUT_ENABLED).alias("kept"),
        )
    )
    used = (
        base.ends.where((F.col(c.REASON) == 0) & (F.col(SHARE) > 0))
        .groupBy(c.PLAN_ID)
        .agg(F.count_distinct(c.DEST_QMGR).alias("destinations"))
    )
    is_one = (F.col("destinations") == 1) & (F.col("kept") == 1)
    by_default = (F.col(c.BIND_DEFAULT) == DefBind.OPEN.value) & (F.col(AS_Q_DEF) > 0)
    why = (
        F.when(
            is_one & (F.col("unranked") < F.col("hosts")),
            "CLWLRANK: the others get nothing, even if it is down",
        )
        .when(is_one, "PUT(DISABLED) on the others")
        .when(
            (F.col("destinations") > 1) & by_default,
            "DEFBIND(OPEN): an open stays with one, also when it is down",
        )
    )
    hanging = F.when(is_one, F.col(MESSAGES_OF)).otherwise(F.col(AS_Q_DEF))
    rows = (
        base.plans.where(F.col(c.KIND) == PlanKind.QUEUE.value)
        .join(hosts, c.PLAN_ID)
        .join(used, c.PLAN_ID)
        .withColumn("why", why)
        .where("hosts > 1 AND why IS NOT NULL")
        .select(*_ASKED, "hosts", "destinations", "why", hanging.alias(MESSAGES_OF))
    )
    return _rows(rows.orderBy(F.desc(MESSAGES_OF), *_ASKED).limit(_MOST))


def _hosts_not_taken_by(*rules: int) -> Column:
    """How many queue managers have a candidate that none of these rules took away."""
    is_taken = F.coalesce(F.col(c.ELIMINATED_BY).isin(*rules), F.lit(False))
    return F.count_distinct(F.when(~is_taken, F.col(c.DEST_QMGR)))


def _releases(base: Base, other: Base) -> list[Row]:
    """Requests whose messages the other algorithm sends elsewhere, with how many."""
    keys = [c.PLAN_ID, c.CHOICE, c.REASON, c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL]
    sides = [
        x.ends.select(*keys[:-1], taken_channel(), (F.col(SHARE) * sign).alias("difference"))
        for x, sign in ((base, 1), (other, -1))
    ]
    differs = sides[0].union(sides[1]).groupBy(*keys).agg(F.sum("difference").alias("difference"))
    moved = F.sum(F.greatest(F.col("difference"), F.lit(0.0)))
    per_request = differs.groupBy(c.PLAN_ID).agg(F.round(moved, _ROUNDED).alias("moved"))
    rows = (
        base.plans.join(per_request.where("moved > 0"), c.PLAN_ID)
        .withColumn("moved", F.col("moved") * F.col(MESSAGES_OF))
        .select(*_ASKED, MESSAGES_OF, "moved")
    )
    return _rows(rows.orderBy(F.desc("moved"), *_ASKED).limit(_MOST))


_ASKED: Final = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR)


def _rows(frame: DataFrame) -> list[Row]:
    return [row.asDict() for row in frame.collect()]
