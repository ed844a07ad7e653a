"""One routed lake with a switch pending, figure 1 of IBM's page; messages come every second."""

import pytest
from pyspark.sql import SparkSession
from small_worlds import message, qmgr, queue, rcvr, sender, tables
from waiting_worlds import routed_lake

from clwl_spark.delta.lake import Lake

OLD = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
NEW = "XMITQ.CL1.QM1"


@pytest.fixture(scope="session")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """GATE puts Q, on QM1 and QM2, 20 times; OPENQ, bound at open, and SOLE are on QM1 alone."""
    rows = tables(
        qmgr("GATE"),
        rcvr("GATE", channel="CL1.GATE"),
        rcvr("QM1", channel="CL1.QM1"),
        rcvr("QM2", channel="CL1.QM2"),
        rcvr("QM3", channel="CS.QM3"),
        rcvr("FAR", "OTHER", channel="OTHER.FAR"),
        queue("GATE", "XMITQ.CL1.QM1", usage="XMITQ", clchname="CL1.QM1"),
        queue("GATE", "XMITQ.CL1", usage="XMITQ", clchname="CL1.*"),
        queue("GATE", "XMITQ.CL.QM", usage="XMITQ", clchname="CL*.QM*"),
        queue("QM1", "Q", "K", defbind="NOTFIXED"),
        queue("QM2", "Q", "K", defbind="NOTFIXED"),
        queue("QM1", "SOLE", "K", defbind="NOTFIXED"),
        sender("GATE", "QM1", "RUNNING", "CL1.QM1", xmitq=OLD),
        sender("GATE", "QM2", "RUNNING", "CL1.QM2", xmitq="XMITQ.CL1"),
        qmgr("LONE"),
    )
    puts = [message("GATE", "Q", number) for number in range(1, 21)]
    puts += [message("GATE", "SOLE", number) for number in range(21, 31)]
    return routed_lake(spark, tmp_path_factory.mktemp("switching"), rows, puts)
