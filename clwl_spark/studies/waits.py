"""Ways whose messages wait: one definition for what-if, the report and the ready questions.

Whether such messages were sent since, the routed tables do not tell; `clwl where` looks at later
snapshots.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import TIER_OF_WAITING
from clwl_spark.tables import ROUTE_CANDIDATES
from clwl_spark.tables import columns as c


def ways_that_wait(lake: Lake) -> DataFrame:
    """The ways whose channel was RETRYING or worse in the plan's snapshot.

    A way may have lost against others: what is bound goes by it all the same.

    Grain: one row per (plan_id, dest_qmgr, channel).
    """
    waits = ~F.col(c.IS_LOCAL) & (F.col(c.STATUS_TIER) >= TIER_OF_WAITING)
    found = lake.read_or_empty(ROUTE_CANDIDATES.name).where(waits)
    return found.select(c.PLAN_ID, c.DEST_QMGR, c.CHANNEL).distinct()
