"""Messages that were put in logical order, counted: what rules on order look at.

Source: IBM's page on transmission queues and Hughson's deck: only bound messages, or groups of
them, are sure to arrive in order.
"""

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, ObjectType
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

TABLE: Final = "ordered_words"
_IN_GROUP: Final = "in_group"
_MESSAGES: Final = "messages"
SCHEMA: Final = pa.schema(
    [
        (c.QMGR, pa.string()),
        (c.OBJECT_NAME, pa.string()),
        (c.OBJECT_QMGR, pa.string()),
        (c.BIND, pa.string()),
        (_IN_GROUP, pa.bool_()),
        (_MESSAGES, pa.int64()),
    ]
)
DDL: Final = (
    "qmgr string, object_name string, object_qmgr string, bind string, in_group boolean, "
    "messages bigint"
)


def ordered_words(lake: Lake) -> DataFrame:
    """Messages that were put to queues in logical order.

    Grain: one row per queue manager, object and its queue manager, bind, and whether they are in
    groups.
    """
    messages = lake.read_or_empty(MESSAGES.name)
    is_topic = F.coalesce(c.OBJECT_TYPE, F.lit("")) == ObjectType.TOPIC.value
    ordered = messages.where(F.coalesce(c.LOGICAL_ORDER, F.lit(False)) & ~is_topic)
    object_qmgr = F.coalesce(c.OBJECT_QMGR, F.lit("")).alias(c.OBJECT_QMGR)
    bind = F.coalesce(c.BIND, F.lit(Bind.AS_Q_DEF.value)).alias(c.BIND)
    in_group = F.col(c.GROUP_ID).isNotNull().alias(_IN_GROUP)
    key = (c.QMGR, c.OBJECT_NAME, object_qmgr, bind, in_group)
    return ordered.groupBy(*key).agg(F.count("*").alias(_MESSAGES))
