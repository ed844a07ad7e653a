"""Which transmission queue: precedence of CLCHNAME, defaults, current associations."""

import pytest

from clwl_spark.algorithm.transmit import TransmissionQueues, after_next_start, matches, now

SEED_3 = [
    ("XMITQ.CL.QM", "CL*.QM*"),
    ("XMITQ.CL1", "CL1.*"),
    ("XMITQ.CL1.QM1", "CL1.QM1"),
]


@pytest.mark.parametrize(
    ("channel", "queue"),
    [
        ("CL1.QM1", "XMITQ.CL1.QM1"),
        ("CL1.QM2", "XMITQ.CL1"),
        ("CL2.QM1", "XMITQ.CL.QM"),
        ("CS.QM1", "SYSTEM.CLUSTER.TRANSMIT.QUEUE"),
    ],
)
def test_the_most_specific_definition_wins(channel: str, queue: str) -> None:
    assert after_next_start(channel, TransmissionQueues(definitions=SEED_3)) == queue


def test_one_queue_per_channel_is_the_other_default() -> None:
    queues = TransmissionQueues(defclxq="CHANNEL")
    assert after_next_start("TO.QM2", queues) == "SYSTEM.CLUSTER.TRANSMIT.TO.QM2"


def test_longer_literal_text_then_the_lower_name_decide_among_equals() -> None:
    found = matches("TO.QM2", [("B", "T*2"), ("A", "TO*2"), ("Z", "*"), ("C", "TO*2"), ("D", "X*")])
    assert [queue for queue, _ in found] == ["Z", "A", "C", "B"]


@pytest.mark.parametrize("clchname", ["A.B", "A?B", "[A]B", "A_B", "A%B"])
def test_only_the_star_is_a_wildcard(clchname: str) -> None:
    assert matches("AXB", [("Q", clchname)]) == []
    assert matches(clchname, [("Q", clchname)]) == [("Q", clchname)]


def test_messages_go_to_the_current_association_until_the_channel_starts() -> None:
    queues = TransmissionQueues(definitions=SEED_3, current={("CL1.QM1", "QM1"): "OLD"})
    assert now("CL1.QM1", "QM1", queues) == "OLD"
    assert now("CL1.QM1", "QM9", queues) == "XMITQ.CL1.QM1"
