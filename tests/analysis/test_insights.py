"""What a whole topology shows, on a cluster made to show it."""

import shlex

import pytest
from lakes import lake_with
from small_worlds import message, qmgr, queue, rcvr, sender, snapshot, topic
from topology_frames import frames
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.cli.insights import parts
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import read_topology
from clwl_spark.studies.insights import Insights, insights
from clwl_spark.studies.own_views import own_views
from clwl_spark.studies.shares.traffic import Puts, traffic_from, traffic_of_lake

WORLD = (
    snapshot("S1"),
    qmgr("APP"),
    qmgr("QM1"),
    qmgr("QM2"),
    rcvr("APP"),
    rcvr("QM1", clwlprty=3),
    rcvr("QM2"),
    # RANKED: QM2 gets nothing, whatever becomes of QM1.
    queue("QM1", "RANKED", "K", clwlrank=5, defbind="NOTFIXED"),
    queue("QM2", "RANKED", "K", defbind="NOTFIXED"),
    # DISABLED: nothing can be put on QM2.
    queue("QM1", "DISABLED", "K", defbind="NOTFIXED"),
    queue("QM2", "DISABLED", "K", defbind="NOTFIXED", put_enabled=False),
    # Nobody puts to it, and nothing else has CLWLUSEQ.
    queue("QM2", "ASIDE", "K", clwluseq="ANY"),
    queue("QM2", "ASIDE", "L", clwluseq="ANY"),
    # Here the CLWLPRTY of QM1's channel decides, but for QM2, which has the queue itself.
    queue("QM1", "OPENED", "K", defbind="OPEN"),
    queue("QM2", "OPENED", "K", defbind="OPEN"),
    # APP's own view tells no CLWLUSEQ and TARGET, as none does, nor DEFBIND, as nobody asked.
    queue("QM2", "ALIAS", "K", qtype="QALIAS", target="OPENED", clwluseq="LOCAL", defbind="GROUP"),
    ("queues", {"observer": "APP", "qmgr": "QM2", "queue": "ALIAS", "cluster": "K",
                "qtype": "QALIAS"}),
    # APP's own view is older than what QM2 defines, and knows of a queue that is gone.
    ("queues", {"observer": "APP", "qmgr": "QM2", "queue": "OPENED", "cluster": "K",
                "qtype": "QLOCAL", "defbind": "NOTFIXED"}),
    ("queues", {"observer": "APP", "qmgr": "QM1", "queue": "OPENED", "cluster": "K",
                "qtype": "QLOCAL", "defbind": "OPEN"}),
    ("queues", {"observer": "APP", "qmgr": "QM9", "queue": "GONE", "cluster": "K",
                "qtype": "QLOCAL"}),
    sender("QM2", "QM1", "RETRYING"),
)  # fmt: skip
PUTS = {("QM2", "OPENED"): 40, ("APP", "OPENED"): 10, ("QM2", "RANKED"): 8, ("QM2", "DISABLED"): 6}


COUNTED = (
    snapshot("S1"),
    # Its own display tells the limit that it goes by, which is not what others once saw.
    qmgr("SMALL"),
    ("queue_managers", {"observer": "SMALL", "qmgr": "SMALL", "clwlmruc": 1}),
    ("queue_managers", {"observer": "QM1", "qmgr": "SMALL", "clwlmruc": 5}),
    *(qmgr(name) for name in ("APP", "QM1", "QM2", "QM3", "QM4")),
    *(rcvr(name) for name in ("APP", "SMALL", "QM1", "QM2", "QM3")),
    rcvr("QM4", clwlwght=80),
    queue("QM1", "WIDE", "K"),
    queue("QM2", "WIDE", "K"),
    queue("QM1", "NARROW", "K"),
    queue("QM3", "FREE", "K", defbind="NOTFIXED"),
    queue("QM4", "FREE", "K", defbind="NOTFIXED"),
)
COUNTED_PUTS = {("APP", "WIDE"): 20, ("APP", "NARROW"): 10, ("APP", "FREE"): 4,
                ("SMALL", "FREE"): 12}  # fmt: skip


def insights_of(spark, root, world, counts):
    lake = lake_with(spark, root)
    for name, frame in frames(spark, *world, snapshot_id="S1").items():
        lake.append(name, frame)
    puts = [Puts(qmgr, name, messages=count) for (qmgr, name), count in counts.items()]
    traffic = traffic_from(spark, "S1", puts)
    return insights(traffic, read_topology(lake, ["S1"]), Ladder(), own_views(lake, "S1"))


@pytest.fixture(scope="module")
def found(spark, tmp_path_factory):
    return insights_of(spark, tmp_path_factory.mktemp("insights"), WORLD, PUTS)


@pytest.fixture(scope="module")
def counted(spark, tmp_path_factory):
    return insights_of(spark, tmp_path_factory.mktemp("counted"), COUNTED, COUNTED_PUTS)


def test_every_message_has_one_deciding_rule(found):
    assert sum(row["messages"] for row in found.deciding) == sum(PUTS.values())
    assert sum(row["requests"] for row in found.deciding) == len(PUTS)


def test_rank_and_disabled_puts_make_several_hosts_one(found):
    whys = {row["object_name"]: (row["hosts"], row["why"]) for row in found.illusions}
    assert whys["RANKED"][0] == 2
    assert "CLWLRANK" in whys["RANKED"][1]
    assert "PUT(DISABLED)" in whys["DISABLED"][1]


def test_a_host_that_gets_messages_when_the_other_is_down_is_availability(spark, tmp_path):
    # Rank and PUT(DISABLED) leave QM1 and QM2, of which CLWLPRTY takes QM1; of SOLE QM1 alone.
    names = ("APP", "QM1", "QM2", "QM3")
    world = [
        snapshot("S1"),
        *(qmgr(name) for name in names),
        *(rcvr(name) for name in names),
        *(queue("QM1", name, "K", clwlrank=5, clwlprty=9) for name in ("RANKED", "HALF", "SOLE")),
        queue("QM2", "RANKED", "K", clwlrank=5),
        queue("QM3", "RANKED", "K"),
        queue("QM2", "HALF", "K", clwlrank=5),
        queue("QM3", "HALF", "K", clwlrank=5, put_enabled=False),
        queue("QM2", "SOLE", "K", clwlrank=5, put_enabled=False),
        queue("QM3", "SOLE", "K"),
    ]
    counts = {("APP", name): 4 for name in ("RANKED", "HALF", "SOLE")}
    found = insights_of(spark, tmp_path, world, counts).illusions
    assert [(x["object_name"], x["hosts"], x["why"].split(":")[0]) for x in found] == [
        ("SOLE", 3, "CLWLRANK")
    ]


def test_an_attribute_that_nobody_meets_is_idle(found):
    idle = {row["attribute"]: row for row in found.idle}
    assert idle["CLWLUSEQ of queues"]["set_on"] == 2
    assert idle["CLWLUSEQ of queues"]["messages_decided"] == 0
    assert idle["CLWLRANK of queues"]["messages_decided"] == 8


def test_views_that_differ_are_counted_by_observer(found):
    assert list(found.views) == [
        {"observer": "APP", "differs": 1, "unknown": 1, "absent": 5, "table": "queues"},
    ]


def test_recent_use_weights_and_binding_are_among_the_attributes(counted):
    idle = {row["attribute"]: row for row in counted.idle}
    decided = {name: (row["set_on"], row["messages_decided"]) for name, row in idle.items()}
    assert decided == {"CLWLMRUC": (1, 12), "CLWLWGHT": (1, 4), "DEFBIND": (2, 4)}


def test_recent_use_decides_where_there_are_more_routes_than_it_leaves(counted):
    # SMALL puts 12 to FREE, which has two routes, and uses one at a time.
    assert {row["rule"]: row["messages"] for row in counted.deciding}[15] == 12


def test_the_older_balancing_counts_what_other_queues_got(counted):
    # MQ 9 gives WIDE to QM1 and QM2 in turn; MQ 7 makes up for what NARROW sent to QM1: 15 each.
    moved = {(row["qmgr"], row["object_name"]): row["moved"] for row in counted.balancing}
    assert moved == {("APP", "WIDE"): 5.0}
    assert counted.releases == []


def test_where_nothing_is_set_that_is_what_is_said():
    nothing = Insights([], [], [], [], [], [])
    text = " ".join(str(x) for x in parts(nothing, "S1", Algorithm.V9, 10))
    assert "decide nothing: none is set: all have MQ's defaults" in text
    assert "nothing is absent" in text


def test_what_the_older_algorithm_sends_otherwise(found):
    # MQ 7 does not look at a channel's CLWLPRTY for queues: APP's ten go half and half; and it
    # keeps a local queue before it looks at ranks.
    moved = {(row["qmgr"], row["object_name"]): row["moved"] for row in found.releases}
    assert moved == {("APP", "OPENED"): 5.0, ("QM2", "RANKED"): 8.0}


def test_what_stays_goes_nowhere_else_by_another_of_the_own_channels(spark, tmp_path):
    # By CLWLPRTY MQ 9 takes the one CLUSRCVR, and MQ 7 the other: the message is on ME either way.
    world = [
        snapshot("S1"),
        qmgr("ME"),
        rcvr("ME", channel="A"),
        rcvr("ME", channel="B", clwlprty=9),
    ]
    found = insights_of(spark, tmp_path, [*world, queue("ME", "Q", "K")], {("ME", "Q"): 10})
    assert found.releases == []


def test_what_stays_is_one_way_to_the_balancing(spark, tmp_path):
    # Q goes by A, C and D, and OTHER by B and C. MQ 9 sends a twentieth more of Q by A than MQ 7,
    # and as much more stays by D; a tenth less stays by C. It is a twentieth that moves.
    world = [
        snapshot("S1"), qmgr("ME", clwluseq="ANY"), qmgr("A"), qmgr("B"),
        rcvr("ME", channel="C"), rcvr("ME", "K2", channel="C"), rcvr("ME", channel="D"),
        rcvr("A"), rcvr("B", "K2"), queue("ME", "Q", "K"), queue("A", "Q", "K"),
        queue("ME", "OTHER", "K2"), queue("B", "OTHER", "K2"),
    ]  # fmt: skip
    found = insights_of(spark, tmp_path, world, {("ME", "Q"): 10, ("ME", "OTHER"): 4})
    moved = {row["object_name"]: row["moved"] for row in found.balancing}
    assert moved["Q"] == pytest.approx(0.5)


def test_defbind_counts_only_for_messages_that_leave_it_to_the_queue(spark, tmp_path):
    lake = lake_with(spark, tmp_path)
    for name, frame in frames(spark, *COUNTED, snapshot_id="S1").items():
        lake.append(name, frame)
    binds = [None] * 3 + ["AS_Q_DEF"] * 2 + ["NOT_FIXED"] * 7 + ["ON_OPEN"] * 5
    puts = [message("APP", "WIDE", at, bind=bind) for at, bind in enumerate(binds, 1)]
    puts += [message("APP", "FREE", at, bind="NOT_FIXED") for at in range(18, 22)]
    put_rows(lake, "messages", puts)
    found = insights(traffic_of_lake(lake, "S1"), read_topology(lake, ["S1"]), Ladder(), [])
    held = [(x["object_name"], x["messages"]) for x in found.illusions if "DEFBIND" in x["why"]]
    assert held == [("WIDE", 5.0)]
    idle = {row["attribute"]: row for row in found.idle}
    assert (idle["DEFBIND"]["requests_decided"], idle["DEFBIND"]["messages_decided"]) == (0, 0.0)


def test_why_a_publication_fails_is_asked_as_a_publication(spark, tmp_path, capsys):
    disabled = topic("QM1", "NEWS", "/news", clroute="TOPICHOST", pub_enabled=False)
    lake = lake_with(spark, tmp_path)
    world = [snapshot("S1"), qmgr("APP"), rcvr("APP"), rcvr("QM1"), disabled]
    for name, frame in frames(spark, *world, snapshot_id="S1").items():
        lake.append(name, frame)
    put_rows(lake, "messages", [message("APP", "/news/a", 1, object_type="TOPIC")])
    assert main(["insights", "--lake", lake.root]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2268 MQRC_CLUSTER_PUT_INHIBITED" in shown
    told = shown.partition("why the first does: clwl ")[2].partition(" engine:")[0]
    assert main(shlex.split(told)) == 0
    assert "ends with 2268" in capsys.readouterr().out
