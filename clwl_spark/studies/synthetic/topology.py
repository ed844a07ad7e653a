"""Topology tables of a spec, in the contract's columns, as the full repositories see them."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, SparkSession

from clwl_spark import tables as schemas
from clwl_spark.mq import vocabulary as v
from clwl_spark.studies.synthetic import draw as d
from clwl_spark.studies.synthetic.publishing import subscriptions, topics
from clwl_spark.studies.synthetic.shaping import observed, shaped, snapshot_name
from clwl_spark.studies.synthetic.spec import GenerateSpec
from clwl_spark.tables import columns as c

_BAD_STATUSES: Final = tuple(word for word, tier in v.STATUS_TIERS.items() if tier > 1)
_REPOSITORIES: Final = 2
_RUNNING: Final = 0.5
_MANY_CHANNELS: Final = 8


def topology(spark: SparkSession, spec: GenerateSpec) -> dict[str, DataFrame]:
    """All topology tables by name, with exactly the schemas' columns and types.

    Grain: that of each table in `schemas`; observer is '*' everywhere.
    """
    return {
        schemas.SNAPSHOTS.name: snapshots(spark, spec),
        schemas.QUEUE_MANAGERS.name: queue_managers(spark, spec),
        schemas.CLUSTER_CHANNELS.name: cluster_channels(spark, spec),
        schemas.CHANNEL_STATUS.name: channel_status(spark, spec),
        schemas.QUEUES.name: queues(spark, spec),
        schemas.TOPICS.name: topics(spark, spec),
        schemas.SUBSCRIPTIONS.name: subscriptions(spark, spec),
    }


def snapshots(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Snapshots, all valid, one every `snapshot_interval` from `start`.

    Grain: one row per snapshot.
    """
    start = F.lit(spec.start_micros)
    offset = d.number(d.SNAPSHOT_NO) * F.lit(spec.interval_micros)
    columns = {
        c.SNAPSHOT_ID: snapshot_name(spec),
        c.VALID_FROM: F.timestamp_micros(start + offset),
        c.STATUS: F.lit(v.SnapshotStatus.VALID.value),
        c.SOURCE: F.lit("generate"),
        c.LOADED_AT: F.timestamp_micros(start + offset),
    }
    frame = d.grid(spark, {d.SNAPSHOT_NO: spec.snapshots})
    return shaped(frame, schemas.SNAPSHOTS, columns)


def queue_managers(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Queue managers; a non-default CLWLMRUC is 1..8.

    Grain: one row per snapshot and queue manager.
    """
    qmgr = d.number(d.QMGR_NO)
    owner = d.qmgr_name(spec, qmgr)
    few = (d.draw_below(d.draw(spec, "mruc", qmgr), _MANY_CHANNELS) + 1).cast("int")
    few_here = d.hits(d.draw(spec, "mruc?", qmgr), spec.non_default)
    columns = observed(spec) | {
        c.QMGR: owner,
        c.QMID: F.concat(owner, F.lit(spec.start.strftime("_%Y-%m-%d_%H.%M.%S"))),
        c.CLWLUSEQ: F.lit(str(spec.clwluseq)),
        c.CLWLMRUC: F.when(few_here, few).otherwise(v.DEFAULT_MRUC),
        c.DEFCLXQ: F.lit(v.DefaultTransmissionQueue.SCTQ.value),
        c.DEFXMITQ: F.lit(""),
        c.QSGNAME: F.lit(""),
    }
    frame = d.grid(spark, {d.SNAPSHOT_NO: spec.snapshots, d.QMGR_NO: spec.qmgrs})
    return shaped(frame, schemas.QUEUE_MANAGERS, columns)


def cluster_channels(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """CLUSRCVRs; two repositories a cluster; weights change from snapshot to snapshot.

    Grain: one row per snapshot, queue manager, cluster it is in, and channel.
    """
    qmgr, slot = d.number(d.QMGR_NO), d.number(d.SLOT)
    cluster = d.cluster_of(spec, qmgr, slot)
    key = (qmgr, slot, d.number(d.CHANNEL_NO))
    repository = (slot == F.lit(0)) & (qmgr < F.lit(_REPOSITORIES * spec.clusters))
    columns = observed(spec) | {
        c.QMGR: d.qmgr_name(spec, qmgr),
        c.CHANNEL: d.channel_name(spec, cluster, qmgr, d.number(d.CHANNEL_NO)),
        c.CLUSTER: d.cluster_name(spec, cluster),
        c.CLWLRANK: _digit(spec, c.CLWLRANK, *key),
        c.CLWLPRTY: _digit(spec, c.CLWLPRTY, *key),
        c.CLWLWGHT: _weight(spec),
        c.NETPRTY: _digit(spec, c.NETPRTY, *key),
        c.SUSPENDED: d.hits(d.draw(spec, c.SUSPENDED, qmgr, slot), spec.suspended),
        c.CONNAME: F.concat(F.lower(d.qmgr_name(spec, qmgr)), F.lit(".example.com(1414)")),
        c.QMTYPE: F.when(repository, v.QmType.REPOS.value).otherwise(v.QmType.NORMAL.value),
    }
    return shaped(_channels(spark, spec), schemas.CLUSTER_CHANNELS, columns)


def channel_status(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Status of cluster channels on both ends; a channel that is INACTIVE has no row.

    Grain: one row per snapshot and channel instance that is not INACTIVE.
    """
    return _sender_status(spark, spec).unionByName(_receiver_status(spark, spec))


def queues(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """The cluster queues' instances, and the aliases' local definitions.

    Grain: one row per snapshot, queue and instance; and per snapshot, alias and member.
    """
    queue, instance = d.number(d.OBJECT_NO), d.number(d.INSTANCE_NO)
    key = (queue, instance)
    useq = d.hits(d.draw(spec, "useq?", *key), spec.non_default)
    word = F.when(d.draw_below(d.draw(spec, "useq", *key), 2) == 0, v.UseQueue.ANY.value)
    columns = observed(spec) | {
        c.QMGR: d.qmgr_name(spec, d.host(spec, queue, instance)),
        c.QUEUE: d.queue_name(spec, queue),
        c.CLUSTER: d.cluster_name(spec, queue % F.lit(spec.clusters)),
        c.QTYPE: F.lit(v.QueueType.QLOCAL.value),
        c.PUT_ENABLED: ~d.hits(d.draw(spec, c.PUT_ENABLED, *key), spec.put_disabled),
        c.CLWLRANK: _digit(spec, "queue rank", *key),
        c.CLWLPRTY: _digit(spec, "queue prty", *key),
        c.CLWLUSEQ: F.when(useq, F.coalesce(word, F.lit(v.UseQueue.LOCAL.value))).otherwise(
            v.UseQueue.QMGR.value
        ),
        c.DEFBIND: F.lit(str(spec.defbind)),
        c.USAGE: F.lit(v.Usage.NORMAL.value),
    }
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.OBJECT_NO: spec.queues,
        d.INSTANCE_NO: spec.instances,
    }
    shared = shaped(d.grid(spark, sizes), schemas.QUEUES, columns)
    return shared.unionByName(_aliases(spark, spec)) if spec.aliases else shared


def _aliases(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """QALIASes, not shared: one row per snapshot, aliased queue and queue manager."""
    queue, qmgr = d.number(d.OBJECT_NO), d.number(d.QMGR_NO)
    columns = observed(spec) | {
        c.QMGR: d.qmgr_name(spec, qmgr),
        c.QUEUE: d.alias_name(spec, queue),
        c.CLUSTER: F.lit(""),
        c.QTYPE: F.lit(v.QueueType.QALIAS.value),
        c.PUT_ENABLED: F.lit(True),
        c.DEFBIND: F.lit(str(spec.defbind)),
        c.TARGET: d.queue_name(spec, queue),
    }
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.OBJECT_NO: spec.queues,
        d.QMGR_NO: spec.qmgrs,
    }
    frame = d.grid(spark, sizes).where(d.has_alias(spec, queue))
    return shaped(frame, schemas.QUEUES, columns)


def _channels(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Numbers of every CLUSRCVR: one row per snapshot, queue manager, slot and channel."""
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.QMGR_NO: spec.qmgrs,
        d.SLOT: d.SLOTS,
        d.CHANNEL_NO: spec.channels,
    }
    return d.grid(spark, sizes).where(d.in_slot(spec, d.number(d.QMGR_NO), d.number(d.SLOT)))


def _sender_status(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """CLUSSDRs seen on each queue manager: one row per snapshot, channel and viewer."""
    viewer, slot = d.number(d.QMGR_NO), d.number(d.SLOT)
    cluster = d.cluster_of(spec, viewer, slot)
    other = d.member(spec, cluster, d.number(d.MEMBER_NO), d.number(d.MEMBER_SLOT))
    key = (viewer, slot, other, d.number(d.CHANNEL_NO))
    columns = {
        c.SNAPSHOT_ID: snapshot_name(spec),
        c.QMGR: d.qmgr_name(spec, viewer),
        c.CHANNEL: d.channel_name(spec, cluster, other, d.number(d.CHANNEL_NO)),
        c.CHLTYPE: F.lit(v.ChannelType.CLUSSDR.value),
        c.REMOTE_QMGR: d.qmgr_name(spec, other),
        c.STATUS: _status(spec, *key),
        c.XMITQ: F.lit(f"{v.SYSTEM_CLUSTER_TRANSMIT}.QUEUE"),
    }
    sizes = {
        d.SNAPSHOT_NO: spec.snapshots,
        d.QMGR_NO: spec.qmgrs,
        d.SLOT: d.SLOTS,
        d.MEMBER_SLOT: d.SLOTS,
        d.MEMBER_NO: -(-spec.qmgrs // spec.clusters),
        d.CHANNEL_NO: spec.channels,
    }
    pairs = (
        d.grid(spark, sizes)
        .where(d.in_slot(spec, viewer, slot) & (other < F.lit(spec.qmgrs)))
        .where(d.in_slot(spec, other, d.number(d.MEMBER_SLOT)) & (other != viewer))
        .where(_status(spec, *key) != F.lit(v.DEFAULT_STATUS))
    )
    return shaped(pairs, schemas.CHANNEL_STATUS, columns)


def _receiver_status(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Own CLUSRCVRs: one row per snapshot and channel, from the next queue manager."""
    qmgr, slot = d.number(d.QMGR_NO), d.number(d.SLOT)
    cluster = d.cluster_of(spec, qmgr, slot)
    key = (qmgr, slot, d.number(d.CHANNEL_NO))
    partner = (qmgr + F.lit(spec.clusters)) % F.lit(spec.qmgrs)
    columns = {
        c.SNAPSHOT_ID: snapshot_name(spec),
        c.QMGR: d.qmgr_name(spec, qmgr),
        c.CHANNEL: d.channel_name(spec, cluster, qmgr, d.number(d.CHANNEL_NO)),
        c.CHLTYPE: F.lit(v.ChannelType.CLUSRCVR.value),
        c.REMOTE_QMGR: d.qmgr_name(spec, partner),
        c.STATUS: _status(spec, *key),
        c.XMITQ: F.lit(""),
    }
    frame = _channels(spark, spec).where(_status(spec, *key) != F.lit(v.DEFAULT_STATUS))
    return shaped(frame, schemas.CHANNEL_STATUS, columns)


def _status(spec: GenerateSpec, *key: Column) -> Column:
    """Status of a channel instance: the bad share of tiers 2 to 4, the rest half RUNNING.

    In later snapshots the changed share is drawn again.
    """
    snapshot = d.number(d.SNAPSHOT_NO)
    anew = d.hits(d.draw(spec, "status?", snapshot, *key), spec.changed)
    key = (F.when(anew, snapshot).otherwise(F.lit(0)), *key)
    words = F.array(*(F.lit(word) for word in _BAD_STATUSES))
    which = d.draw_below(d.draw(spec, "bad", *key), len(_BAD_STATUSES)).cast("int")
    running = F.when(d.hits(d.draw(spec, "running", *key), _RUNNING), F.lit("RUNNING"))
    bad = d.hits(d.draw(spec, "bad?", *key), spec.bad_status)
    return F.when(bad, F.get(words, which)).otherwise(F.coalesce(running, F.lit(v.DEFAULT_STATUS)))


def _digit(spec: GenerateSpec, what: str, *key: Column) -> Column:
    """A rank or priority: 0, or 1..9 for the non-default share."""
    value = (d.draw_below(d.draw(spec, what, *key), v.MAX_RANK) + 1).cast("int")
    return F.when(d.hits(d.draw(spec, f"{what}?", *key), spec.non_default), value).otherwise(0)


def _weight(spec: GenerateSpec) -> Column:
    """CLWLWGHT: 50, another for the non-default share, and another again where it changed."""
    qmgr, slot, snapshot = d.number(d.QMGR_NO), d.number(d.SLOT), d.number(d.SNAPSHOT_NO)
    key = (qmgr, slot, d.number(d.CHANNEL_NO))
    others = v.MAX_WEIGHT - 1
    drawn = d.draw_below(d.draw(spec, "weight", *key), others)
    special = d.hits(d.draw(spec, "weight?", *key), spec.non_default)
    base = F.when(special, _shifted(F.lit(v.DEFAULT_WEIGHT), drawn)).otherwise(v.DEFAULT_WEIGHT)
    again = d.draw_below(d.draw(spec, "change", snapshot, *key), others)
    home = d.cluster_of(spec, qmgr, 0)
    turn = d.whole(qmgr, spec.clusters) == snapshot % d.home_members(spec, home)
    changed = d.hits(d.draw(spec, "change?", snapshot, *key), spec.changed) | turn
    later = (snapshot > F.lit(0)) & changed & F.lit(spec.changed > 0)
    return F.when(later, _shifted(base, again)).otherwise(base).cast("int")


def _shifted(weight: Column, by: Column) -> Column:
    """Another weight 1..99: `by` (0..97) plus one further on, going round."""
    return F.pmod(weight + by, F.lit(v.MAX_WEIGHT)) + F.lit(1)
