"""What the rules leave: one row per route, and the reason where none is left."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import PUT_ENABLED, SAME_ROUTE
from clwl_spark.mq.vocabulary import Reason
from clwl_spark.rules.marking import CHOICE_KEY, eliminate, in_play
from clwl_spark.tables import columns as c

ROUTE_ORDER = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)


def keep_one_row_per_route(candidates: DataFrame) -> DataFrame:
    """Mark survivors that differ from another in the cluster alone; the lowest cluster stays.

    Source: SEMANTICS R1.
    """
    lowest = F.min(F.when(in_play(), F.col(c.CHANNEL_CLUSTER))).over(
        Window.partitionBy(*CHOICE_KEY, *ROUTE_ORDER)
    )
    return eliminate(candidates, F.col(c.CHANNEL_CLUSTER) > lowest, SAME_ROUTE)


def choice_reason(later_than_put_enabled: tuple[int, ...]) -> Column:
    """Aggregate over the rows of one choice: 0, 2268 or 2270.

    Args:
        later_than_put_enabled: numbers of the rules that come after rule 5 in the algorithm.

    Source: SEMANTICS 4 (rule 5, R0, R3), P26.
    """
    number = F.col(c.ELIMINATED_BY)
    disabled_only = F.bool_or(number == PUT_ENABLED) & ~F.bool_or(
        number.isin(*later_than_put_enabled)
    )
    return (
        F.when(F.bool_or(number.isNull()), Reason.NONE.value)
        .when(disabled_only, Reason.CLUSTER_PUT_INHIBITED.value)
        .otherwise(Reason.NO_DESTINATIONS_AVAILABLE.value)
    )
