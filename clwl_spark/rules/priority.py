"""Rules 12 to 14: NETPRTY between channels of one queue manager, then CLWLPRTY."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.rules.marking import CHOICE_KEY, below_best, eliminate, in_play, remote
from clwl_spark.vocabulary import PlanKind


def keep_highest_netprty(candidates: DataFrame) -> DataFrame:
    """Eliminate, per remote queue manager, rows whose NETPRTY is below its maximum.

    Source: SEMANTICS 4, rule 12 (seed 0, rule 12).
    """
    of_qmgr = Window.partitionBy(*CHOICE_KEY, c.DEST_QMGR)
    best = F.max(F.when(in_play(), F.col(c.NETPRTY))).over(of_qmgr)
    return eliminate(candidates, remote() & (F.col(c.NETPRTY) < best), 12)


def keep_highest_channel_priority(candidates: DataFrame) -> DataFrame:
    """Eliminate channels (or queue manager aliases) of less than the highest CLWLPRTY in play.

    Source: SEMANTICS 4, rule 13 (seed 0, rule 13).
    """
    return eliminate(candidates, below_best(c.CHANNEL_PRTY), 13)


def keep_highest_qmgr_priority(candidates: DataFrame) -> DataFrame:
    """Rule 13 as `v7` has it: it acts where a queue manager is chosen.

    Source: SEMANTICS R3, 13* (seed 4, rule 11a).
    """
    chooses_qmgr = F.col(c.KIND) == PlanKind.QMGR.value
    return eliminate(candidates, chooses_qmgr & below_best(c.CHANNEL_PRTY), 13)


def keep_highest_queue_priority(candidates: DataFrame) -> DataFrame:
    """Eliminate queues of less than the highest CLWLPRTY in play; other kinds carry one for all.

    Source: SEMANTICS 4, rule 14 (seed 0, rule 14).
    """
    return eliminate(candidates, below_best(c.QUEUE_PRTY), 14)
