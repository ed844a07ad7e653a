"""`separate(...)` asked of a snapshot: the same cluster with and without what separates."""

import pytest
from assertions.hand_made import assertions
from separation.conftest import NEAR

from clwl_spark.checks.assertions.answering import SnapshotAnswers
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.results import Verdict
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.trace.trace import network_of

FACTS = {
    # One host and one cluster: one channel.
    "separate(BILLS from GATE, NOTES from GATE)": (
        "on GATE they share channel TO.QM1 to QM1 and transmission queue XMIT.QM1: give one a "
        "cluster of its own, with a CLUSRCVR of its own on QM1, and on GATE a transmission queue "
        "whose CLCHNAME fits that channel"
    ),
    # DEFCLXQ(CHANNEL) alone does not separate what shares a channel.
    "separate(BILLS from SPLIT, NOTES from SPLIT)": (
        "on SPLIT they share channel TO.QM1 to QM1 and transmission queue "
        "SYSTEM.CLUSTER.TRANSMIT.TO.QM1: give one a cluster of its own, with"
    ),
    # Another cluster, and another transmission queue now and after the next start.
    "separate(BILLS from GATE, SAFE from GATE)": None,
    # SAFE's channel is on SYSTEM.CLUSTER.TRANSMIT.QUEUE until it starts again.
    "separate(STOCK from GATE, SAFE from GATE)": (
        f"on GATE they share transmission queue {NEAR}: start OWN.QM1 anew, as the switch is "
        "pending"
    ),
    # The ranked queue's other host is never taken, the one of lower CLWLPRTY is if it has to be.
    "separate(RANKED from APP, STOCK from APP)": "on APP they share channel TO.QM1 to QM1 and",
    # An alias, and two queue managers: each has its own transmission queues.
    "not separate(BILLS.ALIAS from GATE, NOTES from GATE)": None,
    "separate(BILLS from APP, BILLS from GATE)": None,
    # Apart at first, and together from the gateway on.
    "separate(IN.BILLS from IN1, IN.NOTES from IN2)": (
        "on GATE they share channel TO.QM1 to QM1 and transmission queue XMIT.QM1: give"
    ),
    "separate(IN.BILLS from IN1, IN.SAFE from IN2)": None,
    # What is put where it stays takes nothing.
    "separate(BILLS from QM1, NOTES from QM1)": None,
    "separate(AWAY from GATE, BILLS from GATE)": None,
}


@pytest.fixture(scope="module")
def results(lake):
    return judged(lake)


def judged(lake):
    network = network_of(lake, "S1", {})
    report = judge(assertions(*FACTS), SnapshotAnswers(network, Ladder()))
    return dict(zip(FACTS, report.results, strict=True))


@pytest.mark.parametrize("fact", FACTS)
def test_what_is_shared_is_told(results, fact):
    said = FACTS[fact]
    assert results[fact].verdict == (Verdict.FAILED if said else Verdict.PASSED), results[fact]
    assert results[fact].said.startswith(said or "")


@pytest.mark.spark
def test_apache_spark_says_the_same(lake):
    verdicts = {fact: x.verdict == Verdict.FAILED for fact, x in judged(lake).items()}
    assert verdicts == {fact: bool(said) for fact, said in FACTS.items()}
