"""What a queue manager asks for at a first open: names that its own view lacks.

Source: SEMANTICS S2a, P35 to P37.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from clwl_spark.mq.vocabulary import Edition, QmType
from clwl_spark.snapshots.views import (
    CHANNELS_SEEN_BY,
    EVERYBODY,
    QUEUES_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    has_own_views,
    others_rows,
    own_rows,
)
from clwl_spark.spark.frames import frame_from_arrow, rows_at_hand
from clwl_spark.tables import columns as c

QUEUES_FULL_IN: Final = "queues_full_in"
CHANNELS_FULL_IN: Final = "channels_full_in"
QUEUES_SIGHT: Final = (QUEUES_SEEN_BY, QUEUES_FULL_IN)
CHANNELS_SIGHT: Final = (CHANNELS_SEEN_BY, CHANNELS_FULL_IN)
_REPOSITORIES: Final = "repositories"
_WHOLE: Final = "whole_tables"
_LOOKED_UP: Final = (
    ("queues", QUEUES_SEEN_BY, QUEUES_FULL_IN),
    ("cluster_channels", CHANNELS_SEEN_BY, CHANNELS_FULL_IN),
)


def with_first_opens(
    known: DataFrame, topology: Topology, edition: Edition, of: DataFrame | None = None
) -> DataFrame:
    """Add whether the senders ask for queues and queue managers that their own view lacks.

    Args:
        known: `viewers`.
        topology: the tables.
        edition: in the first one nobody asks.
        of: the senders' (snapshot_id, viewer), where these are simpler to have than `known`.

    Grain: as `known`, with the arrays `queues_full_in` and `channels_full_in`: clusters that the
    sender has the whole of, for it is a full repository; null where it does not ask at all.
    """
    if edition == Edition.FIRST or not (
        has_own_views(topology.queues) or has_own_views(topology.cluster_channels)
    ):
        nobody = F.lit(None).cast("array<string>")
        return known.withColumns({QUEUES_FULL_IN: nobody, CHANNELS_FULL_IN: nobody})
    repositories = (
        own_rows(known if of is None else of, topology.cluster_channels, (c.CHANNEL, c.CLUSTER))
        .where(F.col(c.QMTYPE) == QmType.REPOS.value)
        .groupBy(*VIEW_KEY)
        .agg(F.collect_set(c.CLUSTER).alias(_REPOSITORIES))
    )
    views = topology.views.where(F.col(c.WHOLE)).withColumnRenamed(c.OBSERVER, VIEWER)
    whole = views.groupBy(*VIEW_KEY).agg(F.collect_set(c.TABLE).alias(_WHOLE))
    frame = known.join(repositories, list(VIEW_KEY), "left").join(whole, list(VIEW_KEY), "left")
    nowhere = F.array().cast("array<string>")
    for table, seen_by, name in _LOOKED_UP:
        is_whole = F.array_contains(_WHOLE, F.lit(table))
        full_in = F.when(is_whole, F.coalesce(_REPOSITORIES, nowhere)).otherwise(nowhere)
        frame = frame.withColumn(name, F.when(F.col(seen_by) != EVERYBODY, full_in))
    return frame.drop(_REPOSITORIES, _WHOLE)


def without_asking(known: DataFrame) -> DataFrame:
    """`with_first_opens` without its columns, where the rows are at hand and nobody asks."""
    rows = rows_at_hand(known)
    full = [QUEUES_FULL_IN, CHANNELS_FULL_IN]
    if rows is None or any(rows[x].null_count < rows.num_rows for x in full):
        return known
    kept = StructType([x for x in known.schema if x.name not in full])
    return frame_from_arrow(known.sparkSession, rows.drop_columns(full), kept)


def sight_of(known: DataFrame, sight: Sequence[str]) -> tuple[str, ...]:
    """The columns of a sight that `without_asking` has left.

    Args:
        known: it.
        sight: QUEUES_SIGHT or CHANNELS_SIGHT.
    """
    return tuple(x for x in sight if x in known.columns)


def repositories_asked(qmgr: str, snapshot_id: str, topology: Topology) -> list[str]:
    """The full repositories that a queue manager asks: those of its clusters, by name.

    Args:
        qmgr: the queue manager that asks; it is none of them.
        snapshot_id: of the topology.
        topology: the tables.
    """
    defined = topology.cluster_channels.where(
        (F.col(c.SNAPSHOT_ID) == snapshot_id) & F.col(c.OBSERVER).isin(EVERYBODY, qmgr)
    )
    its_own = defined.where((F.col(c.QMGR) == qmgr) & (F.col(c.CLUSTER) != ""))
    full = defined.where((F.col(c.QMTYPE) == QmType.REPOS.value) & (F.col(c.QMGR) != qmgr))
    asked = full.join(its_own.select(c.CLUSTER).distinct(), c.CLUSTER, "left_semi")
    return sorted(row[c.QMGR] for row in asked.select(c.QMGR).distinct().collect())


def clusters_held(qmgr: str, snapshot_id: str, topology: Topology) -> set[str]:
    """The clusters that a queue manager is a full repository of, by its own definitions."""
    own = topology.cluster_channels.where(
        (F.col(c.SNAPSHOT_ID) == snapshot_id)
        & (F.col(c.QMGR) == qmgr)
        & F.col(c.OBSERVER).isin(EVERYBODY, qmgr)
        & (F.col(c.QMTYPE) == QmType.REPOS.value)
    )
    return {row[c.CLUSTER] for row in own.select(c.CLUSTER).distinct().collect()}


def partly_shown(
    qmgr: str, snapshot_id: str, topology: Topology, view: Mapping[str, str]
) -> tuple[str, ...]:
    """The tables of which a full repository's own view counts here, and is not whole.

    Args:
        qmgr: the queue manager.
        snapshot_id: of the topology.
        topology: the tables.
        view: `views.observers_of` of the queue manager.
    """
    own = [table for table, observer in view.items() if observer == qmgr]
    if not own or not clusters_held(qmgr, snapshot_id, topology):
        return ()
    whole = topology.views.where(
        (F.col(c.SNAPSHOT_ID) == snapshot_id) & (F.col(c.OBSERVER) == qmgr) & F.col(c.WHOLE)
    )
    known = {row[c.TABLE] for row in whole.select(c.TABLE).collect()}
    return tuple(x for x in own if x not in known)


def others_asked(
    looking: DataFrame, table: DataFrame, sight: Sequence[str], by: tuple[str, tuple[str, ...]]
) -> DataFrame:
    """As `others_rows`, and what everybody's view has of a name that the viewer's own lacks.

    Args:
        looking: rows with snapshot_id, viewer and the columns of `sight`; may carry more.
        table: queues or cluster_channels, or a selection of one.
        sight: `sight_of`: whose rows the viewer sees, and where it is full, if anybody asks.
        by: the table's column with the names that are asked for; and the columns of `looking`
            that its rows must agree with, () = all names are.

    Grain: one row per (row of `looking`, row of the table), with `first_open`: whether the row
    counts by a first open.
    """
    (seen_by, *asks), (name, also) = sight, by
    seen = others_rows(looking.drop(*asks), table, seen_by, also)
    seen = seen.withColumn(c.FIRST_OPEN, F.lit(False))
    if not asks:
        return seen
    (full_in,) = asks
    asking = looking.where(F.col(full_in).isNotNull()).withColumn(seen_by, F.lit(EVERYBODY))
    known = table.where(F.col(c.OBSERVER) != F.col(c.QMGR)).select(
        c.SNAPSHOT_ID, F.col(c.OBSERVER).alias(VIEWER), name
    )
    told = (
        others_rows(asking, table, seen_by, also)
        .where(~F.array_contains(full_in, F.col(c.CLUSTER)))
        .drop(full_in)
        .join(known, [*VIEW_KEY, name], "left_anti")
    )
    return seen.unionByName(told.withColumn(c.FIRST_OPEN, F.lit(True)))
