"""Traffic as requests with how many messages each has: what questions about load are asked of."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES, Request
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, ObjectType, Via
from clwl_spark.planning.plans import plan_id
from clwl_spark.routing.intake.by_spark import with_requests
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

MESSAGES_OF: Final = "messages"
AS_Q_DEF: Final = "as_q_def"
"""Those of the messages whose binding is left to the queue's DEFBIND."""
_EVER: Final = -(2**62)


@dataclass(frozen=True, slots=True)
class Puts:
    """So many messages that a queue manager's applications put to an object.

    Attributes:
        qmgr: where they are put.
        object_name: queue name, or topic string.
        object_qmgr: object queue manager; blank = none named.
        object_type: QUEUE or TOPIC.
        via: LOCAL = put by an application, CLUSTER = received over a cluster channel.
        messages: how many, in any unit that is the same for all.
    """

    qmgr: str
    object_name: str
    object_qmgr: str = ""
    object_type: str = ObjectType.QUEUE.value
    via: str = Via.LOCAL.value
    messages: float = 1.0

    def request(self, snapshot_id: str) -> Request:
        """What is asked for in a snapshot."""
        return Request(
            snapshot_id, self.qmgr, self.object_type, self.object_name, self.object_qmgr, self.via
        )


def traffic_of_lake(lake: Lake, snapshot_id: str) -> DataFrame:
    """All messages of the lake as if they were put while a snapshot is in force.

    Grain: one row per distinct request: (plan_id, *REQUEST, messages, as_q_def). Messages that
    routing would reject are left out.
    """
    found = with_requests(lake.read(MESSAGES.name), [Pin(snapshot_id, _EVER)])
    counted = found.where(F.col(c.ERROR).isNull()).groupBy(*REQUEST)
    by_default = F.coalesce(c.BIND, F.lit(Bind.AS_Q_DEF.value)) == Bind.AS_Q_DEF.value
    sums = {MESSAGES_OF: F.count(F.lit(1)), AS_Q_DEF: F.count_if(by_default)}
    summed = counted.agg(*(x.cast("double").alias(name) for name, x in sums.items()))
    return summed.select(plan_id().alias(c.PLAN_ID), *REQUEST, *sums)


def traffic_from(spark: SparkSession, snapshot_id: str, puts: Iterable[Puts]) -> DataFrame:
    """The same of puts that are told, bound as the queue says; equal requests are summed."""
    rows = [(*x.request(snapshot_id), float(x.messages)) for x in puts]
    schema = f"{REQUEST_TYPES}, {MESSAGES_OF} double"
    summed = (
        frame_from_rows(spark, rows, schema)
        .groupBy(*REQUEST)
        .agg(F.sum(MESSAGES_OF).alias(MESSAGES_OF))
    )
    by_default = F.col(MESSAGES_OF).alias(AS_Q_DEF)
    return summed.select(plan_id().alias(c.PLAN_ID), *REQUEST, MESSAGES_OF, by_default)
