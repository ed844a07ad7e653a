"""How many queues share each way, and which: of all queue managers, and of one queue's neighbours.

Counts come from the kinds of queues: those that stand in for a queue manager count for it, less the
queues that it knows for itself, and these come to it by their own names.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.snapshots.views import VIEWER
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.separation.alike import ASKER, KIND, is_stand_in
from clwl_spark.studies.separation.ways import NEXT_XMITQ, UNIT, WAY, Found
from clwl_spark.tables import columns as c

QUEUES: Final = "queues"
BESIDE: Final = "beside"
NAMES: Final = "names"
ON_CHANNEL: Final = "on_channel"
ON_XMITQ: Final = "on_xmitq"
CHANNELS: Final = "channels"
XMITQS: Final = "xmitqs"
NAMED: Final = 5
"""So many names of queues are told; all are counted."""

_OTHER: Final = "other"
_SAME_CHANNEL: Final = "same_channel"


def lines(found: Found) -> DataFrame:
    """Transmission queues with their channels, and how many queues' messages can be there.

    Grain: one row per (viewer, *WAY): `queues` that can take the way, `beside` = those on the same
    transmission queue that can not, and `next_xmitq`.
    """
    by_way = _counted(found, (*WAY, NEXT_XMITQ))
    by_xmitq = _counted(found, (c.XMITQ,)).withColumnRenamed(QUEUES, BESIDE)
    joined = by_way.join(by_xmitq, [VIEWER, c.XMITQ])
    return joined.withColumn(BESIDE, F.col(BESIDE) - F.col(QUEUES))


def _counted(found: Found, key: Sequence[str]) -> DataFrame:
    """How many queues each viewer has by a key of ways: (viewer, *key, queues), none left out."""
    ways = found.ways.select(ASKER, UNIT, *key).distinct()
    sizes = found.asked.kinds.groupBy(F.col(KIND).alias(UNIT)).agg(F.count(F.lit(1)).alias(QUEUES))
    askers = found.asked.askers.select(VIEWER, ASKER)
    of_kinds = ways.join(sizes, UNIT).groupBy(ASKER, *key).agg(F.sum(QUEUES).alias(QUEUES))
    parts = (
        askers.join(of_kinds, ASKER),
        askers.join(_known_of_kinds(found), VIEWER).join(ways, [ASKER, UNIT]),
        _own(ways).withColumn(QUEUES, F.lit(1)),
    )
    rows = reduce(DataFrame.union, (x.select(VIEWER, *key, QUEUES) for x in parts))
    counted = rows.groupBy(VIEWER, *key).agg(F.sum(QUEUES).alias(QUEUES))
    return counted.where(F.col(QUEUES) > 0)


def _known_of_kinds(found: Found) -> DataFrame:
    """What counts less, as a viewer knows it for itself: (viewer, unit, queues below 0)."""
    kinds = found.asked.kinds.withColumnRenamed(KIND, UNIT)
    known = found.asked.known.join(kinds, c.QUEUE).groupBy(VIEWER, UNIT)
    return known.agg((-F.count(F.lit(1))).alias(QUEUES))


def _own(ways: DataFrame) -> DataFrame:
    """Ways of what viewers ask for themselves."""
    return ways.where(~is_stand_in(UNIT)).withColumn(VIEWER, F.col(ASKER))


def with_names(found: Found, shown: DataFrame) -> DataFrame:
    """Add the first names of the queues to a few rows of `lines`."""
    asker = shown.select(VIEWER, *WAY).join(found.asked.askers.select(VIEWER, ASKER), VIEWER)
    units = asker.join(found.ways.where(is_stand_in(UNIT)), [ASKER, *WAY])
    own = _own(found.ways).join(shown.select(VIEWER, *WAY), [VIEWER, *WAY])
    named = _named(found, units).unionByName(own.select(VIEWER, *WAY, F.col(UNIT).alias(c.QUEUE)))
    names = named.groupBy(VIEWER, *WAY).agg(_first_names(F.col(c.QUEUE)).alias(NAMES))
    return shown.join(names, [VIEWER, *WAY])


def _named(found: Found, units: DataFrame) -> DataFrame:
    """The queues of kinds, less those that the viewer knows for itself: (viewer, *WAY, queue)."""
    kinds = found.asked.kinds.withColumnRenamed(KIND, UNIT)
    rows = units.join(kinds, UNIT).select(VIEWER, *WAY, c.QUEUE)
    return rows.join(found.asked.known, [VIEWER, c.QUEUE], "left_anti").select(
        VIEWER, *WAY, c.QUEUE
    )


def _first_names(name: Column) -> Column:
    return F.slice(F.array_sort(F.collect_set(name)), 1, NAMED)


def neighbours(found: Found, by_way: DataFrame, names: Sequence[str], limit: int) -> DataFrame:
    """The queues of one viewer, those with most others on their channel first, and the others.

    Args:
        found: of one viewer.
        by_way: `lines`.
        names: only these queues; none = all.
        limit: so many queues at most.

    Grain: one row per queue: its `channels` and `xmitqs`, how many others are on its channels
    (`on_channel`) and only beside it on its transmission queues (`on_xmitq`), and the first names
    of either. A channel is `NAME to QM`.
    """
    members = checkpoint(_members(found))
    ways = checkpoint(members.join(found.ways, UNIT).select(UNIT, c.QUEUE, *WAY).distinct())
    busiest = ways.join(by_way.select(*WAY, QUEUES), list(WAY))
    ranked = busiest.groupBy(c.QUEUE, UNIT).agg(F.max(QUEUES).alias(QUEUES))
    if names:
        ranked = ranked.where(F.col(c.QUEUE).isin(*names))
    shown = checkpoint(ranked.orderBy(F.desc(QUEUES), c.QUEUE).limit(limit))
    of_shown = ways.join(shown.select(c.QUEUE), c.QUEUE)
    channel = F.when(F.col(c.CHANNEL) != "", F.concat_ws(" to ", c.CHANNEL, c.DEST_QMGR))
    own = of_shown.groupBy(c.QUEUE).agg(
        F.array_sort(F.collect_set(channel)).alias(CHANNELS),
        F.array_sort(F.collect_set(c.XMITQ)).alias(XMITQS),
    )
    counted = own.join(_others(of_shown, ways), c.QUEUE, "left").fillna(0)
    nobody = F.array().cast("array<string>")
    named = {x: F.coalesce(x, nobody) for x in (f"{ON_CHANNEL}_{NAMES}", f"{ON_XMITQ}_{NAMES}")}
    return counted.withColumns(named).join(shown.select(c.QUEUE, QUEUES), c.QUEUE)


def _members(found: Found) -> DataFrame:
    """The queues of one viewer's units: (unit, queue)."""
    kinds = found.asked.kinds.select(F.col(KIND).alias(UNIT), c.QUEUE)
    others = kinds.join(found.asked.known, c.QUEUE, "left_anti")
    own = found.ways.where(~is_stand_in(UNIT)).select(UNIT, F.col(UNIT).alias(c.QUEUE))
    return others.unionByName(own).distinct()


def _others(of_shown: DataFrame, ways: DataFrame) -> DataFrame:
    """The others on the transmission queues of a few queues: counts and first names, by queue."""
    on_xmitq = of_shown.select(c.QUEUE, c.XMITQ).distinct()
    theirs = ways.select(F.col(c.QUEUE).alias(_OTHER), *WAY)
    same = of_shown.select(c.QUEUE, *WAY).withColumn(_SAME_CHANNEL, F.lit(1))
    pairs = (
        on_xmitq.join(theirs, c.XMITQ)
        .where(F.col(_OTHER) != F.col(c.QUEUE))
        .join(same, [c.QUEUE, *WAY], "left")
        .groupBy(c.QUEUE, _OTHER)
        .agg(F.max(F.coalesce(_SAME_CHANNEL, F.lit(0))).alias(_SAME_CHANNEL))
    )
    on_channel = F.col(_SAME_CHANNEL) == 1
    other = F.col(_OTHER)
    return pairs.groupBy(c.QUEUE).agg(
        F.count_if(on_channel).alias(ON_CHANNEL),
        _first_names(F.when(on_channel, other)).alias(f"{ON_CHANNEL}_{NAMES}"),
        F.count_if(~on_channel).alias(ON_XMITQ),
        _first_names(F.when(~on_channel, other)).alias(f"{ON_XMITQ}_{NAMES}"),
    )
