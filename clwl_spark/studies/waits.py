"""Ways whose messages wait: one definition for what-if, the report and the ready questions.

Whether such messages were sent since, the routed tables do not tell; `clwl where` looks at later
snapshots.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import STATUS_TIERS, TIER_OF_WAITING, ChannelType
from clwl_spark.tables import CHANNEL_STATUS
from clwl_spark.tables import columns as c

WAY: Final = (c.SNAPSHOT_ID, c.QMGR, c.DEST_QMGR, c.CHANNEL)


def ways_that_wait(lake: Lake, outcomes: DataFrame) -> DataFrame:
    """The ways whose channel was RETRYING or worse, as its sender saw it.

    The snapshot says so and not the plan: a bound message keeps its way where the plan of its own
    snapshot has no such candidate any more.

    Args:
        lake: it has the snapshots.
        outcomes: rows with snapshot_id; ways of other snapshots are left out.

    Grain: one row per `WAY`.
    """
    used = [row[0] for row in outcomes.select(c.SNAPSHOT_ID).distinct().collect()]
    down = [status for status, tier in STATUS_TIERS.items() if tier >= TIER_OF_WAITING]
    is_sender = F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value
    found = lake.read_or_empty(
        CHANNEL_STATUS.name, c.SNAPSHOT_ID, [x for x in used if x is not None]
    ).where(is_sender & F.col(c.STATUS).isin(down))
    to = F.col(c.REMOTE_QMGR).alias(c.DEST_QMGR)
    return found.select(c.SNAPSHOT_ID, c.QMGR, to, c.CHANNEL).distinct()
