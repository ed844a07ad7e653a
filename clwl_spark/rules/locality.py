"""Rule 6: the local queue before the cluster."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.rules.marking import any_in_play, eliminate, remote
from clwl_spark.tables import columns as c


def keep_local_queue(candidates: DataFrame) -> DataFrame:
    """Eliminate remote rows where a local row in play takes all (`uses_local`).

    `uses_local` holds on local rows with CLWLUSEQ(LOCAL), with QMGR on a queue manager with
    CLWLUSEQ(LOCAL), and for messages that came over a cluster channel; kind QUEUE only.

    Source: SEMANTICS 4, rule 6 and P7 (IBM's algorithm page, rule 6).
    """
    return eliminate(candidates, remote() & any_in_play(F.col(c.USES_LOCAL)), 6)
