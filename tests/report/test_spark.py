"""The report of a small routed lake: its figures are counts worked out in plain Python."""

import json
import shutil
from collections import Counter
from datetime import timedelta

import pytest
from deltalake import DeltaTable
from lakes import lake_with
from orders_worlds import TOLD
from small_worlds import NOON, at, message, qmgr, queue, rcvr, sender, snapshot, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.cli.commands.report import ReportWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.report import run
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, MissingLakeError
from clwl_spark.present.report import reading
from clwl_spark.present.report.reading import read_report
from clwl_spark.present.report.surprises import Kind, surprises
from clwl_spark.spark.frames import frame_from_rows

CLUSTER = [
    qmgr("GATE"), qmgr("QM1"), qmgr("QM2"),
    rcvr("GATE"), rcvr("QM1"), rcvr("QM2"),
    rcvr("QM1", channel="SLOW.QM1"),
    sender("GATE", "QM1", "RETRYING", channel="SLOW.QM1"),
    queue("GATE", "HERE"),
]  # fmt: skip
HALVES = [queue("QM1", "Q", "K"), queue("QM2", "Q", "K")]
LEFT = [queue("QM1", "Q", "K")]


@pytest.fixture(scope="module")
def routed(spark, tmp_path_factory):
    """GATE puts to Q on two queue managers; an hour later on one of them. Some fail."""
    rows = tables(
        snapshot("S1"), snapshot("S2", hours=1),
        *at("S1", *CLUSTER, *HALVES), *at("S2", *CLUSTER, *LEFT),
    )  # fmt: skip
    later = NOON + timedelta(hours=1)
    puts = [message("GATE", "Q", n) for n in range(1, 41)]
    puts += [message("GATE", "Q", n, put_time=later + timedelta(seconds=n)) for n in range(41, 61)]
    puts += [message("GATE", "HERE", n, put_time=later) for n in range(61, 66)]
    puts += [message("GATE", "NOWHERE", n, put_time=later) for n in range(66, 73)]
    puts += [message("GATE", "Q", 73, put_time=NOON - timedelta(hours=1))]
    lake = routed_lake(spark, tmp_path_factory.mktemp("report"), rows, puts)
    found = [row.asDict() for row in lake.read("outcomes").collect()]
    return lake, found


@pytest.mark.spark
def test_figures_are_counts_of_the_outcomes_on_spark(routed):
    check_figures(routed)


def test_figures_are_counts_of_the_outcomes(routed):
    check_figures(routed)


def check_figures(routed):
    lake, outcomes = routed
    data = read_report(lake)
    head = data.head
    assert (head.outcomes, head.failed, head.rejected) == (72, 7, 1)
    assert head.messages == 73
    assert head.first == NOON + timedelta(seconds=1)
    assert head.last == NOON + timedelta(hours=1, seconds=60)
    assert [(x.snapshot_id, x.outcomes) for x in head.snapshots] == [("S1", 40), ("S2", 32)]

    good = [x for x in outcomes if x["reason"] == 0]
    ways = Counter((x["object_name"], x["dest_qmgr"], x["channel"]) for x in good)
    assert {
        (one.object_name, x.dest_qmgr, x.channel): x.messages
        for one in data.shares
        for x in one.shares
    } == ways
    assert (data.pairs, data.paired) == (2, 65)

    links = Counter((x["dest_qmgr"], x["channel"]) for x in good if not x["is_local"])
    carried = {(x.dest_qmgr, x.channel): x.messages for x in data.cluster.edges if x.messages}
    assert carried == links
    slow = next(x for x in data.cluster.edges if x.channel == "SLOW.QM1")
    assert (slow.status, slow.messages) == ("RETRYING", 0)
    nodes = {x.qmgr: (x.sent, x.received, x.kept) for x in data.cluster.nodes}
    assert nodes == {"GATE": (60, 0, 5), "QM1": (0, 40, 0), "QM2": (0, 20, 0)}

    by_dest = Counter()
    for (_, dest), count in data.timeline.counts.items():
        by_dest[dest] += count
    assert by_dest == Counter(x["dest_qmgr"] for x in good)


def test_records_of_where_messages_went_stand_beside_outcomes(routed, tmp_path, capsys):
    lake, outcomes = routed
    words = ["report", "--lake", lake.root, "--out", str(tmp_path), "--json"]
    assert read_report(lake).conformity is None
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["conformity"] is None
    own = [x for x in outcomes if x["object_name"] == "Q"]
    records = [{**{x: row[x] for x in TOLD}, "source": "test"} for row in own]
    records[5] |= {"dest_qmgr": "ELSEWHERE", "channel": None}
    put_rows(lake, "observed_routes", records)
    try:
        found = read_report(lake).conformity
        assert (found.compared, found.agree) == (60, 59)
        assert [x.qmgr for x in found.first_disagreements] == ["GATE"]
        assert main(words) == 0
        shown = json.loads(capsys.readouterr().out)["conformity"]
        assert shown == {"seen": 60, "compared": 60, "agree": 59}
        written = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "59 of 60 messages went where they were foretold to (98.33%)" in written
    finally:
        DeltaTable(lake.path("observed_routes")).delete()


def test_the_funnel_weighs_candidates_by_messages(routed):
    lake, _ = routed
    weight = Counter(x["plan_id"] for x in routed[1])
    left = Counter()
    for row in lake.read("route_candidates").collect():
        left[row["eliminated_by"]] += weight[row["plan_id"]]
    funnel = read_report(lake).funnel
    assert funnel.candidates == left.total() > 0
    del left[None]
    assert funnel.eliminated == left
    assert funnel.messages == 60


def test_surprises_of_a_lake(routed, monkeypatch):
    halves = [("GATE", "Q", x, f"TO.{x}", 0.5) for x in ("QM1", "QM2")]
    types = "qmgr string, object_name string, dest_qmgr string, channel string, expected double"
    told = frame_from_rows(routed[0].spark, halves, types)
    monkeypatch.setattr(reading, "expected_ways", lambda *_: told)
    found = {x.kind: x for x in surprises(read_report(routed[0]))}
    assert found[Kind.AVOIDED].messages == 60
    assert "SLOW.QM1 is RETRYING" in found[Kind.AVOIDED].sentence
    # Most of them were put under the earlier snapshot; the failures under the one that is asked.
    assert "--object Q --snapshot S1 --lake" in found[Kind.AVOIDED].ask
    assert "--object NOWHERE --lake" in found[Kind.FAILS].ask
    assert Kind.HELD not in found
    assert "All 7 messages put on GATE to NOWHERE ended with 2085" in found[Kind.FAILS].sentence
    assert "TO.QM1 got 100.0%, before 50.0%" in found[Kind.MOVED].sentence
    assert found[Kind.MOVED].messages == 10
    assert found[Kind.DEVIATES].messages == 10
    assert "QM1 over TO.QM1 got 66.7%" in found[Kind.DEVIATES].sentence
    assert "no valid snapshot" in found[Kind.REJECTED].sentence
    assert Kind.IDLE not in found
    assert Kind.LATE not in found


def test_the_object_of_most_messages_is_that_of_all_snapshots(spark, tmp_path):
    hosted = [*CLUSTER, *(queue("QM1", x, "K") for x in ("FEW", "MANY"))]
    rows = tables(snapshot("S1"), snapshot("S2", hours=1), *at("S1", *hosted), *at("S2", *hosted))
    puts = [message("GATE", "FEW", n) for n in (1, 2, 3)]
    puts += [message("GATE", "MANY", n) for n in (4, 5)]
    later = NOON + timedelta(hours=1)
    puts += [message("GATE", "MANY", n, put_time=later) for n in (6, 7)]
    lake = routed_lake(spark, tmp_path, rows, puts)
    (found,) = read_report(lake).avoided
    assert (found.messages, found.object_name, found.snapshot_id) == (7, "MANY", "S2")


def test_a_lake_whose_snapshots_are_gone_or_not_valid_has_a_report(routed, tmp_path):
    shutil.copytree(routed[0].root, tmp_path / "lake")
    lake = Lake(routed[0].spark, str(tmp_path / "lake"))
    lake.delete("snapshots", "snapshot_id", "S1", "S2")
    found = {x.kind: x for x in surprises(read_report(lake))}
    assert "--object NOWHERE --snapshot S2 --lake" in found[Kind.FAILS].ask
    shutil.rmtree(tmp_path / "lake" / "snapshots")
    assert read_report(lake).head.newest == ""


def test_the_command_writes_the_page_and_says_where(routed, tmp_path, capsys):
    folder = tmp_path / "out"
    assert run(Common(lake=routed[0].root, as_json=True, quiet=True), ReportWords(folder)) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["report"] == str(folder / "report.html")
    assert document["outcomes"] == 72
    assert document["surprises"][0]["messages"] == 60
    assert document["seconds"] > 0
    assert "MQRC_UNKNOWN_OBJECT_NAME" in (folder / "report.html").read_text()


def test_a_lake_without_outcomes_says_what_to_run(spark, tmp_path):
    lake = lake_with(spark, tmp_path, ["messages", "outcomes"])
    with pytest.raises(InputError, match=r"nothing was routed yet .*clwl route"):
        read_report(lake)
    with pytest.raises(MissingLakeError):
        read_report(Lake(spark, str(tmp_path / "none")))


def test_what_waits_is_one_number(spark, tmp_path, capsys):
    """Rank keeps all on QM1, whose channel is down; what is bound to QM1 goes on waiting.

    So does what is bound to an instance of GONE that is no candidate any more.
    """
    there = [qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2", "QM3"))]
    hosts = [queue("QM1", "Q", "K", clwlrank=9), queue("QM2", "Q", "K")]
    both = [queue(x, "B", "K") for x in ("QM1", "QM2")]
    rows = tables(
        snapshot("S1"), snapshot("S2", hours=1),
        *at("S1", *there, *hosts, *both, queue("QM1", "GONE", "K")),
        *at("S2", *there, *hosts, *both, sender("GATE", "QM1", "RETRYING")),
    )  # fmt: skip
    later = NOON + timedelta(hours=1)
    puts = [message("GATE", "Q", n, put_time=later) for n in range(3, 8)]
    puts += [message("GATE", "Q", n, put_time=later, object_qmgr="QM1") for n in range(11, 31)]
    bound = {"bind": "ON_OPEN", "open_id": 1}
    puts += [message("GATE", "B", n, put_time=NOON, **bound) for n in (1, 2)]
    puts += [message("GATE", "B", n, put_time=later, **bound) for n in (8, 9)]
    puts += [message("GATE", "GONE", n, put_time=x, **bound) for n, x in ((0, NOON), (10, later))]
    lake = routed_lake(spark, tmp_path, rows, puts)
    outcomes = lake.read("outcomes").where("put_seq > 2").collect()
    expected = sum(x.dest_qmgr == "QM1" for x in outcomes)
    assert expected >= 26
    data = read_report(lake)
    assert data.head.waiting == expected
    assert sum(x.messages for x in surprises(data) if x.kind == Kind.HELD) == expected
    assert f"--object Q --object-qmgr QM1 --lake {lake.root}" in surprises(data)[0].ask
    assert {x.qmgr for x in data.cluster.nodes} == {"GATE", "QM1", "QM2", "QM3"}
    words = ["--lake", lake.root, "--json"]
    capsys.readouterr()
    change = "ALTER QLOCAL(Q) CLWLPRTY(1) ON QM2"
    assert main(["what-if", *words, "--change", change]) == 0
    # What-if routes all in the one snapshot, so that nothing is bound to what was up before.
    of_q = sum(x.object_name == "Q" for x in outcomes)
    assert json.loads(capsys.readouterr().out)["waiting"]["before"] == of_q
    assert main(["ask", "waiting-channels", *words]) == 0
    asked = json.loads(capsys.readouterr().out)
    assert sum(x["messages"] for x in asked["rows"]) == expected
