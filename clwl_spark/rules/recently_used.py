"""Rule 15: of the remote routes that are left, the CLWLMRUC most recently used.

It looks at the history of the moment, so it is no step of the ladder that plans keep: it is shown
for one history. Routing makes the same cut message by message (`algorithm.choose`).

Source: SEMANTICS 5 (rule 15), R4.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import RECENTLY_USED
from clwl_spark.rules.marking import CHOICE_KEY, eliminate, in_play, remote
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.tables import columns as c


def keep_most_recently_used(candidates: DataFrame, history: DataFrame) -> DataFrame:
    """Mark the remote survivors that CLWLMRUC leaves no room for.

    Args:
        candidates: one row per candidate of plans: columns of `route_candidates`, `qmgr` and the
            `clwlmruc` of that queue manager in the plan's snapshot (null = no limit).
        history: rows of `balance_history`; a channel that it lacks was never used.

    Grain: one row per candidate, before and after; `eliminated_by` is 15 on those that are cut.
    """
    known = history.select(c.QMGR, c.DEST_QMGR, c.CHANNEL, c.DEST_SEQ_NUMBER)
    used = candidates.join(known, [c.QMGR, c.DEST_QMGR, c.CHANNEL], "left")
    order = Window.partitionBy(*CHOICE_KEY, in_play() & remote()).orderBy(
        F.desc(F.coalesce(c.DEST_SEQ_NUMBER, F.lit(0))), *ROUTE_ORDER
    )
    beyond = remote() & (F.row_number().over(order) > F.col(c.CLWLMRUC))
    return eliminate(used, beyond, RECENTLY_USED).select(*candidates.columns)
