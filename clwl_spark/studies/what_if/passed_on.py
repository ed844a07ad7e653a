"""What a change shows to the queue managers that have a view of their own.

Full repositories pass on at once what an owner changes (Hughson's deck), to every queue manager of
the cluster that has asked for the object's name; so rows of such views follow the definitions.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables import columns as c

_ASKED_FOR: Final = {"cluster_channels": c.QMGR, "queues": c.QUEUE, "topics": None}
"""Tables of objects of a cluster -> the name that a queue manager asks for; topics go to all."""

_VIEWED: Final = (*_ASKED_FOR, "queue_managers")
"""The tables with views of their own."""

_CHANNELS: Final = "cluster_channels"

_ATTRIBUTES_OF_OTHERS: Final = frozenset({c.SUSPENDED, c.QMTYPE})
"""Attributes of a channel that its definition does not tell: a view keeps what it has."""

_CHANGED: Final = "_changed"
_FULL: Final = "_full"
_ASKED: Final = "_asked"
_WAS: Final = "_was"
_OWNER_JOINS: Final = "_owner_joins"
_VIEWER_JOINS: Final = "_viewer_joins"

Tables = Mapping[str, DataFrame]


def passed_on(before: Tables, after: Tables) -> Tables:
    """The tables after a change, with what others are told of it.

    Args:
        before: the tables as they are.
        after: the tables when the owners' texts are carried out.

    Grain: one row per row of the tables after, less those of views that show what is deleted, and
    one per (view, object, cluster) that is new to a view.
    """
    viewed = [
        before[name].where(_is_of_others()).select(F.lit(name).alias(c.TABLE)).limit(1)
        for name in _VIEWED
    ]
    names = [row[c.TABLE] for row in reduce(DataFrame.unionAll, viewed).collect()]
    if not names:
        return after
    # Each is read many times.
    kept = {*names, _CHANNELS}
    was, now = ({**x, **{name: checkpoint(x[name]) for name in kept}} for x in (before, after))
    return {**now, **{name: checkpoint(_told_of(name, was, now)) for name in names}}


def _told_of(name: str, before: Tables, after: Tables) -> DataFrame:
    """A table with what others are told."""
    followed = _followed(TABLES[name], before[name], after[name])
    if name not in _ASKED_FOR:
        return followed
    return followed.unionByName(_new_to_views(TABLES[name], before, after))


def _followed(table: Table, before: DataFrame, after: DataFrame) -> DataFrame:
    """The rows, those of others' views as the definitions are that changed."""
    keys = _keys(table)
    attributes = [x for x in table.names if x not in (*table.keys, c.SOURCE, c.ALTERED)]
    was, now = (
        _defined(table, frame).select(*keys, *(F.col(x).alias(f"{side}{x}") for x in attributes))
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


def _new_to_views(table: Table, before: Tables, after: Tables) -> DataFrame:
    """What is new in a cluster, for the views of its full repositories and of who has asked.

    An object is new where it was not, and where its owner or who sees it was no member before.

    Grain: one row per (view, object, cluster), as the table has it.
    """
    keys, asked_for = _keys(table), _ASKED_FOR[table.name]
    old, new = (_defined(table, x[table.name]) for x in (before, after))
    was, now = (_members(x[_CHANNELS]) for x in (before, after))
    joined = now.join(was, [c.OBSERVER, c.CLUSTER], "left_anti").select(c.OBSERVER, c.CLUSTER)
    seen = before[table.name].where(_is_of_others())
    told = (
        new.drop(c.OBSERVER)
        .join(old.select(*keys, F.lit(True).alias(_WAS)), keys, "left")
        .join(_marked(joined, c.QMGR, _OWNER_JOINS), [c.QMGR, c.CLUSTER], "left")
        .join(now, c.CLUSTER)
        .join(seen.select(c.OBSERVER).distinct(), c.OBSERVER)
        .join(_marked(joined, c.OBSERVER, _VIEWER_JOINS), [c.OBSERVER, c.CLUSTER], "left")
        .where(F.col(_WAS).isNull() | F.col(_OWNER_JOINS) | F.col(_VIEWER_JOINS))
        .where(F.col(c.OBSERVER) != F.col(c.QMGR))
    )
    if asked_for is not None:
        asked = seen.select(c.OBSERVER, asked_for).distinct().withColumn(_ASKED, F.lit(True))
        told = told.join(asked, [c.OBSERVER, asked_for], "left")
        told = told.where(F.col(_FULL) | F.col(_ASKED))
    there = after[table.name].select(c.OBSERVER, *keys)
    return told.join(there, [c.OBSERVER, *keys], "left_anti").select(*table.names)


def _marked(members: DataFrame, column: str, mark: str) -> DataFrame:
    """Members as (column, cluster), with a mark."""
    return members.select(F.col(c.OBSERVER).alias(column), c.CLUSTER, F.lit(True).alias(mark))


def _defined(table: Table, rows: DataFrame) -> DataFrame:
    """Objects as they are defined; where no definition is known, as their owner displays them."""
    keys = _keys(table)
    everybodys = rows.where(F.col(c.OBSERVER) == EVERYBODY)
    own = rows.where(F.col(c.OBSERVER) == F.col(c.QMGR))
    return everybodys.unionByName(own.join(everybodys.select(*keys), keys, "left_anti"))


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
