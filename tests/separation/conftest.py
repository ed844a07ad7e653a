"""A gateway that was given transmission queues of its own, and what they separate."""

import pytest
from lakes import lake_with
from small_worlds import alias, qmgr, queue, rcvr, remote, sender, snapshot
from topology_frames import frames

NEAR = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
WORLD = (
    snapshot("S1"),
    *(qmgr(x) for x in ("APP", "GATE", "QM1", "QM2")),
    qmgr("SPLIT", defclxq="CHANNEL"),
    *(rcvr(x) for x in ("APP", "GATE", "QM1", "QM2", "SPLIT")),
    # A second cluster, with a CLUSRCVR of its own at its host, for SAFE alone.
    rcvr("GATE", "OWN", channel="OWN.GATE"),
    rcvr("QM1", "OWN", channel="OWN.QM1"),
    queue("GATE", "XMIT.OWN", usage="XMITQ", clchname="OWN.*"),
    queue("GATE", "XMIT.QM1", usage="XMITQ", clchname="TO.QM1"),
    queue("QM1", "ORDERS", "K", defbind="NOTFIXED"),
    queue("QM2", "ORDERS", "K", defbind="NOTFIXED"),
    queue("QM1", "BILLS", "K"),
    queue("QM1", "NOTES", "K"),
    queue("QM2", "STOCK", "K", clwlprty=5),
    queue("QM1", "STOCK", "K"),
    queue("QM1", "SAFE", "OWN"),
    queue("QM1", "RANKED", "K", clwlrank=1),
    queue("QM2", "RANKED", "K"),
    alias("GATE", "BILLS.ALIAS", "BILLS"),
    # Two more queue managers that reach K's queues over the gateway.
    *(qmgr(x) for x in ("IN1", "IN2")),
    *(rcvr(x, "IN", channel=f"IN.{x}") for x in ("IN1", "IN2", "GATE")),
    alias("GATE", "IN.BILLS", "BILLS", cluster="IN"),
    alias("GATE", "IN.NOTES", "NOTES", cluster="IN"),
    alias("GATE", "IN.SAFE", "SAFE", cluster="IN"),
    remote("GATE", "AWAY", "X", "FAR", xmitq="TO.FAR"),
    queue("GATE", "TO.FAR", usage="XMITQ"),
    # GATE's channel still is where it was before XMIT.OWN was defined.
    sender("GATE", "QM1", "RUNNING", "OWN.QM1", xmitq=NEAR),
)


@pytest.fixture(scope="session")
def lake(spark, tmp_path_factory):
    made = lake_with(spark, tmp_path_factory.mktemp("separation"))
    for name, frame in frames(spark, *WORLD, snapshot_id="S1").items():
        made.append(name, frame)
    return made
