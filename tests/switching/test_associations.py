"""Which transmission queue each channel has, gets, and why."""

import pytest
from lakes import lake_with
from small_worlds import (
    at,
    message,
    message_channel,
    qmgr,
    queue,
    rcvr,
    sender,
    snapshot,
    tables,
)
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.snapshots.catalog import MissingSnapshotError, chosen_snapshot
from clwl_spark.snapshots.defined import UnknownQueueManagerError
from clwl_spark.studies.switch.associations import (
    Association,
    associations,
)
from clwl_spark.studies.switch.beside import beside_told
from clwl_spark.studies.switch.causes import Cause, Present, cause_of, held_told

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


def test_a_pending_switch_says_which_change_it_comes_from(lake):
    switching, stays, _ = associations(lake, "GATE", "S1")
    assert (switching.cause, stays.cause, stays.text) == (Cause.ANOTHER_FITS_BETTER, None, None)
    assert "XMITQ.CL1.QM1 was added, or its CLCHNAME altered, and fits better (kind 2" in (
        switching.text
    )
    assert "How many messages SYSTEM.CLUSTER.TRANSMIT.QUEUE holds" in switching.text


@pytest.mark.parametrize(
    ("present", "following", "matches", "cause"),
    [
        (Present("A", is_gone=True), "B", [("B", "T*")], Cause.PRESENT_IS_GONE),
        (Present("A"), OLD, [], Cause.PRESENT_FITS_LESS),
        (Present("A"), "B", [("B", "T*")], Cause.PRESENT_FITS_LESS),
        (Present("A", clchname="T*"), "B", [("B", "TO"), ("A", "T*")], Cause.ANOTHER_FITS_BETTER),
        (Present("A", False, "TO", "T*"), "B", [("B", "TO*"), ("A", "T*")],
         Cause.PRESENT_FITS_LESS),
        (Present("A", False, "*", "T*"), "B", [("B", "TO"), ("A", "T*")],
         Cause.ANOTHER_FITS_BETTER),
        (Present(OLD), "B", [("B", "T*")], Cause.ANOTHER_FITS_BETTER),
        (Present(OLD), "SYSTEM.CLUSTER.TRANSMIT.TO", [], Cause.DEFCLXQ_CHANGED),
        (Present("B"), "B", [("B", "T*")], None),
        (Present(), "B", [("B", "T*")], None),
    ],
)  # fmt: skip
def test_the_three_kinds_of_change(present, following, matches, cause):
    assert cause_of(present, following, matches) is cause


def test_what_the_old_queue_holds():
    assert "not known: XQMSGSA tells" in held_told(Present("A"))
    assert "holds no message" in held_told(Present("A", backlog=0))
    assert "A still holds 1 message for the channel" in held_told(Present("A", backlog=1))
    assert held_told(Present("A", is_gone=True, backlog=3)).startswith("A does not exist")


def test_a_queue_that_is_gone_a_backlog_and_a_dynamic_queue(spark, tmp_path):
    rows = tables(
        qmgr("GATE", defclxq="CHANNEL"), *(rcvr(x) for x in ("GATE", "QM1", "QM2")),
        queue("GATE", "SOME"), queue("QM1", "Q", "K"),
        sender("GATE", "QM1", "STOPPED", xmitq="XMIT.GONE", backlog=0),
        sender("GATE", "QM2", "STOPPED", xmitq=OLD, backlog=1200),
    )  # fmt: skip
    lake = routed_lake(spark, tmp_path, rows, [message("GATE", "Q")])
    gone, default = (x.to_json() for x in associations(lake, "GATE", "S1"))
    assert (gone["cause"], gone["kind_of_change"], gone["current_is_gone"]) == (
        "PRESENT_IS_GONE", 1, True,
    )  # fmt: skip
    assert gone["next"] == "SYSTEM.CLUSTER.TRANSMIT.TO.QM1"
    assert "made of SYSTEM.CLUSTER.TRANSMIT.MODEL.QUEUE" in gone["why"]
    assert (default["cause"], default["kind_of_change"]) == ("DEFCLXQ_CHANGED", 3)
    assert default["backlog"] == 1200
    assert f"{OLD} still holds 1,200 messages for the channel" in default["text"]


def test_a_queue_manager_whose_last_queue_was_deleted_has_none(spark, tmp_path):
    there = [qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1")), queue("QM1", "Q", "K")]
    link = sender("GATE", "QM1", "STOPPED", xmitq="XMIT.A", backlog=5)
    own = queue("GATE", "XMIT.A", usage="XMITQ", clchname="TO.*")
    heads = [snapshot("S1", 0), snapshot("S2", 1)]
    lake = lake_with(spark, tmp_path)
    rows = tables(*heads, *at("S1", *there, own, link), *at("S2", *there, link))
    for name, found in rows.items():
        put_rows(lake, name, found)
    (gone,) = (x.to_json() for x in associations(lake, "GATE", "S2"))
    assert (gone["cause"], gone["current_is_gone"]) == ("PRESENT_IS_GONE", True)
    assert "XMIT.A does not exist" in gone["text"]


def test_sender_and_server_channels_on_the_same_queues_are_told(spark, tmp_path):
    lake = lake_with(spark, tmp_path)
    rows = tables(
        qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2", "QM3")),
        queue("GATE", "NEW", usage="XMITQ", clchname="TO.QM1"),
        queue("GATE", "FAR", usage="XMITQ"),
        sender("GATE", "QM1", "RUNNING", xmitq=OLD),
    )  # fmt: skip
    rows["message_channels"] = [
        {"snapshot_id": "S1", **row}
        for _, row in (
            message_channel("GATE", "B.NEXT", "NEW", conname="far(1414)"),
            message_channel("GATE", "A.NOW", OLD, chltype="SVR"),
            message_channel("GATE", "ELSEWHERE", "FAR"),
            message_channel("GATE", "NOWHERE", ""),
            message_channel("QM1", "OF.ANOTHER", OLD),
        )
    ]
    for name, found in rows.items():
        put_rows(lake, name, found)
    found = associations(lake, "GATE", "S1")
    assert [(x.channel, [y.channel for y in x.beside]) for x in found] == [
        ("TO.QM1", ["A.NOW", "B.NEXT"]), ("TO.QM2", ["A.NOW"]), ("TO.QM3", ["A.NOW"]),
    ]  # fmt: skip
    text = (
        "B.NEXT (CHLTYPE(SDR)) names NEW, the transmission queue of the cluster-sender TO.QM1: it "
        "would take messages for other queue managers, and cannot open the queue beside others. It "
        "keeps the queue until its XMITQ is altered; unlike the switch of a cluster-sender, that "
        "moves no message: what is on NEW by then stays there."
    )
    assert found[0].to_json()["message_channels"][1] == {
        "channel": "B.NEXT", "chltype": "SDR", "xmitq": "NEW", "conname": "far(1414)",
        "text": text,
    }  # fmt: skip
    first, second = beside_told((x.channel, x.beside) for x in found)
    assert f"names {OLD}, the transmission queue of the cluster-sender TO.QM1 and 2 others" in first
    assert second == text


def test_where_no_channel_is_beside_it_says_none(lake):
    assert [x.to_json()["message_channels"] for x in associations(lake, "GATE", "S1")] == [[]] * 3
