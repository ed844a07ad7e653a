"""Messages followed hop by hop: against plain Python, exactly once, and no message lost."""

import random
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from deltalake import DeltaTable
from lakes import lake_with
from pyspark.sql import functions as F
from random_clusters import merged_tables, random_case
from scenario_files import START
from tracing.reference_journeys import ReferenceJourneys
from tracing.way_files import definitions, lake_of
from worlds import put_rows

from clwl_spark.algorithm.semantics import Wanted
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError, UsageError
from clwl_spark.mq.vocabulary import Edition, NullOpenId
from clwl_spark.routing.hops.following import Following
from clwl_spark.routing.hops.journeys import follow_messages, hop_figures
from clwl_spark.routing.hops.lakes import lake_at
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.tables import HOPS, TABLES

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


def followed(lake, most_hops, options=OPTIONS):
    route(lake, options)
    follow_messages(lake, options, most_hops)
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
            # A publication goes on from a topic host, of which its row of hop 1 does not end.
            onward = sum(not row["ends"] for row in found)
            assert {row["hop"] for row in found if not row["ends"]} <= {1}
            assert {row["hop"] for row in found} == ({1, 2} if onward else {1})
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
    for group in (b"one", b"two"):  # of one put_seq: each goes with its own group
        put(lake, "QMA", "ACQ1", 1, first=31, message_id=group, group_id=group, bind="ON_GROUP")
    rows = [row for row in followed(lake, 3) if row["hop"] == 2]
    rows.sort(key=lambda row: (row["at_seq"], row["message_id"]))
    assert [row["put_seq"] for row in rows] == [*range(1, 32), 31]
    assert [row["at_seq"] for row in rows] == list(range(1, 33))
    of_groups = ([*rows[:12], rows[-2]], [*rows[12:24], rows[-1]])
    groups = [{row["dest_qmgr"] for row in found} for found in of_groups]
    assert [len(group) for group in groups] == [1, 1]
    assert groups[0] != groups[1]
    assert len({row["dest_qmgr"] for row in rows[24:30]}) == 3

    per_message = (
        lake.read("hops")
        .where("put_seq < 31")
        .groupBy("qmgr", "put_seq")
        .agg(
            F.count_distinct("message_id", "put_time").alias("different"),
            F.count("*").alias("hops"),
        )
    )
    assert {tuple(row) for row in per_message.collect()} == {
        ("QMA", at, 1, 3) for at in range(1, 31)
    }


def killed_after(monkeypatch, table, lake, follow):
    """Follow, until a table is written."""
    for method in ("append", "add_files"):
        original = getattr(Lake, method)

        def killed(self, name, *rest, _write=original):
            _write(self, name, *rest)
            if name == table:
                raise LakeStateError("killed")

        monkeypatch.setattr(Lake, method, killed)
    with pytest.raises(LakeStateError, match="killed"):
        follow(lake, OPTIONS, 3)
    monkeypatch.undo()


def some_on_their_way(spark, folder):
    lake = lake_of(spark, folder, {"S1": definitions("between_clusters_4")})
    put(lake, "QMA", "ACQ1", 30)
    route(lake, OPTIONS)
    return lake


def assert_thirds(rows, count):
    assert_each_message_ends_once(rows, {("QMA", at) for at in range(1, count + 1)})
    assert ends(rows) == {(qmgr, "QUEUE"): count // 3 for qmgr in ("QME", "QMF", "QMG")}


def test_messages_of_one_put_seq_arrive_by_message_id(spark, tmp_path):
    lake = lake_of(spark, tmp_path / "lake", {"S1": definitions("between_clusters_4")})
    ids = [bytes([at]) for at in range(1, 8)]
    for message_id in reversed(ids):
        put(lake, "QMA", "ACQ1", 1, message_id=message_id)
    rows = followed(lake, 3)
    by_first = sorted((x for x in rows if x["hop"] == 2), key=lambda x: x["at_seq"])
    assert [bytes(x["message_id"]) for x in by_first] == ids


def test_killed_runs_are_gone_on_with(spark, tmp_path, monkeypatch):
    lake = some_on_their_way(spark, tmp_path / "lake")
    for table in ("hop_batches", "messages", "hops", "outcomes") * 2:
        killed_after(monkeypatch, table, lake, follow_messages)
    # The third hop, where nothing goes on.
    for table in ("hop_batches", "hops"):
        killed_after(monkeypatch, table, lake, follow_messages)
    assert_thirds(followed(lake, 3), 30)
    batches = lake.read("hop_batches").collect()
    assert sorted((row.hop, row.batch_id) for row in batches) == [(1, 0), (2, 0), (3, 0)]
    put(lake, "QMA", "ACQ1", 3, first=31)
    assert_thirds(followed(lake, 3), 33)
    assert lake.read("hop_batches").count() == 6


def test_outcomes_whose_commits_are_gone_are_told_from_those_that_were_followed(spark, tmp_path):
    lake = some_on_their_way(spark, tmp_path / "lake")
    rows = followed(lake, 3)
    put(lake, "QMA", "ACQ1", 3, first=31)
    route(lake, OPTIONS)
    outcomes = DeltaTable(lake.path("outcomes"))
    outcomes.create_checkpoint()
    newest = Path(lake.path("outcomes"), "_delta_log", f"{outcomes.version():020}.json")
    newest.unlink()
    follow_messages(lake, OPTIONS, 3)
    further = lake.read("hops").collect()
    assert_thirds(further, 33)
    assert told(further) >= told(rows)


def test_rows_that_only_moved_or_went_are_not_followed(spark, tmp_path):
    lake = some_on_their_way(spark, tmp_path / "lake")
    put(lake, "QMA", "ACQ1", 3, first=31)
    rows = followed(lake, 3)
    outcomes = DeltaTable(lake.path("outcomes"))
    outcomes.optimize.compact()
    follow_messages(lake, OPTIONS, 3)
    assert lake.read("hop_batches").count() == 3
    outcomes.delete("put_seq <= 3")
    follow_messages(lake, OPTIONS, 3)
    follow_messages(lake, OPTIONS, 3)
    assert lake.read("hop_batches").count() == 4
    assert lake.read("hops").count() == len(rows)


def test_outcomes_that_were_made_anew_are_refused(spark, tmp_path):
    lake = some_on_their_way(spark, tmp_path / "lake")
    follow_messages(lake, OPTIONS, 1)
    shutil.rmtree(lake.path("outcomes"))
    lake.create([TABLES["outcomes"]])
    with pytest.raises(LakeStateError, match="restore it, or route into another lake"):
        follow_messages(lake, OPTIONS, 1)


@pytest.mark.spark
def test_what_a_stream_followed_is_taken_from_its_checkpoint(spark, tmp_path, monkeypatch):
    def follow_stream(lake, options, _most_hops):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Following, "run", Following.follow_stream)
            follow_messages(lake, options, 1)

    lake = some_on_their_way(spark, tmp_path / "lake")
    follow_stream(lake, OPTIONS, 1)
    put(lake, "QMA", "ACQ1", 3, first=31)
    route(lake, OPTIONS)
    killed_after(monkeypatch, "messages", lake, follow_stream)
    checkpoint = tmp_path / "lake" / "_checkpoints" / "hops-1"
    checkpoint.rename(tmp_path / "elsewhere")
    with pytest.raises(LakeStateError, match="hops-1"):
        follow_messages(lake, OPTIONS, 1)
    (tmp_path / "elsewhere").rename(checkpoint)
    follow_messages(lake, OPTIONS, 1)
    shutil.rmtree(checkpoint)
    follow_messages(lake, OPTIONS, 3)
    assert_thirds(lake.read("hops").collect(), 33)
    batches = lake.read("hop_batches").where("hop = 1").collect()
    found = sorted((x.batch_id, x.outcomes_from, x.outcomes_version) for x in batches)
    assert [x[0] for x in found] == [0, 1]
    assert found[1][1:] == (found[1][2] - 1, lake.version("outcomes"))


def test_a_number_of_hops_that_cannot_be_followed_is_refused(spark, tmp_path):
    with pytest.raises(UsageError, match="give 1 to 64"):
        follow_messages(Lake(spark, str(tmp_path)), OPTIONS, 65)


@pytest.mark.spark
def test_spark_follows_random_worlds_as_the_plain_router_does(spark, tmp_path):
    rows, _ = followed_as_by_the_plain_router(spark, tmp_path, 8, Edition.SECOND)
    assert {"QUEUE", None} <= {row["ends"] for row in rows}


@pytest.mark.parametrize("edition", Edition)
def test_random_worlds_are_followed_as_the_plain_router_follows_them(spark, tmp_path, edition):
    rows, shown = followed_as_by_the_plain_router(spark, tmp_path, 30, edition)
    assert shown >= {"QUEUE", "TOPIC", "DEAD_END", "LEAVES", "GOES_ON", "MORE_HOPS"}
    sent_on = [x for x in rows if x["object_type"] == "TOPIC" and x["hop"] == 2 and x["channel"]]
    assert bool(sent_on) == (edition == Edition.SECOND)


def test_what_arrives_shares_an_open_where_the_lake_says_so(spark, tmp_path):
    shared = NullOpenId.SHARED
    rows, _ = followed_as_by_the_plain_router(spark, tmp_path, 20, Edition.SECOND, shared)
    later = lake_at(Lake(spark, str(tmp_path / "lake")), 2)
    assert [x["null_open_id"] for x in later.rows("runs")] == ["shared"]
    assert max(row["hop"] for row in rows) == 3


def followed_as_by_the_plain_router(spark, tmp_path, worlds, edition, null_open_id=NullOpenId.OWN):
    """Rows of hops, which are those of the plain router, and how messages ended."""
    cases = [
        random_case(random.Random(x), f"C{x:03d}.", unique_put_seq=True, edition=edition)
        for x in range(worlds)
    ]
    lake = lake_with(spark, tmp_path / "lake")
    for name, rows in merged_tables(cases).items():
        put_rows(lake, name, rows)
    references = [ReferenceJourneys(x.tables, 3, edition, null_open_id) for x in cases]
    batch, expected = [], []
    for case, reference in zip(cases, references, strict=True):
        own = [x | {"message_id": f"{x['qmgr']} {x['put_seq']}".encode()} for x in case.batches[0]]
        reference.route(own)
        batch += own
        expected += reference.rows
    put_rows(lake, "messages", batch)
    options = replace(OPTIONS, wanted=Wanted(edition=edition, null_open_id=null_open_id))
    rows = followed(lake, 3, options)
    assert told(rows) == told(expected)
    rejected = {(x.qmgr, x.put_seq) for x in lake.read("rejected_messages").collect()}
    keys = {(x["qmgr"], x["put_seq"]) for x in batch} - rejected
    assert_each_message_ends_once(rows, keys)
    assert max(row["hop"] for row in rows) == 3
    return rows, {end for row in hop_figures(lake) for end in row["ends"]}
