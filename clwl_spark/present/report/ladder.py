"""What plans say of the messages: candidates that the rules leave, and channels nobody took."""

from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.present.report.aggregate import COUNT, Aggregate
from clwl_spark.present.report.data import Edge, Funnel, Node
from clwl_spark.present.report.findings import ChannelStory
from clwl_spark.rules.recently_used import keep_most_recently_used
from clwl_spark.snapshots.views import with_limit
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.waits import WAY, ways_that_wait
from clwl_spark.tables import (
    BALANCE_HISTORY,
    QUEUE_MANAGERS,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOTS,
)
from clwl_spark.tables import columns as c

MAP_EDGES: Final = 400
TOP_FINDINGS: Final = 50
ROUTE: Final = -1
"""Stands for the rule where none eliminated a candidate: rule 0 is one."""
STATE_RULES: Final = (5, 7, 8, 9, 10, 11)
"""Rules that look at what an object is in now, and not at how the cluster is designed."""

_LINK: Final = (c.QMGR, c.DEST_QMGR, c.CHANNEL)
_ASKED: Final = (c.OBJECT_NAME, c.OBJECT_TYPE, c.OBJECT_QMGR)
_CHOICES: Final = "choices"
_MESSAGES: Final = "messages"
_SINCE: Final = "since"
_IS_ROUTE: Final = "is_route"
_ROUTES: Final = "routes"
_RULE: Final = "rule"
_CARRIED: Final = "carried"
_ROUTE_FOR: Final = "route_for"
_ROUTE_OBJECT: Final = "route_object"
_HELD: Final = "held"
_AVOIDED: Final = "avoided"
_AVOIDED_OBJECT: Final = "avoided_object"
_AVOIDED_RULE: Final = "avoided_rule"
_ROUNDED: Final = 6
"""Digits of messages in which two sums are told apart: of copies there are thirds."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Candidates and channels with the messages that they concern; all is worked out.

    Attributes:
        weights: one row per plan that outcomes name: (plan_id, qmgr, object_name, object_type,
            object_qmgr, snapshot_id, messages).
        judged: one row per candidate of these plans: the candidate's columns and the weights.
        shown: the same with rule 15, by the history after the last routed batch.
        channels: one row per sender, destination and channel (null = none): (`_LINK`, carried,
            status, route_for, route_object, avoided, avoided_object, avoided_rule).
    """

    weights: DataFrame
    judged: DataFrame
    shown: DataFrame
    channels: DataFrame


def ladder(lake: Lake, aggregate: Aggregate) -> Ladder:
    """Join plans and candidates with the outcomes' counts."""
    weights = aggregate.keep(_weights(lake, aggregate))
    candidates = lake.read_or_empty(ROUTE_CANDIDATES.name)
    judged = aggregate.keep(candidates.join(weights, c.PLAN_ID))
    remote = aggregate.rows.where(F.col(c.DEST_QMGR).isNotNull() & ~F.col(c.IS_LOCAL))
    carried = remote.groupBy(*_LINK).agg(F.sum(COUNT).alias(_CARRIED))
    told = _stories(judged).withColumn(_CARRIED, F.lit(0).cast("bigint"))
    # Not a join: both come from the same sums, and a channel may be null.
    both = told.unionByName(carried, allowMissingColumns=True)
    met = both.groupBy(*_LINK).agg(*(F.max(x).alias(x) for x in told.columns if x not in _LINK))
    return Ladder(weights, judged, _with_rule_15(lake, judged), checkpoint(met))


def messages_routed(found: Ladder) -> int:
    """Messages behind the outcomes: a publication with several copies counts once."""
    messages: float
    ((messages,),) = found.weights.agg(F.coalesce(F.sum(_MESSAGES), F.lit(0.0))).collect()
    return round(messages)


def funnel(found: Ladder) -> Funnel:
    """Candidates, each counted once per message that has it, and the rules that eliminated them."""
    rule = F.coalesce(c.ELIMINATED_BY, F.lit(ROUTE)).alias(_RULE)
    counts = found.shown.groupBy(rule).agg(F.sum(_MESSAGES).alias(_MESSAGES)).collect()
    by_rule = {row[_RULE]: round(row[_MESSAGES]) for row in counts}
    candidates = sum(by_rule.values())
    by_rule.pop(ROUTE, None)
    plans = found.judged.select(c.PLAN_ID, _MESSAGES).distinct()
    ((messages,),) = plans.agg(F.coalesce(F.sum(_MESSAGES), F.lit(0.0))).collect()
    return Funnel(candidates, by_rule, round(messages))


def edges_among(found: Ladder, nodes: tuple[Node, ...]) -> tuple[tuple[Edge, ...], int]:
    """The busiest channels between some queue managers, and how many channels there are."""
    names = [node.qmgr for node in nodes]
    inside = F.col(c.QMGR).isin(names) & F.col(c.DEST_QMGR).isin(names)
    rows = (
        found.channels.where(inside)
        .orderBy(F.desc(_CARRIED), *_LINK)
        .limit(MAP_EDGES)
        .select(*_LINK, c.STATUS, _CARRIED)
        .collect()
    )
    return tuple(Edge(*row) for row in rows), found.channels.count()


def idle_channels(found: Ladder) -> tuple[ChannelStory, ...]:
    """Channels that were routes of messages and carried none."""
    idle = (F.col(_CARRIED) == 0) & (F.col(_ROUTE_FOR) > 0)
    return _stories_of(
        found.channels.where(idle), _ROUTE_FOR, _ROUTE_OBJECT, F.lit(None).cast("int")
    )


def avoided_channels(found: Ladder) -> tuple[ChannelStory, ...]:
    """Channels that their state, or that of what they lead to, kept messages from."""
    avoided = F.col(_AVOIDED) > 0
    return _stories_of(
        found.channels.where(avoided), _AVOIDED, _AVOIDED_OBJECT, F.col(_AVOIDED_RULE)
    )


def holding_channels(
    lake: Lake, aggregate: Aggregate, found: Ladder
) -> tuple[tuple[ChannelStory, ...], int]:
    """Channels that were down when messages were put to them, and how many messages wait so."""
    name = F.struct(*_ASKED, c.SNAPSHOT_ID)
    went = aggregate.rows.join(ways_that_wait(lake, aggregate.rows), list(WAY))
    most = F.max_by(c.SNAPSHOT_ID, F.struct(COUNT, c.SNAPSHOT_ID)).alias(c.SNAPSHOT_ID)
    of_object = went.groupBy(*_LINK, *_ASKED).agg(F.sum(COUNT).alias(_MESSAGES), most)
    rows = checkpoint(
        of_object.groupBy(*_LINK)
        .agg(
            F.max_by(name, F.struct(_MESSAGES, *_ASKED)).alias(_ROUTE_OBJECT),
            F.sum(_MESSAGES).alias(_HELD),
        )
        .join(found.channels.select(*_LINK, c.STATUS), list(_LINK), "left")
    )
    ((messages,),) = rows.agg(F.coalesce(F.sum(_HELD), F.lit(0))).collect()
    return _stories_of(rows, _HELD, _ROUTE_OBJECT, F.lit(None).cast("int")), messages


def _stories_of(
    channels: DataFrame, weight: str, name: str, rule: Column
) -> tuple[ChannelStory, ...]:
    """The channels with most messages."""
    rows: list[Any] = (
        channels.orderBy(F.desc(weight), *_LINK)
        .limit(TOP_FINDINGS)
        .select(*_LINK, c.STATUS, name, weight, rule.alias(_RULE))
        .collect()
    )
    return tuple(
        ChannelStory(
            row[c.QMGR], row[c.DEST_QMGR], row[c.CHANNEL], row[c.STATUS],
            row[name][c.OBJECT_NAME], round(row[weight]), row[_RULE], row[name][c.OBJECT_TYPE],
            row[name][c.OBJECT_QMGR], row[name][c.SNAPSHOT_ID] or "",
        )
        for row in rows
    )  # fmt: skip


def _weights(lake: Lake, aggregate: Aggregate) -> DataFrame:
    """Messages per plan: its outcomes, less the further copies of a publication."""
    plans = lake.read_or_empty(ROUTE_PLANS.name).select(c.PLAN_ID, _CHOICES)
    request = (c.PLAN_ID, c.SNAPSHOT_ID, c.QMGR, *_ASKED)
    used = aggregate.rows.groupBy(*request).agg(F.sum(COUNT).alias(COUNT))
    copies = F.greatest(F.coalesce(_CHOICES, F.lit(1)), F.lit(1))
    since = lake.read_or_empty(SNAPSHOTS.name).select(
        c.SNAPSHOT_ID, F.col(c.VALID_FROM).alias(_SINCE)
    )
    return (
        used.join(plans, c.PLAN_ID, "left")
        .withColumn(_MESSAGES, F.col(COUNT) / copies)
        .drop(COUNT, _CHOICES)
        .join(since, c.SNAPSHOT_ID, "left")
    )


def _with_rule_15(lake: Lake, judged: DataFrame) -> DataFrame:
    """The candidates with those cut that the last history leaves no room for."""
    limited = with_limit(judged, lake.read_or_empty(QUEUE_MANAGERS.name))
    return keep_most_recently_used(limited, lake.read_or_empty(BALANCE_HISTORY.name))


def _stories(judged: DataFrame) -> DataFrame:
    """Per channel: its latest status, the messages it was a route of, and those it was kept from.

    Grain: from one row per candidate to one per sender, destination and channel.
    """
    choice = (c.PLAN_ID, c.CHOICE, *_LINK)
    number = F.col(c.ELIMINATED_BY)
    # A channel shared in several clusters has several rows: it counts once per choice.
    per_choice = (
        judged.where(~F.col(c.IS_LOCAL) & F.col(c.CHANNEL).isNotNull())
        .groupBy(*choice, *_ASKED, c.SNAPSHOT_ID, _MESSAGES, _SINCE)
        .agg(
            F.bool_or(number.isNull()).alias(_IS_ROUTE),
            F.min(F.when(number.isin(*STATE_RULES), number)).alias(_RULE),
            F.max(c.STATUS).alias(c.STATUS),
        )
        .withColumn(_ROUTES, F.count_if(_IS_ROUTE).over(Window.partitionBy(c.PLAN_ID, c.CHOICE)))
    )
    # With fewer messages than routes some cannot have any.
    enough = F.col(_IS_ROUTE) & (F.col(_MESSAGES) >= F.col(_ROUTES))
    avoided = ~F.col(_IS_ROUTE) & F.col(_RULE).isNotNull()
    since = F.coalesce(_SINCE, F.timestamp_seconds(F.lit(0)))
    of_object = per_choice.groupBy(*_LINK, *_ASKED).agg(
        F.max_by(c.STATUS, since).alias(c.STATUS),
        F.max(since).alias(_SINCE),
        _sum_where(enough).alias(_ROUTE_FOR),
        _example(enough).alias(_ROUTE_OBJECT),
        _sum_where(avoided).alias(_AVOIDED),
        _example(avoided).alias(_AVOIDED_OBJECT),
    )
    return of_object.groupBy(*_LINK).agg(
        F.max_by(c.STATUS, _SINCE).alias(c.STATUS),
        F.sum(_ROUTE_FOR).alias(_ROUTE_FOR),
        _of_most(_ROUTE_FOR, _asked(_ROUTE_OBJECT)).alias(_ROUTE_OBJECT),
        F.sum(_AVOIDED).alias(_AVOIDED),
        _of_most(_AVOIDED, _asked(_AVOIDED_OBJECT)).alias(_AVOIDED_OBJECT),
        _of_most(_AVOIDED, F.col(_AVOIDED_OBJECT)[_RULE]).alias(_AVOIDED_RULE),
    )


def _example(condition: Column) -> Column:
    """Snapshot and rule of the plan of an object that has most messages; of equal ones the last."""
    said = F.struct(c.SNAPSHOT_ID, _RULE)
    order = F.struct(F.round(_MESSAGES, _ROUNDED), c.SNAPSHOT_ID, _RULE)
    return F.max_by(F.when(condition, said), F.when(condition, order))


def _asked(example: str) -> Column:
    """An object, and the snapshot of its example."""
    return F.struct(*_ASKED, F.col(example)[c.SNAPSHOT_ID].alias(c.SNAPSHOT_ID))


def _of_most(messages: str, what: Column) -> Column:
    """What the object with most messages has; of equal ones the last."""
    some = F.col(messages) > 0
    order = F.struct(F.round(messages, _ROUNDED), *_ASKED)
    return F.max_by(F.when(some, what), F.when(some, order))


def _sum_where(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col(_MESSAGES)).otherwise(0.0))
