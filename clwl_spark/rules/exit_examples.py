"""Cluster workload exits to use or to start from, for `--exit` of route, explain and trace.

    clwl route --exit clwl_spark.rules.exit_examples:prefer_channel:TO.QM2 ...

They do what the sample exit that comes with MQ (amqswlm0) does: the first destination over the
channel that CLWLDATA names takes all, while it is good; else the queue manager's own algorithm
goes on with all of them. Good means: puts are enabled, and the channel is up or on its way up or
down. That is less picky than rules 8 to 11, for which only INACTIVE and RUNNING are best.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.rules.marking import CHOICE_KEY
from clwl_spark.tables import columns as c

GOOD: Final = ("INACTIVE", "BINDING", "STARTING", "RUNNING", "STOPPING", "INITIALIZING")
"""Channel states in which a destination is taken; not RETRYING, PAUSED, STOPPED and the like."""

_FIRST: Final = "first_good"


def prefer_channel(destinations: DataFrame, channel: str) -> DataFrame:
    """Keep the first good destination over a channel; all destinations where there is none.

    Args:
        destinations: as described in `rules.exit`.
        channel: its name, case counts.
    """
    return _first_good(destinations, F.col(c.CHANNEL) == channel)


def prefer_qmgr(destinations: DataFrame, qmgr: str) -> DataFrame:
    """Keep the first good destination on a queue manager; all where there is none.

    Args:
        destinations: as described in `rules.exit`.
        qmgr: its name, case counts.
    """
    return _first_good(destinations, F.col(c.DEST_QMGR) == qmgr)


def _first_good(destinations: DataFrame, wanted: Column) -> DataFrame:
    """Grain: one row per destination, before and after."""
    order = F.struct(
        c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS, c.INSTANCE_CLUSTER, c.CHANNEL_CLUSTER
    )
    good = wanted & F.col(c.PUT_ENABLED) & F.col(c.STATUS).isin(*GOOD)
    first = F.min(F.when(good, order)).over(Window.partitionBy(*CHOICE_KEY))
    found = destinations.withColumn(_FIRST, first)
    return found.where(F.col(_FIRST).isNull() | (F.col(_FIRST) == order)).drop(_FIRST)
