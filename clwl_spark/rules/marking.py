"""What every rule is written with: which rows are in play, and how a losing row is marked.

All rules share the partition (plan_id, choice), so the whole ladder costs one exchange.
"""

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.tables import columns as c

Rule = Callable[[DataFrame], DataFrame]

CHOICE_KEY: Final = (c.PLAN_ID, c.CHOICE)
_BEST: Final = "best_in_play"
_BITS: Final = 32


def in_play() -> Column:
    """True for rows that no earlier rule has eliminated."""
    return F.col(c.ELIMINATED_BY).isNull()


def remote() -> Column:
    """True for rows that leave the putting queue manager."""
    return ~F.col(c.IS_LOCAL)


def best_in_play(value: Column) -> Column:
    """The greatest `value` over the rows of the same choice that are in play."""
    return F.max(F.when(in_play(), value)).over(Window.partitionBy(*CHOICE_KEY))


def lowest_in_play(value: Column) -> Column:
    """The least `value` over the rows of the same choice that are in play."""
    return F.min(F.when(in_play(), value)).over(Window.partitionBy(*CHOICE_KEY))


def any_in_play(flag: Column) -> Column:
    """True where `flag` holds for some row of the same choice that is in play."""
    return F.coalesce(best_in_play(flag), F.lit(False))


def eliminate(candidates: DataFrame, losing: Column, number: Column | int) -> DataFrame:
    """Write the rule's `number` on the losing rows that are still in play.

    Grain: one row per candidate (CONTRACT, route_candidates), before and after.
    """
    mark = F.lit(number) if isinstance(number, int) else number
    verdict = F.when(in_play() & losing, mark.cast("int")).otherwise(F.col(c.ELIMINATED_BY))
    return candidates.withColumn(c.ELIMINATED_BY, verdict)


def eliminate_below_best(
    candidates: DataFrame, first: tuple[int, Column], second: tuple[int, Column]
) -> DataFrame:
    """Write on each losing row the number of the first of two rules that it loses in.

    In each rule the rows of the greatest value in play stay, so of rules that follow one another
    the greatest of both values, compared in order, is what stays: as digits of one number, a window
    serves them both (seven windows for the ladder instead of nine).

    Args:
        candidates: rows with `eliminated_by`.
        first: number of the rule, and what it compares.
        second: of the rule after it; its values are not negative.

    Grain: one row per candidate, before and after.
    """
    number, value = first
    second_number, second_value = second
    both = F.shiftleft(value.cast("bigint"), _BITS) + second_value
    frame = candidates.withColumn(_BEST, best_in_play(both))
    lost_first = value < F.shiftright(_BEST, _BITS)
    lost = F.when(lost_first, number).otherwise(second_number)
    return eliminate(frame, both < F.col(_BEST), lost).drop(_BEST)
