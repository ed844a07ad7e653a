"""Proxy subscriptions: which queue managers want a publication.

Source: SEMANTICS 9, P18, P19, P39.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Edition, Reach, SubType
from clwl_spark.planning.scopes import REACH, STRING, scopes_above
from clwl_spark.planning.topic_strings import PATTERN, matching
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
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
    if edition == Edition.FIRST:
        return found
    having = proxies.select(*VIEW_KEY).distinct()
    left = reached.join(having, list(VIEW_KEY), "left_anti")
    return found.union(_by_users(left, topology, keep))


def _by_users(reached: DataFrame, topology: Topology, keep: Materialize) -> DataFrame:
    """(plan_id, qmgr) of those with a user subscription, of effective scope ALL, that matches."""
    users = topology.subscriptions.where(F.col(c.SUBTYPE) == SubType.USER.value).select(
        c.SNAPSHOT_ID, c.QMGR, F.col(c.TOPICSTR).alias(PATTERN), c.WSCHEMA, c.SUB_SCOPE
    )
    pairs = matching(reached.join(users.distinct(), [c.SNAPSHOT_ID, c.QMGR]))
    met = keep(
        pairs.select(
            c.PLAN_ID,
            c.SNAPSHOT_ID,
            F.col(c.QMGR).alias(VIEWER),
            F.col(PATTERN).alias(STRING),
            F.when(F.col(c.SUB_SCOPE).isin(*(x.value for x in Reach)), F.col(c.SUB_SCOPE)).alias(
                c.SUB_SCOPE
            ),
        )
    )
    strings = keep(met.where(F.col(c.SUB_SCOPE).isNull()).select(*VIEW_KEY, STRING).distinct())
    known = viewers(strings.select(*VIEW_KEY).distinct(), topology)
    above = scopes_above(strings, known, topology, c.SUB_SCOPE)
    reach = F.coalesce(c.SUB_SCOPE, REACH, F.lit(Reach.ALL.value))
    wanting = met.join(above, [*VIEW_KEY, STRING], "left").where(reach == Reach.ALL.value)
    return wanting.select(c.PLAN_ID, F.col(VIEWER).alias(c.QMGR)).distinct()
