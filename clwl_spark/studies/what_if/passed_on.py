"""What a change shows to the queue managers that have a view of their own.

Full repositories pass on at once what an owner changes (Hughson's deck), to every queue manager of
the cluster that has asked for the object's name; so rows of such views follow the definitions.
"""

from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

_ASKED_FOR: Final = {"cluster_channels": c.QMGR, "queues": c.QUEUE, "topics": None}
"""Tables of objects of a cluster -> the name that a queue manager asks for; topics go to all."""

VIEWED: Final = (*_ASKED_FOR, "queue_managers")
"""The tables with views of their own."""

_ATTRIBUTES_OF_OTHERS: Final = frozenset({c.SUSPENDED, c.QMTYPE})
"""Attributes of a channel that its definition does not tell: a view keeps what it has."""

_CHANGED: Final = "_changed"
_FULL: Final = "_full"
_ASKED: Final = "_asked"


def passed_on(name: str, before: DataFrame, after: DataFrame, channels: DataFrame) -> DataFrame:
    """A table after a change, with what others are told of it.

    Args:
        name: the table: one with observers.
        before: its rows as they are.
        after: its rows when the owners' texts are carried out.
        channels: rows of cluster_channels after the change: who is in which cluster.

    Grain: one row per row of `after`, less those of views that show what is deleted, and one per
    (view, object, cluster) that is new to a view.
    """
    followed = _followed(TABLES[name], before, after)
    if name not in _ASKED_FOR:
        return followed
    return followed.unionByName(_new_to_views(TABLES[name], before, after, channels))


def _followed(table: Table, before: DataFrame, after: DataFrame) -> DataFrame:
    """The rows, those of others' views as the definitions are that changed."""
    keys = _keys(table)
    attributes = [x for x in table.names if x not in (*table.keys, c.SOURCE, c.ALTERED)]
    was, now = (
        frame.where(F.col(c.OBSERVER) == EVERYBODY).select(
            *keys, *(F.col(x).alias(f"{side}{x}") for x in attributes)
        )
        for frame, side in ((before, "_old_"), (after, "_new_"))
    )
    is_deleted = F.col("_is_there").isNull()
    differs = {x: ~F.col(f"_old_{x}").eqNullSafe(F.col(f"_new_{x}")) for x in attributes}
    moved = (
        was.join(now.withColumn("_is_there", F.lit(True)), keys, "left")
        .where(is_deleted | reduce(or_, differs.values()))
        .withColumn(_CHANGED, F.lit(True))
    )
    shown = _is_of_others() & F.col(_CHANGED).isNotNull()
    joined = after.join(F.broadcast(moved), keys, "left").where(~(shown & is_deleted))
    values = {}
    for x in attributes:
        new, known = F.col(f"_new_{x}"), F.col(x)
        # What definitions leave open is not known where they come of what others showed.
        kept = known if x in _ATTRIBUTES_OF_OTHERS else F.coalesce(new, known)
        values[x] = F.when(shown, F.when(differs[x], new).otherwise(kept)).otherwise(known)
    return joined.select(*(values.get(x, F.col(x)).alias(x) for x in table.names))


def _new_to_views(
    table: Table, before: DataFrame, after: DataFrame, channels: DataFrame
) -> DataFrame:
    """What owners add, for the views of full repositories of its cluster and of who has asked.

    Grain: one row per (view, object, cluster), as the table has it.
    """
    keys, asked_for = _keys(table), _ASKED_FOR[table.name]
    old, new = (x.where(F.col(c.OBSERVER) == EVERYBODY) for x in (before, after))
    added = new.join(old.select(*keys), keys, "left_anti").drop(c.OBSERVER)
    seen = before.where(_is_of_others())
    told = added.join(_members(channels), c.CLUSTER).where(F.col(c.OBSERVER) != F.col(c.QMGR))
    told = told.join(seen.select(c.OBSERVER).distinct(), c.OBSERVER)
    if asked_for is not None:
        asked = seen.select(c.OBSERVER, asked_for).distinct().withColumn(_ASKED, F.lit(True))
        told = told.join(asked, [c.OBSERVER, asked_for], "left")
        told = told.where(F.col(_FULL) | F.col(_ASKED))
    there = after.select(c.OBSERVER, *keys)
    return told.join(there, [c.OBSERVER, *keys], "left_anti").select(*table.names)


def _members(channels: DataFrame) -> DataFrame:
    """Grain: one row per (observer, cluster) that it is in, and whether it is full there."""
    own = F.col(c.OBSERVER).isin(EVERYBODY) | (F.col(c.OBSERVER) == F.col(c.QMGR))
    is_full = F.coalesce(F.col(c.QMTYPE) == QmType.REPOS.value, F.lit(False))
    return (
        channels.where(own & (F.col(c.CLUSTER) != ""))
        .groupBy(F.col(c.QMGR).alias(c.OBSERVER), c.CLUSTER)
        .agg(F.max(is_full).alias(_FULL))
    )


def _is_of_others() -> Column:
    """Whether a row is of a queue manager's view of others; what it shows of its own is not."""
    return ~F.col(c.OBSERVER).isin(EVERYBODY) & (F.col(c.OBSERVER) != F.col(c.QMGR))


def _keys(table: Table) -> list[str]:
    return [x for x in table.keys if x not in (c.SNAPSHOT_ID, c.OBSERVER)]
