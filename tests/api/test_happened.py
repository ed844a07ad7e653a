"""The Python API: incidents, single messages, who is behind whom, records of MQ."""

import pytest

import clwl_spark as cw
from clwl_spark.errors import UsageError

LONG_AGO = "2026-01-01T00:00Z"


def test_a_message_is_followed_hop_by_hop(lake):
    found = lake.where("GATE:1")
    assert found[["hop", "qmgr", "put_seq", "object_name"]].to_numpy().tolist() == [
        [1, "GATE", 1, "Q"]
    ]
    assert len(found.attrs["summary"]) == 1
    with pytest.raises(UsageError, match="exclude each other"):
        lake.where("GATE:1", since=LONG_AGO, backlog=3)
    with pytest.raises(UsageError, match="yesterday"):
        lake.where("GATE:1", at="yesterday")


def test_an_incident_has_the_ways_of_its_puts(lake):
    found = lake.incident("Q", LONG_AGO, qmgr="GATE")
    ways = found.ways.set_index(["qmgr", "channel"])["expected_after"].to_dict()
    assert ways["GATE", "TO.QM1"] == ways["GATE", "TO.QM2"] == 0.5
    assert found.bound.empty
    assert list(found.waiting) == ["qmgr", "channel", "xmitq", "status", "messages", "of_object"]
    assert found.changes.empty
    assert list(found.advice) == list(found.incident.advice)


def test_who_is_behind_whom(lake):
    found = lake.separation("GATE")
    assert set(found["channel"]) >= {"TO.QM1", "TO.QM2"}
    assert {x["queue"] for x in found.attrs["queues"]} >= {"Q", "ONE"}
    assert {x["queue"] for x in lake.separation("GATE", "Q").attrs["queues"]} == {"Q"}
    with pytest.raises(UsageError, match="ask for at least one row"):
        lake.separation("GATE", limit=0)


def test_puts_are_loaded_once(spark, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_text("Queue Name;Zeit\nQ;2026-03-02T14:00:00Z\n")
    with cw.lake(tmp_path / "lake", spark=spark) as lake:
        options = {"observer": "GATE", "fields": {"put_time": "Zeit"}}
        assert lake.load(file, **options).rows == {"messages": 1}
        assert lake.load(file, **options).rows == {"messages": 0}
        with pytest.raises(UsageError, match="no option 'zone'"):
            lake.load(file, zone="Mars")
        with pytest.raises(UsageError, match="no such zone"):
            lake.load(file, time_zone="Mars")
