"""Rules 3 and 4: CLWLRANK, looked at before any channel's status."""

from pyspark.sql import DataFrame

from clwl_spark import columns as c
from clwl_spark.rules.marking import below_best, eliminate


def keep_highest_channel_rank(candidates: DataFrame) -> DataFrame:
    """Eliminate channels (or queue manager aliases) ranked below the best still in play.

    Source: SEMANTICS 4, rule 3 (seed 0, rule 3); CLWLRANK 0-9, higher wins.
    """
    return eliminate(candidates, below_best(c.CHANNEL_RANK), 3)


def keep_highest_queue_rank(candidates: DataFrame) -> DataFrame:
    """Eliminate queues ranked below the best still in play; other kinds carry one rank for all.

    Source: SEMANTICS 4, rule 4 (seed 0, rule 4).
    """
    return eliminate(candidates, below_best(c.QUEUE_RANK), 4)
