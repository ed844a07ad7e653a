"""Views of a lake: what is seen is what routing uses; what is not seen, what differs, and why."""

from datetime import timedelta
from functools import cache

import pytest
from pyspark.sql import functions as F
from sharing.lakes import lake_of
from small_worlds import NOON, at, qmgr, queue, rcvr, seen_by, snapshot, topic
from worlds import put_rows

from clwl_spark.snapshots.catalog import MissingSnapshotError
from clwl_spark.studies.explain.request import ExplainRequest, explain
from clwl_spark.studies.repository.state import RepositoryError
from clwl_spark.studies.repository.view import repository_view

CLUSTER = (
    qmgr("FR1"), qmgr("QM1"), qmgr("QM2"), qmgr("QM3"),
    rcvr("FR1", qmtype="REPOS"), rcvr("QM1", clwlprty=3), rcvr("QM2"), rcvr("QM3", "OTHER"),
    queue("QM1", "ORDERS", "K"), queue("QM2", "BILLS", "K"), queue("QM2", "PRIVATE"),
    queue("QM3", "FAR", "OTHER"), topic("QM1", "NEWS", "news"),
)  # fmt: skip
# QM2 was shown the queue ORDERS and the channels; the topics it sees as the full repositories do.
ORDERS = queue("QM1", "ORDERS", "K")
CHANNELS = (rcvr("FR1", qmtype="REPOS"), rcvr("QM1", clwlprty=3))
SHOWN = queue("QM1", "ORDERS", "K", put_enabled=True, clwlprty=0)
AFTER = {"put_enabled": False, "clwlprty": 5}


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """Four hours of a cluster, as everybody and QM2 see it.

    S1: all agrees. S2: QM1 disables puts and changes CLWLPRTY of ORDERS; QM2 is not told.
    S3: the same, and QM2 is shown that QM1 is suspended, which no definition says.
    S4: QM1's ORDERS is gone.
    """
    changed = [x for x in CLUSTER if x != ORDERS] + [queue("QM1", "ORDERS", "K", **AFTER)]
    view = seen_by("QM2", SHOWN, *CHANNELS)
    told = seen_by("QM2", SHOWN, CHANNELS[0], rcvr("QM1", clwlprty=3, suspended=True))
    once = seen_by("QM2", queue("FR1", "OLD", "K"))
    return lake_of(
        spark,
        tmp_path_factory.mktemp("view") / "lake",
        *(snapshot(f"S{n}", n) for n in (1, 2, 3, 4)),
        snapshot("BAD", 3.5, status="QUARANTINED"),
        *at("S1", *CLUSTER, queue("FR1", "OLD", "K"), *view, *once),
        *at("S2", *changed, queue("FR1", "OLD", "K"), *view),
        *at("S3", *changed, *told),
        *at("S4", *(x for x in CLUSTER if x != ORDERS), *told),
    )


@pytest.fixture(scope="module")
def look(lake):
    """The view of a queue manager so many hours after noon, worked out once."""

    @cache
    def view(viewer, number, name=None):
        return repository_view(lake, viewer, hours(number), name)

    return view


def hours(number):
    return NOON + timedelta(hours=number)


def names(rows):
    return [(row["kind"], row["name"], row["qmgr"]) for row in rows]


def test_a_partial_repository_sees_its_own_view_or_the_full_ones(look):
    view = look("QM2", 1)
    assert (view.snapshot_id, view.repositories) == ("S1", {"K": "PARTIAL"})
    assert [(x["kind"], x["name"], x["observer"]) for x in view.known] == [
        ("QMGR", "TO.FR1", "QM2"),
        ("QMGR", "TO.QM1", "QM2"),
        ("QMGR", "TO.QM2", "*"),
        ("QUEUE", "BILLS", "*"),
        ("QUEUE", "OLD", "QM2"),
        ("QUEUE", "ORDERS", "QM2"),
        ("TOPIC", "NEWS", "*"),
    ]
    assert (view.missing, view.stale) == ([], [])
    assert view.known[1]["attributes"]["clwlprty"] == "3"


def test_what_is_seen_is_what_a_put_can_go_to(lake, look):
    found = {x["qmgr"] for x in look("QM2", 2).known if x["name"] == "ORDERS"}
    request = ExplainRequest("QM2", "ORDERS", snapshot_id="S2")
    assert {x["dest_qmgr"] for x in explain(lake, request).candidates} == found


def test_a_full_repository_sees_everything_of_its_clusters(look):
    view = look("FR1", 2)
    assert view.repositories == {"K": "FULL"}
    assert {x["observer"] for x in view.known} == {"*"}
    assert ("QUEUE", "BILLS", "QM2") in names(view.known)
    assert (view.missing, view.stale, view.refresh) == ([], [], [])


def test_an_object_that_is_no_longer_in_the_view_is_missing_since(look):
    view = look("QM2", 2)
    missing = [(x["name"], x["why"], x["last_seen"]) for x in view.missing]
    assert missing == [("OLD", "NO_LONGER_SEEN", "2024-05-06T13:00:00Z")]


def test_one_object_is_looked_for_everywhere(look):
    def why(name, viewer="QM2"):
        view = look(viewer, 1, name)
        return [(x["qmgr"], x["why"]) for x in view.missing]

    assert why("FAR") == [("QM3", "OTHER_CLUSTER")]
    assert why("PRIVATE", "QM1") == [("QM2", "NOT_SHARED")]
    orders = look("QM2", 1, "ORDERS")
    assert orders.missing == []
    assert names(orders.known) == [("QUEUE", "ORDERS", "QM1")]


def test_a_view_that_differs_is_listed_with_its_age(look):
    view = look("QM2", 3.5)
    assert [{**x, "differs": sorted(x["differs"])} for x in view.stale] == [
        {
            "kind": "QUEUE",
            "name": "ORDERS",
            "qmgr": "QM1",
            "cluster": "K",
            "differs": ["clwlprty", "put_enabled"],
            "since": "2024-05-06T14:00:00Z",
            "at_least": False,
            "age_seconds": 5400,
        }
    ]


def test_an_object_whose_owner_has_none_any_more_is_gone(lake, look):
    assert look("QM2", 4).stale == []  # of QM1 no queue at all is told
    rows = lake.read("queues").where("snapshot_id = 'S4' AND qmgr = 'QM2' AND queue = 'PRIVATE'")
    lake.append("queues", rows.withColumn("qmgr", F.lit("QM1")))
    view = repository_view(lake, "QM2", hours(6))
    assert [(x["name"], x["differs"], x["age_seconds"]) for x in view.stale] == [
        ("ORDERS", ["GONE"], 4 * 3600)
    ]


def test_refresh_is_estimated_from_what_the_snapshot_shows(look):
    (cost,) = look("QM2", 1).refresh
    # K has three queue managers, FR1 full, and a topic; QM2 owns one queue and opened two.
    assert cost == {
        "cluster": "K", "publications": 2, "between_full": 0, "notices": 2, "welcome": 3,
        "subscriptions": 2, "answers": 2, "at_once": 7, "total": 11,
    }  # fmt: skip


def test_a_host_that_is_full_in_another_cluster_alone_has_to_be_asked_for(spark, tmp_path):
    seen = (rcvr("FR1", qmtype="REPOS"), rcvr("QM2"), queue("QM2", "Q", "K"))
    seen += (rcvr("QM2", "L", "L.QM2", qmtype="REPOS"),)
    rows = (rcvr("QM1"), rcvr("QM1", "L", "L.QM1"), *seen, *seen_by("QM1", *seen))
    lake = lake_of(spark, tmp_path / "two", snapshot("S1"), *at("S1", *rows))
    (cost,) = (x for x in repository_view(lake, "QM1").refresh if x["cluster"] == "K")
    assert (cost["subscriptions"], cost["answers"]) == (2, 2)


@pytest.mark.parametrize(
    ("everybody", "own", "role"), [("REPOS", "NORMAL", "PARTIAL"), ("NORMAL", "REPOS", "FULL")]
)
def test_its_role_is_that_of_its_own_row_before_everybody_s(spark, tmp_path, everybody, own, role):
    rows = (rcvr("FR1", qmtype="REPOS"), rcvr("QM1", qmtype=everybody))
    rows += (*seen_by("QM1", rcvr("QM1", qmtype=own)),)
    lake = lake_of(spark, tmp_path / "role", snapshot("S1"), *at("S1", *rows))
    assert repository_view(lake, "QM1").repositories == {"K": role}


def test_moments_and_queue_managers_that_are_not_there(lake, look):
    with pytest.raises(MissingSnapshotError, match="before the first valid snapshot") as caught:
        repository_view(lake, "QM2", hours(0.5))
    assert "S1 from 2024-05-06T13:00:00Z" in str(caught.value)
    with pytest.raises(RepositoryError, match=r"of queue manager QM9 .*FR1, QM1, QM2, QM3"):
        repository_view(lake, "QM9")
    assert repository_view(lake, "QM1").snapshot_id == "S4"
    assert look("QM1", 3.7).snapshot_id == "S3"


def test_what_is_shared_where_its_owner_is_not_is_no_object_of_a_cluster(spark, tmp_path):
    own = (queue("QM1", "MINE", "NOSUCH"), queue("QM1", "SHARED", "K"))
    lake = lake_of(
        spark, tmp_path / "lake", snapshot("S1"), *at("S1", qmgr("QM1"), rcvr("QM1"), *own)
    )
    found = repository_view(lake, "QM1")
    assert {(x["name"], x["cluster"]) for x in found.known if x["kind"] == "QUEUE"} == {
        ("SHARED", "K")
    }


def test_a_full_repository_is_not_called_a_partial_one(spark, tmp_path):
    lake = lake_of(
        spark, tmp_path / "full", snapshot("S1"), *at("S1", *CLUSTER),
        *at("S1", *seen_by("FR1", rcvr("QM1"), queue("QM1", "ORDERS", "K"))),
    )  # fmt: skip
    whole = {"snapshot_id": "S1", "observer": "FR1", "table": "queues", "whole": True}
    put_rows(lake, "views", [whole])
    texts = {x["name"]: x["text"] for x in repository_view(lake, "FR1").missing}
    assert texts["BILLS"].startswith("a full repository whose view does not have it")
    assert "look at the channel from the owner" in texts["BILLS"]
    assert not any("partial" in text for text in texts.values())


def test_what_a_display_of_a_full_repository_left_out_is_not_called_lost(spark, tmp_path):
    lake = lake_of(
        spark, tmp_path / "partly", snapshot("S1"), *at("S1", *CLUSTER),
        *at("S1", *seen_by("FR1", rcvr("QM1"), queue("QM1", "ORDERS", "K"))),
    )  # fmt: skip
    texts = {x["name"]: x["text"] for x in repository_view(lake, "FR1").missing}
    assert texts["BILLS"].startswith("a full repository whose view here is not whole")
    told, view = explain(lake, ExplainRequest("FR1", "BILLS")).notes
    assert view.endswith("; of cluster_channels and queues not all that it knows")
    assert told.startswith("first open: FR1 is a full repository, but its view here is not whole")


def test_the_path_of_a_definition_ends_between_two_that_are_named(spark, tmp_path):
    full = (rcvr("FR1", qmtype="REPOS"), rcvr("FR2", qmtype="REPOS"))
    defined = (
        *full, rcvr("QM1"), rcvr("QM2"), queue("QM1", "Q", "K"), queue("QM1", "R", "K"),
        rcvr("QM3", "L"), rcvr("FR3", "L", qmtype="REPOS"), queue("QM3", "FAR", "L"),
    )  # fmt: skip
    known = seen_by("FR1", *full, queue("QM1", "Q", "K"))
    lake = lake_of(
        spark, tmp_path / "path", snapshot("S1"), *at("S1", *defined),
        *at("S1", *known), *at("S1", *seen_by("FR2", rcvr("QM1"), queue("FR1", "OTHER", "K"))),
        *at("S1", *seen_by("QM2", queue("FR1", "OTHER", "K"))),
    )  # fmt: skip

    def stopped(name):
        view = repository_view(lake, "QM2", name=name)
        (row,) = (x for x in view.missing if x["kind"] == "QUEUE")
        return [x["knows"] for x in row["path"]], row["stopped"]

    assert stopped("Q") == (
        [True, False],
        "between full repositories: FR1 has it, and FR2 does not have it",
    )
    assert stopped("R") == (
        [False, False],
        "between QM1 and the full repositories: FR1 and FR2 do not have it",
    )
    # Nothing of a cluster that QM2 is not in is on its way there.
    assert stopped("FAR") == ([None], None)
