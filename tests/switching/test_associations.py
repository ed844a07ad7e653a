"""Which transmission queue each channel has, gets, and why."""

import pytest

from clwl_spark.snapshots.catalog import MissingSnapshotError, chosen_snapshot
from clwl_spark.snapshots.defined import UnknownQueueManagerError
from clwl_spark.studies.switch.associations import (
    Association,
    associations,
)

OLD = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"


def test_each_channel_of_the_clusters_with_now_next_and_matches(lake):
    found = [x.to_json() for x in associations(lake, "GATE", "S1")]
    names = ("channel", "remote_qmgr", "current", "next", "pending")
    assert [tuple(x[name] for name in names) for x in found] == [
        ("CL1.QM1", "QM1", OLD, "XMITQ.CL1.QM1", True),
        ("CL1.QM2", "QM2", "XMITQ.CL1", "XMITQ.CL1", False),
        ("CS.QM3", "QM3", None, OLD, False),
    ]
    assert found[0]["matches"] == [
        {"xmitq": "XMITQ.CL1.QM1", "clchname": "CL1.QM1"},
        {"xmitq": "XMITQ.CL1", "clchname": "CL1.*"},
        {"xmitq": "XMITQ.CL.QM", "clchname": "CL*.QM*"},
    ]
    assert found[0]["why"] == (
        "CLCHNAME(CL1.QM1) of XMITQ.CL1.QM1 names the channel exactly, before XMITQ.CL1: "
        "CL1.* is less specific"
    )
    assert found[2]["why"] == "no CLCHNAME fits, and DEFCLXQ is SCTQ"


def test_a_queue_manager_in_no_cluster_has_no_channels(lake):
    assert associations(lake, "LONE", "S1") == []


def test_unknown_names_are_refused(lake):
    with pytest.raises(UnknownQueueManagerError, match="no queue manager 'NOBODY'"):
        associations(lake, "NOBODY", "S1")
    with pytest.raises(MissingSnapshotError, match="no snapshot 'S7'"):
        chosen_snapshot(lake, "S7")
    assert chosen_snapshot(lake, None) == chosen_snapshot(lake, "S1") == "S1"


@pytest.mark.parametrize(
    ("matches", "why"),
    [
        ([("A", "T*")], "CLCHNAME(T*) of A fits, with one trailing *"),
        ([("A", "*T")], "CLCHNAME(*T) of A fits, with * before other text"),
        ([("A", "*T*"), ("B", "*")], "fits, with 2 *, before B: * is less specific"),
        ([("A", "TO*"), ("B", "T*")], "before B: 2 literal characters, not 1"),
        ([("A", "T*"), ("B", "T*")], "equally specific, so the lower queue name"),
    ],
)
def test_why_one_definition_wins(matches, why):
    of = Association("TO", "QM", None, "A", matches, "SCTQ")
    assert why in of.why
    assert not of.pending
