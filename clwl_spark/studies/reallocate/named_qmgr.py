"""Which plans lead to one queue manager by its name, past the workload management algorithm.

Source: SEMANTICS P23, P42; Dick's article (MQOO_BIND_ON_OPEN and a named queue manager).
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import EXIT, numbers_in_order
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm, Edition, PlanKind
from clwl_spark.tables import ROUTE_CANDIDATES
from clwl_spark.tables import columns as c

_REACHED: Final = "reached"


def plans_for_one(lake: Lake, plans: DataFrame, semantics: Semantics) -> DataFrame:
    """The plans whose messages are `NAMED_QMGR` for the name of their put: (plan_id).

    In the first edition every put that names a queue manager is one.

    Args:
        lake: with the plans' candidates.
        plans: rows of `route_plans`.
        semantics: the lake's.
    """
    naming = plans.where(F.col(c.OBJECT_QMGR) != "")
    if semantics.edition == Edition.FIRST:
        return naming.select(c.PLAN_ID)
    ids = naming.where(F.col(c.KIND) == PlanKind.QMGR.value).select(c.PLAN_ID)
    gone = list(_up_to_the_exit(semantics.algorithm))
    left = (
        lake.read(ROUTE_CANDIDATES.name)
        .join(F.broadcast(ids), c.PLAN_ID, "left_semi")
        .where(F.col(c.ELIMINATED_BY).isNull() | ~F.col(c.ELIMINATED_BY).isin(gone))
    )
    reached = left.groupBy(c.PLAN_ID).agg(F.countDistinct(c.DEST_QMGR).alias(_REACHED))
    return reached.where(F.col(_REACHED) == 1).select(c.PLAN_ID)


def _up_to_the_exit(algorithm: Algorithm) -> list[int]:
    """The rules that act before the algorithm looks at anything but clusters (P42)."""
    numbers = numbers_in_order(algorithm)
    return numbers[: numbers.index(EXIT) + 1]
