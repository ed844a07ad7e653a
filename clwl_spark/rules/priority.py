"""Rules 12 to 14: NETPRTY between channels of one queue manager, then CLWLPRTY."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.rules.marking import (
    CHOICE_KEY,
    eliminate,
    eliminate_below_best,
    in_play,
    remote,
)
from clwl_spark.tables import columns as c


def keep_highest_netprty(candidates: DataFrame) -> DataFrame:
    """Eliminate, per remote queue manager, rows whose NETPRTY is below its maximum.

    Source: SEMANTICS 4, rule 12 (IBM's algorithm page, rule 12).
    """
    of_qmgr = Window.partitionBy(*CHOICE_KEY, c.DEST_QMGR)
    best = F.max(F.when(in_play(), F.col(c.NETPRTY))).over(of_qmgr)
    return eliminate(candidates, remote() & (F.col(c.NETPRTY) < best), 12)


def keep_highest_priorities(candidates: DataFrame) -> DataFrame:
    """Eliminate channels (or queue manager aliases), then queues, of less than the best CLWLPRTY.

    Other kinds than QUEUE carry one queue priority for all.

    Source: SEMANTICS 4, rules 13 and 14 (IBM's algorithm page, rules 13 and 14).
    """
    return eliminate_below_best(candidates, (13, F.col(c.CHANNEL_PRTY)), (14, F.col(c.QUEUE_PRTY)))


def keep_highest_priorities_of_v7(candidates: DataFrame) -> DataFrame:
    """Rules 13 and 14 as `v7` has them: 13 acts where a queue manager is chosen.

    Source: SEMANTICS R3 (13* and 14; Hughson's deck, rule 11).
    """
    of_qmgr = F.when(F.col(c.KIND) == PlanKind.QMGR.value, F.col(c.CHANNEL_PRTY)).otherwise(0)
    return eliminate_below_best(candidates, (13, of_qmgr), (14, F.col(c.QUEUE_PRTY)))
