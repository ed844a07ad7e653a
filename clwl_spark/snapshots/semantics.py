"""Which semantics a lake is routed with, as its newest run says."""

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm, Edition
from clwl_spark.tables import RUNS


def semantics_of(lake: Lake) -> Semantics:
    """The semantics that the lake was first routed with; v9 and edition 2 where it was not.

    A lake that was routed before there were editions is of the first one.
    """
    rows = lake.greatest(RUNS.name, "batch_id") if lake.exists(RUNS.name) else []
    if not rows:
        return Semantics()
    return Semantics(Algorithm(rows[0]["algorithm"]), Edition(rows[0]["edition"] or 1))
