"""Publications all the way: through topic hosts to subscriptions, in traces and in the report."""

import json

import pytest
from small_worlds import proxy, qmgr, rcvr, tables, topic
from tracing.test_journeys import put
from tracing.way_files import definitions, lake_of

from clwl_spark.cli import main
from clwl_spark.present.report.page import page
from clwl_spark.present.report.reading import read_report
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.studies.topics.design import TopicQuestion, design_of
from clwl_spark.studies.trace.places import Place
from clwl_spark.studies.trace.trace import TraceRequest, trace


def sub(name, sub_name, topicstr, **attributes):
    """A user subscription on queue manager `name`."""
    row = {"qmgr": name, "sub_name": sub_name, "topicstr": topicstr, "subtype": "USER"}
    return "subscriptions", row | {"dest": f"{sub_name}.IN"} | attributes


def direct():
    """L publishes to two others; on D only some subscriptions get what comes from elsewhere."""
    world = tables(
        *(x for name in ("L", "D", "E") for x in (qmgr(name), rcvr(name))),
        topic("L", "NEWS", "/n", clroute="DIRECT"),
        topic("D", "HERE", "/n/here", cluster="", sub_scope="QMGR"),
        proxy("L", "/n/#", "D"),
        proxy("L", "/n/#", "E"),
        sub("L", "OWN", "/n/+", sub_scope="QMGR"),
        sub("D", "ALL", "/n/here", sub_scope="ALL"),
        sub("D", "BY.TOPIC", "/n/here"),
        sub("D", "CHARS", "/n/h*", wschema="CHAR"),
        sub("D", "LEVELS", "/n/h*"),
        sub("D", "OTHER", "/m/#"),
    )
    return {table: rows for table, rows in world.items() if table != "snapshots"}


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    named = {"hosts": definitions("topic_host_sends_on"), "direct": direct()}
    found = lake_of(spark, tmp_path_factory.mktemp("publications") / "lake", named)
    put(found, "PUBLISH", "/news/today", 40, object_type="TOPIC")
    route(found, RouteOptions(state_partitions=2))
    return found


def traced(lake, snapshot_id, qmgr_, topicstr):
    place = Place(qmgr_, topicstr, object_type="TOPIC")
    found = trace(lake, TraceRequest(place, snapshot_id=snapshot_id))
    return {(x.qmgr, x.sub_name) for x in found.subscriptions}


def test_a_trace_names_the_subscriptions_at_the_end_and_those_of_the_publisher(lake):
    assert traced(lake, "hosts", "PUBLISH", "/news/today") == {
        ("PUBLISH", "OWN"), ("READER1", "NEWS"), ("READER2", "NEWS")
    }  # fmt: skip
    assert traced(lake, "hosts", "PUBLISH", "/other") == set()


def test_scope_and_wildcards_decide_which_subscriptions_get_it(lake):
    # BY.TOPIC has the scope of HERE, which keeps it to D's own publications.
    assert traced(lake, "direct", "L", "/n/here") == {("L", "OWN"), ("D", "ALL"), ("D", "CHARS")}
    assert traced(lake, "direct", "D", "/n/here") == {
        ("D", "ALL"), ("D", "BY.TOPIC"), ("D", "CHARS")
    }  # fmt: skip


def test_a_reader_sees_them(lake, capsys):
    words = ["trace", "--lake", lake.root, "--from", "PUBLISH", "--object", "/news/today"]
    words += ["--object-type", "TOPIC", "--snapshot", "hosts"]
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "/news/today from PUBLISH (by cluster)" in shown
    assert "NEWS READER2 /news/# NEWS.IN" in shown
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["subscriptions"]
    assert told[0] == {
        "qmgr": "PUBLISH", "sub_name": "OWN", "topicstr": "/news/#", "dest": "NEWS.IN",
        "dest_qmgr": "",
    }  # fmt: skip
    nowhere = [*words]
    nowhere[nowhere.index("/news/today")] = "/other"
    assert main(nowhere) == 0
    assert "No subscription in the snapshot matches" in capsys.readouterr().out


def test_the_report_follows_publications_to_their_subscriptions(lake):
    (found,) = read_report(lake).publications
    assert (found.qmgr, found.topic, found.outcomes) == ("PUBLISH", "/news/today", 40)
    assert [x.sub_name for x in found.own] == ["OWN"]
    ways = {
        (x.at_qmgr, x.dest_qmgr, x.channel): (
            x.messages, x.is_sent_on, [y.sub_name for y in x.subscriptions]
        )
        for x in found.copies
    }  # fmt: skip
    assert ways == {
        ("PUBLISH", "HOST1", "TO.HOST1"): (20, True, []),
        ("PUBLISH", "HOST2", "TO.HOST2"): (20, True, []),
        **{
            (host, reader, f"TO.{reader}"): (20, False, ["NEWS"])
            for host in ("HOST1", "HOST2")
            for reader in ("READER1", "READER2")
        },
    }
    shown = page(read_report(lake))
    assert "40 outcomes, by way of 2 topic hosts, for 3 subscriptions." in shown
    assert "OWN on PUBLISH itself: served there, without a choice." in shown


def test_topics_count_the_subscriptions_that_go_to_others(lake):
    found = design_of(lake, TopicQuestion("direct"))
    (news,) = found.scopes
    # Of D's: /n/here by ALL, and /n/h* once by characters and once by levels; OWN stays on L.
    assert (news["asked"], news["stays"]) == (4, 1)
    asked = {x["qmgr"]: x["subscribed"] for x in found.costs}
    assert asked == {"L": 0, "D": 3, "E": 0}
