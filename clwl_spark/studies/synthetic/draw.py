"""Columns that both topology and traffic are made of: numbers, names, membership, draws.

Everything is arithmetic on a row's number, so it does not depend on partitions or order.
"""

from collections.abc import Mapping
from math import prod
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, SparkSession

from clwl_spark.studies.synthetic.spec import GenerateSpec

ID: Final = "id"
SNAPSHOT_NO: Final = "snapshot_no"
QMGR_NO: Final = "qmgr_no"
SLOT: Final = "slot"
CHANNEL_NO: Final = "channel_no"
MEMBER_NO: Final = "member_no"
MEMBER_SLOT: Final = "member_slot"
OBJECT_NO: Final = "object_no"
INSTANCE_NO: Final = "instance_no"

SLOTS: Final = 2
"""Clusters a queue manager may be in: slot 0 is its home, slot 1 the next cluster."""

_ROWS_PER_PARTITION: Final = 1_250_000
_FEWEST: Final = 4
_SMALL: Final = 100_000
_STEPS: Final = 1_000_000


def number(name: str) -> Column:
    """The column of that name, one of this module's numbers."""
    return F.col(name)


def rows(spark: SparkSession, count: int) -> DataFrame:
    """Numbers 0..count-1 in `id`, in partitions that make files of a good size.

    Grain: one row per number.
    """
    partitions = 1 if count <= _SMALL else max(_FEWEST, -(-count // _ROWS_PER_PARTITION))
    return spark.range(0, count, 1, partitions)


def grid(spark: SparkSession, sizes: Mapping[str, int]) -> DataFrame:
    """Every combination of the numbers 0..size-1, the last column running fastest.

    Grain: one row per combination; one long column per entry of `sizes`.
    """
    columns = []
    below = prod(sizes.values())
    frame = rows(spark, below)
    for name, size in sizes.items():
        below //= max(size, 1)
        digit = whole(number(ID), max(below, 1)) % F.lit(max(size, 1))
        columns.append(digit.alias(name))
    return frame.select(*columns)


def whole(value: Column, by: Column | int) -> Column:
    """How many times `by` goes into a number that is not negative."""
    return F.call_function("div", value, F.lit(by))


def draw(spec: GenerateSpec, what: str, *key: Column) -> Column:
    """A pseudo-random long of the seed for this purpose and key."""
    return F.xxhash64(F.lit(spec.seed), F.lit(what), *(part.cast("long") for part in key))


def draw_below(drawn: Column, limit: Column | int) -> Column:
    """The draw as a number 0..limit-1."""
    return F.pmod(drawn, F.lit(limit))


def hits(drawn: Column, share: float) -> Column:
    """True for that share of the draws."""
    return F.pmod(drawn, F.lit(_STEPS)) < F.lit(round(share * _STEPS))


def name(prefix: str, value: Column, count: int) -> Column:
    """Prefix and the number from 1, with as many digits as `count` has."""
    digits = F.lpad((value + 1).cast("string"), len(str(count)), "0")
    return F.concat(F.lit(prefix), digits)


def qmgr_name(spec: GenerateSpec, qmgr: Column) -> Column:
    """Name of a queue manager."""
    return name("QM", qmgr, spec.qmgrs)


def cluster_name(spec: GenerateSpec, cluster: Column) -> Column:
    """Name of a cluster."""
    return name("CLUS", cluster, spec.clusters)


def queue_name(spec: GenerateSpec, queue: Column) -> Column:
    """Name of a cluster queue."""
    return name("Q", queue, spec.queues)


def alias_name(spec: GenerateSpec, queue: Column) -> Column:
    """Name of the QALIAS of a cluster queue."""
    return name("A.Q", queue, spec.queues)


def has_alias(spec: GenerateSpec, queue: Column) -> Column:
    """True where members have a QALIAS of the cluster queue."""
    return hits(draw(spec, "alias", queue), spec.aliases)


def topic_name(spec: GenerateSpec, topic: Column) -> Column:
    """Name of a topic object."""
    return name("T", topic, spec.topics)


def topic_string(spec: GenerateSpec, topic: Column) -> Column:
    """TOPICSTR of a topic object."""
    return F.concat(F.lit("clwl/"), topic_name(spec, topic))


def channel_name(spec: GenerateSpec, cluster: Column, qmgr: Column, channel: Column) -> Column:
    """Name of a CLUSRCVR: CLUSTER.QMGR.NUMBER."""
    parts = (
        cluster_name(spec, cluster),
        qmgr_name(spec, qmgr),
        (channel + 1).cast("string"),
    )
    return F.concat_ws(".", *parts)


def cluster_of(spec: GenerateSpec, qmgr: Column, slot: Column | int) -> Column:
    """Number of the cluster that a queue manager is in by this slot."""
    return (qmgr + F.lit(slot)) % F.lit(spec.clusters)


def in_slot(spec: GenerateSpec, qmgr: Column, slot: Column) -> Column:
    """True where the queue manager is in a cluster by this slot."""
    if spec.clusters == 1:
        return slot == F.lit(0)
    return (slot == F.lit(0)) | hits(draw(spec, "overlap", qmgr), spec.overlap)


def home_members(spec: GenerateSpec, cluster: Column) -> Column:
    """Number of queue managers that are at home in a cluster."""
    return whole(F.lit(spec.qmgrs + spec.clusters - 1) - cluster, spec.clusters)


def member(spec: GenerateSpec, cluster: Column, index: Column, slot: Column | int = 0) -> Column:
    """Number of the queue manager that is the cluster's index-th by this slot; may not exist."""
    home = F.pmod(cluster - F.lit(slot), F.lit(spec.clusters))
    return home + index * F.lit(spec.clusters)


def host(spec: GenerateSpec, thing: Column, instance: Column) -> Column:
    """Number of the queue manager with that instance of a queue or topic; spread evenly.

    The thing (a queue's or topic's number) is shared in cluster `thing` modulo clusters.
    """
    cluster = thing % F.lit(spec.clusters)
    turn = whole(thing, spec.clusters) * F.lit(spec.instances) + instance
    return member(spec, cluster, turn % home_members(spec, cluster))
