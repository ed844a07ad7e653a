"""Messages followed hop by hop: against plain Python, exactly once, and no message lost."""

import random
from collections import Counter, defaultdict
from datetime import UTC

import pytest
from lakes import lake_with
from pyspark.sql import functions as F
from random_clusters import merged_tables, random_case
from scenario_files import START
from tracing.reference_journeys import ReferenceJourneys
from tracing.way_files import definitions, lake_of
from worlds import put_rows

from clwl_spark.errors import LakeStateError, UsageError
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.schemas import HOPS, TABLES
from clwl_spark.storage import Lake
from clwl_spark.tracing.journeys import follow_messages, hop_figures

pytestmark = pytest.mark.spark

OPTIONS = RouteOptions(state_partitions=2)
COMPARED = [name for name in HOPS.names if name != "plan_id"]


def told(rows):
    """Rows of hops as comparable tuples."""
    return Counter(
        tuple(
            bytes(x)
            if isinstance(x, bytearray)
            else x.astimezone(UTC).replace(tzinfo=None)
            if hasattr(x, "tzinfo")
            else x
            for x in (row[name] for name in COMPARED)
        )
        for row in rows
    )


def followed(lake, most_hops):
    route(lake, OPTIONS)
    follow_messages(lake, OPTIONS, most_hops)
    return [row.asDict() for row in lake.read("hops").collect()]


def put(lake, qmgr, name, count, first=1, **more):
    """Append messages, a second apart."""
    rows = [
        {
            "qmgr": qmgr, "put_seq": at, "message_id": at.to_bytes(24, "big"), "object_name": name,
            "put_time": START.replace(minute=at // 60, second=at % 60), **more,
        }
        for at in range(first, first + count)
    ]  # fmt: skip
    lake.create([TABLES["messages"]])
    put_rows(lake, "messages", rows)


def ends(rows):
    return Counter((row["dest_qmgr"], row["ends"]) for row in rows if row["ends"])


def assert_each_message_ends_once(rows, keys):
    """A chain of hops 1, 2, ... without a gap, and an end at the last one alone."""
    by_message = defaultdict(list)
    for row in rows:
        by_message[row["qmgr"], row["put_seq"]].append(row)
    assert by_message.keys() == keys
    for found in by_message.values():
        if found[0]["object_type"] == "TOPIC":
            assert {row["hop"] for row in found} == {1}
            assert all(row["ends"] for row in found)
            continue
        found.sort(key=lambda row: row["hop"])
        assert [row["hop"] for row in found] == list(range(1, len(found) + 1))
        assert [bool(row["ends"]) for row in found] == [False] * (len(found) - 1) + [True]
        places = [(x["at_qmgr"], x["object_name"], x["object_qmgr"]) for x in found]
        back = [place in places[:at] for at, place in enumerate(places)]
        assert [row["came_back"] for row in found] == back


def test_bouncing_messages_end_in_time_and_a_closed_loop_is_cut_off(spark, tmp_path):
    tables = definitions("bouncing_without_rank")
    for table, rows in definitions("to_and_fro_for_ever").items():
        tables.setdefault(table, []).extend(rows)
    lake = lake_of(spark, tmp_path / "lake", {"S1": tables})
    put(lake, "SERVERA", "CLUSQ", 32)
    put(lake, "QM1", "Q", 3)
    put(lake, "QM1", "ELSEWHERE", 2, first=10)
    keys = {("SERVERA", at) for at in range(1, 33)} | {("QM1", at) for at in (1, 2, 3, 10, 11)}

    rows = followed(lake, 2)
    assert_each_message_ends_once(rows, keys)
    assert ends(rows) == {
        ("SERVERD", "MORE_HOPS"): 16, ("SERVERB", "MORE_HOPS"): 8, ("SERVERC", "MORE_HOPS"): 8,
        ("QM1", "MORE_HOPS"): 3, ("PARTNER", "LEAVES"): 2,
    }  # fmt: skip
    follow_messages(lake, OPTIONS, 2)
    assert lake.read("hops").count() == len(rows)

    further = followed(lake, 5)
    assert_each_message_ends_once(further, keys)
    assert ends(further) == {
        ("SERVERD", "QUEUE"): 28, ("SERVERD", "LOOP"): 2, ("SERVERB", "LOOP"): 1,
        ("SERVERC", "LOOP"): 1, ("QM2", "LOOP"): 3, ("PARTNER", "LEAVES"): 2,
    }  # fmt: skip


def test_messages_arrive_in_their_sender_s_order_as_what_they_were_put(spark, tmp_path):
    tables = definitions("between_clusters_4")
    for row in tables["queues"]:
        row["defbind"] = "GROUP"
    lake = lake_of(spark, tmp_path / "lake", {"S1": tables})
    put(lake, "QMA", "ACQ1", 12, group_id=b"one", bind="ON_GROUP")
    put(lake, "QMA", "ACQ1", 12, first=13, group_id=b"two", bind="ON_GROUP")
    put(lake, "QMA", "ACQ1", 6, first=25)
    rows = [row for row in followed(lake, 3) if row["hop"] == 2]
    rows.sort(key=lambda row: row["at_seq"])
    assert [row["put_seq"] for row in rows] == list(range(1, 31))
    assert [row["at_seq"] for row in rows] == list(range(1, 31))
    groups = [{row["dest_qmgr"] for row in rows[at : at + 12]} for at in (0, 12)]
    assert [len(group) for group in groups] == [1, 1]
    assert groups[0] != groups[1]
    assert len({row["dest_qmgr"] for row in rows[24:]}) == 3

    per_message = (
        lake.read("hops")
        .groupBy("qmgr", "put_seq")
        .agg(
            F.count_distinct("message_id", "put_time").alias("different"),
            F.count("*").alias("hops"),
        )
    )
    assert {tuple(row) for row in per_message.collect()} == {
        ("QMA", at, 1, 3) for at in range(1, 31)
    }


def test_killed_runs_are_gone_on_with_but_not_without_their_checkpoint(
    spark, tmp_path, monkeypatch
):
    tables = definitions("between_clusters_4")
    lake = lake_of(spark, tmp_path / "lake", {"S1": tables})
    put(lake, "QMA", "ACQ1", 30)
    route(lake, OPTIONS)
    for table, writes in (("hops", 2), ("messages", 1), ("outcomes", 1)):
        left = [writes]
        for method in ("append", "add_files"):
            original = getattr(Lake, method)

            def killed(self, name, *rest, _write=original, _table=table, _left=left):
                _write(self, name, *rest)
                if name == _table:
                    _left[0] -= 1
                    if _left[0] == 0:
                        raise LakeStateError("killed")

            monkeypatch.setattr(Lake, method, killed)
        with pytest.raises(LakeStateError, match="killed"):
            follow_messages(lake, OPTIONS, 3)
        monkeypatch.undo()
    rows = followed(lake, 3)
    assert_each_message_ends_once(rows, {("QMA", at) for at in range(1, 31)})
    assert ends(rows) == {(qmgr, "QUEUE"): 10 for qmgr in ("QME", "QMF", "QMG")}

    checkpoint = tmp_path / "lake" / "_checkpoints" / "hops-1"
    checkpoint.rename(tmp_path / "elsewhere")
    put(lake, "QMA", "ACQ1", 3, first=31)
    route(lake, OPTIONS)
    with pytest.raises(LakeStateError, match="hops-1"):
        follow_messages(lake, OPTIONS, 3)
    assert lake.read("hops").count() == len(rows)


def test_a_number_of_hops_that_cannot_be_followed_is_refused(spark, tmp_path):
    with pytest.raises(UsageError, match="give 1 to 64"):
        follow_messages(Lake(spark, str(tmp_path)), OPTIONS, 65)


def test_random_worlds_are_followed_as_the_plain_router_follows_them(spark, tmp_path):
    cases = [random_case(random.Random(at), f"C{at:03d}.", unique_put_seq=True) for at in range(30)]
    lake = lake_with(spark, tmp_path / "lake")
    for name, rows in merged_tables(cases).items():
        put_rows(lake, name, rows)
    references = [ReferenceJourneys(case.tables, 3) for case in cases]
    batch, expected = [], []
    for case, reference in zip(cases, references, strict=True):
        own = [x | {"message_id": f"{x['qmgr']} {x['put_seq']}".encode()} for x in case.batches[0]]
        reference.route(own)
        batch += own
        expected += reference.rows
    put_rows(lake, "messages", batch)
    rows = followed(lake, 3)
    assert told(rows) == told(expected)
    rejected = {(x.qmgr, x.put_seq) for x in lake.read("rejected_messages").collect()}
    keys = {(x["qmgr"], x["put_seq"]) for x in batch} - rejected
    assert_each_message_ends_once(rows, keys)
    shown = {end for row in hop_figures(lake) for end in row["ends"]}
    assert shown >= {"QUEUE", "TOPIC", "DEAD_END", "LEAVES", "GOES_ON", "MORE_HOPS"}
    assert max(row["hop"] for row in rows) == 3
