"""Messages that are delivered twice: routed once where duplicates are rejected."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from damaged_lakes import lose_newest_commit, tables
from lakes import share_plans
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from random_clusters import random_case
from reference import Reference
from worlds import World, comparable, put_rows

from clwl_spark.checks.quality.accounts import account
from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Duplicates
from clwl_spark.routing.ledger.repair import repair
from clwl_spark.routing.run import RouteOptions, RunSummary, route
from clwl_spark.tables import CLUSTER_CHANNELS, MESSAGES, QUEUES, SNAPSHOTS, TABLES

Row = dict[str, Any]
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINE = {"snapshot_id": "S", "observer": "*"}
TOPOLOGY = {
    "snapshots": [{"snapshot_id": "S", "valid_from": AT, "status": "VALID"}],
    "cluster_channels": [
        MINE | {"qmgr": name, "channel": f"TO.{name}", "cluster": "K"}
        for name in ("A", "B", "C", "D")
    ],
    "queues": [
        MINE | {"qmgr": name, "queue": "Q", "cluster": "K", "qtype": "QLOCAL"}
        for name in ("B", "C", "D")
    ],
}


def _message(put_seq: int, message_id: bytes | None = b"M", **more: Any) -> Row:
    row = {
        "qmgr": "A",
        "put_seq": put_seq,
        "message_id": message_id,
        "put_time": AT + timedelta(seconds=put_seq),
        "object_name": "Q",
        "bind": "NOT_FIXED",
    }
    return row | more


def _lake(spark: SparkSession, root: Path) -> Lake:
    lake = Lake(spark, str(root))
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES, MESSAGES])
    for name, rows in TOPOLOGY.items():
        put_rows(lake, name, rows)
    return lake


def _route(
    lake: Lake, *messages: Row, duplicates: str = "reject", engine: str = "embedded"
) -> RunSummary:
    if messages:
        put_rows(lake, "messages", messages)
    options = RouteOptions(state_partitions=1, duplicates=Duplicates(duplicates), engine=engine)
    return route(lake, options)


def _ways(lake: Lake) -> str:
    """Where the messages of A went, in the order in which it put them."""
    rows = lake.read("outcomes").toArrow().sort_by([("put_seq", "ascending")])
    return "".join(rows["dest_qmgr"].to_pylist())


def _rejected(lake: Lake) -> list[tuple[int, str]]:
    rows = lake.read("rejected_messages").toArrow()
    return sorted(zip(rows["put_seq"].to_pylist(), rows["error"].to_pylist(), strict=True))


def test_a_message_that_was_routed_is_set_aside_and_moves_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = _lake(spark, tmp_path)
    assert _route(lake, *(_message(x) for x in (1, 2))).outcomes == 2
    second = _route(lake, _message(2, msg_length=7), _message(3), _message(1))
    assert (second.messages, second.outcomes, second.rejected) == (3, 1, 2)
    assert second.out_of_order == 0
    assert _rejected(lake) == [(1, "DUPLICATE"), (2, "DUPLICATE")]
    assert _ways(lake) == "BCD"
    row = lake.read("rejected_messages").where("put_seq = 2").collect()[0]
    assert (row.msg_length, row.object_type, row.bind) == (7, None, "NOT_FIXED")
    assert row.put_time.replace(tzinfo=UTC) == AT + timedelta(seconds=2)


def test_by_default_it_is_routed_again(spark: SparkSession, tmp_path: Path) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, _message(1), _message(1), duplicates="keep")
    assert _route(lake, _message(1), duplicates="keep").outcomes == 1
    assert sorted(_ways(lake)) == ["B", "C", "D"]
    assert {x["outcomes_version"] for x in lake.rows("runs")} == {None}


def test_without_a_message_id_qmgr_and_put_seq_tell(spark: SparkSession, tmp_path: Path) -> None:
    """No id and an empty one are the same; a message with one is another message."""
    lake = _lake(spark, tmp_path)
    assert _route(lake, _message(1, None), _message(1), _message(1, b"")).outcomes == 2
    assert _route(lake, _message(1, None), _message(1, b"N")).outcomes == 1
    assert _route(lake, _message(1, b""), _message(1), _message(1, None, qmgr="B")).outcomes == 1
    assert _rejected(lake) == [(1, "DUPLICATE")] * 4


def test_what_was_only_rejected_is_routed_when_it_is_corrected(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = _lake(spark, tmp_path)
    assert _route(lake, _message(1, bind="GLUED"), _message(2)).rejected == 1
    assert _route(lake, _message(1), _message(2, bind="GLUED")).outcomes == 1
    assert _rejected(lake) == [(1, "UNKNOWN_BIND"), (2, "UNKNOWN_BIND")]
    assert _route(lake, _message(1)).rejected == 1


def test_of_two_in_one_batch_the_first_put_stays(spark: SparkSession, tmp_path: Path) -> None:
    lake = _lake(spark, tmp_path)
    later = _message(1, put_time=AT + timedelta(hours=1), object_name="NOWHERE")
    assert _route(lake, later, _message(1)).by_reason == {"0": 1}
    assert lake.rows("rejected_messages")[0]["object_name"] == "NOWHERE"


def test_route_has_an_option_for_it(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = _lake(spark, tmp_path)
    put_rows(lake, "messages", [_message(1), _message(1)])
    command = ["route", "--lake", lake.root, "--json", "--duplicates"]
    assert main([*command, "twice"]) == 2
    assert "keep" in capsys.readouterr().err
    assert main([*command, "reject"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["messages"], said["outcomes"], said["rejected"]) == (2, 1, 1)


def test_a_batch_of_nothing_but_duplicates_leaves_the_memory_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, _message(1), _message(2))
    before = lake.rows("router_memory")
    summary = _route(lake, _message(2), _message(1))
    assert (summary.outcomes, summary.rejected, summary.batch_id) == (0, 2, 1)
    assert lake.rows("router_memory") == before


def test_a_lake_may_change_its_mind_between_batches(spark: SparkSession, tmp_path: Path) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, _message(1), duplicates="keep")
    assert _route(lake, _message(1)).rejected == 1
    assert _route(lake, _message(1), duplicates="keep").outcomes == 1
    assert _route(lake, _message(1)).rejected == 1


@pytest.mark.parametrize("table", ["outcomes", "rejected_messages", "balance_history"])
def test_a_killed_batch_is_gone_on_with_as_it_was_begun(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """What it has written of itself was not routed before it, even where it came late."""
    lake = _lake(spark, tmp_path)
    _route(lake, *(_message(x) for x in (1, 5)))
    _die_after(monkeypatch, table)
    with pytest.raises(KeyboardInterrupt):
        _route(lake, _message(3), _message(5), _message(6), _message(6))
    monkeypatch.undo()
    summary = _route(lake, duplicates="keep")
    assert (summary.messages, summary.outcomes, summary.rejected) == (4, 2, 2)
    assert _ways(lake) == "BDCB"
    assert _rejected(lake) == [(5, "DUPLICATE"), (6, "DUPLICATE")]


def _die_after(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    """Routing ends when a table was written."""
    for method in ("append", "merge", "add_files"):
        original: Callable[..., None] = getattr(Lake, method)

        def write(lake: Lake, name: str, *rest: Any, _write: Any = original) -> None:
            _write(lake, name, *rest)
            if name == table:
                raise KeyboardInterrupt

        monkeypatch.setattr(Lake, method, write)


def test_outcomes_that_are_gone_are_not_guessed(spark: SparkSession, tmp_path: Path) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, _message(1))
    for file in (tmp_path / "outcomes").glob("*.parquet"):
        file.unlink()
    with pytest.raises(LakeStateError, match=r"routed before batch 1 .*: restore its files"):
        _route(lake, _message(1))


@pytest.mark.parametrize(
    "lost", [["outcomes"], ["rejected_messages"], ["outcomes", "router_memory"]]
)
def test_a_repaired_batch_sets_the_same_messages_aside(
    spark: SparkSession, tmp_path: Path, lost: list[str]
) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, *(_message(x) for x in (1, 5)))
    _route(lake, _message(3), _message(5), _message(6), _message(6))
    expected = tables(lake)
    for table in lost:
        lose_newest_commit(lake, table)
    assert [x.batch_id for x in repair(lake, RouteOptions(), lambda *_: None)] == [1]
    assert tables(lake) == expected


def test_a_table_of_outcomes_that_was_gone_knows_what_it_had(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = _lake(spark, tmp_path)
    for at in (1, 2, 3):
        _route(lake, _message(1), _message(at), _message(at + 1))
    expected = tables(lake)
    shutil.rmtree(lake.path("outcomes"))
    assert [x.batch_id for x in repair(lake, RouteOptions(), lambda *_: None)] == [0, 1, 2]
    assert tables(lake) == expected


def test_many_come_again_in_windows_and_workers(spark: SparkSession, tmp_path: Path) -> None:
    """Rotation goes on where it was, though half of a batch came again."""
    lake = _lake(spark, tmp_path)
    for first, last in ((1, 200_000), (100_001, 300_000)):
        put_seq = np.repeat(np.arange(first, last + 1), 1 + (np.arange(first, last + 1) % 50 == 0))
        lake.append("messages", _many(lake, put_seq))
        options = RouteOptions(duplicates=Duplicates.REJECT, worker_memory_mib=64)
        summary = route(lake, options)
    assert (summary.messages, summary.outcomes, summary.rejected) == (204_000, 100_000, 104_000)
    rows = lake.read("outcomes").toArrow().sort_by([("put_seq", "ascending")])
    assert rows["put_seq"].to_numpy().tolist() == [*range(1, 300_001)]
    assert "".join(rows["dest_qmgr"].to_pylist()) == "BCD" * 100_000
    assert not pc.any(rows["out_of_order"]).as_py()


def _many(lake: Lake, put_seq: NDArray[np.int64]) -> pa.Table:
    """Messages of A."""
    one = lake.arrow_rows("messages", [[_message(1).get(x) for x in MESSAGES.names]])
    rows = one.take(pa.array(np.zeros(len(put_seq), dtype=np.int64)))
    at = rows.schema.get_field_index("put_seq")
    return rows.set_column(at, rows.schema.field(at), pa.array(put_seq))


SEEDS = range(2)
TTL = timedelta(days=60)
"""Longer than any message here is late: what is later by three of it may miss its binding."""


@pytest.mark.parametrize("seed", SEEDS)
def test_all_else_is_as_if_duplicates_had_never_been_there(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    """As the plain router says it, and as a lake says it that never had them."""
    chance = random.Random(seed)
    cases = [random_case(random.Random(1_000 * seed + x), f"C{x:03d}.") for x in range(8)]
    world = World.made(spark, tmp_path / "with", cases, "v9")
    clean = World.made(spark, tmp_path / "without", cases, "v9")
    world.references = [Reference(x.tables, binding_ttl=TTL, duplicates="reject") for x in cases]
    expected: Counter[tuple[Any, ...]] = Counter()
    for messages in _delivered(chance, cases):
        told = [x.route(y) for x, y in zip(world.references, messages, strict=True)]
        expected.update(comparable(x) for outcomes in told for x in outcomes)
        world.append("messages", _shuffled(chance, messages), files=3)
        world.route(duplicates=Duplicates.REJECT, binding_ttl=TTL)
        clean.append("messages", _without_duplicates(world, messages), files=2)
        clean.route(binding_ttl=TTL)
    assert world.outcomes() == expected == clean.outcomes()
    rejected = Counter((x["qmgr"], x["put_seq"], x["error"]) for x in _all_rejected(world))
    assert rejected == world.rejected()
    assert sum(n for (*_, error), n in rejected.items() if error == "DUPLICATE") > 50
    for table in ("balance_history", "router_memory"):
        assert _sorted(world.lake, table) == _sorted(clean.lake, table)


@pytest.mark.spark
def test_all_engines_set_the_same_messages_aside(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(7)
    cases = [random_case(chance, f"C{x:03d}.") for x in range(3)]
    batches = [_shuffled(chance, x) for x in _delivered(chance, cases)[:2]]
    found = {}
    planned: list[Lake] = []
    for engine in ("embedded", "arrow", "spark"):
        world = World.made(spark, tmp_path / engine, cases, "v9")
        if planned:
            share_plans(planned[0], world.lake)
        planned.append(world.lake)
        for messages in batches:
            world.append("messages", messages, files=3)
            summary = world.route(engine=engine, duplicates=Duplicates.REJECT, binding_ttl=TTL)
            assert summary.engine == engine
        found[engine] = {x: _sorted(world.lake, x) for x in (*ROUTED, "runs")}
    assert found["embedded"] == found["arrow"] == found["spark"]
    assert sum("DUPLICATE" in x for x in found["spark"]["rejected_messages"]) > 10


ROUTED = ("outcomes", "rejected_messages", "balance_history", "router_memory", "route_plans")
COUNTS = ["batch_id", "messages", "outcomes", "rejected", "out_of_order"]


def _delivered(chance: random.Random, cases: list[Any]) -> list[list[list[Row]]]:
    """(batches, cases) The messages of cases, some with no id, many delivered again.

    Others come late with a put_seq that was there, and an id that was not.
    """
    batches: list[list[list[Row]]] = []
    before: list[list[Row]] = [[] for _ in cases]
    for at in range(max(len(x.batches) for x in cases)):
        batch = []
        for number, case in enumerate(cases):
            own = [dict(x) for x in case.batches[at]] if at < len(case.batches) else []
            for row in own:
                if (row.get("put_seq") or 0) % 3 == 0:
                    row["message_id"] = None
            known = before[number] + own
            again = [dict(chance.choice(known)) for _ in range(len(known) // 3)]
            for row in again:
                if chance.random() < 0.2:
                    row["message_id"] = chance.randbytes(24)
                if chance.random() < 0.3 and row.get("put_time") is not None:
                    row["put_time"] += timedelta(seconds=chance.randrange(1, 10**6))
            before[number] = known + again
            batch.append(own + again)
        batches.append(batch)
    return batches


def _shuffled(chance: random.Random, messages: list[list[Row]]) -> list[Row]:
    rows = [x for of_case in messages for x in of_case]
    chance.shuffle(rows)
    return rows


def _all_rejected(world: World) -> list[Row]:
    return [x for reference in world.references for x in reference.rejected]


def _without_duplicates(world: World, messages: list[list[Row]]) -> list[Row]:
    """A batch's messages without those that the plain router has just set aside as duplicates."""
    gone = [x for x in _all_rejected(world) if x["error"] == "DUPLICATE"]
    left = []
    for row in (x for of_case in messages for x in of_case):
        marked = row | {"error": "DUPLICATE"}
        if marked in gone:
            gone.remove(marked)
        else:
            left.append(row)
    return left


def _sorted(lake: Lake, table: str) -> list[tuple[str, ...]]:
    names = COUNTS if table == "runs" else [x for x in TABLES[table].names if x != "rejected_at"]
    rows = lake.read(table).select(*names).collect()
    return sorted(tuple(map(str, row)) for row in rows)


def test_gates_tell_duplicates_from_messages_that_are_there_twice(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = _lake(spark, tmp_path)
    _route(lake, _message(1), _message(2), _message(2))
    _route(lake, _message(1), _message(1), _message(3))
    figures = account(lake).figures
    assert figures["messages"] == 6
    assert {x: figures[x] for x in ("lost", "repeated", "orphan", "wrong", "waiting")} == {
        "lost": 0,
        "repeated": 0,
        "orphan": 0,
        "wrong": 0,
        "waiting": 0,
    }
    _route(lake, _message(3), duplicates="keep")
    assert account(lake).figures["repeated"] == 1
