"""What a change moves: outcomes before and after, counted by object, queue manager and channel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.waits import WAY, ways_that_wait
from clwl_spark.tables import OUTCOMES
from clwl_spark.tables import columns as c

BEFORE: Final = "before"
AFTER: Final = "after"
_WAITS: Final = "waits"
_REQUEST: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR)
_END: Final = (c.REASON, c.DEST_QMGR, c.CHANNEL, c.IS_LOCAL, _WAITS)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Moves:
    """What moves. Counts are of outcomes: a publication with CLROUTE(DIRECT) has one per copy.

    Attributes:
        before: outcomes before.
        after: outcomes after; fewer where queue managers are down, on which nothing is put.
        moved: outcomes that go another way, or end with another reason: half of all differences.
        failed: (before, after) that end with an MQRC.
        waiting: (before, after) on a transmission queue whose channel is RETRYING or worse.
        by_object: (qmgr, object_type, object_name, object_qmgr, dest_qmgr, channel, before, after).
        by_qmgr: (dest_qmgr, before, after).
        by_channel: (dest_qmgr, channel, before, after) of remote channels.
        by_reason: (qmgr, ..., reason, before, after) of what fails on either side.
        stranded: (qmgr, ..., before, after) of requests of which nothing gets away after, and
            something did before.
        busiest: the remote channel with the highest load, before and after; rows of `by_channel`.
    """

    before: int
    after: int
    moved: int
    failed: tuple[int, int]
    waiting: tuple[int, int]
    by_object: Sequence[Row]
    by_qmgr: Sequence[Row]
    by_channel: Sequence[Row]
    by_reason: Sequence[Row]
    stranded: Sequence[Row]
    busiest: tuple[Row | None, Row | None]

    def to_json(self) -> Row:
        """A part of the document of `clwl what-if --json`."""
        return {
            "outcomes": {BEFORE: self.before, AFTER: self.after},
            "moved": self.moved,
            "failed": dict(zip((BEFORE, AFTER), self.failed, strict=True)),
            "waiting": dict(zip((BEFORE, AFTER), self.waiting, strict=True)),
            "busiest_channel": dict(zip((BEFORE, AFTER), self.busiest, strict=True)),
            "by_object": list(self.by_object),
            "by_queue_manager": list(self.by_qmgr),
            "by_channel": list(self.by_channel),
            "by_reason": list(self.by_reason),
            "stranded": list(self.stranded),
        }


def moves(before: Lake, after: Lake) -> Moves:
    """Compare the outcomes of two lakes.

    Args:
        before: routed.
        after: routed, with the same messages on another topology.
    """
    sides = [
        _counted(lake).withColumn("side", F.lit(side))
        for lake, side in ((before, BEFORE), (after, AFTER))
    ]
    counts = [
        F.sum(F.when(F.col("side") == side, F.col("count")).otherwise(0)).alias(side)
        for side in (BEFORE, AFTER)
    ]
    rows = checkpoint(sides[0].union(sides[1]).groupBy(*_REQUEST, *_END).agg(*counts))
    totals = rows.agg(
        *_totals("all", F.lit(True)),
        *_totals("failed", F.col(c.REASON) != 0),
        *_totals("waiting", F.col(_WAITS)),
    ).collect()[0]
    goes = rows.where(F.col(c.REASON) == 0)
    by_object = _summed(goes, (*_REQUEST, c.DEST_QMGR, c.CHANNEL))
    by_channel = _summed(goes.where(~F.col(c.IS_LOCAL)), (c.DEST_QMGR, c.CHANNEL))
    return Moves(
        before=totals["all_before"],
        after=totals["all_after"],
        moved=_moved(rows),
        failed=(totals["failed_before"], totals["failed_after"]),
        waiting=(totals["waiting_before"], totals["waiting_after"]),
        by_object=by_object,
        by_qmgr=_summed(goes, (c.DEST_QMGR,)),
        by_channel=[x for x in by_channel if x[c.CHANNEL] is not None],
        by_reason=_summed(rows.where(F.col(c.REASON) != 0), (*_REQUEST, c.REASON)),
        stranded=_stranded(rows),
        busiest=(_busiest(by_channel, BEFORE), _busiest(by_channel, AFTER)),
    )


def _counted(lake: Lake) -> DataFrame:
    """Outcomes by request and end."""
    ends = (c.REASON, c.DEST_QMGR, c.CHANNEL, c.IS_LOCAL)
    outcomes = lake.read(OUTCOMES.name)
    waiting = ways_that_wait(lake, outcomes).withColumn(_WAITS, F.lit(True))
    counted = outcomes.groupBy(c.SNAPSHOT_ID, *_REQUEST, *ends).count()
    joined = counted.join(waiting, list(WAY), "left")
    filled = joined.fillna({_WAITS: False})
    return filled.groupBy(*_REQUEST, *_END).agg(F.sum("count").alias("count"))


def _totals(name: str, which: Any) -> list[Any]:  # noqa: ANN401  (a Column)
    return [
        F.coalesce(F.sum(F.when(which, F.col(side))), F.lit(0)).alias(f"{name}_{side}")
        for side in (BEFORE, AFTER)
    ]


def _moved(rows: DataFrame) -> int:
    """Outcomes that are elsewhere: per request what its ends lose, where it is put as often.

    One that stays on its route and waits there is not elsewhere.
    """
    ways = [x for x in _END if x != _WAITS]
    sums = [F.sum(side).alias(side) for side in (BEFORE, AFTER)]
    rows = rows.groupBy(*_REQUEST, *ways).agg(*sums)
    lost = F.sum(F.greatest(F.col(BEFORE) - F.col(AFTER), F.lit(0)))
    gained = F.sum(F.greatest(F.col(AFTER) - F.col(BEFORE), F.lit(0)))
    of_request = rows.groupBy(*_REQUEST).agg(F.least(lost, gained).alias("moved"))
    return int(of_request.agg(F.coalesce(F.sum("moved"), F.lit(0))).collect()[0][0])


def _summed(rows: DataFrame, keys: Sequence[str]) -> list[Row]:
    """Counts by some columns, the greatest changes first."""
    sums = [F.sum(side).alias(side) for side in (BEFORE, AFTER)]
    found = rows.groupBy(*keys).agg(*sums)
    change = F.abs(F.col(AFTER) - F.col(BEFORE))
    return [row.asDict() for row in found.orderBy(F.desc(change), *keys).collect()]


def _stranded(rows: DataFrame) -> list[Row]:
    """Requests of which something got away before and nothing does after."""
    away = (F.col(c.REASON) == 0) & ~F.col(_WAITS)
    got = [
        F.sum(F.when(away, F.col(side)).otherwise(0)).alias(f"away_{side}")
        for side in (BEFORE, AFTER)
    ]
    puts = [F.sum(side).alias(side) for side in (BEFORE, AFTER)]
    found = rows.groupBy(*_REQUEST).agg(*got, *puts)
    lost = found.where("away_before > 0 AND away_after = 0 AND after > 0")
    chosen = lost.drop("away_before", "away_after").orderBy(F.desc(AFTER), *_REQUEST)
    return [row.asDict() for row in chosen.collect()]


def _busiest(channels: Sequence[Row], side: str) -> Row | None:
    """The channel that carries most on a side."""
    carrying = [x for x in channels if x[side] and x[c.CHANNEL] is not None]
    return max(carrying, key=lambda x: (x[side], x[c.CHANNEL]), default=None)
