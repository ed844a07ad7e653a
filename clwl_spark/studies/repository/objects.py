"""Cluster objects of every kind in one frame, as owners define them and as a viewer sees them.

`kind`, `name`, `qmgr` (the owner) and `cluster` name an object; the name of a queue manager's
entry is its CLUSRCVR. `attributes` holds what a repository shows of an object, as text.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq import vocabulary as v
from clwl_spark.snapshots.views import (
    CHANNELS_SEEN_BY,
    CLUSTERS,
    EVERYBODY,
    QUEUES_SEEN_BY,
    TOPICS_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    others_rows,
    viewers,
)
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.repository.words import Kind
from clwl_spark.tables import QUEUE_MANAGERS, VIEWS
from clwl_spark.tables import columns as c

NAME: Final = "name"
ATTRIBUTES: Final = "attributes"
OBJECT: Final = (c.KIND, NAME, c.QMGR, c.CLUSTER)

OBJECT_TABLES: Final = (
    ("cluster_channels", Kind.QMGR, c.CHANNEL, CHANNELS_SEEN_BY),
    ("queues", Kind.QUEUE, c.QUEUE, QUEUES_SEEN_BY),
    ("topics", Kind.TOPIC, c.TOPIC, TOPICS_SEEN_BY),
)
"""Table, kind of its objects, the column of their names, and that of whose rows a viewer sees."""
_SHOWN: Final = {
    Kind.QMGR: (
        c.CLWLRANK,
        c.CLWLPRTY,
        c.CLWLWGHT,
        c.NETPRTY,
        c.SUSPENDED,
        c.CONNAME,
        c.QMTYPE,
    ),
    Kind.QUEUE: (c.QTYPE, c.PUT_ENABLED, c.CLWLRANK, c.CLWLPRTY, c.CLWLUSEQ, c.DEFBIND),
    Kind.TOPIC: (c.TOPICSTR, c.CLROUTE, c.PUB_ENABLED, c.SUB_ENABLED, c.PROXYSUB),
}
"""What DISPLAY CLUSQMGR, QCLUSTER and TCLUSTER show of the attributes in the tables."""

_DEFAULTS: Final = {
    c.CLWLRANK: "0",
    c.CLWLPRTY: "0",
    c.CLWLWGHT: str(v.DEFAULT_WEIGHT),
    c.NETPRTY: "0",
    c.PUT_ENABLED: "true",
    c.CLWLUSEQ: v.UseQueue.QMGR.value,
    c.DEFBIND: v.DefBind.OPEN.value,
    c.CLROUTE: v.ClusterRoute.DIRECT.value,
    c.PUB_ENABLED: "true",
    c.SUB_ENABLED: "true",
    c.PROXYSUB: v.ProxySub.FIRSTUSE.value,
}
"""Of a definition that does not say; what is not here is then not known (P1, CONTRACT)."""


def objects(lake: Lake, snapshots: Sequence[str], viewer: str) -> DataFrame:
    """The objects of some snapshots, of everybody's view and of one queue manager's.

    Grain: one row per (snapshot_id, observer, object).
    """
    return reduce(
        DataFrame.unionByName,
        (
            _uniform(_of(lake, table, snapshots, viewer), kind, name)
            for table, kind, name, _ in OBJECT_TABLES
        ),
    )


def looking_at(current: DataFrame, snapshot: str, viewer: str) -> DataFrame:
    """The viewer's row of `snapshots.views.viewers`: its clusters and sights.

    Args:
        current: the snapshot's rows of `objects`.
        snapshot: the snapshot.
        viewer: the queue manager.
    """
    spark = current.sparkSession
    rows = {kind: current.where(F.col(c.KIND) == kind.value) for _, kind, _, _ in OBJECT_TABLES}
    # Attributes of the queue manager itself decide nothing about what it sees.
    nothing = frame_from_rows(spark, [], QUEUE_MANAGERS.schema)
    topology = Topology(
        queue_managers=nothing,
        cluster_channels=rows[Kind.QMGR].withColumnRenamed(NAME, c.CHANNEL),
        channel_status=nothing,
        queues=rows[Kind.QUEUE],
        topics=rows[Kind.TOPIC],
        subscriptions=nothing,
        views=nothing,
    )
    sender = f"{c.SNAPSHOT_ID} string, {VIEWER} string"
    return viewers(frame_from_rows(spark, [(snapshot, viewer)], sender), topology)


def seen(current: DataFrame, looking: DataFrame) -> DataFrame:
    """Other queue managers' objects in the viewer's clusters, as SEMANTICS S2 has it see them.

    Args:
        current: the snapshot's rows of `objects`.
        looking: the viewer's row.

    Grain: one row per object, with the observer whose row it is.
    """
    found = (
        others_rows(
            looking.select(*VIEW_KEY, CLUSTERS, seen_by),
            current.where(F.col(c.KIND) == kind.value),
            seen_by,
        )
        .where(in_clusters(c.CLUSTER))
        .select(*OBJECT, F.col(seen_by).alias(c.OBSERVER), ATTRIBUTES)
        for _, kind, _, seen_by in OBJECT_TABLES
    )
    return reduce(DataFrame.unionByName, found)


def attributes_of(kind: Kind) -> Column:
    """What a repository shows of a row of that kind of object, as text by column."""
    pairs = [x for column in _SHOWN[kind] for x in (F.lit(column), F.col(column).cast("string"))]
    return F.create_map(*pairs)


def in_order(kind: str, attributes: Mapping[str, str | None]) -> dict[str, str]:
    """What is known of them, in their order, which a map that Spark brings here has not."""
    known = ((x, attributes.get(x)) for x in _SHOWN[Kind(kind)])
    return {x: value for x, value in known if value is not None}


def differing(shown: Column, defined: Column) -> Column:
    """The attributes that a viewer is shown otherwise than the owner defines them.

    Not compared is what either side does not say: a definition without it has MQ's default, where
    there is one.
    """
    pairs = [F.lit(x) for pair in _DEFAULTS.items() for x in pair]
    defaults = F.create_map(*pairs)

    def differs(name: Column, value: Column) -> Column:
        return F.coalesce(value != F.coalesce(defined[name], defaults[name]), F.lit(False))

    return F.map_keys(F.map_filter(shown, differs))


def _of(lake: Lake, table: str, snapshots: Sequence[str], viewer: str) -> DataFrame:
    """A table's rows of everybody's view and the viewer's."""
    rows = lake.read_or_empty(table, c.SNAPSHOT_ID, snapshots)
    return rows.where(F.col(c.OBSERVER).isin(EVERYBODY, viewer))


def _uniform(rows: DataFrame, kind: Kind, name: str) -> DataFrame:
    """A table's rows with the columns that all kinds have."""
    return rows.select(
        c.SNAPSHOT_ID,
        c.OBSERVER,
        F.lit(kind.value).alias(c.KIND),
        F.col(name).alias(NAME),
        c.QMGR,
        c.CLUSTER,
        attributes_of(kind).alias(ATTRIBUTES),
    )


def whole_kinds(lake: Lake, snapshot_id: str, qmgr: str) -> frozenset[str]:
    """The kinds of objects of which a snapshot has a queue manager's whole view."""
    rows = lake.read_or_empty(VIEWS.name, c.SNAPSHOT_ID, [snapshot_id])
    whole = rows.where((F.col(c.OBSERVER) == qmgr) & F.col(c.WHOLE)).select(c.TABLE).collect()
    tables = {row[0] for row in whole}
    return frozenset(kind.value for table, kind, _, _ in OBJECT_TABLES if table in tables)
