"""The fault cases that a lake has to survive, and tests of those that no other room has.

A test elsewhere that shows what comes of a case is marked `fault` with the case's number.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from killed_lakes import Killed, environment, world_in
from lakes import share_plans
from pyspark.sql import SparkSession
from worlds import World, put_rows

from clwl_spark.delta import writes as delta_writes
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.engines import embedded
from clwl_spark.routing.ledger import runs
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.tables import CLUSTER_CHANNELS, MESSAGES, QUEUES, SNAPSHOTS

CASES = {
    1: "killed at a random moment",
    2: "killed after Delta's commit, before Spark's",
    3: "killed between two tables of one batch",
    4: "the checkpoint is lost",
    5: "outcomes are lost",
    6: "a file of state, or a memory, is flipped, cut or deleted",
    7: "Spark's offsets or commits are damaged",
    8: "a message that cannot be represented",
    9: "a snapshot fails its gates, or is half written",
    10: "the topology changes within a batch",
    11: "two routers on one lake",
    12: "others compact, merge and vacuum beside it",
    13: "old versions are asked to go too soon",
    14: "messages with other columns",
    15: "a state of an earlier version",
    16: "other partitions, cores and batch sizes",
    17: "messages in another order, files cut otherwise",
    18: "messages that come twice, or late",
    19: "a worker ends, or gets no memory",
    20: "a full disk, a folder that cannot be written",
    21: "one hot queue",
    22: "a clock that jumps back, equal moments",
    23: "years of state",
    24: "another configuration after a restart",
    25: "no network, no Java, another Python",
    26: "Ctrl-C and SIGTERM",
}
_MARK = re.compile(r"@pytest\.mark\.fault\(([\d, ]+)\)|^def test_case_(\d\d)_", re.MULTILINE)


def test_every_case_has_a_test() -> None:
    found: set[int] = set()
    for file in Path(__file__).parent.rglob("test_*.py"):
        for marked, named in _MARK.findall(file.read_text("utf-8")):
            found |= {int(x) for x in (marked or named).split(",")}
    assert found == {*CASES}


class Stopped(Exception):
    """Stands for the end of the process."""


def test_case_02_without_the_transaction_rows_would_be_there_twice(
    killed: Killed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is the transaction that keeps them from it, and nothing else by chance."""
    world = killed.copy(tmp_path / "lake")
    append = Lake.append

    def stop_after(lake: Lake, table: str, *rest: Any) -> None:
        append(lake, table, *rest)
        if table == "rejected_messages":
            raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "append", stop_after)
        with pytest.raises(Stopped):
            world.route()
    with monkeypatch.context() as patched:
        patched.setattr(delta_writes, "has_transaction", lambda *_: False)
        world.route()
    there, once = (killed.tables(x.lake)["rejected_messages"] for x in (world, killed.world))
    assert len(there) - len(once) == world.lake.greatest("runs", "batch_id")[0]["rejected"] > 0


def states_of(lake: Lake, suffixes: tuple[str, ...]) -> list[Path]:
    """Files of state of the checkpoint that routes."""
    folders = [x for x in Path(lake.checkpoint_root).glob("buckets-*") if "plan" not in x.name]
    return [x for f in folders for x in (f / "state").rglob("*") if x.suffix in suffixes]


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def remove(file: Path) -> None:
    file.unlink()


Begun = tuple[Path, dict[str, list[tuple[Any, ...]]]]
"""A lake's folder, and what its tables have to be in the end."""


@pytest.fixture(scope="module")
def begun_by_spark(killed: Killed, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """A lake that Spark has routed, where more messages wait; its tables once they are routed."""
    folder = tmp_path_factory.mktemp("begun")
    world = killed.planned_copy(folder / "lake")
    world.route(engine="arrow")
    world.append("messages", killed.world.batch(2), files=2)
    whole = world_in(killed.spark, shutil.copytree(world.lake.root, folder / "whole"))
    whole.route(engine="embedded")
    share_plans(whole.lake, world.lake)
    return folder / "lake", killed.tables(whole.lake)


@pytest.mark.spark
@pytest.mark.parametrize("damage", [flip, cut, remove])
def test_case_06_a_file_of_spark_s_state_is_damaged(
    killed: Killed, begun_by_spark: Begun, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Nothing is routed with another state than the one that was."""
    world = world_in(killed.spark, shutil.copytree(begun_by_spark[0], tmp_path / "lake"))
    for file in states_of(world.lake, (".delta", ".snapshot", ".zip", ".changelog")):
        damage(file)
    _routed_as(killed, world, begun_by_spark[1])


@pytest.mark.spark
@pytest.mark.parametrize("folder", ["offsets", "commits"])
@pytest.mark.parametrize("damage", [cut, remove])
def test_case_07_spark_s_offsets_or_commits_are_damaged(
    killed: Killed,
    begun_by_spark: Begun,
    tmp_path: Path,
    folder: str,
    damage: Callable[[Path], None],
) -> None:
    world = world_in(killed.spark, shutil.copytree(begun_by_spark[0], tmp_path / "lake"))
    for place in Path(world.lake.checkpoint_root).glob(f"*/{folder}"):
        damage(max((x for x in place.iterdir() if x.name.isdecimal()), key=lambda x: int(x.name)))
    _routed_as(killed, world, begun_by_spark[1])


def _routed_as(killed: Killed, world: World, whole: dict[str, list[tuple[Any, ...]]]) -> None:
    """Right tables at once; or an error, and right tables once the checkpoint is given up."""
    try:
        world.route(engine="arrow")
    except Exception:  # noqa: BLE001  (whatever Spark says of its files)
        shutil.rmtree(world.lake.checkpoint_root)
        world.route(engine="arrow")
    assert killed.tables(world.lake) == whole


def test_case_10_a_snapshot_that_comes_within_a_batch_is_of_the_next_one(
    killed: Killed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = killed.copy(tmp_path / "lake")
    first = min(x["valid_from"] for x in world.lake.rows("snapshots") if x["valid_from"])
    late = {"snapshot_id": "S9", "valid_from": first, "status": "VALID", "source": "test"}
    write = Lake.add_files

    def add_files(lake: Lake, *rest: Any) -> None:
        put_rows(lake, "snapshots", [late])
        write(lake, *rest)

    monkeypatch.setattr(Lake, "add_files", add_files)
    world.route()
    killed.check(world)
    assert "S9" not in world.lake.greatest("runs", "batch_id")[0]["snapshots"]


@pytest.mark.fault(16)
@pytest.mark.parametrize(("files", "is_here"), [(1, True), (7, False)])
def test_case_17_order_and_files_of_messages_change_nothing(
    killed: Killed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, is_here: bool
) -> None:
    """Nor does it whether worker processes route, and how many messages each gets."""
    world = World.made(killed.spark, tmp_path / "lake", killed.world.cases, "v9")
    monkeypatch.setattr(embedded, "HERE_ROWS", 100_000 if is_here else 0)
    monkeypatch.setattr(embedded, "_TASK_ROWS", 1_000_000 if is_here else 50)
    for at in (0, 1):
        rows = world.batch(at)[::-1]
        for part in range(files):
            put_rows(world.lake, "messages", rows[part::files])
        world.route()
    tables = ("outcomes", "rejected_messages", "balance_history")
    there = killed.tables(world.lake)
    assert {x: there[x] for x in tables} == {x: killed.expected[x] for x in tables}


def test_case_18_messages_that_come_twice_are_routed_as_often_and_told_of(
    killed: Killed, tmp_path: Path
) -> None:
    """As documented: a copy is a message that comes too late."""
    world = killed.copy(tmp_path / "lake")
    first = world.route()
    world.append("messages", killed.world.batch(1))
    again = world.route()
    assert again.messages == first.messages
    assert again.outcomes >= again.out_of_order > 0
    assert again.rejected == first.rejected


def hot(messages: int) -> pa.Table:
    """Messages of one queue manager, nine of ten to one queue."""
    numbers = range(1, messages + 1)
    return pa.table(
        {
            "qmgr": pa.array(["A"] * messages),
            "put_seq": pa.array(numbers, pa.int64()),
            "put_time": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * messages),
            "object_name": pa.array([f"COLD.{x % 7}" if x % 10 == 0 else "HOT" for x in numbers]),
        }
    )


def test_case_21_a_hot_queue_is_routed_in_bounded_memory(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Blocks wait on disk beyond the limit, which changes no choice."""
    found = []
    for memory_mib in (1, 512):
        lake = Lake(spark, str(tmp_path / str(memory_mib)))
        lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES, MESSAGES])
        for name, rows in HOT_TOPOLOGY.items():
            put_rows(lake, name, rows)
        put_rows(lake, "messages", hot(60_000).to_pylist())
        summary = route(lake, RouteOptions(worker_memory_mib=memory_mib))
        assert summary.outcomes == 60_000
        found.append(lake.read("outcomes").groupBy("object_name", "dest_qmgr").count().toArrow())
    first, second = (sorted(map(str, x.to_pylist())) for x in found)
    assert first == second


MINE = {"snapshot_id": "S", "observer": "*"}
HOT_TOPOLOGY: dict[str, list[dict[str, Any]]] = {
    "snapshots": [
        {"snapshot_id": "S", "valid_from": datetime(2025, 1, 1, tzinfo=UTC), "status": "VALID"}
    ],
    "cluster_channels": [
        MINE | {"qmgr": x, "channel": f"TO.{x}", "cluster": "K"} for x in ("A", "B", "C")
    ],
    "queues": [
        MINE | {"qmgr": x, "queue": queue, "cluster": "K", "qtype": "QLOCAL"}
        for x in ("B", "C")
        for queue in ("HOT", *(f"COLD.{at}" for at in range(7)))
    ],
}


class EarlierClock(datetime):
    """A clock that is set back by a year."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.now(tz) - timedelta(days=365)


def test_case_22_a_clock_that_jumps_back_changes_nothing(
    killed: Killed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that seems to be later than the run that took it is told by key."""
    world = killed.copy(tmp_path / "lake")
    monkeypatch.setattr(runs, "datetime", EarlierClock)
    world.route()
    killed.check(world)
    assert world.route().messages == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_case_26_a_signal_ends_a_run_without_a_word(
    killed: Killed, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    world = killed.copy(tmp_path / "lake")
    command = ["-m", "clwl_spark.cli", "route", "--lake", world.lake.root, "--engine", "embedded"]
    with subprocess.Popen(
        [sys.executable, *command, "--json", "--quiet"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        log = Path(world.lake.path("runs"), "_delta_log")
        before, deadline = {*log.iterdir()}, time.monotonic() + 120
        while {*log.iterdir()} == before and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(number)
        said, complaint = process.communicate(timeout=120)
    assert (process.returncode, complaint) in ((code, ""), (0, ""))
    assert process.returncode == 0 or said == "" or json.loads(said)
    world.route()
    killed.check(world)
