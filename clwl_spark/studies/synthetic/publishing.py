"""Topics and subscriptions of a spec: even turns TOPICHOST, odd turns DIRECT."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, SparkSession

from clwl_spark import tables as schemas
from clwl_spark.mq import vocabulary as v
from clwl_spark.studies.synthetic import draw as d
from clwl_spark.studies.synthetic.shaping import observed, shaped, snapshot_name
from clwl_spark.studies.synthetic.spec import GenerateSpec
from clwl_spark.tables import columns as c

_SUBSCRIBERS: Final = 3


def topics(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Topic objects: a TOPICHOST one on `instances` hosts, a DIRECT one on the first of them.

    Grain: one row per snapshot, topic and queue manager that defines it.
    """
    topic, instance = d.number(d.OBJECT_NO), d.number(d.INSTANCE_NO)
    hosted = v.ClusterRoute.TOPICHOST.value
    columns = observed(spec) | {
        c.QMGR: d.qmgr_name(spec, d.host(spec, topic, instance)),
        c.TOPIC: d.topic_name(spec, topic),
        c.CLUSTER: d.cluster_name(spec, topic % F.lit(spec.clusters)),
        c.TOPICSTR: d.topic_string(spec, topic),
        c.CLROUTE: F.when(_direct(spec, topic), v.ClusterRoute.DIRECT.value).otherwise(hosted),
        c.PUB_ENABLED: F.lit(True),
        c.SUB_ENABLED: F.lit(True),
        c.PROXYSUB: F.lit(v.ProxySub.FIRSTUSE.value),
    }
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.OBJECT_NO: spec.topics,
        d.INSTANCE_NO: spec.instances,
    }
    frame = d.grid(spark, sizes).where(~_direct(spec, topic) | (instance == F.lit(0)))
    return shaped(frame, schemas.TOPICS, columns)


def subscriptions(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Subscriptions to the DIRECT topics: the subscribers' own, and proxies on other members.

    Grain: one row per snapshot, topic, subscriber and queue manager that holds it.
    """
    topic, holder = d.number(d.OBJECT_NO), d.number(d.QMGR_NO)
    subscriber = d.host(spec, topic, d.number(d.INSTANCE_NO))
    own = subscriber == holder
    proxy = F.concat_ws(".", F.lit("PROXY"), d.topic_name(spec, topic), _dest(spec, subscriber))
    columns = {
        c.SNAPSHOT_ID: snapshot_name(spec),
        c.QMGR: d.qmgr_name(spec, holder),
        c.SUB_NAME: F.when(own, F.concat(F.lit("SUB."), d.topic_name(spec, topic))).otherwise(
            proxy
        ),
        c.TOPICSTR: F.concat(d.topic_string(spec, topic), F.lit("/#")),
        c.SUBTYPE: F.when(own, v.SubType.USER.value).otherwise(v.SubType.PROXY.value),
        c.DEST: F.when(own, F.concat(F.lit("IN."), d.topic_name(spec, topic))).otherwise(
            "SYSTEM.INTER.QMGR.PUBS"
        ),
        c.DEST_QMGR: _dest(spec, subscriber),
    }
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.OBJECT_NO: spec.topics,
        d.INSTANCE_NO: min(spec.instances, _SUBSCRIBERS),
        d.QMGR_NO: spec.qmgrs,
    }
    frame = d.grid(spark, sizes).where(_direct(spec, topic) & _member(spec, topic, holder))
    return shaped(frame, schemas.SUBSCRIPTIONS, columns)


def _direct(spec: GenerateSpec, topic: Column) -> Column:
    """True for every second topic of a cluster."""
    return d.whole(topic, spec.clusters) % F.lit(2) == F.lit(1)


def _dest(spec: GenerateSpec, subscriber: Column) -> Column:
    """Name of the queue manager that subscribes."""
    return d.qmgr_name(spec, subscriber)


def _member(spec: GenerateSpec, topic: Column, qmgr: Column) -> Column:
    """True where the queue manager is in the topic's cluster."""
    cluster = topic % F.lit(spec.clusters)
    at_home = d.cluster_of(spec, qmgr, 0) == cluster
    second = (d.cluster_of(spec, qmgr, 1) == cluster) & d.in_slot(spec, qmgr, F.lit(1))
    return at_home | second
