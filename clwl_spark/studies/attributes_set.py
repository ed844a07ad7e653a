"""Attributes that are set otherwise than MQ's default, and how much of the traffic they decide.

One decides a request
- of a rule, if a candidate has it set and the rule took a candidate of the request away;
- CLWLUSEQ, which may keep its rule from acting, if a candidate that has it set is local;
- CLWLMRUC, if a choice has more remote routes than that;
- CLWLWGHT, if the routes of a choice that get messages do not all have the same 1000 div CLWLWGHT;
- DEFBIND, of puts that leave it to the queue, if an instance that has it set decided the binding
  and there are several routes.

Source: SEMANTICS 4, 5; MQSC reference.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import LARGEST_STEP
from clwl_spark.snapshots.views import DEFAULTS, EVERYBODY, Topology, own_qmgrs
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.shares.traffic import AS_Q_DEF, MESSAGES_OF
from clwl_spark.studies.sweep.sweep import Base
from clwl_spark.tables import columns as c

Row = dict[str, Any]
Decides = Callable[["_Met"], DataFrame]

_NAMES: Final = {
    "queue_managers": (c.QMGR,),
    "cluster_channels": (c.QMGR, c.CHANNEL),
    "queues": (c.QMGR, c.QUEUE),
}
"""What names an object; a channel or queue has a row for each of its clusters."""


@dataclass(frozen=True, slots=True)
class _Met:
    """Where an attribute is met.

    Attributes:
        base: the traffic.
        judged: its candidates.
        touched: those of them that are, or go over, an object that has the attribute set.
        having: the objects that have it set.
    """

    base: Base
    judged: DataFrame
    touched: DataFrame
    having: DataFrame


@dataclass(frozen=True, slots=True)
class _Attribute:
    """An attribute.

    Attributes:
        name: what it is called.
        table: of the objects that have it.
        column: there.
        decided: the requests that it decides, as rows with plan_id.
        messages: which of a request's messages it decides.
    """

    name: str
    table: str
    column: str
    decided: Decides
    messages: str = MESSAGES_OF


def attributes_set(base: Base, judged: DataFrame, topology: Topology) -> list[Row]:
    """Attributes that are set on some object; those that decide least first.

    Args:
        base: the traffic.
        judged: its candidates, with `messages`.
        topology: the snapshot.

    Returns:
        (attribute, set_on, requests_decided, messages_decided) of each attribute that is set.
    """
    defined = {x: _defined(topology, x) for x in dict.fromkeys(x.table for x in _ATTRIBUTES)}
    counts = {x: _times_set(rows, x) for x, rows in defined.items()}
    found = []
    for attribute in _ATTRIBUTES:
        set_on = counts[attribute.table][attribute.column]
        if set_on:
            having = defined[attribute.table].where(_is_set(attribute.table, attribute.column))
            touched = _of_objects(judged, having, attribute.table)
            decided = attribute.decided(_Met(base, judged, touched, having))
            counted = _counted(base, decided, attribute.messages)
            found.append({"attribute": attribute.name, "set_on": set_on, **counted})
    return sorted(found, key=lambda row: (row["messages_decided"], row["attribute"]))


def _counted(base: Base, decided: DataFrame, those: str) -> Row:
    """How many requests these rows are of, and how many messages, of those that count."""
    plans = base.plans.join(decided.select(c.PLAN_ID).distinct(), c.PLAN_ID)
    deciding = plans.where(F.col(those) > 0)
    count, messages = deciding.agg(F.count(F.lit(1)), F.sum(those)).collect()[0]
    return {"requests_decided": count, "messages_decided": float(messages or 0.0)}


def _defined(topology: Topology, table: str) -> DataFrame:
    """The rows of objects as they are defined; a queue manager as it sees itself."""
    if table == "queue_managers":
        return own_qmgrs(topology.queue_managers)
    rows: DataFrame = getattr(topology, table)
    return rows.where(F.col(c.OBSERVER) == EVERYBODY)


def _is_set(table: str, column: str) -> Column:
    return F.col(column) != F.lit(DEFAULTS[table][column])


def _times_set(rows: DataFrame, table: str) -> Row:
    """By column, on how many objects of a table it is set, whatever clusters these are in."""
    columns = dict.fromkeys(x.column for x in _ATTRIBUTES if x.table == table)
    name = F.concat_ws(" ", *_NAMES[table])
    counts = rows.agg(
        *(F.count_distinct(F.when(_is_set(table, x), name)).alias(x) for x in columns)
    )
    return counts.collect()[0].asDict()


def _of_objects(judged: DataFrame, having: DataFrame, table: str) -> DataFrame:
    """The candidates that are, or go over, one of the objects; an alias's by its queue manager.

    Of a queue manager's own attributes: none; they count where it puts.
    """
    of_qmgr = F.col(c.DEST_QMGR) == F.col("owner")
    if table == "queue_managers":
        return judged.limit(0)
    if table == "cluster_channels":
        named = having.select(F.col(c.QMGR).alias("owner"), F.col(c.CHANNEL).alias("object"))
        same = of_qmgr & (F.col(c.CHANNEL) == F.col("object"))
    else:
        named = having.select(F.col(c.QMGR).alias("owner"), F.col(c.QUEUE).alias("object"))
        same = of_qmgr & (F.col(c.IS_ALIAS) | (F.col(c.DEST_OBJECT) == F.col("object")))
    return judged.join(F.broadcast(named.distinct()), same, "left_semi")


def _by_rules(*rules: int) -> Decides:
    """Requests of which one of these rules took a candidate away."""

    def decided(met: _Met) -> DataFrame:
        acted = met.judged.where(F.col(c.ELIMINATED_BY).isin(*rules)).select(c.PLAN_ID)
        return met.touched.join(acted, c.PLAN_ID, "left_semi")

    return decided


def _by_locality(met: _Met) -> DataFrame:
    return met.touched.where(c.IS_LOCAL)


def _by_recent_use(met: _Met) -> DataFrame:
    return by_recent_use(met.base, met.having)


def by_recent_use(base: Base, qmgrs: DataFrame) -> DataFrame:
    """Choices of a queue manager with more remote routes than its CLWLMRUC.

    Args:
        base: the traffic.
        qmgrs: rows of queue_managers, one each.

    Grain: one row per plan, queue manager and choice: (qmgr, plan_id, choice, routes, clwlmruc).
    """
    remote = _routes(base).where(~F.col(c.IS_LOCAL))
    counts = remote.groupBy(c.PLAN_ID, c.QMGR, c.CHOICE).agg(F.count(F.lit(1)).alias("routes"))
    limits = qmgrs.select(c.QMGR, c.CLWLMRUC)
    return counts.join(limits, c.QMGR).where(F.col("routes") > F.col(c.CLWLMRUC))


def _by_weight(met: _Met) -> DataFrame:
    """Choices among routes of different steps."""
    step = F.floor(F.lit(LARGEST_STEP) / F.col(c.CLWLWGHT))
    used = _routes(met.base).where(F.col(SHARE) > 0)
    steps = used.groupBy(c.PLAN_ID, c.CHOICE).agg(F.count_distinct(step).alias("steps"))
    return steps.where("steps > 1")


def _by_binding(met: _Met) -> DataFrame:
    """Requests with several routes whose binding is not MQ's default, of objects that have it."""
    used = _routes(met.base).where(F.col(SHARE) > 0)
    routes = used.groupBy(c.PLAN_ID, c.CHOICE).agg(F.count(F.lit(1)).alias("routes"))
    usual = DEFAULTS["queues"][c.DEFBIND]
    unlike = met.base.plans.where(F.col(c.BIND_DEFAULT) != F.lit(usual)).select(c.PLAN_ID)
    several = routes.where("routes > 1").join(unlike, c.PLAN_ID)
    return several.join(met.touched.select(c.PLAN_ID), c.PLAN_ID, "left_semi")


def _routes(base: Base) -> DataFrame:
    """The routes that are left after the rules, with their shares."""
    return base.ends.where(F.col(c.CHANNEL).isNotNull())


_ATTRIBUTES: Final = (
    _Attribute("CLWLRANK of channels", "cluster_channels", c.CLWLRANK, _by_rules(3)),
    _Attribute("CLWLRANK of queues", "queues", c.CLWLRANK, _by_rules(3, 4)),
    _Attribute("PUT(DISABLED)", "queues", c.PUT_ENABLED, _by_rules(5)),
    _Attribute("CLWLUSEQ of queues", "queues", c.CLWLUSEQ, _by_locality),
    _Attribute("SUSPEND QMGR", "cluster_channels", c.SUSPENDED, _by_rules(7)),
    _Attribute("NETPRTY", "cluster_channels", c.NETPRTY, _by_rules(12)),
    _Attribute("CLWLPRTY of channels", "cluster_channels", c.CLWLPRTY, _by_rules(13)),
    _Attribute("CLWLPRTY of queues", "queues", c.CLWLPRTY, _by_rules(13, 14)),
    _Attribute("CLWLMRUC", "queue_managers", c.CLWLMRUC, _by_recent_use),
    _Attribute("CLWLWGHT", "cluster_channels", c.CLWLWGHT, _by_weight),
    _Attribute("DEFBIND", "queues", c.DEFBIND, _by_binding, AS_Q_DEF),
)
"""An alias's CLWLRANK and CLWLPRTY count in rules 3 and 13."""
