"""What another host would need, on the deck's scenarios of ways into and between clusters."""

import json
from datetime import UTC, datetime

import pytest
from lakes import lake_with
from tracing.way_files import definitions, lake_of

from clwl_spark.cli import main
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.studies.new_host.needs import Way, copies, membership
from clwl_spark.studies.new_host.run import new_host
from clwl_spark.studies.trace.places import Place

SCENARIOS = ("into_cluster_1", "into_cluster_2", "into_cluster_3", "between_clusters_4",
             "between_clusters_5")  # fmt: skip


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    named = {name: definitions(name) for name in SCENARIOS}
    return lake_of(spark, tmp_path_factory.mktemp("new_host") / "lake", named)


def needed(lake, name, *put, new="NEW"):
    found = new_host(lake, Place(*put), new, name, Ladder()).to_json()
    own = [x["command"] for x in found["on_new_host"]]
    return found, own, {(x["qmgr"], x["command"]) for x in found["on_others"]}


def test_one_host_named_gets_all_until_others_change(lake):
    found, own, others = needed(lake, "into_cluster_1", "QMX", "CQ1", "QMB")
    assert found["design"] == "ONE_HOST_NAMED"
    assert "DEFINE QLOCAL(CQ1) CLUSTER(BLUE)" in own
    assert ("the application", "") in others


def test_an_alias_on_each_host_comes_with_the_host(lake):
    found, own, others = needed(lake, "into_cluster_2", "QMX", "CQ1", "CQM")
    assert found["design"] == "ALIAS_ON_EACH_HOST"
    assert found["hosts"] == ["QMB", "QMC", "QMD"]
    assert own == [
        "DEFINE CHANNEL(BLUE.NEW) CHLTYPE(CLUSRCVR) CONNAME('...') CLUSTER(BLUE)",
        "",
        "DEFINE QLOCAL(CQ1)",
        "DEFINE QREMOTE(CQM) RNAME(' ') RQMNAME(NEW) CLUSTER(BLUE)",
    ]
    assert others == set()


def test_behind_a_gateway_nobody_else_changes(lake):
    for name, put in (("into_cluster_3", ("QMX", "CQ1", "CQM")),
                      ("between_clusters_5", ("QMA", "CQ1", "CQM")),
                      ("between_clusters_4", ("QMA", "ACQ1"))):  # fmt: skip
        found, own, others = needed(lake, name, *put)
        assert (found["design"], others) == ("ALIAS_ON_A_GATEWAY", set()), name
        assert [x for x in own if "QLOCAL(CQ1)" in x], name
        assert found["unchanged"] > 0


def test_a_shared_queue_needs_its_definition_alone_and_a_member_no_channels(lake):
    found, own, others = needed(lake, "between_clusters_4", "QMC", "CQ1")
    assert (found["design"], others) == ("SHARED_QUEUE", set())
    assert own[-1] == "DEFINE QLOCAL(CQ1) CLUSTER(RED)"
    assert needed(lake, "into_cluster_3", "QMA", "CQ1", new="QMA")[1] == [
        "DEFINE QLOCAL(CQ1) CLUSTER(BLUE) DEFBIND(NOTFIXED)"
    ]


def test_a_host_that_is_one_or_a_put_that_ends_nowhere_is_refused(lake):
    with pytest.raises(UsageError, match="QMB hosts the queue already"):
        needed(lake, "into_cluster_3", "QMX", "CQ1", "CQM", new="QMB")
    with pytest.raises(UsageError, match="comes to no queue"):
        needed(lake, "into_cluster_3", "QMX", "NOWHERE")


def test_the_command_shows_it_and_wants_one_of_two(lake, capsys):
    words = ["advise", "--lake", lake.root, "--from", "QMX", "--object", "CQ1"]
    assert main(words) == 2
    assert "one of the two" in capsys.readouterr().err
    more = ["--object-qmgr", "CQM", "--snapshot", "into_cluster_2", "--add-host", "NEW"]
    assert main([*words, *more]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "each host has an alias of its own that is shared" in shown
    assert "other queue managers of these clusters need no change" in shown
    assert main([*words, *more, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["design"] == "ALIAS_ON_EACH_HOST"


MIXED = """* Queue manager name: QM1
ALTER QMGR REPOS(K)
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('qm1(1414)')
DEFINE QLOCAL(HERE) CLUSTER(K)
DEFINE QLOCAL(ALONE)
* Queue manager name: QM2
DEFINE NAMELIST(BOTH) NAMES(K,SALES_NORTHERN_REGION)
DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSNL(BOTH) CONNAME('qm2(1414)') CLWLRANK(5)
DEFINE QLOCAL(Q) CLUSTER(K) DEFBIND(NOTFIXED)
DEFINE QLOCAL('low') CLUSTER(K) CLWLPRTY(2)
DEFINE QALIAS(TYPES) TARGET(Q) CLUSTER(K)
DEFINE QALIAS(AIMS) TARGET(X.LOCAL) CLUSTER(K)
DEFINE QLOCAL(X.LOCAL)
DEFINE QLOCAL(WIDE) CLUSNL(BOTH)
* Queue manager name: QM3
DEFINE CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('qm3(1414)') CLWLRANK(5)
DEFINE QLOCAL(TYPES) CLUSTER(K)
DEFINE QALIAS(AIMS) TARGET(Y.LOCAL) CLUSTER(K)
DEFINE QLOCAL(Y.LOCAL)
* Queue manager name: QM5
DEFINE NAMELIST(BOTH) NAMES(K,SALES_NORTHERN_REGION)
DEFINE CHANNEL(TO.QM5) CHLTYPE(CLUSRCVR) CLUSNL(BOTH) CONNAME('qm5(1414)')
DEFINE QLOCAL(WIDE) CLUSTER(K)
* Queue manager name: QM4
DEFINE CHANNEL(TO.QM4) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('qm4(1414)')
DEFINE QLOCAL(Q) CLUSTER(K) PUT(DISABLED)
DEFINE QLOCAL('low')
SUSPEND QMGR CLUSTER(K)
"""
SHOWN = """Starting MQSC for queue manager FR.
     1 : DISPLAY CLUSQMGR(*) ALL
AMQ8441I: Display Cluster Queue Manager details.
   CLUSQMGR(FR)       CHANNEL(SHOWN.FR)   CLUSTER(SHOWN)
   CONNAME(fr(1414))  DEFTYPE(CLUSRCVR)   QMTYPE(REPOS)
AMQ8441I: Display Cluster Queue Manager details.
   CLUSQMGR(QM6)      CHANNEL(SHOWN.QM6)  CLUSTER(SHOWN)
   CONNAME(q6(1414))  DEFTYPE(CLUSSDRA)   QMTYPE(NORMAL)
     2 : DISPLAY QCLUSTER(*) ALL
AMQ8409I: Display Queue details.
   QUEUE(SEEN)  TYPE(QCLUSTER)  CLUSTER(SHOWN)  CLUSQMGR(QM6)  CLUSQT(QLOCAL)
"""
RANKED = "ALTER CHANNEL(TO.QM4) CHLTYPE(CLUSRCVR) CLWLRANK(5)"
RESUMED = "RESUME QMGR CLUSTER(K)"


@pytest.fixture(scope="module")
def mixed(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "all.mqsc").write_text(MIXED)
    (folder / "shown.txt").write_text(SHOWN)
    found = lake_with(spark, folder / "lake")
    texts = [folder / "all.mqsc", folder / "shown.txt"]
    ingest(found, texts, "S", IngestOptions(datetime(2026, 1, 1, tzinfo=UTC)))
    return found


@pytest.mark.parametrize(
    ("queue", "commands", "share"),
    [
        ("Q", [RANKED, RESUMED, "ALTER QLOCAL(Q) PUT(ENABLED)"], 0.5),
        (
            "low",
            [
                RANKED,
                RESUMED,
                "ALTER QLOCAL('low') CLUSTER(K)",
                "ALTER QLOCAL('low') CLWLPRTY(2)",
            ],
            0.5,
        ),
        ("TYPES", [RANKED, RESUMED, "DEFINE QALIAS(TYPES) TARGET(Q) CLUSTER(K)",
                   "ALTER QLOCAL(Q) PUT(ENABLED)"], 1 / 3),
        ("AIMS", [RANKED, RESUMED, "DEFINE QALIAS(AIMS) TARGET(X.LOCAL) CLUSTER(K)",
                  "DEFINE QLOCAL(X.LOCAL)"], 1 / 3),
    ],
)  # fmt: skip
def test_a_member_gets_its_share_with_what_it_needs(mixed, queue, commands, share):
    found, own, others = needed(mixed, "S", "QM1", queue, new="QM4")
    assert (sorted(own), others) == (sorted(commands), set())
    assert (found["share"], found["why_nothing"]) == (pytest.approx(share), "")


def test_a_full_repository_that_only_its_own_display_tells_of_is_the_first_contact(mixed):
    found, own, _ = needed(mixed, "S", "FR", "SEEN")
    assert "DEFINE CHANNEL(SHOWN.FR) CHLTYPE(CLUSSDR) CONNAME('fr(1414)') CLUSTER(SHOWN)" in own
    assert found["unchanged"] == 2


def test_a_queue_in_two_clusters_is_so_on_the_new_host(mixed):
    found, own, _ = needed(mixed, "S", "QM1", "WIDE")
    assert own[-2:] == [
        "DEFINE NAMELIST(K.SALES_NORTHERN_REGION) NAMES(K,SALES_NORTHERN_REGION)",
        "DEFINE QLOCAL(WIDE) CLUSNL(K.SALES_NORTHERN_REGION)",
    ]
    start = "CHLTYPE(CLUSRCVR) CONNAME('...') CLUSTER"
    assert f"DEFINE CHANNEL(TO.NEW) {start}(SALES_NORTHERN_REGION) CLWLRANK(5)" in own
    assert found["share"] == pytest.approx(0.5)


def test_a_queue_that_is_in_one_of_two_clusters_comes_into_the_other(mixed):
    found, own, _ = needed(mixed, "S", "QM1", "WIDE", new="QM5")
    assert own == [
        "ALTER CHANNEL(TO.QM5) CHLTYPE(CLUSRCVR) CLWLRANK(5)",
        "DEFINE NAMELIST(K.SALES_NORTHERN_REGION) NAMES(K,SALES_NORTHERN_REGION)",
        "ALTER QLOCAL(WIDE) CLUSTER(' ') CLUSNL(K.SALES_NORTHERN_REGION)",
    ]
    assert found["share"] == pytest.approx(0.5)


def test_why_a_new_host_gets_nothing_is_said(mixed, capsys):
    found, own, _ = needed(mixed, "S", "QM1", "HERE")
    assert "DEFINE QLOCAL(HERE) CLUSTER(K)" in own
    assert found["share"] == 0
    assert found["why_nothing"] == "at QM1, rule 6: local queue preferred: CLWLUSEQ(LOCAL)"
    words = ["--from", "QM1", "--object", "HERE", "--add-host", "NEW"]
    assert main(["advise", "--lake", mixed.root, *words]) == 0
    assert "with that, NEW gets nothing (at QM1, rule 6" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_queue_that_nobody_shares_has_to_be_shared_first(mixed):
    found, _, others = needed(mixed, "S", "QM1", "ALONE")
    assert (found["design"], found["share"]) == ("NOT_SHARED", None)
    assert others == {("QM1", "ALTER QLOCAL(ALONE) CLUSTER(...)")}


@pytest.mark.parametrize(("qtype", "words"), [("QALIAS", ""), ("QLOCAL", " CLWLUSEQ(ANY)")])
def test_an_attribute_of_local_queues_is_copied_to_no_other(qtype, words):
    """Tables that another program writes may have CLWLUSEQ of an alias, which MQ does not take."""
    row = shared_queue("QM1", qtype=qtype, clwluseq="ANY")
    way = Way(frozenset({"QM1"}), frozenset({"Q"}), frozenset())
    (need,) = copies(way, [row], "NEW")
    target = " TARGET(T)" if qtype == "QALIAS" else ""
    assert need.command == f"DEFINE {qtype}(Q){target} CLUSTER(K){words}"


def test_a_new_queue_is_ranked_as_high_as_any():
    """What has less gets nothing beside them (rules 4 and 14)."""
    hosts = ("QM1", "QM2", "QM3")
    rows = [
        shared_queue(name, clwlrank=rank, clwlprty=rank)
        for name, rank in zip(hosts, (0, 3, 0), strict=True)
    ]
    (need,) = copies(Way(frozenset(hosts), frozenset({"Q"}), frozenset()), rows, "NEW")
    assert need.command == "DEFINE QLOCAL(Q) CLUSTER(K) CLWLRANK(3) CLWLPRTY(3)"
    assert "CLWLRANK, CLWLPRTY differ there" in need.why


def test_the_best_of_several_channels_is_the_one_that_has_to_be_as_good():
    """In whatever order the rows lie; one row that says so suspends the queue manager (P8)."""
    hosts = [receiver("QM1", "TO.QM1", clwlrank=5, clwlprty=3)]
    own = [receiver("NEW", "B", clwlrank=5), receiver("NEW", "A"), receiver("NEW", "C")]
    own[1]["suspended"] = True
    rank = "ALTER CHANNEL(B) CHLTYPE(CLUSRCVR) CLWLPRTY(3)"
    good = receiver("NEW", "D", clwlrank=6, clwlprty=3)
    for rows in (own, own[::-1]):
        needs = membership("NEW", ["QM1"], ["K"], [*rows, *hosts])
        assert [x.command for x in needs] == [rank, RESUMED]
        needs = membership("NEW", ["QM1"], ["K"], [good, *rows, *hosts])
        assert [x.command for x in needs] == [RESUMED]


def receiver(qmgr, channel, **set_to):
    return {
        "qmgr": qmgr, "channel": channel, "cluster": "K", "clwlrank": 0, "clwlprty": 0,
        "suspended": False, "qmtype": "NORMAL", "conname": "", **set_to,
    }  # fmt: skip


def shared_queue(qmgr, **set_to):
    return {
        "qmgr": qmgr, "queue": "Q", "cluster": "K", "qtype": "QLOCAL", "target": "T", "rname": "",
        "rqmname": "", "clwlrank": 0, "clwlprty": 0, "clwluseq": "QMGR", "defbind": "OPEN",
        "put_enabled": True, **set_to,
    }  # fmt: skip
