"""Which queues share channels and transmission queues, by hand and against puts planned alone."""

import random
from collections import Counter

import pytest
from lakes import lake_with
from random_clusters import merged_tables, random_case
from separation.conftest import NEAR
from worlds import put_rows

from clwl_spark.algorithm.request import Request
from clwl_spark.algorithm.transmit import now
from clwl_spark.errors import UsageError
from clwl_spark.planning.facts import senders, transmission_queues
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.defined import UnknownQueueManagerError, names_defined
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import inline
from clwl_spark.studies.explain.planned import planned
from clwl_spark.studies.separation.separation import (
    SeparationQuestion,
    UnknownQueueError,
    separation,
    separation_of,
)


def lines_of(lake, **question):
    found = separation_of(lake, SeparationQuestion(limit=1_000, **question), Ladder())
    assert found.lines_total == len(found.lines)
    return {(x["qmgr"], x["xmitq"], x["channel"]): x for x in found.lines}


def test_queues_of_one_cluster_share_the_channel_to_their_host(lake):
    found = lines_of(lake)
    to_qm1 = found["APP", NEAR, "TO.QM1"]
    assert to_qm1["names"] == ["BILLS", "NOTES", "ORDERS", "RANKED", "STOCK"]
    assert (to_qm1["queues"], to_qm1["beside"], to_qm1["dest_qmgr"]) == (5, 0, "QM1")
    to_qm2 = found["APP", NEAR, "TO.QM2"]
    assert (to_qm2["names"], to_qm2["queues"], to_qm2["beside"]) == (["ORDERS", "STOCK"], 2, 3)


def test_a_cluster_of_its_own_separates_and_a_transmission_queue_alone_does_not(lake):
    found = lines_of(lake, qmgr="GATE")
    own = found["GATE", NEAR, "OWN.QM1"]
    assert (own["names"], own["next_xmitq"]) == (["IN.SAFE", "SAFE"], "XMIT.OWN")
    to_qm1 = found["GATE", "XMIT.QM1", "TO.QM1"]
    assert "SAFE" not in to_qm1["names"]
    assert (to_qm1["queues"], to_qm1["beside"]) == (8, 0)
    # With DEFCLXQ(CHANNEL) each channel has its queue, and yet five queues share it.
    split = lines_of(lake, qmgr="SPLIT")["SPLIT", "SYSTEM.CLUSTER.TRANSMIT.TO.QM1", "TO.QM1"]
    assert (split["queues"], split["beside"]) == (5, 0)


def test_a_definition_that_names_the_transmission_queue_has_no_channel(lake):
    away = lines_of(lake, qmgr="GATE")["GATE", "TO.FAR", ""]
    assert (away["names"], away["dest_qmgr"]) == (["AWAY"], "FAR")


def test_the_host_of_a_queue_does_not_send_it(lake):
    """QM1 has all but the ranked one's other instance itself; QM2 has two, and sends the others."""
    found = {key: x["names"] for key, x in lines_of(lake).items() if key[0] in ("QM1", "QM2")}
    assert found == {("QM2", NEAR, "TO.QM1"): ["BILLS", "NOTES", "RANKED"]}


def test_a_queue_is_told_who_is_with_it_and_who_is_beside_it(lake):
    question = SeparationQuestion(qmgr="GATE", objects=["SAFE", "STOCK"])
    safe, stock = sorted(separation_of(lake, question, Ladder()).queues, key=lambda x: x["queue"])
    assert (safe["channels"], safe["xmitqs"]) == (["OWN.QM1 to QM1"], [NEAR])
    assert (safe["on_channel"], safe["on_channel_names"]) == (1, ["IN.SAFE"])
    assert (safe["on_xmitq"], safe["on_xmitq_names"]) == (2, ["ORDERS", "STOCK"])
    assert stock["xmitqs"] == [NEAR, "XMIT.QM1"]
    assert (stock["on_channel"], stock["on_xmitq"]) == (7, 2)
    assert stock["on_channel_names"] == ["BILLS", "BILLS.ALIAS", "IN.BILLS", "IN.NOTES", "NOTES"]
    assert stock["on_xmitq_names"] == ["IN.SAFE", "SAFE"]


def test_a_queue_that_is_alone_has_nobody_beside_it(lake):
    question = SeparationQuestion(qmgr="GATE", objects=["AWAY"])
    (away,) = separation_of(lake, question, Ladder()).queues
    assert away == {
        "queue": "AWAY", "channels": [], "xmitqs": ["TO.FAR"],
        "on_channel": 0, "on_channel_names": [], "on_xmitq": 0, "on_xmitq_names": [],
    }  # fmt: skip


def test_lists_are_as_long_as_is_asked_for(lake):
    found = separation_of(lake, SeparationQuestion(qmgr="APP", limit=1), Ladder())
    assert (len(found.lines), len(found.queues)) == (1, 1)
    assert found.lines_total == 2
    assert found.queues[0]["queue"] == "BILLS"


def test_unknown_names_are_refused(lake):
    with pytest.raises(UnknownQueueManagerError, match="no queue manager 'NOBODY'"):
        separation_of(lake, SeparationQuestion(qmgr="NOBODY"), Ladder())
    with pytest.raises(UnknownQueueError, match="no message for 'NOTHING' leaves APP"):
        separation_of(lake, SeparationQuestion(qmgr="APP", objects=["NOTHING"]), Ladder())
    with pytest.raises(UsageError, match="name it with --qmgr"):
        separation_of(lake, SeparationQuestion(objects=["ORDERS"]), Ladder())


def ways_one_by_one(topology, snapshot_id, qmgrs, names):
    """What each queue manager can do with each name, each put planned by itself."""
    spark = topology.queues.sparkSession
    asked = [Request(snapshot_id, q, "QUEUE", name) for q in qmgrs for name in names]
    rows = [(snapshot_id, x) for x in qmgrs]
    of = frame_from_rows(spark, rows, "snapshot_id string, viewer string")
    queues = {
        row["viewer"]: transmission_queues(row.asDict(recursive=True))
        for row in senders(of, topology).collect()
    }
    ways = set()
    for request, found in planned(asked, topology, Ladder()).items():
        for x in found.candidates:
            if not x["is_local"] and x["eliminated_by"] not in (1, 2, 3, 4, 5, 6):
                xmitq = now(x["channel"], x["dest_qmgr"], queues[request.qmgr])
                way = (xmitq, x["channel"], x["dest_qmgr"])
                ways.add((request.qmgr, request.object_name, way))
        if found.plan["kind"] == "XMITQ" and not found.plan["reason"]:
            way = (found.plan["xmitq"], "", found.plan["resolved_qmgr"])
            ways.add((request.qmgr, request.object_name, way))
    return ways


@pytest.mark.parametrize("seeds", [range(4), range(4, 8)], ids=str)
def test_stand_ins_find_what_puts_planned_one_by_one_find(spark, tmp_path, seeds):
    tables = merged_tables([random_case(random.Random(x), f"C{x}.") for x in seeds])
    lake = lake_with(spark, tmp_path)
    for name, rows in tables.items():
        put_rows(lake, name, rows)
    snapshot_id = min(row["snapshot_id"] for row in tables["snapshots"])
    topology = read_topology(lake, [snapshot_id], inline)
    qmgrs = sorted(names_defined(topology))
    aliases = (topology.queues.qtype == "QREMOTE") & (topology.queues.rname == "")
    names = topology.queues.where(~aliases).select("queue").distinct().collect()
    ways = ways_one_by_one(topology, snapshot_id, qmgrs, sorted(x[0] for x in names))
    question = SeparationQuestion(limit=10_000)
    found = separation(topology, snapshot_id, question, Ladder())
    expected = Counter((q, *way) for q, _, way in ways)
    assert {
        (x["qmgr"], x["xmitq"], x["channel"], x["dest_qmgr"]): x["queues"] for x in found.lines
    } == expected
    on_xmitq = Counter((q, x) for q, x, _ in {(q, way[0], name) for q, name, way in ways})
    assert {(x["qmgr"], x["xmitq"]): x["queues"] + x["beside"] for x in found.lines} == on_xmitq
    assert all(
        x["names"]
        == sorted(
            name
            for q, name, way in ways
            if (q, *way) == (x["qmgr"], x["xmitq"], x["channel"], x["dest_qmgr"])
        )[:5]
        for x in found.lines
    )
    for qmgr in qmgrs[:: len(qmgrs) // 4]:
        one = SeparationQuestion(qmgr=qmgr, limit=10_000)
        told = separation(topology, snapshot_id, one, Ladder()).queues
        assert {x["queue"]: (x["on_channel"], x["on_xmitq"]) for x in told} == neighbours_of(
            {(name, way) for q, name, way in ways if q == qmgr}
        )


def neighbours_of(ways):
    """By queue, how many others share a channel, and how many only a transmission queue."""
    found = {}
    for name in {name for name, _ in ways}:
        mine = {way for other, way in ways if other == name}
        with_it = {other for other, way in ways if way in mine} - {name}
        xmitqs = {way[0] for way in mine}
        beside = {other for other, way in ways if way[0] in xmitqs} - with_it - {name}
        found[name] = (len(with_it), len(beside))
    return found
