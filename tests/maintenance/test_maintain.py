"""`clwl maintain`: fewer files and the same rows, for everybody who reads, follows or routes."""

import json
import os
import random
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aged import DAY, grow_older, listed
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.table import TableOptimizer
from lakes import lake_with

from clwl_spark.cli import main
from clwl_spark.delta import upkeep as delta_maintenance
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.upkeep import Permission, files_after_compaction, maintain_folder
from clwl_spark.errors import InputError, UsageError
from clwl_spark.routing.maintenance import permissions
from clwl_spark.routing.maintenance.upkeep import maintain, read_keep
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES, TABLES

AT = datetime(2026, 9, 14, 6, tzinfo=UTC)
WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)
ROUTER = f"256-{'a' * 32}"


def quiet(_stage, _done, _total):
    pass


def kept_up(lake, keep=WEEK, *, dry_run=False):
    found = maintain(lake, keep, dry_run=dry_run, tell=quiet)
    return {x.table: x for x in found.tables}, found


def append(lake, table, *rows):
    """A commit and a file for each row."""
    for row in rows:
        fields = dict.fromkeys(TABLES[table].names) | row
        values = pa.Table.from_pylist([fields], schema=lake.arrow_schema(table))
        write_deltalake(lake.path(table), values, mode="append")


def messages(first, last):
    return [
        {"qmgr": "QM1", "put_seq": x, "put_time": AT, "object_name": "Q"}
        for x in range(first, last)
    ]


def outcomes(number):
    return [{"qmgr": "QM1", "put_seq": x, "reason": 0} for x in range(number)]


def write_run(lake, status, batch_id=0, router=ROUTER):
    row = {"run_id": uuid.uuid4().hex, "status": status, "batch_id": batch_id}
    append(lake, "runs", row | {"algorithm": "v9", "router_id": router, "started_at": AT})


def checkpoint_at(lake, table, version, name, *, batch=0):
    """A stream's checkpoint, as Spark writes it, that has taken a table up to a version."""
    folder = Path(lake.checkpoint_root, name)
    for part in ("offsets", "commits"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    end = {
        "sourceVersion": 1,
        "reservoirId": DeltaTable(lake.path(table)).metadata().id,
        "reservoirVersion": version + 1,
        "index": -1,
        "isStartingVersion": False,
    }
    (folder / "offsets" / str(batch)).write_text(f"v1\n{{}}\n{json.dumps(end)}")
    (folder / "commits" / str(batch)).write_text("v1\n{}")
    return folder


def routed(lake, version=None):
    """All messages up to a version are routed; of all versions, unless one is named."""
    write_run(lake, "DONE")
    newest = lake.version("messages") if version is None else version
    checkpoint_at(lake, "messages", newest, f"buckets-{ROUTER}")


def rows_of(lake, table, version=None):
    found = DeltaTable(lake.path(table), version=version).to_pyarrow_table()
    return sorted(found.to_pylist(), key=str)


def data_files(lake, table):
    return sorted(Path(lake.path(table)).glob("*.parquet"))


@pytest.fixture
def lake(spark, tmp_path):
    names = ("snapshots", "queues", "messages", "outcomes", "balance_history", "runs")
    return lake_with(spark, tmp_path / "a lake ü", names)


def test_small_files_become_one_with_the_same_rows(lake):
    append(lake, "messages", *messages(0, 5))
    append(lake, "outcomes", *outcomes(5))
    routed(lake)
    before = {x: (rows_of(lake, x), DeltaTable(lake.path(x)).metadata()) for x in TABLES_HERE}
    found, _ = kept_up(lake)
    for table in ("messages", "outcomes"):
        assert (found[table].files_before, found[table].files_after) == (5, 1)
        assert (found[table].bytes_freed, found[table].note) == (0, "")
        assert len(DeltaTable(lake.path(table)).file_uris()) == 1
    assert {x: (rows_of(lake, x), DeltaTable(lake.path(x)).metadata()) for x in before} == before
    again, _ = kept_up(lake)
    assert again["outcomes"].files_before == again["outcomes"].files_after == 1


TABLES_HERE = ("messages", "outcomes", "runs", "queues")


@pytest.mark.fault(13)
def test_versions_within_keep_can_be_read_and_older_files_go(lake):
    append(lake, "outcomes", *outcomes(4))
    was = rows_of(lake, "outcomes", 2)
    kept_up(lake)
    grow_older(lake.root, 6)
    found, _ = kept_up(lake)
    assert (found["outcomes"].files_deleted, found["outcomes"].bytes_freed) == (0, 0)
    assert rows_of(lake, "outcomes", 2) == was
    grow_older(lake.root, 2)
    size = sum(x.stat().st_size for x in data_files(lake, "outcomes"))
    (live,) = delta_maintenance._sizes(DeltaTable(lake.path("outcomes")))
    version = lake.version("outcomes")
    found, whole = kept_up(lake)
    assert (found["outcomes"].files_deleted, found["outcomes"].orphans) == (4, 0)
    assert found["outcomes"].bytes_freed == size - live == whole.bytes_freed
    assert len(data_files(lake, "outcomes")) == 1
    assert len(rows_of(lake, "outcomes")) == 4
    assert lake.version("outcomes") == version


def test_a_file_that_was_removed_within_keep_stays_although_a_checkpoint_forgot_it(lake):
    append(lake, "outcomes", *outcomes(4))
    kept_up(lake)
    grow_older(lake.root, 20)
    DeltaTable(lake.path("outcomes")).create_checkpoint()
    grow_older(lake.root, 11)
    found, _ = kept_up(lake, timedelta(days=40))
    assert found["outcomes"].files_deleted == 0
    found, _ = kept_up(lake, timedelta(days=30))
    assert found["outcomes"].files_deleted == 4


def test_a_file_that_was_removed_lately_stays_however_old_it_is(lake):
    append(lake, "outcomes", *outcomes(4))
    grow_older(lake.root, 40)
    kept_up(lake)
    grow_older(lake.root, 8)
    DeltaTable(lake.path("outcomes")).create_checkpoint()
    found, _ = kept_up(lake, timedelta(days=9))
    assert found["outcomes"].files_deleted == 0
    assert len(rows_of(lake, "outcomes", 3)) == 3


def test_orphans_of_killed_writers_go_once_they_are_old(lake):
    append(lake, "outcomes", *outcomes(1))
    folder = Path(lake.path("outcomes"))
    old, young = folder / "part-of a killed%20one.parquet", folder / "part-young.parquet"
    other, crc = folder / "README", folder / f".{old.name}.crc"
    unnamed = folder / "_delta_log" / f".{'0' * 32}.tmp"
    for file in (old, young, other, crc, unnamed):
        file.write_bytes(b"x" * 100)
        if file != young:
            os.utime(file, (0, time.time() - 40 * DAY))
    would, _ = kept_up(lake, dry_run=True)
    assert old.exists()
    found, _ = kept_up(lake)
    assert found == would
    assert (found["outcomes"].files_deleted, found["outcomes"].orphans) == (1, 1)
    assert (found["outcomes"].log_files_deleted, found["outcomes"].bytes_freed) == (1, 200)
    assert [x.exists() for x in (old, crc, unnamed, young, other)] == [False] * 3 + [True] * 2


def test_a_dry_run_changes_nothing_and_says_what_will_be_done(lake):
    append(lake, "messages", *messages(0, 12))
    append(lake, "outcomes", *outcomes(4))
    routed(lake)
    checkpoint_at(lake, "messages", 1, "buckets-256-gone")
    kept_up(lake)
    grow_older(lake.root, 8)
    append(lake, "outcomes", *outcomes(5))
    before = listed(lake.root)
    would, told = kept_up(lake, dry_run=True)
    assert listed(lake.root) == before
    found, done = kept_up(lake)
    assert (found, done) == (would, told)
    assert done.checkpoints == ("buckets-256-gone",)
    assert found["outcomes"].files_deleted == 4
    assert found["outcomes"].log_checkpoint == lake.version("outcomes")


def test_the_log_gets_a_checkpoint_that_keeps_transactions_and_old_commits_go(lake):
    once = CommitProperties(app_transactions=[Transaction("clwl", 7)])
    row = pa.Table.from_pylist(
        [dict.fromkeys(OUTCOMES.names) | outcomes(1)[0]], schema=lake.arrow_schema("outcomes")
    )
    write_deltalake(lake.path("outcomes"), row, mode="append", commit_properties=once)
    append(lake, "outcomes", *outcomes(11))
    found, _ = kept_up(lake)
    assert found["outcomes"].log_checkpoint == lake.version("outcomes")
    append(lake, "outcomes", *outcomes(3))
    grow_older(lake.root, 31)
    found, _ = kept_up(lake, timedelta(days=60))
    assert (found["outcomes"].log_files_deleted, found["outcomes"].files_after) == (0, 4)
    assert "set the table's property delta.logRetentionDuration to more" in found["outcomes"].note
    assert len(rows_of(lake, "outcomes", 3)) == 3
    found, _ = kept_up(lake)
    assert (found["outcomes"].log_files_deleted, found["outcomes"].files_after) == (13, 1)
    names = {x.name for x in Path(lake.path("outcomes"), "_delta_log").iterdir()}
    assert f"{12:020}.json" not in names
    assert f"{13:020}.checkpoint.parquet" in names
    assert DeltaTable(lake.path("outcomes")).transaction_version("clwl") == 7
    assert len(rows_of(lake, "outcomes", 14)) == 13
    assert len(rows_of(lake, "outcomes")) == 15


def test_messages_that_are_not_routed_stay_as_they_are(lake):
    append(lake, "messages", *messages(0, 12))
    routed(lake, version=5)
    grow_older(lake.root, 40)
    before = {x: y for x, y in listed(lake.path("messages")).items() if "checkpoint" not in x}
    found, _ = kept_up(lake)
    assert found["messages"].files_after == found["messages"].files_before == 12
    assert "it has messages that are not routed yet; run clwl route" in found["messages"].note
    after = listed(lake.path("messages"))
    assert {x: after[x] for x in before} == before
    assert found["messages"].log_checkpoint == 12


def test_no_checkpoint_is_written_where_it_would_cost_commits_that_are_not_taken(lake):
    append(lake, "messages", *messages(0, 12))
    routed(lake, version=5)
    DeltaTable(lake.path("messages")).create_checkpoint()
    append(lake, "messages", *messages(12, 24))
    grow_older(lake.root, 40)
    before = listed(lake.path("messages"))
    found, _ = kept_up(lake)
    assert listed(lake.path("messages")) == before
    assert found["messages"].log_checkpoint is None


def test_the_log_stays_from_where_the_last_batch_began(lake):
    append(lake, "messages", *messages(0, 12))
    write_run(lake, "DONE", 0)
    for batch, version in enumerate((5, 12)):
        checkpoint_at(lake, "messages", version, f"buckets-{ROUTER}", batch=batch)
    DeltaTable(lake.path("messages"), version=5).create_checkpoint()
    DeltaTable(lake.path("messages")).create_checkpoint()
    routing = Path(lake.checkpoint_root, f"buckets-{ROUTER}")
    grow_older(lake.root, 40)
    (routing / "offsets" / "0").rename(routing / "away")
    assert kept_up(lake)[0]["messages"].log_files_deleted == 0
    (routing / "away").rename(routing / "offsets" / "0")
    write_run(lake, "DONE", 1)
    assert kept_up(lake)[0]["messages"].log_files_deleted == 5
    names = {x.name for x in Path(lake.path("messages"), "_delta_log").glob("*.json")}
    assert names == {f"{x:020}.json" for x in range(5, 13)}


def test_messages_of_a_lake_that_was_never_routed_stay(lake):
    append(lake, "messages", *messages(0, 3))
    found, _ = kept_up(lake)
    assert found["messages"].files_after == 3
    assert "not routed yet" in found["messages"].note


def test_how_far_routing_has_come_may_stand_in_runs(lake, monkeypatch):
    append(lake, "messages", *messages(0, 3))
    row = {
        "status": "DONE",
        "messages_id": "T",
        "messages_version": 2,
        "memory_version": 1,
        "checkpoint": None,
        "batch_id": 0,
        "algorithm": "v9",
        "router_id": "256-0af",
    }
    monkeypatch.setattr(permissions, "_newest_runs", lambda _lake: [row])
    assert permissions.routed_until(lake) == 2
    assert "not routed yet" in kept_up(lake)[0]["messages"].note
    row["messages_version"] = 3
    assert kept_up(lake)[0]["messages"].files_after == 1
    assert kept_up(lake)[0]["messages"].note == ""


def test_without_the_checkpoint_nobody_knows_how_far_routing_has_come(lake):
    append(lake, "messages", *messages(0, 3))
    write_run(lake, "DONE")
    found, _ = kept_up(lake)
    assert found["messages"].files_after == 3
    assert "how far it is taken cannot be told" in found["messages"].note


def test_commits_that_only_move_rows_are_no_messages(lake):
    append(lake, "messages", *messages(0, 3))
    routed(lake)
    kept_up(lake)
    append(lake, "messages", *messages(3, 6))
    assert "not routed yet" in kept_up(lake)[0]["messages"].note
    checkpoint_at(lake, "messages", lake.version("messages"), f"buckets-{ROUTER}")
    assert kept_up(lake)[0]["messages"].files_after == 1
    log = Path(lake.path("messages"), "_delta_log")
    newest = lake.version("messages")
    grow_older(lake.root, 40)
    (log / f"{newest:020}.json").rename(log / "away")
    DeltaTable(lake.path("messages"), version=newest - 1).create_checkpoint()
    (log / "away").rename(log / f"{newest:020}.json")
    kept_up(lake)
    assert (log / f"{newest:020}.json").exists()


def test_a_run_in_hand_is_left_alone(lake):
    append(lake, "messages", *messages(0, 3))
    append(lake, "outcomes", *outcomes(3))
    orphan = Path(lake.path("queues"), "part-x.parquet")
    orphan.write_bytes(b"x")
    append(lake, "snapshots", {"snapshot_id": "a"}, {"snapshot_id": "b"})
    write_run(lake, "DONE")
    write_run(lake, "RUNNING", 1)
    old = checkpoint_at(lake, "messages", 1, "buckets-256-gone")
    grow_older(lake.root, 40)
    before = listed(lake.root)
    found, whole = kept_up(lake)
    after = listed(lake.root)
    assert {x: after[x] for x in before} == before
    assert {x.partition("/")[0] for x in after.keys() - before.keys()} == {"snapshots"}
    assert found["snapshots"].files_after == 1
    for table in ("outcomes", "runs", "balance_history"):
        assert found[table].note.startswith("left alone: a run of routing is in hand or was killed")
    assert found["queues"].note.startswith("no file was deleted: a run of routing is in hand")
    assert whole.checkpoints == ()
    assert old.exists()


def test_outcomes_that_a_stream_still_has_to_follow_stay(lake):
    append(lake, "outcomes", *outcomes(3))
    checkpoint_at(lake, "outcomes", 2, "hops-1")
    found, _ = kept_up(lake)
    assert "it has rows that are not taken yet" in found["outcomes"].note
    checkpoint_at(lake, "outcomes", 3, "hops-1", batch=1)
    found, _ = kept_up(lake)
    assert found["outcomes"].files_after == 1
    unfinished = checkpoint_at(lake, "outcomes", 9, "hops-1", batch=2)
    (unfinished / "commits" / "2").unlink()
    assert kept_up(lake)[0]["outcomes"].note == ""


def test_outcomes_that_hops_have_not_followed_yet_stay(lake):
    lake.create([TABLES["hops"], TABLES["hop_batches"]])
    append(lake, "outcomes", *outcomes(3))
    checkpoint_at(lake, "outcomes", 2, "hops-1")
    table_id = DeltaTable(lake.path("outcomes")).metadata().id
    row = {"hop": 1, "batch_id": 0, "query_id": "a", "outcomes_id": table_id, "outcomes_from": -1}
    append(lake, "hop_batches", row | {"outcomes_version": 3})
    assert "it has rows that are not taken yet" in kept_up(lake)[0]["outcomes"].note
    done = CommitProperties(app_transactions=[Transaction("clwl-a-hops", 0)])
    hop = dict.fromkeys(TABLES["hops"].names) | {"qmgr": "QM1", "put_seq": 1, "hop": 1}
    rows = pa.Table.from_pylist([hop], schema=lake.arrow_schema("hops"))
    write_deltalake(lake.path("hops"), rows, mode="append", commit_properties=done)
    assert kept_up(lake)[0]["outcomes"].files_after == 1
    append(lake, "outcomes", *outcomes(1))
    assert "it has rows that are not taken yet" in kept_up(lake)[0]["outcomes"].note


def test_the_change_feed_is_kept_as_long_as_keep_says(lake):
    rows = [
        {"snapshot_id": f"s{x}", "observer": "*", "qmgr": "Q", "queue": "A", "cluster": "K"}
        for x in range(3)
    ]
    append(lake, "queues", *rows)
    DeltaTable(lake.path("queues")).update(updates={"clwlrank": "3"}, predicate="qmgr = 'Q'")

    def feed():
        table = DeltaTable(lake.path("queues"))
        rows = pa.table(table.load_cdf(starting_version=0).read_all())
        return sorted(rows.to_pylist(), key=str)

    before = [x["_change_type"] for x in feed()]
    assert len(before) == 9
    kept_up(lake)
    grow_older(lake.root, 6)
    kept_up(lake)
    assert [x["_change_type"] for x in feed()] == before
    grow_older(lake.root, 2)
    found, _ = kept_up(lake)
    assert found["queues"].files_deleted > 3
    assert found["queues"].orphans == 0
    assert {x["clwlrank"] for x in rows_of(lake, "queues")} == {3}


def test_checkpoints_of_routers_that_no_run_names_go_once_they_are_old(lake):
    append(lake, "messages", *messages(0, 1))
    routed(lake)
    root = Path(lake.checkpoint_root)
    mine = [f"buckets-{ROUTER}", f"asked-{ROUTER}", f"missing-{ROUTER}", "somebody-elses"]
    gone = ["buckets-256-x", "plan-256-x", "asked-256-x", f"what-if-{'0' * 32}"]
    for name in (*mine, *gone):
        (root / name).mkdir(exist_ok=True)
        (root / name / "file").write_bytes(b"12")
    assert kept_up(lake)[1].checkpoints == ()
    grow_older(root, 8)
    _, found = kept_up(lake)
    assert (sorted(found.checkpoints), found.checkpoint_bytes) == (sorted(gone), 8)
    assert sorted(x.name for x in root.iterdir()) == sorted(mine)


def test_checkpoints_elsewhere_may_be_shared_and_stay(lake, tmp_path):
    append(lake, "messages", *messages(0, 1))
    (tmp_path / "shared" / "buckets-256-x").mkdir(parents=True)
    grow_older(tmp_path / "shared", 40)
    shared = Lake(lake.spark, lake.root, checkpoints=str(tmp_path / "shared"))
    assert kept_up(shared)[1].checkpoints == ()


def test_a_stream_that_plans_and_is_behind_goes_as_routing_did_without_it(lake):
    append(lake, "messages", *messages(0, 3))
    checkpoint_at(lake, "messages", 1, f"plan-{ROUTER}")
    routed(lake, version=1)
    grow_older(lake.root, 8)
    assert kept_up(lake)[1].checkpoints == ()
    checkpoint_at(lake, "messages", 3, f"buckets-{ROUTER}")
    assert kept_up(lake)[1].checkpoints == (f"plan-{ROUTER}",)


def test_tables_of_later_hops_are_the_lakes_too(lake):
    for table in ("messages", "outcomes", "runs"):
        Path(lake.path(table)).rename(f"{lake.path(table)}_hop2")
    fresh = lake_with(lake.spark, Path(lake.root).parent / "b", ("messages", "outcomes", "runs"))
    for table in ("messages", "outcomes", "runs"):
        Path(fresh.path(table)).rename(lake.path(table))
    hop = [{"qmgr": "QM1", "put_seq": x} for x in range(3)]
    values = pa.Table.from_pylist(
        [dict.fromkeys(OUTCOMES.names) | x for x in hop], schema=lake.arrow_schema("outcomes")
    )
    for at in range(3):
        write_deltalake(f"{lake.path('outcomes')}_hop2", values.slice(at, 1), mode="append")
    found, _ = kept_up(lake)
    assert found["outcomes_hop2"].files_after == 1


def test_others_who_change_the_table_win(lake, monkeypatch):
    append(lake, "outcomes", *outcomes(3))
    tried = []

    def compact(*_words, **_more):
        tried.append(1)
        raise CommitFailedError("others were faster")

    monkeypatch.setattr(TableOptimizer, "compact", compact)
    found, _ = kept_up(lake)
    assert len(tried) == 3
    assert found["outcomes"].files_after == 3
    assert found["outcomes"].note.startswith("not compacted: others change the table just now")


@pytest.mark.fault(12)
def test_writers_beside_it_lose_nothing(lake):
    """Appends and merges go on while the tables are compacted again and again."""
    stop = threading.Event()
    failures = []

    def write():
        for at in range(30):
            row = lake.arrow_rows("balance_history", [(f"QM{at % 7}", "D", "C", at, 0)])
            try:
                lake.merge(BALANCE_HISTORY.name, row)
                append(lake, "outcomes", {"qmgr": "QM1", "put_seq": at})
            except Exception as error:  # noqa: BLE001
                failures.append(error)
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not stop.is_set():
        kept_up(lake, HOUR)
    writer.join()
    assert failures == []
    assert len(rows_of(lake, "balance_history")) == 7
    assert sorted(x["put_seq"] for x in rows_of(lake, "outcomes")) == list(range(30))


def test_retention_that_a_table_asks_for_is_kept(lake):
    folder = lake.path("outcomes")
    asked = {"delta.deletedFileRetentionDuration": "interval 2 weeks"}
    DeltaTable(folder).alter.set_table_properties(asked)
    append(lake, "outcomes", *outcomes(3))
    kept_up(lake)
    grow_older(lake.root, 10)
    assert kept_up(lake)[0]["outcomes"].files_deleted == 0
    grow_older(lake.root, 5)
    assert kept_up(lake)[0]["outcomes"].files_deleted == 3


def test_what_compaction_will_do_is_known_before(tmp_path):
    draw = random.Random(1)
    for trial in range(4):
        folder = str(tmp_path / str(trial))
        for at in range(12):
            values = [draw.getrandbits(62) for _ in range(draw.randint(10, 20_000))]
            target = {"delta.targetFileSize": "200000"} if at == 0 else None
            write_deltalake(folder, pa.table({"x": values}), mode="append", configuration=target)
        everything = Permission()
        would = maintain_folder(folder, everything, WEEK, dry_run=True)
        assert maintain_folder(folder, everything, WEEK, dry_run=False) == would
        assert len(DeltaTable(folder).file_uris()) == would.files_after < 12


def test_files_that_are_large_enough_stay():
    assert files_after_compaction([], 10) == 0
    assert files_after_compaction([10, 11], 10) == 2
    assert files_after_compaction([4, 12, 6, 1], 10) == 3


def test_a_damaged_table_is_named(lake):
    append(lake, "outcomes", *outcomes(2))
    data_files(lake, "outcomes")[0].unlink()
    with pytest.raises(InputError, match=r"table 'outcomes' in lake .* is damaged .*restore"):
        kept_up(lake)


def test_a_table_with_features_that_only_spark_knows_is_left_alone(lake, monkeypatch):
    monkeypatch.setattr(
        "clwl_spark.routing.maintenance.upkeep.unread_features", lambda _table: ["deletionVectors"]
    )
    found, _ = kept_up(lake)
    assert found["outcomes"].files_before is None
    assert "deletionVectors, which Spark maintains: give --engine spark" in found["outcomes"].note


@pytest.mark.fault(13)
@pytest.mark.parametrize("text", ["59m", "0s", "week", "-1h"])
def test_keep_has_to_be_an_hour_at_least(capsys, tmp_path, text):
    with pytest.raises(UsageError, match=r"^--keep .*give"):
        read_keep(text)
    assert main(["maintain", "--lake", str(tmp_path), f"--keep={text}"]) == 2
    assert capsys.readouterr().err.startswith("clwl: --keep ")


def test_the_command_shows_a_table_totals_and_reasons(capsys, lake):
    append(lake, "outcomes", *outcomes(3))
    append(lake, "messages", *messages(0, 2))
    words = ["maintain", "--lake", lake.root]
    assert main([*words, "--dry-run", "--json"]) == 0
    would = json.loads(capsys.readouterr().out)
    assert (would["dry_run"], would["keep"], would["engine"]) == (True, "7d", "embedded")
    tables = {x["table"]: x for x in would["tables"]}
    assert tables.keys() == {"snapshots", "queues", "messages", "outcomes"} | {
        "balance_history",
        "runs",
    }
    assert (tables["outcomes"]["files_before"], tables["outcomes"]["files_after"]) == (3, 1)
    assert would["totals"]["files_after"] == 3
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "all 6 tables" in shown.out
    assert "messages: its files stay as they are" in shown.out
    assert '"stage": "tables"' in shown.err
    assert len(DeltaTable(lake.path("outcomes")).file_uris()) == 1


@pytest.mark.usefixtures("spark")
def test_a_folder_without_tables_is_bad_input(capsys, tmp_path):
    assert main(["maintain", "--lake", str(tmp_path)]) == 2
    assert "no table 'messages' in" in capsys.readouterr().err
    assert main(["maintain", "--lake", str(tmp_path / "none")]) == 2
    assert "check --lake" in capsys.readouterr().err


def test_compacted_files_are_what_other_readers_know(lake):
    append(lake, "messages", *messages(0, 2))
    routed(lake)
    kept_up(lake)
    (name,) = pa.table(DeltaTable(lake.path("messages")).get_add_actions())["path"].to_pylist()
    file = Path(lake.path("messages"), name)
    assert str(pq.read_schema(file).field("put_time").type) == "timestamp[us, tz=UTC]"
    assert pq.read_schema(file).field("qmgr").type == pa.string()
