"""Rules 5 and 7 to 11: put-disabled, suspended, and the status of channels."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.rules.marking import any_in_play, best_in_play, eliminate, lowest_in_play
from clwl_spark.tables import columns as c


def keep_put_enabled(candidates: DataFrame) -> DataFrame:
    """Eliminate put-disabled (or publish-disabled) instances.

    Where only those are left all of them go, and the choice ends with 2268. So "if an enabled
    one is there" needs no test: either way a disabled row gets 5.

    Source: SEMANTICS 4, rule 5 and R3's 5* (IBM's algorithm page, rule 5).
    """
    return eliminate(candidates, ~F.col(c.PUT_ENABLED), 5)


def keep_resumed(candidates: DataFrame) -> DataFrame:
    """Eliminate suspended rows, when several queue managers are there and a row is not suspended.

    Source: SEMANTICS 4, rule 7 and P8 (IBM's algorithm page, rule 7).
    """
    return eliminate(candidates, _suspended_loses(), 7)


def keep_resumed_when_remote(candidates: DataFrame) -> DataFrame:
    """Rule 7 as `v7` has it: it acts only when no local row is left.

    Source: SEMANTICS R3 (Hughson's deck, rule 5 of the older algorithm).
    """
    return eliminate(candidates, _suspended_loses() & ~any_in_play(F.col(c.IS_LOCAL)), 7)


def keep_best_status(candidates: DataFrame) -> DataFrame:
    """Eliminate rows outside the best channel status tier in play, by the number of that tier.

    Source: SEMANTICS 4, rules 8-11 (IBM's algorithm page, rules 8-11).
    """
    kept = lowest_in_play(F.col(c.STATUS_TIER))
    return eliminate(candidates, F.col(c.STATUS_TIER) > kept, kept + 7)


def _suspended_loses() -> Column:
    several = best_in_play(F.col(c.DEST_QMGR)) != lowest_in_play(F.col(c.DEST_QMGR))
    return F.col(c.SUSPENDED) & several & any_in_play(~F.col(c.SUSPENDED))
