"""Costs of topics against a plain count, on random designs, and what no scenario shows."""

import itertools
import random
from collections import Counter
from dataclasses import asdict

import pytest
from pyspark.sql import functions as F
from worlds import frame

from clwl_spark.planning.topic_strings import topic_matches
from clwl_spark.studies.topics.conflicts import cluster_definitions, conflicts
from clwl_spark.studies.topics.costs import summed, topic_costs
from clwl_spark.studies.topics.scopes import topic_scopes
from clwl_spark.studies.topics.strings import reaches_below
from clwl_spark.tables import TOPIC_COSTS

TOPICS = ("/a", "/a/b", "/a/b/c", "/b", "c")
ASKED = ("/a", "/a/#", "/a/b", "/a/+/c", "/a/b/c/d", "#", "/+/b", "/b/x", "/b/#", "c/+", "x", "/+")


def design(rng, cluster):
    """A random cluster: its members, definitions and subscriptions."""
    members = [f"{cluster}.QM{n}" for n in range(rng.randint(1, 6))]
    defined = [
        {"qmgr": qmgr, "topic": f"T{at}", "cluster": cluster, "topicstr": string, "observer": "*"}
        | ({"proxysub": "FORCE"} if rng.random() < 0.15 else {})
        | ({"clroute": "TOPICHOST"} if rng.random() < 0.3 else {})
        for at, string in enumerate(TOPICS)
        for qmgr in members
        if rng.random() < 0.3
    ]
    subscriptions = [
        {"qmgr": rng.choice(members), "sub_name": f"{cluster}.{n}", "topicstr": rng.choice(ASKED)}
        | ({"subtype": "PROXY", "dest_qmgr": "X"} if rng.random() < 0.2 else {})
        for n in range(rng.randint(0, 12))
    ]
    return members, defined, subscriptions


def reaches(pattern, topic):
    """Whether some topic string at or below a topic matches: by trying them."""
    below = [()]
    for _ in range(3):
        below += [
            (*x, level) for x in below for level in ("a", "b", "c", "d", "x", "") if len(x) < 3
        ]
    return any(topic_matches(pattern, "TOPIC", "/".join([topic, *x])) for x in set(below))


def counted(members, defined, subscriptions):
    """Costs of one cluster as the tables in `costs` say, one row at a time."""
    rows = {}
    strings = {x["topic"]: x["topicstr"] for x in defined}
    asks = {}
    for qmgr, pattern in {
        (x["qmgr"], x["topicstr"]) for x in subscriptions if x.get("subtype") != "PROXY"
    }:
        met = [topic for topic, string in strings.items() if reaches(pattern, string)]
        below = [
            len(strings[x]) for x in met if f"{pattern}/".startswith(f"{strings[x]}/")
        ]  # fmt: skip
        for topic in met:
            if len(strings[topic]) >= max(below, default=0):
                asks[topic, qmgr] = asks.get((topic, qmgr), 0) + 1
    for topic in strings:
        own = [x for x in defined if x["topic"] == topic]
        hosts = {x["qmgr"] for x in own}
        forced = any(x.get("proxysub") == "FORCE" for x in own)
        asked = {x: 1 if forced else asks.get((topic, x), 0) for x in members}
        for qmgr in members:
            held = sum(asked.values()) - asked[qmgr]
            to_all = 2 * (len(members) - 1)
            is_host = qmgr in hosts
            rows[topic, qmgr] = (
                asked[qmgr], held, to_all, held if is_host else 0,
                to_all if is_host else 2 * len(hosts),
            )  # fmt: skip
    return rows


def costs_of(spark, members, defined, subscriptions):
    channels = [
        {"qmgr": qmgr, "cluster": cluster, "channel": f"TO.{qmgr}", "observer": observer}
        for qmgr, cluster in members
        for observer in ("*", "QM9")
    ]
    told = {"cluster_channels": channels, "topics": defined, "subscriptions": subscriptions}
    frames = {
        name: frame(spark, name, [{"snapshot_id": "S1", **row} for row in rows])
        for name, rows in told.items()
    }
    definitions = cluster_definitions(frames["topics"])
    return topic_costs(definitions, frames["cluster_channels"], frames["subscriptions"])


def test_random_designs_cost_what_a_plain_count_says(spark):
    rng = random.Random(4)
    members, defined, subscriptions, expected = [], [], [], {}
    for at in range(60):
        cluster = f"K{at:02d}"
        own = design(rng, cluster)
        members += [(qmgr, cluster) for qmgr in own[0]]
        defined += own[1]
        subscriptions += own[2]
        for (topic, qmgr), cost in counted(*own).items():
            expected[cluster, topic, qmgr] = cost
    names = TOPIC_COSTS.names[-5:]
    rows = costs_of(spark, members, defined, subscriptions).collect()
    found = {(x.cluster, x.topic, x.qmgr): tuple(x[name] for name in names) for x in rows}
    assert found == expected
    assert len(found) > 300


def test_a_thousand_queue_managers(spark):
    members = [(f"QM{n:04d}", "K") for n in range(1000)]
    defined = [
        {"qmgr": f"QM{n:04d}", "topic": "T", "cluster": "K", "topicstr": "/t", "observer": "*"}
        for n in range(2)
    ]
    subscriptions = [
        {"qmgr": f"QM{n:04d}", "sub_name": str(at), "topicstr": f"/t/{at}"}
        for n in range(0, 1000, 2)
        for at in range(3)
    ]
    costs = costs_of(spark, members, defined, subscriptions)
    (topic,) = summed(costs)
    assert (topic.members, topic.hosts, topic.subscribers, topic.strings) == (1000, 2, 500, 1500)
    assert topic.proxies == {"DIRECT": (1500 * 999, 1500), "TOPICHOST": (2 * 1500 - 3, 1500)}
    assert topic.channels == {"DIRECT": (999_000, 1998), "TOPICHOST": (3994, 1998)}
    row = costs.where("qmgr = 'QM0500'").first()
    assert (row.direct_proxies, row.direct_channels) == (1497, 1998)
    assert (row.topichost_proxies, row.topichost_channels) == (0, 4)

    assert topic.grown_to(1000).channels == topic.channels
    assert topic.grown_to(1000).proxies == topic.proxies
    small = topic.grown_to(10)
    assert (small.hosts, small.strings, small.subscribers) == (2, 15, 5)
    assert small.proxies["DIRECT"] == (15 * 9, 15)
    assert small.channels == {"DIRECT": (90, 18), "TOPICHOST": (2 * 9 + 2 * 8, 18)}
    assert topic.grown_to(1).channels == {"DIRECT": (0, 0), "TOPICHOST": (0, 0)}
    assert set(topic.to_json()) == {*asdict(topic)} - {"proxies", "channels"} | {
        "DIRECT", "TOPICHOST",
    }  # fmt: skip


def test_scopes_count_where_the_table_has_them(spark):
    rows = [
        {"qmgr": qmgr, "topic": "T", "cluster": "K", "topicstr": "/t", "observer": "*"}
        for qmgr in ("QM1", "QM2")
    ]
    topics = frame(spark, "topics", [{"snapshot_id": "S1", **row} for row in rows])
    scoped = topics.withColumn("sub_scope", F.when(F.col("qmgr") == "QM2", "QMGR")).withColumn(
        "pub_scope", F.lit("ALL")
    )
    definitions = cluster_definitions(scoped)
    found = conflicts(definitions).orderBy("qmgr").collect()
    assert [(x.qmgr, x.attribute, x["value"], x.code) for x in found] == [
        ("QM1", "SUBSCOPE", "ASPARENT", "AMQ9466"), ("QM2", "SUBSCOPE", "QMGR", "AMQ9465"),
    ]  # fmt: skip
    channels = [
        {"snapshot_id": "S1", "qmgr": x, "cluster": "K", "channel": x, "observer": "*"}
        for x in ("QM1", "QM2")
    ]
    asked = [{"snapshot_id": "S1", "qmgr": "QM1", "sub_name": "S", "topicstr": "/t/x"}]
    costs = topic_costs(
        definitions,
        frame(spark, "cluster_channels", channels),
        frame(spark, "subscriptions", asked),
    )
    assert {row.direct_proxies for row in costs.collect()} == {0}


def test_a_subscriptions_own_scope_goes_before_the_topics_and_saves_proxies(spark):
    same = {"snapshot_id": "S1", "cluster": "K"}
    definitions = cluster_definitions(
        frame(spark, "topics", [
            {**same, "qmgr": "QM1", "topic": "OPEN", "topicstr": "/o", "observer": "*"},
            {**same, "qmgr": "QM1", "topic": "HOME", "topicstr": "/h", "sub_scope": "QMGR",
             "pub_scope": "QMGR", "observer": "*"},
            {**same, "qmgr": "QM1", "topic": "ALWAYS", "topicstr": "/f", "proxysub": "FORCE",
             "observer": "*"},
        ])
    )  # fmt: skip
    members = [{**same, "qmgr": x, "channel": x, "observer": "*"} for x in ("QM1", "QM2", "QM3")]
    asked = [
        ("QM1", "/o/a", "QMGR", "USER"), ("QM1", "/o/b", None, "USER"),
        ("QM2", "/h/a", None, "USER"), ("QM2", "/h/b", "ALL", "USER"),
        ("QM2", "/o/b", None, "PROXY"), ("QM3", "/o/b", None, "PROXY"),
        ("QM2", "/f/a", "QMGR", "USER"),
    ]  # fmt: skip
    subscriptions = frame(spark, "subscriptions", [
        {"snapshot_id": "S1", "qmgr": qmgr, "sub_name": f"{string} {subtype}", "topicstr": string,
         "sub_scope": scope, "subtype": subtype}
        for qmgr, string, scope, subtype in asked
    ])  # fmt: skip
    channels = frame(spark, "cluster_channels", members)
    scopes = topic_scopes(definitions, channels, subscriptions)
    always, home, open_ = scopes
    assert (home["topic"], home["pub_scope"], home["sub_scope"]) == ("HOME", "QMGR", "QMGR")
    assert (open_["pub_scope"], open_["sub_scope"]) == ("ASPARENT", "ASPARENT")
    names = ("asked", "stays", "saved_direct", "saved_topichost", "held")
    assert [home[x] for x in names] == [2, 1, 2, 1, 0]
    assert [open_[x] for x in names] == [2, 1, 2, 0, 2], "the host does not hold its own strings"
    assert [always[x] for x in names] == [1, 1, 0, 0, 0], "it asks for all, whoever subscribes"
    costs = topic_costs(definitions, channels, subscriptions).collect()
    going = subscriptions.withColumn("sub_scope", F.lit("ALL"))
    all_of_them = topic_costs(definitions, channels, going).collect()
    for route in ("direct", "topichost"):
        now, then = (Counter() for _ in range(2))
        for counter, rows in ((now, costs), (then, all_of_them)):
            for row in rows:
                counter[row.topic] += row[f"{route}_proxies"]
        saved = {x["topic"]: x[f"saved_{route}"] for x in scopes}
        assert saved == {name: then[name] - now[name] for name in saved}
    held = {(x.topic, x.qmgr): x.direct_proxies for x in costs}
    assert (held["OPEN", "QM2"], held["HOME", "QM1"]) == (1, 1)


def test_the_definition_altered_first_was_there_first(spark):
    rows = [
        {"qmgr": "QM1", "topicstr": "/new", "altered": "2026-09-02 10.00.00", "observer": "*"},
        {"qmgr": "QM2", "topicstr": "/old", "altered": "2026-09-01 10.00.00", "observer": "*"},
        {"qmgr": "QM2", "topicstr": "/seen", "altered": "2026-08-01 10.00.00", "observer": "QM1"},
        {"qmgr": "QM3", "topicstr": "/old", "altered": "2026-09-03 10.00.00", "observer": "QM1"},
    ]
    common = {"snapshot_id": "S1", "topic": "T", "cluster": "K"}
    topics = frame(spark, "topics", [common | row for row in rows])
    found = conflicts(cluster_definitions(topics)).collect()
    assert {(x.qmgr, x["value"], x.code) for x in found} == {
        ("QM1", "/new", "AMQ9465"), ("QM2", "/old", "AMQ9466"), ("QM3", "/old", "AMQ9466"),
    }  # fmt: skip


@pytest.mark.parametrize("levels", [2, 3])
def test_a_string_reaches_below_a_topic_as_trying_says(levels):
    rng = random.Random(levels)
    words = ("a", "b", "+", "#", "")
    pairs = [
        (
            "/".join(rng.choice(words) for _ in range(rng.randint(1, levels + 1))),
            "/".join(rng.choice(("a", "b", "")) for _ in range(rng.randint(1, levels))),
        )
        for _ in range(400)
    ]
    assert [x for x in pairs if reaches_below(x[0], "TOPIC", x[1]) != reaches(*x)] == []


def test_a_string_by_characters_reaches_below_a_topic_as_trying_says():
    rng = random.Random(3)
    below = ["", *("/" + "".join(x) for n in range(5) for x in itertools.product("ab/", repeat=n))]
    for _ in range(600):
        pattern = "".join(rng.choice("ab/*?") for _ in range(rng.randint(1, 4)))
        topic = "".join(rng.choice("ab/") for _ in range(rng.randint(1, 3)))
        tried = any(topic_matches(pattern, "CHAR", topic + x) for x in below)
        assert reaches_below(pattern, "CHAR", topic) == tried, (pattern, topic)
