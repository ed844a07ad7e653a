"""Which topic object a publication meets, and who gets it.

Source: SEMANTICS 9, P17, P18, P38.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import (
    ClusterRoute,
    DefBind,
    Edition,
    ObjectType,
    PlanKind,
    ProxySub,
    Via,
)
from clwl_spark.planning.proxies import subscribed
from clwl_spark.planning.scopes import kept_local
from clwl_spark.planning.topic_strings import ancestors
from clwl_spark.snapshots.views import (
    CLUSTERS,
    TOPICS_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    others_rows,
    own_rows,
    viewers,
)
from clwl_spark.spark.materialize import Materialize
from clwl_spark.tables import columns as c

_TOPIC_COLUMNS: Final = (
    c.QMGR,
    c.TOPIC,
    c.CLUSTER,
    c.TOPICSTR,
    c.CLROUTE,
    c.PUB_ENABLED,
    c.PROXYSUB,
)
_TOPIC_OBJECT: Final = (c.PLAN_ID, c.TOPICSTR, c.TOPIC)
CAME_FROM: Final = "came_from"
IS_COPY: Final = "is_copy"
IS_SHARED: Final = "is_shared"
HOSTS_COLUMNS: Final = (
    c.PLAN_ID,
    *VIEW_KEY,
    c.QMGR,
    c.TOPIC,
    c.CLUSTER,
    c.PUB_ENABLED,
    IS_COPY,
)


def published(requests: DataFrame, *, is_onward: bool = False) -> DataFrame:
    """Publications, and where they came from.

    Args:
        requests: (plan_id, *REQUEST), `qmgr` called viewer.
        is_onward: those that were received over a cluster channel came from `object_qmgr`.

    Grain: one row per request that is a publication, with `came_from`; null = put by an
    application.
    """
    came = F.lit(None).cast("string")
    if is_onward:
        is_received = (F.col(c.VIA) == Via.CLUSTER.value) & (F.col(c.OBJECT_QMGR) != "")
        came = F.when(is_received, F.col(c.OBJECT_QMGR))
    is_topic = F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value
    return requests.where(is_topic).withColumn(CAME_FROM, came)


def matching_topics(asked: DataFrame, known: DataFrame, topology: Topology) -> DataFrame:
    """The rows of the topic object that each publication meets.

    Args:
        asked: `published`.
        known: `views.viewers` of the senders.
        topology: the tables.

    The object is chosen among rows in clusters of the viewer's; hosts in other clusters are rows
    too, which rule 1 eliminates (P4), but say nothing about the object.

    Grain: one row per (plan_id, row of the topic object), the columns of `asked` and the row's,
    with `is_shared` (a cluster of the viewer's), and `is_host_routed` and `forced`, the same in all
    rows of a plan.
    """
    above = asked.withColumn(c.TOPICSTR, F.explode(ancestors(F.col(c.OBJECT_NAME))))
    looking = above.join(known.select(*VIEW_KEY, CLUSTERS, TOPICS_SEEN_BY), list(VIEW_KEY))
    own = own_rows(known, topology.topics, (c.TOPIC, c.CLUSTER))
    mine = looking.join(own, [*VIEW_KEY, c.TOPICSTR]).where(in_clusters(c.CLUSTER))
    # By cluster from the first: many clusters that never meet may have the same topic strings.
    within = looking.withColumn(c.CLUSTER, F.explode(CLUSTERS))
    shared = others_rows(within, topology.topics, TOPICS_SEEN_BY, (c.CLUSTER, c.TOPICSTR))
    objects = shared.select(*_TOPIC_OBJECT).union(mine.select(*_TOPIC_OBJECT))
    # Longest topic string first, then the lowest name.
    order = F.struct((-F.length(c.TOPICSTR)).alias("length"), c.TOPIC, c.TOPICSTR)
    first = objects.groupBy(c.PLAN_ID).agg(F.min(order).alias("first"))
    best = first.select(c.PLAN_ID, f"first.{c.TOPICSTR}", f"first.{c.TOPIC}")
    of_object = looking.join(best, [c.PLAN_ID, c.TOPICSTR])
    others = others_rows(of_object, topology.topics, TOPICS_SEEN_BY, (c.TOPICSTR, c.TOPIC))
    of_others = others.where(F.col(c.CLUSTER) != "")
    its_own = mine.join(best, [*_TOPIC_OBJECT])
    columns = (*asked.columns, *_TOPIC_COLUMNS, CLUSTERS)
    met = of_others.select(*columns).unionByName(its_own.select(*columns))
    met = met.withColumn(IS_SHARED, in_clusters(c.CLUSTER)).drop(CLUSTERS)
    of_plan = Window.partitionBy(c.PLAN_ID)
    return met.select(
        "*",
        F.bool_or(F.col(IS_SHARED) & _is_host()).over(of_plan).alias("is_host_routed"),
        F.bool_or(F.col(IS_SHARED) & _is_forced()).over(of_plan).alias("forced"),
    )


def not_kept_local(
    asked: DataFrame, matched: DataFrame, known: DataFrame, topology: Topology, edition: Edition
) -> DataFrame:
    """The rows of `matching_topics` of the publications that their scope lets go (P38).

    A publication that came over a cluster channel was let go where it was put: of a topic host's
    own scopes SEMANTICS says nothing, so they do not hold it up.
    """
    if edition == Edition.FIRST:
        return matched
    local = kept_local(asked.where(F.col(CAME_FROM).isNull()), known, topology)
    return matched.join(local, c.PLAN_ID, "left_anti")


def topic_ends(matched: DataFrame, topology: Topology) -> DataFrame:
    """The queue managers that publications may go to: topic hosts, and members of topics' clusters.

    Args:
        matched: `matching_topics`.
        topology: the tables.

    Grain: one row per (snapshot_id, viewer, qmgr); some are not seen by the viewer.
    """
    to_host = F.col("is_host_routed") & F.col(CAME_FROM).isNull()
    hosts = matched.where(to_host).select(*VIEW_KEY, c.QMGR)
    within = matched.where(~to_host).select(*VIEW_KEY, c.CLUSTER).distinct()
    members = topology.cluster_channels.select(c.SNAPSHOT_ID, c.CLUSTER, c.QMGR).distinct()
    all_of_them = within.join(members, [c.SNAPSHOT_ID, c.CLUSTER]).select(*VIEW_KEY, c.QMGR)
    return hosts.union(all_of_them).distinct()


def destinations(
    matched: DataFrame,
    channels: DataFrame,
    topology: Topology,
    edition: Edition,
    keep: Materialize,
) -> DataFrame:
    """Topic hosts of TOPICHOST plans that choose, and the queue managers that get copies.

    A publication that has come to a topic host goes on from there, as copies.

    Args:
        matched: `matching_topics`, of publications that no scope keeps.
        channels: `channels.channels_asked`.
        topology: the tables.
        edition: of SEMANTICS.
        keep: what to do with frames that several steps read.

    Grain: one row per (plan_id, qmgr, cluster), columns `HOSTS_COLUMNS`.
    """
    hosts = matched.where(F.col("is_host_routed") & _is_host())
    own_host = hosts.where(F.col(c.QMGR) == F.col(VIEWER)).select(c.PLAN_ID).distinct()
    choosing = hosts.join(own_host, c.PLAN_ID, "left_anti").withColumn(IS_COPY, F.lit(False))
    copied = matched.where(~F.col("is_host_routed"))
    here = F.col(CAME_FROM).isNull()
    sent_on = matched.where(~here).join(own_host, c.PLAN_ID, "left_semi")
    copied = copied.where(here).unionByName(sent_on).where(IS_SHARED)
    copies = _copies(copied, channels, topology, edition, keep)
    return choosing.where(here).select(*HOSTS_COLUMNS).unionByName(copies)


def routed_by_topic(
    asked: DataFrame, topology: Topology, edition: Edition
) -> tuple[DataFrame, DataFrame]:
    """Publications by how their topic is routed: to a topic host, or directly.

    Args:
        asked: (plan_id, *REQUEST), `qmgr` called viewer.
        topology: the snapshots that they name.
        edition: of SEMANTICS.

    Returns:
        Two frames (plan_id): of topics with CLROUTE(TOPICHOST), and of those with DIRECT; those
        that their scope keeps local, or that meet no topic object, are in neither.
    """
    asked = published(asked)
    known = viewers(asked.select(*VIEW_KEY).distinct(), topology)
    matched = matching_topics(asked, known, topology)
    going = not_kept_local(asked, matched, known, topology, edition)
    to_host, direct = (going.where(x) for x in (F.col("is_host_routed"), ~F.col("is_host_routed")))
    return to_host.select(c.PLAN_ID).distinct(), direct.select(c.PLAN_ID).distinct()


def topic_resolutions(asked: DataFrame, matched: DataFrame, chosen: DataFrame) -> DataFrame:
    """What each publication resolves to: a choice (TOPIC), or the local queue manager (LOCAL).

    Grain: one row per row of `asked`.
    """
    met = matched.groupBy(c.PLAN_ID).agg(F.first(c.TOPIC).alias(c.TOPIC))
    one_each = F.when(F.bool_or(IS_COPY), ClusterRoute.DIRECT.value)
    choosing = chosen.groupBy(c.PLAN_ID).agg(
        F.lit(PlanKind.TOPIC.value).alias(c.KIND),
        one_each.otherwise(ClusterRoute.TOPICHOST.value).alias(c.CLROUTE),
    )
    return (
        asked.join(met, c.PLAN_ID, "left")
        .join(choosing, c.PLAN_ID, "left")
        .select(
            c.PLAN_ID,
            F.coalesce(c.KIND, F.lit(PlanKind.LOCAL.value)).alias(c.KIND),
            F.lit(0).alias(c.REASON),
            F.coalesce(c.TOPIC, c.OBJECT_NAME).alias(c.RESOLVED_OBJECT),
            F.lit("").alias(c.RESOLVED_QMGR),
            F.array(c.OBJECT_NAME).alias(c.RESOLUTION_PATH),
            F.lit(DefBind.OPEN.value).alias(c.BIND_DEFAULT),
            F.lit(None).cast("string").alias(c.XMITQ),
            c.CLROUTE,
        )
    )


def _copies(
    matched: DataFrame,
    channels: DataFrame,
    topology: Topology,
    edition: Edition,
    keep: Materialize,
) -> DataFrame:
    """The queue managers that get a copy of a publication, by cluster of the topic."""
    columns = (c.PLAN_ID, *VIEW_KEY, c.OBJECT_NAME, CAME_FROM, c.TOPIC, "forced")
    topic_clusters = matched.select(*columns, c.CLUSTER).distinct()
    # Who is a member is not asked for (P37).
    seen = channels.where(~F.col(c.FIRST_OPEN))
    receivers = seen.select(*VIEW_KEY, c.QMGR, c.CLUSTER).distinct()
    reached = topic_clusters.join(receivers, [*VIEW_KEY, c.CLUSTER]).where(
        (F.col(c.QMGR) != F.col(VIEWER)) & ~F.col(c.QMGR).eqNullSafe(F.col(CAME_FROM))
    )
    if edition != Edition.FIRST:
        reached = keep(reached)
    pairs = reached.select(c.PLAN_ID, *VIEW_KEY, c.OBJECT_NAME, c.QMGR).distinct()
    wanting = subscribed(pairs, topology, edition, keep).withColumn("subscribed", F.lit(True))
    return (
        reached.join(wanting, [c.PLAN_ID, c.QMGR], "left")
        .where(F.col("forced") | F.col("subscribed"))
        .withColumn(c.PUB_ENABLED, F.lit(True))
        .withColumn(IS_COPY, F.lit(True))
        .select(*HOSTS_COLUMNS)
    )


def _is_host() -> Column:
    return F.col(c.CLROUTE) == ClusterRoute.TOPICHOST.value


def _is_forced() -> Column:
    return F.col(c.PROXYSUB) == ProxySub.FORCE.value
