"""Sums of the aggregate: the head, the queue managers, the flows over time, and the failures."""

from collections import Counter
from typing import Final

from pyspark.sql import Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.present.report.aggregate import COUNT, FIRST, OUT_OF_ORDER, Aggregate, moment_of
from clwl_spark.present.report.data import Node, SnapshotUse, Timeline
from clwl_spark.present.report.findings import Failure, Failures
from clwl_spark.tables import CLUSTER_CHANNELS, REJECTED_MESSAGES, SNAPSHOTS
from clwl_spark.tables import columns as c

TOP_DESTINATIONS: Final = 7
TOP_FAILURES: Final = 20
TOP_SENDERS: Final = 20
_SENT: Final = "sent"
_RECEIVED: Final = "received"
_KEPT: Final = "kept"
_ALL: Final = "in_all"
_VALID: Final = "valid"


def snapshots_used(lake: Lake, aggregate: Aggregate) -> tuple[SnapshotUse, ...]:
    """The snapshots of the outcomes, in order of validity."""
    valid = lake.read_or_empty(SNAPSHOTS.name).select(
        c.SNAPSHOT_ID, F.unix_micros(c.VALID_FROM).alias(_VALID)
    )
    rows = (
        aggregate.rows.where(F.col(c.SNAPSHOT_ID).isNotNull())
        .groupBy(c.SNAPSHOT_ID)
        .agg(F.sum(COUNT).alias(COUNT), F.min(FIRST).alias(FIRST))
        .join(valid, c.SNAPSHOT_ID, "left")
        .orderBy(F.coalesce(_VALID, FIRST), c.SNAPSHOT_ID)
        .collect()
    )
    return tuple(SnapshotUse(x[c.SNAPSHOT_ID], moment_of(x[_VALID]), x[COUNT]) for x in rows)


def outcome_counts(aggregate: Aggregate) -> tuple[int, int]:
    """How many outcomes there are, and how many of them have a reason."""
    failing = F.when(F.col(c.REASON) != 0, F.col(COUNT)).otherwise(0)
    ((outcomes, failed),) = aggregate.rows.agg(
        F.sum(COUNT).alias(COUNT), F.sum(failing).alias("failed")
    ).collect()
    return outcomes, failed


def busiest_nodes(lake: Lake, aggregate: Aggregate, most: int) -> tuple[tuple[Node, ...], int]:
    """The queue managers with most messages, and how many queue managers there are.

    Those of the snapshots' clusters that have nothing to do with any message come last.
    """
    here = F.coalesce(c.IS_LOCAL, F.lit(False))
    arrived = aggregate.rows.where(F.col(c.DEST_QMGR).isNotNull())
    sums = arrived.groupBy(c.QMGR, c.DEST_QMGR).agg(
        F.sum(F.when(here, F.col(COUNT)).otherwise(0)).alias(_KEPT),
        F.sum(F.when(here, 0).otherwise(F.col(COUNT))).alias(_SENT),
    )
    zero = F.lit(0)
    put = sums.select(c.QMGR, _SENT, zero.alias(_RECEIVED), _KEPT)
    got = sums.select(
        F.col(c.DEST_QMGR).alias(c.QMGR),
        zero.alias(_SENT),
        F.col(_SENT).alias(_RECEIVED),
        zero.alias(_KEPT),
    )
    names = (_SENT, _RECEIVED, _KEPT)
    asking = aggregate.rows.select(c.QMGR, *(zero.alias(x) for x in names)).distinct()
    used = aggregate.rows.select(c.SNAPSHOT_ID).distinct()
    members = lake.read_or_empty(CLUSTER_CHANNELS.name).join(F.broadcast(used), c.SNAPSHOT_ID)
    quiet = members.select(c.QMGR, *(zero.alias(x) for x in names)).distinct()
    nodes = (
        put.unionByName(got)
        .unionByName(asking)
        .unionByName(quiet)
        .groupBy(c.QMGR)
        .agg(*(F.sum(x).alias(x) for x in names))
    )
    total = F.col(_SENT) + F.col(_RECEIVED) + F.col(_KEPT)
    rows = nodes.orderBy(total.desc(), c.QMGR).limit(most).collect()
    found = tuple(Node(x[c.QMGR], x[_SENT], x[_RECEIVED], x[_KEPT]) for x in rows)
    return found, len(found) if len(found) < most else nodes.count()


def timeline(aggregate: Aggregate) -> Timeline:
    """Messages per bucket and destination; the busiest destinations are told apart."""
    in_all: Counter[str] = Counter()
    for (_, dest), count in aggregate.over_time.items():
        in_all[dest] += count
    busiest = sorted(in_all, key=lambda name: (-in_all[name], name))[:TOP_DESTINATIONS]
    counts: Counter[tuple[int, str | None]] = Counter()
    for (bucket, dest), count in aggregate.over_time.items():
        counts[bucket, dest if dest in busiest else None] += count
    return Timeline(aggregate.width, tuple(busiest), dict(counts))


def failures(lake: Lake, aggregate: Aggregate, failed: int) -> Failures:
    """Reasons by request, errors of rejected messages, and who put out of order."""
    request = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR, c.OBJECT_TYPE)
    most = F.max_by(c.SNAPSHOT_ID, F.struct(COUNT, c.SNAPSHOT_ID)).alias(c.SNAPSHOT_ID)
    by_reason = aggregate.rows.groupBy(*request, c.REASON).agg(F.sum(COUNT).alias(COUNT), most)
    asked = F.sum(COUNT).over(Window.partitionBy(*request))
    rows = (
        by_reason.withColumn(_ALL, asked)
        .where(F.col(c.REASON) != 0)
        .orderBy(F.desc(COUNT), *request, c.REASON)
        .limit(TOP_FAILURES)
        .collect()
    )
    found = tuple(
        Failure(
            row[c.QMGR], row[c.OBJECT_NAME], row[c.OBJECT_QMGR], row[c.REASON], row[COUNT],
            row[_ALL], row[c.OBJECT_TYPE], row[c.SNAPSHOT_ID] or "",
        )
        for row in rows
    )  # fmt: skip
    others = failed - sum(x.messages for x in found)
    return Failures(found, others, _rejected(lake), _out_of_order(aggregate))


def _rejected(lake: Lake) -> dict[str, int]:
    """Rejected messages by error, the most first."""
    errors = F.coalesce(c.ERROR, F.lit("")).alias(c.ERROR)
    counts = (
        lake.read_or_empty(REJECTED_MESSAGES.name)
        .groupBy(errors)
        .agg(F.count(F.lit(1)).alias(COUNT))
    )
    return {x[c.ERROR]: x[COUNT] for x in counts.orderBy(F.desc(COUNT), c.ERROR).collect()}


def _out_of_order(aggregate: Aggregate) -> dict[str, int]:
    """Messages out of order by the queue manager that they were put on, the most first."""
    late = aggregate.rows.where(F.col(OUT_OF_ORDER) > 0)
    counts = late.groupBy(c.QMGR).agg(F.sum(OUT_OF_ORDER).alias(OUT_OF_ORDER))
    top = counts.orderBy(F.desc(OUT_OF_ORDER), c.QMGR).limit(TOP_SENDERS)
    return {x[c.QMGR]: x[OUT_OF_ORDER] for x in top.collect()}
