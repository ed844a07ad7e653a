"""What a queue manager sees of a snapshot: its clusters, its own objects, the others' objects.

`viewer` is the queue manager that looks (L in SEMANTICS); `qmgr` is the owner of a row.
Source: SEMANTICS 1 (S2, S3), P1, P2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from clwl_spark.delta.lake import Lake
from clwl_spark.mq import vocabulary as v
from clwl_spark.spark.frames import rows_at_hand
from clwl_spark.spark.materialize import FEW, Materialize, as_it_is, frame_at_hand
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

VIEWER: Final = "viewer"
CLUSTERS: Final = "clusters"
EVERYBODY: Final = "*"
QUEUES_SEEN_BY: Final = "queues_seen_by"
CHANNELS_SEEN_BY: Final = "channels_seen_by"
TOPICS_SEEN_BY: Final = "topics_seen_by"
VIEW_KEY: Final = (c.SNAPSHOT_ID, VIEWER)

DEFAULTS: Final[dict[str, dict[str, bool | float | int | str]]] = {
    "queue_managers": {
        c.CLWLUSEQ: v.UseQueue.LOCAL.value,
        c.CLWLMRUC: v.DEFAULT_MRUC,
        c.DEFCLXQ: v.DefaultTransmissionQueue.SCTQ.value,
        c.DEFXMITQ: "",
    },
    "cluster_channels": {
        c.CLWLRANK: 0,
        c.CLWLPRTY: 0,
        c.CLWLWGHT: v.DEFAULT_WEIGHT,
        c.NETPRTY: 0,
        c.SUSPENDED: False,
    },
    "channel_status": {c.STATUS: v.DEFAULT_STATUS, c.XMITQ: ""},
    "queues": {
        c.QTYPE: v.QueueType.QLOCAL.value,
        c.PUT_ENABLED: True,
        c.CLWLRANK: 0,
        c.CLWLPRTY: 0,
        c.CLWLUSEQ: v.UseQueue.QMGR.value,
        c.DEFBIND: v.DefBind.OPEN.value,
        c.TARGET: "",
        c.RNAME: "",
        c.RQMNAME: "",
        c.XMITQ: "",
        c.USAGE: v.Usage.NORMAL.value,
        c.CLCHNAME: "",
    },
    "topics": {
        c.TOPICSTR: "",
        c.CLROUTE: v.ClusterRoute.DIRECT.value,
        c.PUB_ENABLED: True,
        c.PROXYSUB: v.ProxySub.FIRSTUSE.value,
    },
    "subscriptions": {
        c.TOPICSTR: "",
        c.SUBTYPE: v.SubType.USER.value,
        c.WSCHEMA: v.WildcardSchema.TOPIC.value,
        c.DEST_QMGR: "",
    },
    "views": {c.WHOLE: False},
}


_MOST_HERE: Final = 100_000
"""Rows of a table that this process reads for the engine within it."""
_OWNERS: Final = "_clwl_owners"
"""Attribute of a topology table at hand: `_of_owners` by key."""
_ROW: Final = "row"
_UNUSED: Final = (c.SOURCE, c.ALTERED, c.BACKLOG)
"""Columns that no planning looks at."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The topology tables of some snapshots, with MQ's defaults in place of nulls (P1)."""

    queue_managers: DataFrame
    cluster_channels: DataFrame
    channel_status: DataFrame
    queues: DataFrame
    topics: DataFrame
    subscriptions: DataFrame
    views: DataFrame


def read_topology(
    lake: Lake, snapshot_ids: Sequence[str], keep: Materialize = as_it_is
) -> Topology:
    """Read the topology tables of the snapshots; tables that are not there have no rows.

    Args:
        lake: the lake.
        snapshot_ids: of the snapshots.
        keep: what to do with tables that several steps read.

    Few rows are held at hand (`materialize.rows_at_hand`). Of more, statuses are not kept but read
    where they are looked at: 5,000 queue managers that see one another have 9 million, and writing
    them down takes longer than reading them twice.

    Grain: as CONTRACT has it, one row per object, cluster and observer.
    """
    most = _MOST_HERE if lake.is_embedded else FEW

    def read(name: str) -> DataFrame:
        few = lake.few_in_memory(name, c.SNAPSHOT_ID, snapshot_ids, most)
        if few is not None:
            return _at_hand(lake, name, few)
        rows = lake.read_or_empty(name, c.SNAPSHOT_ID, snapshot_ids).drop(*_UNUSED)
        rows = rows.fillna(DEFAULTS[name])
        return rows if name == "channel_status" else keep(rows)

    return Topology(**dict(zip(DEFAULTS, run_parallel(lake.spark, read, DEFAULTS), strict=True)))


def topology_of(tables: Mapping[str, DataFrame]) -> Topology:
    """The topology of tables that are at hand as frames, all of their rows."""
    frames = {x: tables[x].drop(*_UNUSED).fillna(DEFAULTS[x]) for x in DEFAULTS}
    return Topology(**frames)


def _at_hand(lake: Lake, name: str, rows: pa.Table) -> DataFrame:
    """Rows of a topology table, with MQ's defaults in place of nulls."""
    of, defaults = TABLES[name].schema, DEFAULTS[name]
    kept = {x.name: rows[x.name] for x in of if x.name not in _UNUSED}
    for x, default in defaults.items():
        kept[x] = pc.fill_null(kept[x], pa.scalar(default, kept[x].type))
    return frame_at_hand(lake.spark, pa.table(kept), StructType([of[x] for x in kept]))


def viewers(senders: DataFrame, topology: Topology) -> DataFrame:
    """What there is to know about each sender once: clusters, sights, own attributes.

    Args:
        senders: (snapshot_id, viewer), distinct.
        topology: the tables.

    Grain: one row per (snapshot_id, viewer); senders without rows have the defaults (P1).
    """
    own_qmgr = own_rows(senders, topology.queue_managers, ()).drop(c.QMGR, c.OBSERVER)
    clusters = (
        own_rows(senders, topology.cluster_channels, (c.CHANNEL, c.CLUSTER))
        .where(F.col(c.CLUSTER) != "")
        .groupBy(*VIEW_KEY)
        .agg(F.collect_set(c.CLUSTER).alias(CLUSTERS))
    )
    frame = (
        senders.join(own_qmgr, list(VIEW_KEY), "left")
        .join(clusters, list(VIEW_KEY), "left")
        .fillna(DEFAULTS["queue_managers"])
        .withColumn(CLUSTERS, F.coalesce(CLUSTERS, F.array().cast("array<string>")))
    )
    for name, table in (
        (QUEUES_SEEN_BY, topology.queues),
        (CHANNELS_SEEN_BY, topology.cluster_channels),
        (TOPICS_SEEN_BY, topology.topics),
    ):
        frame = _with_sight(frame, table, name)
    return frame


def observers_of(qmgr: str, snapshot_id: str, topology: Topology) -> dict[str, str]:
    """Whose view of others' objects counts for a queue manager, by table: its own, or everybody's.

    Source: SEMANTICS S2.
    """
    tables = {
        "cluster_channels": topology.cluster_channels,
        "queues": topology.queues,
        "topics": topology.topics,
    }
    own = (
        table.where(
            (F.col(c.SNAPSHOT_ID) == snapshot_id)
            & (F.col(c.OBSERVER) == qmgr)
            & (F.col(c.QMGR) != qmgr)
        ).select(F.lit(name).alias(c.TABLE))
        for name, table in tables.items()
    )
    found = {row[0] for row in reduce(DataFrame.union, own).distinct().collect()}
    return {name: qmgr if name in found else EVERYBODY for name in tables}


def in_clusters(cluster: str) -> Column:
    """True where the column `cluster` names one of the viewer's clusters."""
    return F.array_contains(CLUSTERS, F.col(cluster))


def own_rows(senders: DataFrame, table: DataFrame, key: Sequence[str]) -> DataFrame:
    """The senders' own rows, from everybody's and their own view; their own where both have one.

    Grain: one row per (snapshot_id, viewer, *key). Source: SEMANTICS S2.
    """
    columns = [x for x in table.columns if x not in VIEW_KEY and x not in key]
    here = _of_owners(table, tuple(key))
    rows = table if here is None else here
    found = senders.select(*VIEW_KEY).join(rows.withColumn(VIEWER, F.col(c.QMGR)), list(VIEW_KEY))
    if here is not None:
        return found.select(*VIEW_KEY, *key, *columns)
    found = found.where(F.col(c.OBSERVER).isin(EVERYBODY) | (F.col(c.OBSERVER) == F.col(VIEWER)))
    best = F.max_by(F.struct(*columns), F.col(c.OBSERVER) != EVERYBODY)
    return found.groupBy(*VIEW_KEY, *key).agg(best.alias("row")).select(*VIEW_KEY, *key, "row.*")


def own_qmgrs(queue_managers: DataFrame) -> DataFrame:
    """The attributes that each queue manager goes by itself.

    Grain: one row per (snapshot_id, qmgr), with the table's columns.
    """
    of = queue_managers.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    return own_rows(of, queue_managers, ()).drop(VIEWER)


def _of_owners(table: DataFrame, key: tuple[str, ...]) -> DataFrame | None:
    """The rows of a table that tell of their owners; None where they are not at hand.

    Grain: one row per (snapshot_id, qmgr, *key): the owner's own, else everybody's. None as well
    where that is there twice.
    """
    rows = rows_at_hand(table)
    if rows is None:
        return None
    made: dict[tuple[str, ...], DataFrame | None] = vars(table).setdefault(_OWNERS, {})
    if key not in made:
        found = _owners_rows(rows, [c.SNAPSHOT_ID, c.QMGR, *key])
        made[key] = (
            None if found is None else frame_at_hand(table.sparkSession, found, table.schema)
        )
    return made[key]


def _owners_rows(rows: pa.Table, keys: Sequence[str]) -> pa.Table | None:
    """As `_of_owners`, by keys."""
    observer = rows[c.OBSERVER]
    everybodys = rows.filter(pc.equal(observer, EVERYBODY))
    own = rows.filter(pc.and_(pc.equal(observer, rows[c.QMGR]), pc.not_equal(observer, EVERYBODY)))
    if own.num_rows:
        numbered = everybodys.select(keys).append_column(
            _ROW, pa.array(np.arange(everybodys.num_rows))
        )
        left = numbered.join(own.select(keys), [*keys], join_type="left anti")[_ROW]
        everybodys = everybodys.take(left.sort())
    found = pa.concat_tables([everybodys, own])
    is_whole = not any(found[x].null_count for x in keys)
    differ = found.group_by([*keys]).aggregate([]).num_rows == found.num_rows
    return found if is_whole and differ else None


def has_own_views(table: DataFrame) -> bool:
    """Whether a topology table may have rows of another view than everybody's."""
    rows = rows_at_hand(table)
    return rows is None or pc.unique(rows[c.OBSERVER]).to_pylist() not in ([], [EVERYBODY])


def with_limit(rows: DataFrame, queue_managers: DataFrame) -> DataFrame:
    """Rows and the CLWLMRUC of the queue manager that puts.

    Args:
        rows: with snapshot_id and qmgr.
        queue_managers: rows of the table.

    Grain: one row per row, with `clwlmruc`.
    """
    senders = rows.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    own = own_rows(senders, queue_managers, ()).select(
        c.SNAPSHOT_ID, F.col(VIEWER).alias(c.QMGR), c.CLWLMRUC
    )
    known = F.coalesce(c.CLWLMRUC, F.lit(v.DEFAULT_MRUC))
    return rows.join(own, [c.SNAPSHOT_ID, c.QMGR], "left").withColumn(c.CLWLMRUC, known)


def others_rows(
    looking: DataFrame, table: DataFrame, seen_by: str, also: Sequence[str] = ()
) -> DataFrame:
    """The rows of other queue managers' objects that each viewer sees.

    Args:
        looking: rows with snapshot_id, viewer and the column `seen_by` of `viewers`; may carry
            more columns, which stay.
        table: a topology table with an observer, or a selection of one.
        seen_by: which sight: the observer whose rows the viewer sees in this table.
        also: more columns of `looking` that the table's rows must agree with.

    Grain: one row per (row of `looking`, row of the table). Source: SEMANTICS S2.
    """
    seen = table.withColumnRenamed(c.OBSERVER, seen_by)
    found = looking.join(seen, [c.SNAPSHOT_ID, seen_by, *also])
    return found.where(F.col(VIEWER) != F.col(c.QMGR))


def _with_sight(senders: DataFrame, table: DataFrame, name: str) -> DataFrame:
    """Add column `name`: the viewer where it has rows of others' objects there, else everybody."""
    if not has_own_views(table):
        return senders.withColumn(name, F.lit(EVERYBODY))
    having_own = (
        table.where(F.col(c.OBSERVER) != F.col(c.QMGR))
        .select(c.SNAPSHOT_ID, F.col(c.OBSERVER).alias(VIEWER), F.col(c.OBSERVER).alias(name))
        .distinct()
    )
    return senders.join(having_own, list(VIEW_KEY), "left").fillna({name: EVERYBODY})
