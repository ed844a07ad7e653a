"""What moved an object's messages, what waits and what is bound: against counts by hand."""

import json
from collections import Counter
from datetime import timedelta

import pytest
from lakes import lake_with
from small_worlds import (
    NOON,
    alias,
    at,
    message,
    proxy,
    qmgr,
    queue,
    rcvr,
    sender,
    snapshot,
    tables,
    topic,
)
from waiting_worlds import SECOND, routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.errors import InputError, UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import MissingSnapshotError
from clwl_spark.studies.incident.find import Question, incident
from clwl_spark.studies.incident.seen import WhichPuts, down_channels
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.tables.moments import micros

SINCE = NOON + timedelta(hours=1)
AT = "2024-05-06T13:00:00Z"


def puts():
    """A message a minute on each of two queue managers, for two hours, every third one bound."""
    for number in range(120):
        put_time = NOON + timedelta(minutes=number, seconds=30)
        for name in ("APP1", "APP2"):
            bound = {"bind": "ON_OPEN", "open_id": number % 4} if number % 3 == 0 else {}
            yield message(name, "ORDERS", number + 1, put_time=put_time, **bound)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """From 13:00 on APP1's channel to SRV1 tries again and again; SRV2 gets another weight."""
    own = [qmgr("APP1"), qmgr("APP2"), *(rcvr(x) for x in ("APP1", "APP2", "SRV1"))]
    hosts = [queue(x, "ORDERS", "K", defbind="NOTFIXED") for x in ("SRV1", "SRV2")]
    elsewhere = queue("SRV1", "OTHER", "K")
    rows = [snapshot("S1", 0), snapshot("S2", 1)]
    rows += at("S1", *own, *hosts, rcvr("SRV2"), sender("APP1", "SRV1", "RUNNING"))
    rows += at(
        "S2", *own, *hosts, elsewhere, rcvr("SRV2", clwlwght=40), sender("APP1", "SRV1", "RETRYING")
    )
    folder = tmp_path_factory.mktemp("incident")
    return routed_lake(spark, folder, tables(*rows), list(puts()), SECOND)


def study(lake, until=None, **puts):
    return incident(
        lake, Question(WhichPuts("ORDERS", **puts), micros(SINCE), until), Ladder(SECOND)
    )


def by_hand(lake):
    """(qmgr, dest_qmgr, since) -> messages, and bound ones."""
    counts, bound = Counter(), Counter()
    for row in lake.read("outcomes").collect():
        after = row.put_seq > 60
        counts[row.qmgr, row.dest_qmgr, after] += 1
        bound[row.qmgr, row.dest_qmgr, after] += row.bound
    return counts, bound


def test_shares_counts_and_the_rule_that_moved_them(lake):
    found = study(lake)
    counts, _ = by_hand(lake)
    assert (found.before, found.after, found.between) == ("S1", "S2", ["S2"])
    assert {x.qmgr for x in found.puts} == {"APP1", "APP2"}
    for put in found.puts:
        for way in put.ways:
            seen = [counts[put.qmgr, way.dest_qmgr, after] for after in (False, True)]
            assert [way.messages_before, way.messages_after] == seen
    (app1,) = (x for x in found.puts if x.qmgr == "APP1")
    lost, kept = app1.ways
    assert (lost.dest_qmgr, lost.channel, lost.is_lost) == ("SRV1", "TO.SRV1", True)
    assert (lost.expected_before, lost.expected_after) == (0.5, 0.0)
    assert lost.verdict_after == "rule 8: channel RETRYING, while TO.SRV2 is INACTIVE"
    assert (kept.expected_before, kept.expected_after, kept.is_lost) == (0.5, 1.0, False)
    (app2,) = (x for x in found.puts if x.qmgr == "APP2")
    assert not any(way.is_lost for way in app2.ways)
    assert [round(x.expected_after, 2) for x in app2.ways] == [0.56, 0.44]


def test_changes_on_its_ways_alone_are_listed(lake):
    found = study(lake)
    told = {(x["table"], x["attribute"], x["old"], x["new"]) for x in found.changes}
    assert ("channel_status", "status", "RUNNING", "RETRYING") in told
    assert ("cluster_channels", "clwlwght", None, 40) in told
    assert not any(x["key"].get("queue") == "OTHER" for x in found.changes)
    assert found.other_changes > 0


def test_what_is_bound_waits(lake):
    found = study(lake)
    _, bound = by_hand(lake)
    (stuck,) = found.bound
    assert (stuck.qmgr, stuck.dest_qmgr) == ("APP1", "SRV1")
    assert stuck.messages == bound["APP1", "SRV1", True] > 0
    (waits,) = found.waiting
    assert (waits.qmgr, waits.channel, waits.status) == ("APP1", "TO.SRV1", "RETRYING")
    assert waits.messages == waits.of_object == stuck.messages


def test_who_waited_is_told_after_a_later_reallocation_as_before_it(spark, tmp_path):
    there = (qmgr("APP1"), rcvr("APP1"), rcvr("SRV1"), queue("SRV1", "SOLE", "K"))
    rows = [snapshot("S1", 0), *at("S1", *there, sender("APP1", "SRV1", "RUNNING"))]
    rows += [snapshot("S2", 1), *at("S2", *there, sender("APP1", "SRV1", "RETRYING"))]
    put = message("APP1", "SOLE", put_time=SINCE + timedelta(minutes=1))
    lake = routed_lake(spark, tmp_path, tables(*rows), [put], SECOND)
    question = Question(
        WhichPuts("SOLE"), micros(SINCE), until=micros(SINCE + timedelta(minutes=10))
    )
    before = incident(lake, question, Ladder(SECOND)).waiting
    later = ChannelEvent("APP1", "TO.SRV1", "RETRYING", micros(SINCE + timedelta(minutes=20)))
    (summary,) = reallocate(lake, [later], Ladder(SECOND)).events
    assert summary.counts["still_favoured"] == 1
    assert incident(lake, question, Ladder(SECOND)).waiting == before
    assert [(x.channel, x.messages) for x in before] == [("TO.SRV1", 1)]


def test_it_says_what_to_do(lake):
    first, second, third = study(lake).advice
    assert first.startswith("on APP1: DISPLAY CHSTATUS(TO.SRV1)")
    assert f"clwl reallocate --lake {lake.root} --qmgr APP1 --channel TO.SRV1" in second
    assert third.startswith("close and open ORDERS again in the applications on APP1")


THERE = (qmgr("APP1"), *(rcvr(x) for x in ("APP1", "SRV1", "SRV2")))


def changed_world(spark, tmp_path, before, after, name, **put):
    """What an incident of `name` says, to which APP1 puts twice before a change and after it."""
    rows = [snapshot("S1", 0), snapshot("S2", 1), *at("S1", *THERE, *before)]
    rows += at("S2", *THERE, *after)
    minutes = enumerate((10, 20, 70, 80), start=1)
    puts = [
        message("APP1", name, n, put_time=NOON + timedelta(minutes=at), **put) for n, at in minutes
    ]
    lake = routed_lake(spark, tmp_path, tables(*rows), puts, SECOND)
    return incident(lake, Question(WhichPuts(name), micros(SINCE)), Ladder(SECOND))


def told(found):
    """(table, queue manager, name, kind of change) of an incident's changes."""
    name = {"topics": "topic", "subscriptions": "sub_name", "queues": "queue"}
    return {
        (x["table"], x["key"]["qmgr"], x["key"][name[x["table"]]], x["change"])
        for x in found.changes
    }


def test_of_a_topic_its_definitions_are_told_and_mended(spark, tmp_path):
    hosts = [topic(x, "NEWS", "/news", clroute="TOPICHOST") for x in ("SRV1", "SRV2")]
    disabled = topic("SRV1", "NEWS", "/news", clroute="TOPICHOST", pub_enabled=False)
    other = topic("SRV2", "OTHER", "/other", clroute="TOPICHOST")
    found = changed_world(
        spark, tmp_path, [*hosts, other], [disabled, hosts[1]], "/news/a", object_type="TOPIC"
    )
    (lost,) = (way for put in found.puts for way in put.ways if way.is_lost)
    assert lost.dest_qmgr == "SRV1"
    assert told(found) == {("topics", "SRV1", "NEWS", "CHANGED")}
    assert list(found.advice) == ["on SRV1: ALTER TOPIC(NEWS) PUB(ENABLED)"]


def test_of_a_direct_topic_the_subscriptions_that_match_are_told(spark, tmp_path):
    news = topic("SRV1", "NEWS", "/news", clroute="DIRECT")
    proxies = [proxy("APP1", string, x) for x in ("SRV1", "SRV2") for string in ("/news/#", "/x")]
    found = changed_world(
        spark, tmp_path, [news, *proxies], [news, *proxies[:2]], "/news/a", object_type="TOPIC"
    )
    (lost,) = (way for put in found.puts for way in put.ways if way.is_lost)
    assert lost.dest_qmgr == "SRV2"
    assert told(found) == {("subscriptions", "APP1", "SRV2 /news/#", "REMOVED")}
    assert found.other_changes > 0


def test_publications_that_stay_by_their_scope_are_all_of_them(spark, tmp_path):
    news, at_home = (topic("SRV1", "NEWS", "/news", pub_scope=x) for x in ("ALL", "QMGR"))
    asked = proxy("APP1", "/news/#", "SRV1")
    found = changed_world(
        spark, tmp_path, [news, asked], [at_home, asked], "/news/a", object_type="TOPIC"
    )
    lost, stays = found.puts[0].ways
    assert (lost.dest_qmgr, lost.verdict_after) == ("SRV1", "what is put stays on APP1")
    assert (stays.dest_qmgr, stays.channel) == ("APP1", "")
    assert (stays.expected_before, stays.expected_after) == (0, 1)
    assert told(found) == {("topics", "SRV1", "NEWS", "CHANGED")}


def test_a_way_that_an_alias_leads_to_no_more_is_not_said_to_be_undefined(spark, tmp_path):
    first, then = (alias("APP1", "IN", x) for x in ("ORDERS", "OTHER"))
    hosts = [queue("SRV1", "ORDERS", "K"), queue("SRV2", "OTHER", "K")]
    found = changed_world(spark, tmp_path, [first, *hosts], [then, *hosts], "IN")
    ways = {x.dest_qmgr: x for x in found.puts[0].ways}
    assert ways["SRV1"].verdict_after == "the name leads to OTHER"
    assert ways["SRV2"].verdict_before == "the name led to ORDERS"


def test_a_local_instance_that_a_rule_takes_away_is_a_lost_way(spark, tmp_path):
    here, there = (queue(x, "OUT", "K") for x in ("APP1", "SRV1"))
    disabled = queue("APP1", "OUT", "K", put_enabled=False)
    found = changed_world(spark, tmp_path, [here, there], [disabled, there], "OUT")
    (lost,) = (way for put in found.puts for way in put.ways if way.is_lost)
    assert (lost.dest_qmgr, lost.channel, lost.verdict_after) == (
        "APP1",
        "",
        "rule 5: PUT(DISABLED)",
    )
    assert list(found.advice) == ["on APP1: ALTER QLOCAL(OUT) PUT(ENABLED)"]


def test_what_an_alias_leads_to_is_on_the_way(spark, tmp_path):
    own = alias("APP1", "IN", "ORDERS")
    hosts = [queue(x, "ORDERS", "K", defbind="NOTFIXED") for x in ("SRV1", "SRV2")]
    disabled = queue("SRV1", "ORDERS", "K", defbind="NOTFIXED", put_enabled=False)
    found = changed_world(
        spark, tmp_path, [own, *hosts, queue("SRV1", "X", "K")], [own, disabled, hosts[1]], "IN"
    )
    assert told(found) == {("queues", "SRV1", "ORDERS", "CHANGED")}
    assert list(found.advice) == ["on SRV1: ALTER QLOCAL(ORDERS) PUT(ENABLED)"]


@pytest.mark.parametrize(
    ("disabled", "put", "command"),
    [
        (queue("SRV1", "shared", "K", qtype="QALIAS", target="Q"), {}, "QALIAS('shared')"),
        (
            queue("SRV1", "shared", "K", qtype="QREMOTE", rname="Q", rqmname="APP1"),
            {},
            "QREMOTE('shared')",
        ),
        (
            queue("SRV1", "ANY.QM", "K", qtype="QREMOTE", rname="", rqmname="SRV1"),
            {"object_qmgr": "ANY.QM"},
            "QREMOTE(ANY.QM)",
        ),
    ],
)
def test_puts_are_enabled_by_the_command_for_the_objects_type(
    spark, tmp_path, disabled, put, command
):
    table, row = disabled
    name = row["queue"]
    other = queue("SRV2", name, "K", defbind="NOTFIXED")
    if put:
        other = queue("SRV2", name, "K", qtype="QREMOTE", rname="", rqmname="SRV2")
    local = [queue(x, "Q") for x in ("SRV1", "SRV2")]
    asked = "Q" if put else name
    found = changed_world(
        spark, tmp_path, [*local, disabled, other],
        [*local, (table, {**row, "put_enabled": False}), other], asked, **put,
    )  # fmt: skip
    assert list(found.advice) == [f"on SRV1: ALTER {command} PUT(ENABLED)"]


def test_one_queue_manager_alone_and_one_that_never_put(lake):
    assert [x.qmgr for x in study(lake, qmgr="APP2").puts] == ["APP2"]
    (put,) = study(lake, qmgr="SRV1").puts
    assert (put.qmgr, put.ways[0].messages_before) == ("SRV1", 0)
    assert put.ways[0].dest_qmgr == "SRV1"


def test_only_what_is_put_to_objects_of_a_type(lake):
    assert study(lake, object_type="QUEUE").puts == study(lake).puts
    (put,) = study(lake, qmgr="APP1", object_type="TOPIC").puts
    assert put.object_type == "TOPIC"
    assert not any(x.messages_before or x.messages_after for x in put.ways)


def test_channels_of_one_name_have_their_backlogs_together(spark, tmp_path):
    lake = lake_with(spark, tmp_path, ["channel_status"])
    rows = [sender("APP1", x, "RUNNING", "TO.K", backlog=y) for x, y in (("A", None), ("B", 5))]
    rows += [sender("APP1", x, y, "TO.L") for x, y in (("A", "RETRYING"), ("B", "RUNNING"))]
    put_rows(lake, "channel_status", [{**x, "snapshot_id": "S1"} for _, x in rows])
    found = down_channels(lake, "S1", [("APP1", "TO.K"), ("APP1", "TO.L")])
    assert found == {("APP1", "TO.K"): ("RUNNING", 5)}


def test_a_time_without_a_change_has_nothing_to_tell(lake):
    later = micros(SINCE + timedelta(minutes=10))
    found = incident(lake, Question(WhichPuts("ORDERS"), later), Ladder(SECOND))
    assert (found.before, found.after, found.between, found.changes) == ("S2", "S2", [], [])
    assert not any(way.is_lost for put in found.puts for way in put.ways)


def test_the_command_tells_it(lake, capsys):
    words = ["incident", "--lake", lake.root, "--object", "ORDERS", "--since", AT]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["puts"][0]["object_name"] == "ORDERS"
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"ORDERS since {AT}: 1 way is lost" in shown
    assert "snapshot S1, then S2, up to 2024-05-06T13:59:30Z" in shown
    assert "What to do 1. on APP1: DISPLAY CHSTATUS(TO.SRV1)" in shown


def test_what_cannot_be_studied_is_refused(lake):
    with pytest.raises(InputError, match="no message to NOBODY was routed"):
        incident(lake, Question(WhichPuts("NOBODY"), micros(SINCE)), Ladder(SECOND))
    with pytest.raises(UsageError, match="--until is not after --since"):
        study(lake, until=micros(SINCE))
    with pytest.raises(MissingSnapshotError, match="nothing is known of the time before"):
        incident(lake, Question(WhichPuts("ORDERS"), micros(NOON)), Ladder(SECOND))
