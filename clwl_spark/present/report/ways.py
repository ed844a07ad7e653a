"""Which way messages go: shares per sender and object, against what is expected, and over time."""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.present.report.aggregate import COUNT, Aggregate
from clwl_spark.present.report.data import ObjectShares, Share, SnapshotUse
from clwl_spark.present.report.findings import Deviation, Move
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import columns as c

TOP_OBJECTS: Final = 12
DESTINATIONS: Final = 8
TOP_FINDINGS: Final = 50
FAR: Final = 0.05
"""A share is far from the expected one from here on."""
FEW: Final = 10
"""Of fewer messages nothing is said: turns that are not over yet shift their shares."""
MOVED: Final = 0.1
"""Traffic moved if at least this part of it went otherwise than before."""

_PAIR: Final = (c.QMGR, c.OBJECT_NAME)
_WAY: Final = (*_PAIR, c.DEST_QMGR, c.CHANNEL)
_EXPECTED: Final = "expected"
_TOTAL: Final = "total"
_PLACE: Final = "place"
_WAYS: Final = "ways"
_TOLD: Final = "told"
_OFF: Final = "off"
_SHARE: Final = "share"
_WORST: Final = "worst"
_AT: Final = "at"
_BEFORE: Final = "before"
_AFTER: Final = "after"


def shares(aggregate: Aggregate, expected: DataFrame) -> DataFrame:
    """How many messages went each way, and which share was expected to.

    Args:
        aggregate: the outcomes' sums.
        expected: as `expecting.expected_ways` gives it.

    Grain: one row per sender, object, destination and channel: (qmgr, object_name, dest_qmgr,
    channel, outcomes, expected, total); total is the outcomes of sender and object. A way that is
    expected and was not taken has 0 outcomes; where nothing is expected of a pair all is null.
    """
    arrived = aggregate.rows.where((F.col(c.REASON) == 0) & F.col(c.DEST_QMGR).isNotNull())
    taken = arrived.select(*_WAY, c.OBJECT_TYPE, COUNT, F.lit(None).cast("double").alias(_EXPECTED))
    unsaid = F.lit(None).cast("string").alias(c.OBJECT_TYPE)
    awaited = expected.select(*_WAY, unsaid, F.lit(0).cast("bigint").alias(COUNT), _EXPECTED)
    both = taken.unionByName(awaited)
    pair = Window.partitionBy(*_PAIR)
    known = F.count(_EXPECTED).over(pair) > 0
    return (
        both.groupBy(*_WAY)
        .agg(_type(), F.sum(COUNT).alias(COUNT), F.sum(_EXPECTED).alias(_EXPECTED))
        .withColumn(_EXPECTED, F.when(known, F.coalesce(_EXPECTED, F.lit(0.0))))
        .withColumn(_TOTAL, F.sum(COUNT).over(pair))
        .where(F.col(_TOTAL) > 0)
    )


def busiest_objects(found: DataFrame) -> tuple[tuple[ObjectShares, ...], int, int]:
    """The busiest pairs of sender and object; how many there are, and their messages in all.

    Args:
        found: as `shares` gives them.
    """
    totals = found.groupBy(*_PAIR).agg(F.first(_TOTAL).alias(_TOTAL), F.count("*").alias(_WAYS))
    ((pairs, paired),) = totals.agg(F.count("*"), F.coalesce(F.sum(_TOTAL), F.lit(0))).collect()
    busiest = totals.orderBy(F.desc(_TOTAL), *_PAIR).limit(TOP_OBJECTS)
    weight = F.greatest(F.col(COUNT) / F.col(_TOTAL), F.coalesce(_EXPECTED, F.lit(0.0)))
    order = Window.partitionBy(*_PAIR).orderBy(weight.desc(), c.DEST_QMGR, c.CHANNEL)
    rows = (
        found.withColumn(_PLACE, F.row_number().over(order))
        .where(F.col(_PLACE) <= DESTINATIONS)
        .join(F.broadcast(busiest.drop(_TOTAL)), [*_PAIR])
        .orderBy(F.desc(_TOTAL), *_PAIR, _PLACE)
        .collect()
    )
    by_pair = {(x[c.QMGR], x[c.OBJECT_NAME]): (x[_TOTAL], x[_WAYS]) for x in rows}
    return tuple(_object_shares(pair, *by_pair[pair], rows) for pair in by_pair), pairs, paired


def deviations(found: DataFrame) -> tuple[Deviation, ...]:
    """Pairs of sender and object whose shares are far from the expected ones.

    Args:
        found: as `shares` gives them.
    """
    off = F.col(_SHARE) - F.col(_EXPECTED)
    rows = (
        found.where(F.col(_EXPECTED).isNotNull() & (F.col(_TOTAL) >= FEW))
        .withColumn(_SHARE, F.col(COUNT) / F.col(_TOTAL))
        .groupBy(*_PAIR)
        .agg(
            _type(),
            F.first(_TOTAL).alias(_TOTAL),
            F.sum(F.greatest(off, F.lit(0.0))).alias(_OFF),
            _farthest(_SHARE, _EXPECTED, off).alias(_WORST),
        )
        .where(F.col(_OFF) >= FAR)
        .orderBy(F.desc(F.col(_OFF) * F.col(_TOTAL)), *_PAIR)
        .limit(TOP_FINDINGS)
        .collect()
    )
    return tuple(
        Deviation(
            row[c.QMGR], row[c.OBJECT_NAME], row[_TOTAL], round(row[_OFF] * row[_TOTAL]),
            **row[_WORST].asDict(), object_type=row[c.OBJECT_TYPE],
        )
        for row in rows
    )  # fmt: skip


def moves(aggregate: Aggregate, used: Sequence[SnapshotUse]) -> tuple[Move, ...]:
    """Pairs of sender and object whose messages went otherwise than under the snapshot before.

    Args:
        aggregate: the outcomes.
        used: the snapshots, in order of validity.
    """
    if not used[1:]:
        return ()
    compared = _side_by_side(aggregate, used)
    gain, none = F.col(_AFTER) - F.col(_BEFORE), F.lit(0.0)
    rows = (
        compared.groupBy(_AT, *_PAIR)
        .agg(
            _type(),
            F.max(_TOTAL).alias(_TOTAL),
            F.sum(F.greatest(gain, none)).alias(_OFF),
            _farthest(_BEFORE, _AFTER, gain).alias(_WORST),
            F.sum(_BEFORE).alias(_BEFORE),
        )
        # Both snapshots have to have traffic of the pair: what is new or gone did not move.
        .where(F.col(_TOTAL).isNotNull() & (F.col(_BEFORE) > 0) & (F.col(_OFF) >= MOVED))
        .orderBy(F.desc(F.col(_OFF) * F.col(_TOTAL)), _AT, *_PAIR)
        .limit(TOP_FINDINGS)
        .collect()
    )
    return tuple(
        Move(
            used[row[_AT]].snapshot_id, row[c.QMGR], row[c.OBJECT_NAME], row[_TOTAL],
            round(row[_OFF] * row[_TOTAL]), **row[_WORST].asDict(), object_type=row[c.OBJECT_TYPE],
        )
        for row in rows
    )  # fmt: skip


def _side_by_side(aggregate: Aggregate, used: Sequence[SnapshotUse]) -> DataFrame:
    """Shares under a snapshot and under the one before.

    Grain: one row per place of the later snapshot in `used`, sender, object, destination and
    channel: (at, `_WAY`, object_type, before, after, total); total is null where the later one has
    too few messages of sender and object.
    """
    session = aggregate.rows.sparkSession
    order = frame_from_rows(
        session,
        [(x.snapshot_id, at) for at, x in enumerate(used)],
        f"{c.SNAPSHOT_ID} string, {_AT} int",
    )
    arrived = aggregate.rows.where((F.col(c.REASON) == 0) & F.col(c.DEST_QMGR).isNotNull())
    under = (
        arrived.groupBy(c.SNAPSHOT_ID, *_WAY)
        .agg(_type(), F.sum(COUNT).alias(COUNT))
        .withColumn(_TOTAL, F.sum(COUNT).over(Window.partitionBy(c.SNAPSHOT_ID, *_PAIR)))
        .where(F.col(_TOTAL) >= FEW)
        .join(F.broadcast(order), c.SNAPSHOT_ID)
        .withColumn(_SHARE, F.col(COUNT) / F.col(_TOTAL))
    )
    none, nothing = F.lit(0.0), F.lit(None).cast("bigint")
    now = under.select(
        _AT, *_WAY, c.OBJECT_TYPE, none.alias(_BEFORE), F.col(_SHARE).alias(_AFTER), _TOTAL
    )
    then = under.select(
        (F.col(_AT) + 1).alias(_AT), *_WAY, c.OBJECT_TYPE, F.col(_SHARE).alias(_BEFORE),
        none.alias(_AFTER), nothing.alias(_TOTAL),
    )  # fmt: skip
    ways = now.unionByName(then).groupBy(_AT, *_WAY)
    return ways.agg(
        _type(), *(F.sum(x).alias(x) for x in (_BEFORE, _AFTER)), F.max(_TOTAL).alias(_TOTAL)
    )


def _object_shares(
    pair: tuple[str, str], total: int, ways: int, rows: Sequence[Any]
) -> ObjectShares:
    """The rows of one pair."""
    own = [row for row in rows if (row[c.QMGR], row[c.OBJECT_NAME]) == pair]
    told = tuple(Share(x[c.DEST_QMGR], x[c.CHANNEL], x[COUNT], x[_EXPECTED]) for x in own)
    return ObjectShares(*pair, total, told, total - sum(x.messages for x in told), ways)


def _farthest(before: str, after: str, by: Column) -> Column:
    """The way that differs most; of several the one that got more than the others, then by name."""
    order = F.struct(F.round(F.abs(by), 9), F.round(by, 9), c.DEST_QMGR, c.CHANNEL)
    return F.max_by(F.struct(c.DEST_QMGR, c.CHANNEL, before, after), order)


def _type() -> Column:
    """Of the messages: QUEUE or TOPIC."""
    return F.max(c.OBJECT_TYPE).alias(c.OBJECT_TYPE)
