"""The instances that a cluster choice can end at, before their channels.

Every function returns the same columns (`COLUMNS`). Grain: one row per (plan, copy, instance,
instance cluster); the instance cluster is null for a queue manager itself, whose cluster is the
channel's. Kinds other than QUEUE carry one rank, priority and `uses_local` for all rows, so that
rules 4, 6 and 14 do not act on them.

`reason` is the plan's so far: where it is not 0 the name leads nowhere, and its instances only
tell whether there is a first open (P36).

Source: SEMANTICS 3, S2a, P3 to P5, P14, P17, P18, P36.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import PlanKind, QueueType, UseQueue, Via
from clwl_spark.planning.names import others_named
from clwl_spark.snapshots.views import (
    CLUSTERS,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    own_rows,
)
from clwl_spark.tables import columns as c

ALIAS_RANK: Final = "alias_rank"
ALIAS_PRTY: Final = "alias_prty"
COLUMNS: Final = (
    c.PLAN_ID,
    c.CHOICE,
    c.KIND,
    *VIEW_KEY,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.INSTANCE_CLUSTER,
    c.IS_LOCAL,
    c.IS_ALIAS,
    ALIAS_RANK,
    ALIAS_PRTY,
    c.QUEUE_RANK,
    c.QUEUE_PRTY,
    c.PUT_ENABLED,
    c.USES_LOCAL,
    c.REASON,
    c.FIRST_OPEN,
)


def queue_instances(plans: DataFrame, known: DataFrame, topology: Topology) -> DataFrame:
    """Instances of kind QUEUE: the queue on other queue managers, and the own QLOCAL.

    Args:
        plans: (plan_id, snapshot_id, viewer, resolved_object, via, reason) of kind QUEUE.
        known: `first_opens.with_first_opens` of the senders.
        topology: the tables.
    """
    plans = plans.select(c.PLAN_ID, *VIEW_KEY, c.RESOLVED_OBJECT, c.VIA, c.REASON)
    others = others_named(plans, known, topology.queues, c.RESOLVED_OBJECT).where(
        (F.col(c.CLUSTER) != "")
        & ~((F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.col(c.RNAME) == ""))
    )
    qmgr_use = known.select(*VIEW_KEY, CLUSTERS, F.col(c.CLWLUSEQ).alias("qmgr_clwluseq"))
    mine = own_rows(known, topology.queues, (c.QUEUE, c.CLUSTER)).where(
        F.col(c.QTYPE) == QueueType.QLOCAL.value
    )
    local = (
        plans.join(qmgr_use, list(VIEW_KEY))
        .join(mine, list(VIEW_KEY))
        .where((F.col(c.QUEUE) == F.col(c.RESOLVED_OBJECT)) & in_clusters(c.CLUSTER))
        .withColumn(c.FIRST_OPEN, F.lit(False))
    )
    return _instances(others, PlanKind.QUEUE, F.lit(False), c.QUEUE).unionByName(
        _instances(local, PlanKind.QUEUE, _uses_local(), c.QUEUE)
    )


def qmgr_instances(plans: DataFrame, known: DataFrame, topology: Topology) -> DataFrame:
    """Instances of kind QMGR: the queue manager itself, and aliases of its name on others.

    Args:
        plans: (plan_id, snapshot_id, viewer, resolved_object, resolved_qmgr, reason) of kind QMGR.
        known: `first_opens.with_first_opens` of the senders.
        topology: the tables.
    """
    itself = plans.select(
        c.PLAN_ID,
        F.lit(0).alias(c.CHOICE),
        F.lit(PlanKind.QMGR.value).alias(c.KIND),
        *VIEW_KEY,
        F.col(c.RESOLVED_QMGR).alias(c.DEST_QMGR),
        F.col(c.RESOLVED_OBJECT).alias(c.DEST_OBJECT),
        _none("string").alias(c.INSTANCE_CLUSTER),
        F.lit(False).alias(c.IS_LOCAL),
        F.lit(False).alias(c.IS_ALIAS),
        _none("int").alias(ALIAS_RANK),
        _none("int").alias(ALIAS_PRTY),
        F.lit(0).alias(c.QUEUE_RANK),
        F.lit(0).alias(c.QUEUE_PRTY),
        F.lit(True).alias(c.PUT_ENABLED),
        F.lit(False).alias(c.USES_LOCAL),
        c.REASON,
        F.lit(False).alias(c.FIRST_OPEN),
    )
    plans = plans.select(c.PLAN_ID, *VIEW_KEY, c.RESOLVED_OBJECT, c.RESOLVED_QMGR, c.REASON)
    aliases = others_named(plans, known, topology.queues, c.RESOLVED_QMGR).where(
        (F.col(c.QTYPE) == QueueType.QREMOTE.value)
        & (F.col(c.RNAME) == "")
        & (F.col(c.CLUSTER) != "")
    )
    found = _instances(aliases, PlanKind.QMGR, F.lit(False), c.RESOLVED_OBJECT)
    return itself.unionByName(
        found.withColumn(c.IS_ALIAS, F.lit(True))
        .withColumn(ALIAS_RANK, F.col(c.QUEUE_RANK))
        .withColumn(ALIAS_PRTY, F.col(c.QUEUE_PRTY))
        .withColumn(c.QUEUE_RANK, F.lit(0))
        .withColumn(c.QUEUE_PRTY, F.lit(0))
    )


def topic_instances(hosts: DataFrame) -> DataFrame:
    """Instances of kind TOPIC: topic hosts, or the queue managers that get a copy.

    Args:
        hosts: (plan_id, snapshot_id, viewer, qmgr, topic, cluster, pub_enabled, is_copy); where
            `is_copy`, each queue manager is a choice of its own and PUB does not count.
    """
    copy = F.dense_rank().over(Window.partitionBy(c.PLAN_ID).orderBy(c.QMGR)) - 1
    frame = (
        hosts.withColumn(c.CHOICE, F.when(F.col("is_copy"), copy).otherwise(F.lit(0)))
        .withColumn(c.PUT_ENABLED, F.col("is_copy") | F.col(c.PUB_ENABLED))
        .withColumn(c.CLWLRANK, F.lit(0))
        .withColumn(c.CLWLPRTY, F.lit(0))
        .withColumn(c.REASON, F.lit(0))
        .withColumn(c.FIRST_OPEN, F.lit(False))
    )
    return _instances(frame, PlanKind.TOPIC, F.lit(False), c.TOPIC, F.col(c.CHOICE))


def _instances(
    rows: DataFrame,
    kind: PlanKind,
    uses_local: Column,
    dest_object: str,
    choice: Column | None = None,
) -> DataFrame:
    """Rows of hosts as instances; without `choice` all are of one."""
    choice = F.lit(0) if choice is None else choice
    return rows.select(
        c.PLAN_ID,
        choice.alias(c.CHOICE),
        F.lit(kind.value).alias(c.KIND),
        *VIEW_KEY,
        F.col(c.QMGR).alias(c.DEST_QMGR),
        F.col(dest_object).alias(c.DEST_OBJECT),
        F.col(c.CLUSTER).alias(c.INSTANCE_CLUSTER),
        (F.col(c.QMGR) == F.col(VIEWER)).alias(c.IS_LOCAL),
        F.lit(False).alias(c.IS_ALIAS),
        _none("int").alias(ALIAS_RANK),
        _none("int").alias(ALIAS_PRTY),
        F.col(c.CLWLRANK).alias(c.QUEUE_RANK),
        F.col(c.CLWLPRTY).alias(c.QUEUE_PRTY),
        c.PUT_ENABLED,
        uses_local.alias(c.USES_LOCAL),
        c.REASON,
        c.FIRST_OPEN,
    )


def _uses_local() -> Column:
    """Rule 6 for a local row: it takes all where it is there."""
    by_queue = F.col(c.CLWLUSEQ) == UseQueue.LOCAL.value
    by_qmgr = (F.col(c.CLWLUSEQ) == UseQueue.QMGR.value) & (
        F.col("qmgr_clwluseq") == UseQueue.LOCAL.value
    )
    return by_queue | by_qmgr | (F.col(c.VIA) == Via.CLUSTER.value)


def _none(type_: str) -> Column:
    return F.lit(None).cast(type_)
