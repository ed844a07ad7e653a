"""Rules 3 and 4: CLWLRANK, looked at before any channel's status."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.rules.marking import eliminate_below_best
from clwl_spark.tables import columns as c


def keep_highest_ranks(candidates: DataFrame) -> DataFrame:
    """Eliminate channels (or queue manager aliases), then queues, ranked below the best in play.

    Other kinds than QUEUE carry one queue rank for all.

    Source: SEMANTICS 4, rules 3 and 4 (IBM's algorithm page, rules 3 and 4); CLWLRANK 0-9, higher
    wins.
    """
    return eliminate_below_best(candidates, (3, F.col(c.CHANNEL_RANK)), (4, F.col(c.QUEUE_RANK)))
