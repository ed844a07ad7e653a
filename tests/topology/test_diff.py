"""Two snapshots compared: what was added, removed and changed, attribute by attribute."""

from datetime import UTC, datetime

import pytest
from small_worlds import qmgr, queue, rcvr, sender
from topology_frames import frames

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, MissingLakeError
from clwl_spark.snapshots.catalog import list_snapshots
from clwl_spark.snapshots.diff import compare, diff
from clwl_spark.snapshots.write import Snapshot, write_snapshot

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
BEFORE = (
    qmgr("QM1", clwlmruc=3),
    rcvr("QM1", clwlwght=50),
    queue("QM1", "GOES", "K", put_enabled=True),
    queue("QM1", "STAYS", "K"),
    sender("QM1", "QM2", "RUNNING"),
)
AFTER = (
    qmgr("QM1", clwlmruc=4),
    # The default spelled out is no change, and neither is where it was read from.
    rcvr("QM1", source="other.txt:3", altered="2024-05-06"),
    queue("QM1", "STAYS", "K", clwlrank=7, put_enabled=False),
    queue("QM1", "COMES", "", qtype=None),
    sender("QM1", "QM2", "RETRYING"),
)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    lake = Lake(spark, str(tmp_path_factory.mktemp("diff") / "lake"))
    write_snapshot(lake, Snapshot("S2", NOON, "b", base="S1"), frames(spark, *AFTER))
    write_snapshot(lake, Snapshot("S1", NOON.replace(hour=11), "a"), frames(spark, *BEFORE))
    return lake


def queue_key(name, cluster):
    return {"observer": "*", "qmgr": "QM1", "queue": name, "cluster": cluster}


def test_every_attribute_that_changed_is_told_with_both_values(lake):
    document = compare(lake, "S1", "S2").to_json()
    assert (document["from"], document["to"]) == ("S1", "S2")
    assert document["counts"] == {
        "queue_managers": {"added": 0, "removed": 0, "changed": 1},
        "channel_status": {"added": 0, "removed": 0, "changed": 1},
        "queues": {"added": 1, "removed": 1, "changed": 1},
    }
    told = [
        (x["table"], x["key"].get("queue"), x["change"], x["attribute"], x["old"], x["new"])
        for x in document["changes"]
    ]
    assert told == [
        ("queue_managers", None, "CHANGED", "clwlmruc", 3, 4),
        ("channel_status", None, "CHANGED", "status", "RUNNING", "RETRYING"),
        ("queues", "COMES", "ADDED", None, None, None),
        ("queues", "GOES", "REMOVED", "put_enabled", True, None),
        ("queues", "GOES", "REMOVED", "qtype", "QLOCAL", None),
        ("queues", "STAYS", "CHANGED", "clwlrank", None, 7),
        ("queues", "STAYS", "CHANGED", "put_enabled", None, False),
    ]
    assert document["changes"][2]["key"] == queue_key("COMES", "")


def test_a_snapshot_does_not_differ_from_itself(lake):
    assert diff(lake, "S2", "S2").isEmpty()
    assert compare(lake, "S1", "S1").to_json()["counts"] == {}


def test_unknown_snapshots_are_refused_with_those_there_are(lake, spark, tmp_path):
    with pytest.raises(InputError, match=r"no snapshot 'S3'.*there are S1, S2"):
        diff(lake, "S1", "S3")
    with pytest.raises(MissingLakeError):
        diff(Lake(spark, str(tmp_path / "none")), "S1", "S2")


def test_snapshots_are_listed_with_their_sizes_in_order_of_validity(lake):
    first, second = (entry.to_json() for entry in list_snapshots(lake))
    assert (first["snapshot_id"], first["valid_from"]) == ("S1", "2024-05-06T11:00:00Z")
    assert (first["status"], first["being_written"], first["base"]) == ("VALID", False, None)
    assert first["rows"]["queues"] == 2
    assert (second["snapshot_id"], second["base"], second["source"]) == ("S2", "S1", "b")
    assert second["rows"] == {
        "queue_managers": 1, "cluster_channels": 1, "channel_status": 1, "queues": 2,
        "topics": 0, "subscriptions": 0, "views": 0, "cluster_senders": 0,
        "queue_status": 0, "authorities": 0, "message_channels": 0, "actions": 0,
        "ingest_rejects": 0,
    }  # fmt: skip
