"""`clwl trace` and `clwl route --hops`: documents, tables, and what they say about wrong words."""

import json

import pytest
from small_worlds import qmgr, queue, rcvr, remote, tables, topic
from tracing.test_journeys import put
from tracing.way_files import definitions, lake_of

from clwl_spark.cli import main
from clwl_spark.cli.trace import read_links
from clwl_spark.errors import UsageError
from clwl_spark.tables import XMITQ_LINKS


def outside():
    """A queue manager whose transmission queue is not named for the gateway that it leads to."""
    world = tables(
        qmgr("QMX"),
        remote("QMX", "ORDERS", "Q", "QMB", xmitq="TO.GATE"),
        queue("QMX", "TO.GATE", usage="XMITQ"),
        *(x for name in ("QMA", "QMB") for x in (qmgr(name), rcvr(name))),
        queue("QMB", "Q", "K"),
        topic("QMA", "NEWS", "/news", clroute="TOPICHOST"),
    )
    return {table: rows for table, rows in world.items() if table != "snapshots"}


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    named = {
        "outside": outside(),
        "bounce": definitions("bouncing_without_rank"),
        "gateway": definitions("into_cluster_3"),
    }
    return lake_of(spark, tmp_path_factory.mktemp("commands") / "lake", named)


def document(capsys, lake, *words):
    capsys.readouterr()
    assert main([words[0], "--lake", lake.root, *words[1:], "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_document_is_the_contract_s_with_more(capsys, lake):
    words = ("--from", "QMX", "--object", "CQ1", "--object-qmgr", "CQM")
    found = document(capsys, lake, "trace", *words)
    assert {"hops", "loop", "ends"} <= found.keys()
    assert found["snapshot_id"] == "gateway"
    first, second = found["hops"][:2]
    assert {"qmgr", "object_name", "object_qmgr", "kind", "routes", "reason"} <= first.keys()
    assert (first["kind"], first["xmitq"], first["routes"]) == ("XMITQ", "QMA", [])
    assert second["resolution_path"] == ["CQ1@CQM", "CQ1"]
    assert [x["dest_qmgr"] for x in second["routes"]] == ["QMB", "QMC", "QMD"]
    assert found["loop"] is False
    assert found["ends"][0].keys() == {"qmgr", "queue", "share"}


def test_a_reader_sees_hops_loops_and_ends(capsys, lake):
    words = ["trace", "--lake", lake.root, "--from", "SERVERA", "--object", "CLUSQ"]
    assert main([*words, "--snapshot", "bounce"]) == 0
    shown = capsys.readouterr().out
    assert "SERVERA puts to CLUSQ: 1 final queue in snapshot bounce; 1 loop on the way" in shown
    assert "loop: SERVERB > SERVERC > SERVERB, messages may go round (100.0% come in)" in shown
    assert "queue CLUSQ on SERVERD" in shown
    assert main([*words, "--snapshot", "bounce", "--hops", "2"]) == 0
    assert "not followed any further" in capsys.readouterr().out


def test_a_publication_comes_to_subscriptions_and_to_no_queue(capsys, lake):
    words = ["trace", "--lake", lake.root, "--from", "QMB", "--object", "/news"]
    assert main([*words, "--object-type", "TOPIC", "--snapshot", "outside"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "QMB puts to /news: subscriptions on 1 queue manager in snapshot outside" in shown
    assert "final queue" not in shown


def test_what_a_transmission_queue_leads_to_can_be_told(capsys, lake, spark):
    words = ("trace", "--from", "QMX", "--object", "ORDERS", "--snapshot", "outside")
    guessed = document(capsys, lake, *words)
    # The message is for QMB, which the snapshot has: a direct channel is assumed.
    assert [hop["qmgr"] for hop in guessed["hops"]] == ["QMX", "QMB"]
    told = document(capsys, lake, *words, "--link", "QMX:TO.GATE=QMA")
    assert [hop["qmgr"] for hop in told["hops"]] == ["QMX", "QMA", "QMB"]
    assert told["ends"] == guessed["ends"] == [{"qmgr": "QMB", "queue": "Q", "share": 1.0}]

    lake.create([XMITQ_LINKS])
    row = [("QMX", "TO.GATE", "NOBODY")]
    lake.append("xmitq_links", spark.createDataFrame(row, XMITQ_LINKS.schema))
    lost = document(capsys, lake, *words)
    assert [(x["end"], x["xmitq"]) for x in lost["dead_ends"]] == [("LEAVES", "TO.GATE")]


def test_a_publication_ends_with_the_subscriptions_of_its_host(capsys, lake):
    words = ("--from", "QMB", "--object", "/news/today", "--object-type", "topic")
    found = document(capsys, lake, "trace", *words, "--snapshot", "outside")
    assert found["ends"] == [{"qmgr": "QMA", "queue": "NEWS", "share": 1.0}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "qma", "--object", "CQ1"), "no queue manager 'qma' in snapshot gateway"),
        (("--from", "QMA", "--object", "a/#", "--object-type", "TOPIC"), "is no topic string"),
        (("--from", "QMA", "--object", "CQ1", "--snapshot", "S9"), "no snapshot 'S9'"),
        (("--from", "QMA", "--object", "CQ1", "--link", "QMX"), "give QM:XMITQ=QM2"),
        (("--from", "QMA", "--object", "CQ1", "--link", "QMX:X=ME"), "no queue manager 'ME'"),
        (("--from", "QMA", "--object", "CQ1", "--hops", "0"), "follow at least one"),
    ],
)
def test_bad_words_end_with_2_and_one_sentence(capsys, lake, words, said):
    assert main(["trace", "--lake", lake.root, *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_links_are_read():
    assert read_links(["A:X.Y=B", "A:Z=C"]) == {("A", "X.Y"): "B", ("A", "Z"): "C"}
    for text in ("A", "A:X", "A=B", ":X=B", "A:X="):
        with pytest.raises(UsageError, match="give QM:XMITQ=QM2"):
            read_links([text])


def test_routing_follows_messages_on_when_it_is_told_to(capsys, spark, tmp_path):
    lake = lake_of(spark, tmp_path / "lake", {"S1": definitions("into_cluster_3")})
    put(lake, "QMX", "CQ1", 9, object_qmgr="CQM")
    put(lake, "QMX", "NOWHERE", 2, first=10, object_qmgr="CQM")
    found = document(capsys, lake, "route", "--hops", "4")
    assert found["messages"] == 11
    assert found["hops"] == [
        {"hop": 1, "messages": 11, "ends": {"GOES_ON": 11}},
        {"hop": 2, "messages": 11, "ends": {"DEAD_END": 2, "GOES_ON": 9}},
        {"hop": 3, "messages": 9, "ends": {"QUEUE": 9}},
    ]
    assert main(["route", "--lake", lake.root, "--hops", "4"]) == 0
    shown = capsys.readouterr().out
    assert "GOES_ON 11" in shown
    rows = lake.read("hops")
    assert rows.count() == 31
    # As the trace expects: a third of what comes to a queue on each.
    words = ("--from", "QMX", "--object", "CQ1", "--object-qmgr", "CQM")
    shares = {x["qmgr"]: x["share"] for x in document(capsys, lake, "trace", *words)["ends"]}
    ended = rows.where("ends = 'QUEUE'").groupBy("dest_qmgr").count().collect()
    assert {x.dest_qmgr: x["count"] / 9 for x in ended} == pytest.approx(shares)
    assert "hops" not in document(capsys, lake, "route")
    assert main(["route", "--lake", lake.root, "--hops", "99"]) == 2
    assert "give 1 to 64" in capsys.readouterr().err
