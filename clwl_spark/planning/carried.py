"""Which plans of one snapshot stand unchanged in the next: those that read no row that differs.

A plan reads the rows of its sender, of the names on its resolution path, and of the queue
managers that host these names. Rows that differ are followed to the senders and names that they
touch; too many may be touched, never too few. Nothing is carried where there is a cluster
workload exit, for it may look at anything.

Source: SEMANTICS 2, 3, 9: what resolution, candidates and topics look up.
"""

from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Edition, ObjectType, Reach, SubType
from clwl_spark.planning.names import NAME
from clwl_spark.planning.topic_strings import PATTERN, matching
from clwl_spark.snapshots.channels import status_ends
from clwl_spark.snapshots.differences import PAIR, Differences
from clwl_spark.snapshots.views import EVERYBODY, VIEW_KEY, VIEWER
from clwl_spark.spark.materialize import Materialize
from clwl_spark.tables import columns as c

COPIED_FROM: Final = "copied_from"
_REACH: Final = "reach"
_SENT: Final = (VIEWER, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.VIA, _REACH)


def carried_over(
    requests: DataFrame,
    plans: DataFrame,
    differences: Differences,
    keep: Materialize,
    edition: Edition,
) -> DataFrame:
    """The requests whose plan is that of the same request in the snapshot before.

    Args:
        requests: (plan_id, *REQUEST), distinct.
        plans: rows of route_plans.
        differences: of the requests' snapshots from those before.
        keep: what to do with frames that several steps read.
        edition: of SEMANTICS that the plans were made by.

    Grain: one row per request that is carried, (plan_id, snapshot_id, copied_from = the plan's id
    in the snapshot before).
    """
    passed = F.flatten(F.transform(c.RESOLUTION_PATH, lambda place: F.split(place, "@")))
    named = F.array(c.OBJECT_NAME, c.OBJECT_QMGR, c.RESOLVED_OBJECT, c.RESOLVED_QMGR)
    reach = F.coalesce(c.SCOPE, F.lit(Reach.ALL.value))
    before = (
        plans.withColumnRenamed(c.QMGR, VIEWER)
        .withColumn(_REACH, reach)
        .select(
            F.col(c.SNAPSHOT_ID).alias(c.PREVIOUS_ID),
            *_SENT,
            F.col(c.PLAN_ID).alias(COPIED_FROM),
            F.array_distinct(F.concat(named, passed)).alias("names"),
        )
    )
    asked = requests.withColumnRenamed(c.QMGR, VIEWER).withColumn(_REACH, reach)
    placed = asked.join(F.broadcast(differences.pairs), c.SNAPSHOT_ID)
    known = keep(placed.join(before, [c.PREVIOUS_ID, *_SENT]))
    by_name = known.select(c.PLAN_ID, *VIEW_KEY, F.explode("names").alias(NAME))
    names = keep(_names(differences))
    of_everybody = names.where(F.col(VIEWER) == EVERYBODY).drop(VIEWER)
    publications = known.where(F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value)
    touched = [
        known.join(_senders(differences), list(VIEW_KEY), "left_semi"),
        by_name.join(names, [*VIEW_KEY, NAME], "left_semi"),
        by_name.join(of_everybody, [c.SNAPSHOT_ID, NAME], "left_semi"),
        publications.join(_topics_differ(differences), c.SNAPSHOT_ID, "left_semi"),
        publications.join(_publishers(differences), list(VIEW_KEY), "left_semi"),
    ]
    if edition != Edition.FIRST:
        touched.append(_wanted_by_users(publications, differences))
    ids = reduce(DataFrame.union, (x.select(c.PLAN_ID) for x in touched))
    return known.join(ids, c.PLAN_ID, "left_anti").select(c.PLAN_ID, c.SNAPSHOT_ID, COPIED_FROM)


def _senders(differences: Differences) -> DataFrame:
    """(snapshot_id, viewer) whose every plan is touched."""
    return differences.viewers("queue_managers", "cluster_channels", "queues", "topics", "views")


def _names(differences: Differences) -> DataFrame:
    """(snapshot_id, viewer or *, name): plans of this sender, or all, that come by the name."""
    is_shared = F.col(c.CLUSTER) != ""
    viewer = F.when(is_shared, EVERYBODY).otherwise(F.col(c.QMGR)).alias(VIEWER)
    of_queues = differences.rows("queues").select(c.SNAPSHOT_ID, viewer, F.col(c.QUEUE).alias(NAME))
    # A channel counts where its queue manager hosts a name: in either of the two snapshots.
    queues = differences.in_pairs(differences.topology.queues.where(is_shared))
    hosted = queues.select(*PAIR, c.QMGR, F.col(c.QUEUE).alias(NAME)).distinct()
    of_channels = differences.channel_ends().withColumn(VIEWER, F.lit(EVERYBODY))
    ends = of_channels.unionByName(
        differences.rows("channel_status").select(*status_ends()).distinct()
    )
    found = [
        of_queues,
        ends.join(hosted, [c.SNAPSHOT_ID, c.QMGR]).select(*VIEW_KEY, NAME),
        ends.select(*VIEW_KEY, F.col(c.QMGR).alias(NAME)),
    ]
    return reduce(DataFrame.union, found).distinct()


def _topics_differ(differences: Differences) -> DataFrame:
    """(snapshot_id,): every publication's plan is touched, for any may meet what differs."""
    rows = (differences.rows(x) for x in ("topics", "cluster_channels"))
    return reduce(DataFrame.union, (x.select(c.SNAPSHOT_ID) for x in rows)).distinct()


def _wanted_by_users(publications: DataFrame, differences: Differences) -> DataFrame:
    """The publications that a user subscription which differs matches."""
    of_users = differences.rows("subscriptions").where(F.col(c.SUBTYPE) == SubType.USER.value)
    wanting = of_users.select(c.SNAPSHOT_ID, F.col(c.TOPICSTR).alias(PATTERN), c.WSCHEMA)
    asked = publications.select(c.PLAN_ID, c.SNAPSHOT_ID, c.OBJECT_NAME)
    return matching(asked.join(wanting.distinct(), c.SNAPSHOT_ID))


def _publishers(differences: Differences) -> DataFrame:
    """(snapshot_id, viewer) whose publications' plans are touched."""
    return differences.owners("subscriptions").union(differences.owners("channel_status"))
