"""What others' own views are told of a change: who asked for a name, and full repositories."""

import pytest
from worlds import frame

from clwl_spark.studies.what_if.passed_on import passed_on
from clwl_spark.tables import TABLES


def channel(observer, qmgr, cluster="K", **rest):
    return {"observer": observer, "qmgr": qmgr, "channel": f"TO.{qmgr}", "cluster": cluster, **rest}


def queue(observer, qmgr, name, cluster="K", **rest):
    return {"observer": observer, "qmgr": qmgr, "queue": name, "cluster": cluster, **rest}


MEMBERS = [
    channel("*", "FULL", qmtype="REPOS"),
    channel("*", "ASKED"),
    channel("*", "NEVER"),
    channel("*", "BLIND"),
    channel("*", "ELSEWHERE", "J"),
]
SEEN = [
    queue("FULL", "OTHER", "A"),
    queue("ASKED", "HOST", "Q", clwlrank=3),
    queue("NEVER", "OTHER", "A"),
    queue("ELSEWHERE", "HOST", "Q", "J"),
]


def whole(spark, table, rows):
    return frame(spark, table, [{x: row.get(x) for x in TABLES[table].names} for row in rows])


def after(spark, table, before, rows, members=MEMBERS, joined=()):
    """The table after a change of its rows, and after members have joined."""
    sides = []
    for own, of in ((before, members), (rows, [*members, *joined])):
        given = {x: [] for x in ("cluster_channels", "queues", "topics", "queue_managers")}
        given["cluster_channels"] += of
        given[table] += own
        sides.append({x: whole(spark, x, y) for x, y in given.items()})
    found = passed_on(*sides)[table]
    return [row.asDict() for row in found.collect()]


def test_a_new_host_is_told_to_who_asked_for_its_queue_and_to_full_repositories(spark):
    before = [queue("*", "HOST", "Q"), *SEEN]
    rows = after(spark, "queues", before, [*before, queue("*", "NEW", "Q", defbind="NOTFIXED")])
    told = [x for x in rows if x["qmgr"] == "NEW"]
    assert {x["observer"] for x in told} == {"*", "FULL", "ASKED"}
    assert {x["defbind"] for x in told} == {"NOTFIXED"}
    assert len(rows) == len(before) + 3


def test_nobody_is_told_of_its_own_or_twice(spark):
    before = [queue("*", "HOST", "Q"), *SEEN, queue("FULL", "ASKED", "Q")]
    rows = after(spark, "queues", before, [*before, queue("*", "ASKED", "Q")])
    told = [x["observer"] for x in rows if x["qmgr"] == "ASKED"]
    assert sorted(told) == ["*", "FULL"]


def test_an_object_that_moves_is_seen_in_its_new_cluster(spark):
    before = [queue("*", "HOST", "Q"), *SEEN]
    moved = [queue("*", "HOST", "Q", "J"), *SEEN]
    members = [*MEMBERS, channel("*", "ASKED", "J")]
    rows = after(spark, "queues", before, moved, members)
    there = {(x["observer"], x["cluster"]) for x in rows if x["queue"] == "Q"}
    assert there == {("*", "J"), ("ASKED", "J"), ("ELSEWHERE", "J")}


def test_every_member_is_told_of_a_topic(spark):
    seen = [
        {"observer": x, "qmgr": "HOST", "topic": "T", "cluster": "K"} for x in ("ASKED", "NEVER")
    ]
    new = {"observer": "*", "qmgr": "HOST", "topic": "NEW", "cluster": "K", "topicstr": "a/b"}
    rows = after(spark, "topics", seen, [*seen, new])
    assert {x["observer"] for x in rows if x["topic"] == "NEW"} == {"*", "ASKED", "NEVER"}


@pytest.mark.parametrize("suspended", [True, None])
def test_a_view_keeps_what_no_definition_tells(spark, suspended):
    seen = channel("ASKED", "HOST", suspended=suspended, clwlwght=9, clwlprty=4)
    rows = after(
        spark,
        "cluster_channels",
        [channel("*", "HOST"), seen],
        [channel("*", "HOST", clwlwght=7), seen],
    )
    (row,) = [x for x in rows if x["observer"] == "ASKED"]
    assert (row["clwlwght"], row["clwlprty"], row["suspended"]) == (7, 4, suspended)


def test_what_a_queue_manager_displays_of_its_own_is_no_view_of_others(spark):
    own = queue("HOST", "HOST", "Q", clwlrank=2)
    rows = after(
        spark,
        "queues",
        [queue("*", "HOST", "Q"), own],
        [queue("*", "HOST", "Q", clwlrank=5), own],
    )
    assert {x["observer"]: x["clwlrank"] for x in rows} == {"*": 5, "HOST": 2}


def test_who_joins_a_cluster_is_seen_with_what_it_shares_there_already(spark):
    before = [queue("*", "NEW", "Q"), *SEEN]
    rows = after(spark, "queues", before, before, joined=[channel("*", "NEW")])
    told = {x["observer"] for x in rows if x["qmgr"] == "NEW"}
    assert told == {"*", "FULL", "ASKED"}


def test_who_joins_a_cluster_is_told_there_of_what_it_has_asked_for(spark):
    before = [queue("*", "HOST", "Q"), *SEEN]
    rows = after(spark, "queues", before, before, joined=[channel("*", "ELSEWHERE")])
    assert {(x["observer"], x["cluster"]) for x in rows if x["qmgr"] == "HOST"} == {
        ("*", "K"),
        ("ASKED", "K"),
        ("ELSEWHERE", "J"),
        ("ELSEWHERE", "K"),
    }


def test_what_its_owner_alone_displays_is_followed_as_a_definition_is(spark):
    own = queue("HOST", "HOST", "Q", put_enabled=True)
    seen = queue("ASKED", "HOST", "Q", put_enabled=True)
    rows = after(spark, "queues", [own, seen], [{**own, "put_enabled": False}, seen])
    assert {x["observer"]: x["put_enabled"] for x in rows} == {"HOST": False, "ASKED": False}
    assert after(spark, "queues", [own, seen], [seen]) == []
