"""What another host would need, on the deck's scenarios of ways into and between clusters."""

import json

import pytest
from tracing.way_files import definitions, lake_of

from clwl_spark.cli import main
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
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
