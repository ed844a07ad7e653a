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
from clwl_spark.spark.materialize import alike
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


COMPARED: Final[dict[Rule, tuple[str, ...]]] = {
    keep_highest_ranks: (c.CHANNEL_RANK, c.QUEUE_RANK),
    keep_local_queue: (c.USES_LOCAL,),
    keep_resumed: (c.SUSPENDED,),
    keep_resumed_when_remote: (c.SUSPENDED,),
    keep_best_status: (c.STATUS_TIER,),
    keep_highest_netprty: (c.NETPRTY,),
    keep_highest_priorities: (c.CHANNEL_PRTY, c.QUEUE_PRTY),
    keep_highest_priorities_of_v7: (c.CHANNEL_PRTY, c.QUEUE_PRTY),
    keep_one_row_per_route: (c.CHANNEL_CLUSTER,),
}
"""What rows of one choice are compared in by rules that need a window; alike in it, none loses."""


def eliminate(
    candidates: DataFrame, algorithm: Algorithm, exit_function: Rule | None = None
) -> DataFrame:
    """Apply every rule in order; no row is dropped, losers carry the number of their rule.

    Grain: one row per candidate, before and after; `eliminated_by` is added. The frame is
    exchanged once, by (plan_id, choice), and sorted once, so that each rule's window finds its
    rows as they are (measured on 2 million rows: one sort per partition key doubled the time).
    Rules that compare rows in what all candidates of a frame that is kept have alike are left out:
    most clusters use few of the attributes.

    Args:
        candidates: columns of `schemas.ROUTE_CANDIDATES` and `kind`.
        algorithm: which order of the rules.
        exit_function: the cluster workload exit: takes the rows in play, returns those it keeps.
    """
    exit_rule = () if exit_function is None else (keep_what_exit_keeps(exit_function),)
    same = alike(candidates, sorted({x for names in COMPARED.values() for x in names}))
    acting = [
        x for x in AFTER_EXIT[algorithm] if x not in COMPARED or not same.issuperset(COMPARED[x])
    ]
    rules = (*BEFORE_EXIT[algorithm], *exit_rule, *acting)
    placed = _placed(candidates) if not COMPARED.keys().isdisjoint(acting) else candidates
    unmarked = placed.withColumn(c.ELIMINATED_BY, F.lit(None).cast("int"))
    return reduce(lambda frame, rule: frame.transform(rule), rules, unmarked)


def _placed(candidates: DataFrame) -> DataFrame:
    """The rows as the windows of all rules want them."""
    return candidates.repartition(*CHOICE_KEY).sortWithinPartitions(
        *CHOICE_KEY, c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS
    )
