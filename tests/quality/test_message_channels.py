"""Every way in which cluster-senders have a transmission queue, and a sender channel on it."""

import pytest
from quality.gate_worlds import adding, changed, judged, setting
from small_worlds import message_channel, queue

from clwl_spark.checks.quality.results import Scope, Verdict
from clwl_spark.checks.quality.suites import load_gates

SCTQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
BY_DEFAULT = "those without a queue of their own"


def told(*changes):
    """Details of the two gates, where they say anything."""
    found = judged(changed(*changes), load_gates(Scope.TOPOLOGY).only_lint())
    rows = {x.gate: x.found.rows for x in found if x.verdict == Verdict.FAILED}
    beside = rows.get("sender-beside-cluster-senders", ())
    shared = rows.get("senders-share-xmitq", ())
    return [(x["qmgr"], x["channel"], x["detail"]) for x in beside], [x["detail"] for x in shared]


@pytest.mark.parametrize(
    ("xmitq", "changes", "other"),
    [
        (SCTQ, [], BY_DEFAULT),
        ("SYSTEM.CLUSTER.TRANSMIT.TO.QM2", [], "TO.QM2"),
        ("QM1.XMIT", [setting("channel_status", {"remote_qmgr": "QM1"}, xmitq="")], "TO.QM1"),
        ("FITS", [adding(queue("FR1", "FITS", usage="XMITQ", clchname="TO.QM*"))], "TO.QM1"),
        ("HAS", [setting("channel_status", {"remote_qmgr": "QM2"}, xmitq="HAS")], "TO.QM2"),
    ],
)
def test_a_sender_beside_cluster_senders_is_told_with_one_of_them(xmitq, changes, other):
    beside, shared = told(adding(message_channel("FR1", "A", xmitq)), *changes)
    words = f"SDR on {xmitq}, a transmission queue of cluster-senders: {other}"
    assert (beside, shared) == ([("FR1", "A", words)], [])


@pytest.mark.parametrize(
    ("qmgr", "xmitq", "changes"),
    [
        ("OUT", SCTQ, []),
        ("OUT", "FITS", [adding(queue("OUT", "FITS", usage="XMITQ", clchname="TO.*"))]),
        ("FR1", "SYSTEM.CLUSTER.TRANSMIT.TO.FR1", []),
        ("FR1", "SYSTEM.CLUSTER.TRANSMIT.NONE", []),
        ("FR1", "ITS", [adding(queue("FR1", "ITS", usage="XMITQ", clchname="TO_QM*"))]),
        ("QM2", "QM1.XMIT", []),
        ("FR1", " ", []),
    ],
)
def test_where_no_cluster_sender_has_the_queue_nothing_is_told(qmgr, xmitq, changes):
    assert told(adding(message_channel(qmgr, "A", xmitq.strip())), *changes) == ([], [])


def test_of_three_on_one_queue_the_first_and_the_last_are_named():
    third = message_channel("FR1", "ZZ", "TO.ELSEWHERE", chltype="SVR")
    second = message_channel("FR1", "MM", "TO.ELSEWHERE")
    elsewhere = message_channel("QM1", "FR1.ELSEWHERE", "TO.ELSEWHERE")
    beside, shared = told(adding(second, third, elsewhere))
    assert (beside, shared) == ([], ["3 channels, as FR1.ELSEWHERE and ZZ"])
