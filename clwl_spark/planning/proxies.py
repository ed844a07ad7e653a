"""Proxy subscriptions: which queue managers want a publication.

Source: SEMANTICS 9, P18, P19, P39.
"""

from typing import Final

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Edition, Reach, SubType
from clwl_spark.planning.scopes import REACH, STRING, is_said_nowhere, scopes_above
from clwl_spark.planning.topic_strings import PATTERN, matching
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
from clwl_spark.spark.frames import rows_at_hand
from clwl_spark.spark.materialize import Materialize
from clwl_spark.tables import columns as c

_PUBLISHED: Final = (c.PLAN_ID, *VIEW_KEY, c.OBJECT_NAME)


def subscribed(
    reached: DataFrame, topology: Topology, edition: Edition, keep: Materialize
) -> DataFrame:
    """The queue managers that have a proxy subscription which matches: (plan_id, qmgr).

    Args:
        reached: (plan_id, snapshot_id, viewer, object_name = topic string, qmgr), distinct: who
            can get a copy of the viewer's publication.
        topology: the tables.
        edition: in the second, user subscriptions tell where a viewer has no proxy subscription.
        keep: what to do with frames that several steps read.
    """
    asked = reached.select(*_PUBLISHED).distinct()
    proxies = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.PROXY.value).select(
        c.SNAPSHOT_ID,
        F.col(c.QMGR).alias(VIEWER),
        F.col(c.DEST_QMGR).alias(c.QMGR),
        F.col(c.TOPICSTR).alias(PATTERN),
        c.WSCHEMA,
    )
    found = matching(asked.join(proxies, list(VIEW_KEY))).select(c.PLAN_ID, c.QMGR).distinct()
    if edition == Edition.FIRST or _are_none(topology, SubType.USER):
        return found
    if _are_none(topology, SubType.PROXY):
        return _by_users(reached, topology, keep)
    having = proxies.select(*VIEW_KEY).distinct()
    left = reached.join(having, list(VIEW_KEY), "left_anti")
    return found.union(_by_users(left, topology, keep))


def _are_none(topology: Topology, kind: SubType) -> bool:
    """Whether there are seen to be no subscriptions of a kind."""
    rows = rows_at_hand(topology.subscriptions)
    return rows is not None and kind.value not in pc.unique(rows[c.SUBTYPE]).to_pylist()


def handed_to(arrived: DataFrame, topology: Topology, keep: Materialize) -> DataFrame:
    """The user subscriptions that get a publication where it has come to.

    Args:
        arrived: (snapshot_id, qmgr, object_name = topic string, is_local), distinct; is_local =
            it was published on qmgr, so that subscriptions of scope QMGR get it too.
        topology: the tables.
        keep: what to do with frames that several steps read.

    Grain: one row per row of `arrived` and subscription: (snapshot_id, qmgr, object_name, is_local,
    sub_name, topicstr, dest, dest_qmgr).
    """
    users = _users(topology, c.SUB_NAME, c.DEST, c.DEST_QMGR)
    met = _with_reach(arrived.join(users, [c.SNAPSHOT_ID, c.QMGR]), topology, keep)
    told = (c.SUB_NAME, F.col(PATTERN).alias(c.TOPICSTR), c.DEST, c.DEST_QMGR)
    getting = met.where(F.col(c.IS_LOCAL) | (F.col(REACH) == Reach.ALL.value))
    return getting.select(c.SNAPSHOT_ID, c.QMGR, c.OBJECT_NAME, c.IS_LOCAL, *told)


def _by_users(reached: DataFrame, topology: Topology, keep: Materialize) -> DataFrame:
    """(plan_id, qmgr) of those with a user subscription, of effective scope ALL, that matches."""
    users = _users(topology).distinct()
    met = _with_reach(reached.drop(VIEWER).join(users, [c.SNAPSHOT_ID, c.QMGR]), topology, keep)
    return met.where(F.col(REACH) == Reach.ALL.value).select(c.PLAN_ID, c.QMGR).distinct()


def _users(topology: Topology, *more: str) -> DataFrame:
    """User subscriptions: (snapshot_id, qmgr, pattern, wschema, sub_scope, and what is asked)."""
    users = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.USER.value)
    pattern = F.col(c.TOPICSTR).alias(PATTERN)
    return users.select(c.SNAPSHOT_ID, c.QMGR, pattern, c.WSCHEMA, c.SUB_SCOPE, *more)


def _with_reach(pairs: DataFrame, topology: Topology, keep: Materialize) -> DataFrame:
    """The pairs of publication and subscription that match, with the effective scope `reach`."""
    return with_scopes(matching(pairs).drop(c.WSCHEMA), topology, keep)


def with_scopes(held: DataFrame, topology: Topology, keep: Materialize) -> DataFrame:
    """User subscriptions with their effective scope: their own, else that of the nearest topic.

    Args:
        held: (snapshot_id, qmgr, pattern, sub_scope) and more; it may have rows that are alike.
        topology: the tables.
        keep: what to do with frames that several steps read.

    Grain: as `held`, with `reach`, and viewer and string, which are qmgr and pattern.
    """
    own = F.when(F.col(c.SUB_SCOPE).isin(*(x.value for x in Reach)), F.col(c.SUB_SCOPE))
    told = {VIEWER: F.col(c.QMGR), STRING: F.col(PATTERN), c.SUB_SCOPE: own}
    if is_said_nowhere(topology, c.SUB_SCOPE):
        alone = F.coalesce(c.SUB_SCOPE, F.lit(Reach.ALL.value))
        return held.withColumns(told).withColumn(REACH, alone)
    met = keep(held.withColumns(told))
    strings = keep(met.where(F.col(c.SUB_SCOPE).isNull()).select(*VIEW_KEY, STRING).distinct())
    known = viewers(strings.select(*VIEW_KEY).distinct(), topology)
    above = scopes_above(strings, known, topology, c.SUB_SCOPE)
    reach = F.coalesce(c.SUB_SCOPE, REACH, F.lit(Reach.ALL.value))
    return met.join(above, [*VIEW_KEY, STRING], "left").withColumn(REACH, reach)
