"""Facts about what is at the other end of a transmission queue, while that is down."""

import pytest
from assertions.hand_made import assertions
from small_worlds import qmgr, queue, rcvr, remote
from tracing.way_files import lake_of

from clwl_spark.checks.assertions.answering import SnapshotAnswers
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.results import Verdict
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.trace.trace import network_of

FACTS = {
    "reachable(FAR from ME)": True,
    "goes to B (FAR from ME)": True,
    "reachable(ALONE from ME)": True,
    # No message comes to what is down, whichever kind of channel leads to it.
    "reachable(FAR from ME) when B down": False,
    "not reachable(FAR from ME) when B down": True,
    "goes to B (FAR from ME) when B down": False,
    "reachable(FAR from ME) when cluster M down": True,
    "reachable(FAR from ME) when N down": True,
    # N has no channel of a cluster.
    "reachable(ALONE from ME) when N down": False,
    "reachable(NEAR from ME) when any queue manager down": False,
    "reachable(FAR from ME) when A down": True,
}


@pytest.fixture(scope="module")
def results(spark, tmp_path_factory):
    told = (
        qmgr("ME"), rcvr("ME"), qmgr("A"), rcvr("A"), qmgr("B"), rcvr("B", "M"), qmgr("N"),
        *(queue("ME", x, usage="XMITQ") for x in ("B", "N")),
        remote("ME", "FAR", "Q", "B"), remote("ME", "ALONE", "Q", "N"),
        queue("B", "Q"), queue("N", "Q"), queue("A", "NEAR", "K"),
    )  # fmt: skip
    rows = {}
    for table, row in told:
        rows.setdefault(table, []).append({"observer": "*", **row})
    lake = lake_of(spark, tmp_path_factory.mktemp("behind") / "lake", {"S1": rows})
    network = network_of(lake, "S1", {})
    report = judge(assertions(*FACTS), SnapshotAnswers(network, Ladder()))
    return dict(zip(FACTS, report.results, strict=True))


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_holds_or_not(results, fact):
    assert results[fact].verdict == (Verdict.PASSED if FACTS[fact] else Verdict.FAILED)


def test_it_is_told_where_messages_wait(results):
    said = results["reachable(FAR from ME) when B down"].said
    assert said.startswith("0% of the messages come to a queue; 100% end on ME: waits for B")
