"""One routed lake with messages of every kind waiting, for the commands."""

import pytest
from pyspark.sql import SparkSession
from small_worlds import message, qmgr, queue, rcvr, tables
from waiting_worlds import routed_lake

from clwl_spark.delta.lake import Lake


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """GATE puts to RANKED (QM1 first, by rank), PLAIN (both), FIXED (bound) and HERE (local)."""
    rows = tables(
        qmgr("GATE"),
        rcvr("GATE"),
        rcvr("QM1"),
        rcvr("QM2"),
        queue("QM1", "RANKED", "K", defbind="NOTFIXED", clwlrank=5),
        queue("QM2", "RANKED", "K", defbind="NOTFIXED"),
        queue("QM1", "PLAIN", "K"),
        queue("QM2", "PLAIN", "K"),
        queue("QM1", "FIXED", "K"),
        queue("GATE", "HERE"),
    )
    puts = [message("GATE", "RANKED", number) for number in (1, 2)]
    puts += [message("GATE", "PLAIN", number) for number in range(3, 9)]
    puts += [message("GATE", "FIXED", 9, bind="ON_OPEN", open_id=1), message("GATE", "HERE", 10)]
    return routed_lake(spark, tmp_path_factory.mktemp("waiting"), rows, puts)
