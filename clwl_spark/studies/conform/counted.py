"""Counts that MQ gave of channels, beside the messages that outcomes send by them meanwhile.

Source: CONTRACT, `observed_counts`.
"""

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.studies.conform.match import Wanted
from clwl_spark.studies.conform.model import Document
from clwl_spark.tables import OBSERVED_COUNTS, OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at, moment_text

_FROM, _TO, _MESSAGES = "from_time", "to_time", "messages"
_CHANNEL = "CHANNEL"
_INTERVAL = (c.QMGR, c.CHANNEL, _FROM, _TO)


def counted(lake: Lake, wanted: Wanted) -> list[Document]:
    """Counts of channels' messages, those that differ most first.

    Args:
        lake: routed.
        wanted: the queue manager and time that are looked at; counts of an object there are none.

    Grain: one row per queue manager, channel and interval: counted, and predicted.
    """
    if not lake.exists(OBSERVED_COUNTS.name) or wanted.object_name is not None:
        return []
    rows = lake.read(OBSERVED_COUNTS.name).where(F.col(c.OBJECT_TYPE) == _CHANNEL)
    if wanted.qmgr is not None:
        rows = rows.where(F.col(c.QMGR) == wanted.qmgr)
    if wanted.since is not None:
        rows = rows.where(F.col(_FROM) >= F.lit(moment_at(wanted.since)))
    if wanted.until is not None:
        rows = rows.where(F.col(_TO) <= F.lit(moment_at(wanted.until)))
    counts = rows.groupBy(c.QMGR, F.col(c.OBJECT_NAME).alias(c.CHANNEL), _FROM, _TO).agg(
        F.sum(_MESSAGES).alias("counted")
    )
    sent = lake.read(OUTCOMES.name).where(F.col(c.CHANNEL).isNotNull())
    sent = sent.select(c.QMGR, c.CHANNEL, c.PUT_TIME)
    during = counts.join(sent, [c.QMGR, c.CHANNEL]).where(
        (F.col(c.PUT_TIME) >= F.col(_FROM)) & (F.col(c.PUT_TIME) < F.col(_TO))
    )
    predicted = during.groupBy(*_INTERVAL).agg(F.count(F.lit(1)).alias("predicted"))
    both = counts.join(predicted, list(_INTERVAL), "left").fillna({"predicted": 0})
    found = [
        {
            c.QMGR: row[c.QMGR],
            c.CHANNEL: row[c.CHANNEL],
            "from": moment_text(row[_FROM].astimezone()),
            "to": moment_text(row[_TO].astimezone()),
            "counted": int(row["counted"] or 0),
            "predicted": int(row["predicted"]),
        }
        for row in both.collect()
    ]
    return sorted(found, key=_order)


def _order(count: Document) -> tuple[int, str, str, str]:
    difference = abs(count["counted"] - count["predicted"])
    return -difference, count[c.QMGR], count[c.CHANNEL], count["from"]
