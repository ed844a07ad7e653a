"""The ladder of elimination: the order of the rules is data, and a rule is a function.

What they are called is in `algorithm.ladder`.

Source: SEMANTICS 4 (IBM's algorithm page for `v9`, Hughson's deck for `v7`).
"""

from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.rules.availability import (
    keep_best_status,
    keep_put_enabled,
    keep_resumed,
    keep_resumed_when_remote,
)
from clwl_spark.rules.exit import keep_what_exit_keeps
from clwl_spark.rules.locality import keep_local_queue
from clwl_spark.rules.marking import CHOICE_KEY, Rule
from clwl_spark.rules.membership import keep_channels_of_instance_cluster, keep_shared_clusters
from clwl_spark.rules.priority import (
    keep_highest_netprty,
    keep_highest_priorities,
    keep_highest_priorities_of_v7,
)
from clwl_spark.rules.rank import keep_highest_ranks
from clwl_spark.rules.routes import keep_one_row_per_route
from clwl_spark.tables import columns as c

BEFORE_EXIT: Final[dict[Algorithm, tuple[Rule, ...]]] = {
    Algorithm.V9: (keep_shared_clusters, keep_channels_of_instance_cluster),
    Algorithm.V7: (keep_put_enabled, keep_shared_clusters, keep_channels_of_instance_cluster),
}
AFTER_EXIT: Final[dict[Algorithm, tuple[Rule, ...]]] = {
    Algorithm.V9: (
        keep_highest_ranks,
        keep_put_enabled,
        keep_local_queue,
        keep_resumed,
        keep_best_status,
        keep_highest_netprty,
        keep_highest_priorities,
        keep_one_row_per_route,
    ),
    Algorithm.V7: (
        keep_local_queue,
        keep_highest_ranks,
        keep_resumed_when_remote,
        keep_best_status,
        keep_highest_netprty,
        keep_highest_priorities_of_v7,
        keep_one_row_per_route,
    ),
}


def eliminate(
    candidates: DataFrame, algorithm: Algorithm, exit_function: Rule | None = None
) -> DataFrame:
    """Apply every rule in order; no row is dropped, losers carry the number of their rule.

    Grain: one row per candidate, before and after; `eliminated_by` is added. The frame is
    exchanged once, by (plan_id, choice), and sorted once, so that each rule's window finds its
    rows as they are (measured on 2 million rows: one sort per partition key doubled the time).

    Args:
        candidates: columns of `schemas.ROUTE_CANDIDATES` and `kind`.
        algorithm: which order of the rules.
        exit_function: the cluster workload exit: takes the rows in play, returns those it keeps.
    """
    placed = (
        candidates.withColumn(c.ELIMINATED_BY, F.lit(None).cast("int"))
        .repartition(*CHOICE_KEY)
        .sortWithinPartitions(*CHOICE_KEY, c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)
    )
    exit_rule = () if exit_function is None else (keep_what_exit_keeps(exit_function),)
    rules = (*BEFORE_EXIT[algorithm], *exit_rule, *AFTER_EXIT[algorithm])
    return reduce(lambda frame, rule: frame.transform(rule), rules, placed)
