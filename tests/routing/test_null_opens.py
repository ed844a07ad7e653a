"""Messages put ON_OPEN without an open_id share one open where a lake's first run has said so."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged_lakes import lose_newest_commit, tables
from lakes import lake_with
from pyspark.sql import SparkSession
from small_worlds import at, message, qmgr, queue, rcvr, snapshot
from small_worlds import tables as tables_of
from worlds import Row, World, put_rows, random_cases

from clwl_spark.algorithm.semantics import Semantics, Wanted
from clwl_spark.checks.quality.accounts import account
from clwl_spark.checks.quality.routed import routed_between
from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import NullOpenId
from clwl_spark.routing.hops.journeys import follow_messages
from clwl_spark.routing.ledger.repair import repair
from clwl_spark.routing.ledger.runs import begin
from clwl_spark.routing.ledger.verify import verify
from clwl_spark.routing.run import RouteOptions, RunSummary, route
from clwl_spark.routing.state.history import from_bytes, to_bytes
from clwl_spark.routing.state.memory_file import export_memory, import_memory
from clwl_spark.routing.state.memory_table import current_rows
from clwl_spark.tables import MESSAGES

SHARED = Wanted(null_open_id=NullOpenId.SHARED)
OWN = Wanted(null_open_id=NullOpenId.OWN)
LEAST = -(2**63)
CASES = 15
BATCHES = 2
Change = Callable[[Row], Row | None]


def options(wanted: Wanted = SHARED) -> RouteOptions:
    return RouteOptions(wanted=wanted, state_partitions=2)


def named(row: Row) -> Row:
    """A message whose open is one that no other message names, if it names none."""
    return row | ({"open_id": LEAST} if row.get("open_id") is None else {})


def without_null_opens(row: Row) -> Row | None:
    """A message, unless it may be put ON_OPEN and names no open."""
    by_open = row.get("bind") in (None, "ON_OPEN", "AS_Q_DEF")
    return None if by_open and row.get("open_id") is None else row


def routed(spark: SparkSession, folder: Path, seed: int, change: Change, *, shared: bool) -> World:
    """Random clusters whose messages are changed before they are routed."""
    cases = random_cases(seed, CASES, edition=2)
    for case in cases:
        case.batches[:] = [[y for x in own if (y := change(x))] for own in case.batches]
    world = World.made(spark, folder, cases, random.Random(seed).choice(("v9", "v7")), 2)
    if shared:
        world.sharing_null_opens()
    for number in world.batches()[:BATCHES]:
        world.append("messages", world.batch(number))
        world.route()
    return world


def memories(world: World) -> dict[str, bytes]:
    return {x["qmgr"]: x["payload"] for x in current_rows(world.lake).to_pylist()}


@pytest.mark.parametrize("seed", [1, 2])
def test_to_share_an_open_is_to_name_one_that_nobody_else_names(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    """So nothing else changes: neither rejects, nor what is put otherwise, nor what is named."""
    sharing = routed(spark, tmp_path / "sharing", seed, lambda x: x, shared=True)
    naming = routed(spark, tmp_path / "naming", seed, named, shared=False)
    assert sharing.outcomes() == naming.outcomes()
    assert sharing.history() == naming.history()
    assert sharing.rejected() == naming.rejected()
    keys = [key for x in memories(sharing).values() for key in from_bytes(x).bindings]
    assert any(key[1] is None for key in keys)
    assert verify(sharing.lake).differences == []


def test_where_all_name_their_open_nothing_changes(spark: SparkSession, tmp_path: Path) -> None:
    own, sharing = (
        routed(spark, tmp_path / str(x), 3, without_null_opens, shared=x) for x in (False, True)
    )
    assert own.outcomes() == sharing.outcomes()
    assert memories(own) == memories(sharing)


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return small_lake(spark, tmp_path / "lake")


def small_lake(spark: SparkSession, folder: Path) -> Lake:
    """Four queue managers: three host Q, DEFBIND(OPEN), and GATE the alias WAY that leads there."""
    there = [qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2", "QM3"))]
    hosts = [queue(x, "Q", "K", defbind="OPEN") for x in ("QM1", "QM2", "QM3")]
    hosts.append(queue("GATE", "WAY", "K", qtype="QALIAS", target="Q", defbind="OPEN"))
    made = lake_with(spark, folder)
    for name, rows in tables_of(snapshot("S1"), *at("S1", *there, *hosts)).items():
        put_rows(made, name, rows)
    return made


def put(lake: Lake, first: int, count: int = 4, wanted: Wanted = SHARED, **more: Any) -> RunSummary:
    put_rows(lake, MESSAGES.name, [message("GATE", "Q", first + x, **more) for x in range(count)])
    return route(lake, options(wanted))


def destinations(lake: Lake, first: int, count: int = 4) -> str:
    rows = lake.read("outcomes").where(f"put_seq BETWEEN {first} AND {first + count - 1}").collect()
    rows.sort(key=lambda x: x.put_seq)
    return "".join(x.dest_qmgr[-1].translate(str.maketrans("123", "abc")) if x.bound
                   else x.dest_qmgr[-1] for x in rows)  # fmt: skip


def test_the_first_message_chooses_and_the_others_follow_batch_after_batch(lake: Lake) -> None:
    assert put(lake, 1, bind="ON_OPEN").own_opens == 0
    put(lake, 5, bind="AS_Q_DEF")
    put(lake, 9, bind="NOT_FIXED")
    put(lake, 13, bind="ON_OPEN", open_id=7)
    put(lake, 17, bind="ON_OPEN", open_id=LEAST)
    put(lake, 21, bind="ON_GROUP")
    put(lake, 25, bind="ON_OPEN")
    firsts = range(1, 29, 4)
    found = [destinations(lake, x) for x in firsts]
    assert found[:2] == ["1aaa", "aaaa"]
    assert found[2] == "2312"
    assert found[3:5] == ["3ccc", "1aaa"]
    assert found[5:] == ["2312", "aaaa"]


def test_another_object_queue_manager_is_another_open(lake: Lake) -> None:
    put(lake, 1, bind="ON_OPEN")
    put(lake, 5, bind="ON_OPEN", object_qmgr="QM2")
    assert [destinations(lake, x) for x in (1, 5)] == ["1aaa", "2bbb"]


def test_runs_say_it_and_another_meaning_is_refused(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    put_rows(lake, MESSAGES.name, [message("GATE", "Q", x, bind="AS_Q_DEF") for x in range(4)])
    assert main(["route", "--lake", lake.root, "--null-open-id", "shared", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["own_opens"] == 0
    assert [x["null_open_id"] for x in lake.rows("runs")] == ["shared"]
    assert begin(lake).semantics.shares_null_opens
    assert main(["route", "--lake", lake.root, "--null-open-id", "own"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "was first routed with algorithm v9, edition 2, null_open_id shared;" in said
    assert "null_open_id own would mix two histories: route into another lake" in said
    assert main(["route", "--lake", lake.root, "--set", "null_open_id=each"]) == 2
    put(lake, 5, wanted=Wanted(), bind="ON_OPEN")
    assert destinations(lake, 5) == "aaaa"


def test_a_lake_of_opens_of_their_own_says_nothing_and_refuses_to_share(lake: Lake) -> None:
    assert put(lake, 1, wanted=OWN, bind="ON_OPEN").own_opens == 4
    assert [x["null_open_id"] for x in lake.rows("runs")] == [None]
    with pytest.raises(LakeStateError, match="edition 2; null_open_id shared would mix"):
        route(lake, options())


def test_semantics_are_said_as_before_where_opens_are_not_shared() -> None:
    assert Semantics().to_json() == {"algorithm": "v9", "edition": 2}
    assert str(Semantics()) == "algorithm v9, edition 2"
    assert Semantics(null_open_id=NullOpenId.SHARED).to_json()["null_open_id"] == "shared"
    assert str(Wanted()) == "any"


def test_accounts_know_what_binds(lake: Lake) -> None:
    put(lake, 1, bind="ON_OPEN")
    put(lake, 5, bind="AS_Q_DEF")
    put(lake, 9, bind="NOT_FIXED")
    assert {account(lake).figures[x] for x in ("unbound", "wrong", "lost")} == {0}
    moments = [x.put_time for x in lake.read(MESSAGES.name).collect()]
    first, last = (int(x.timestamp() * 1_000_000) for x in (min(moments), max(moments)))
    opens = routed_between(lake, [first - 1, last + 1]).opens
    assert opens["largest"].to_list() == [8]
    lake.merge("runs", lake.arrow_rows("runs", [
        list((x | {"null_open_id": None}).values()) for x in lake.rows("runs")
    ]))  # fmt: skip
    assert account(lake).figures["unbound"] == 7


def test_what_was_lost_is_routed_again_and_what_was_changed_is_told(lake: Lake) -> None:
    put(lake, 1, bind="ON_OPEN")
    put(lake, 5, bind="NOT_FIXED")
    put(lake, 9, bind="AS_Q_DEF")
    expected = tables(lake)
    for name in ("outcomes", "router_memory"):
        lose_newest_commit(lake, name)
    assert tables(lake) != expected
    repair(lake, RouteOptions(), lambda *_: None)
    assert tables(lake) == expected
    found = verify(lake)
    assert (found.differences, found.bindings) == ([], 1)
    (row,) = current_rows(lake).to_pylist()
    memory = from_bytes(row["payload"])
    ((key, (way, last)),) = memory.bindings.items()
    memory.bindings[key] = (("QM9", *way[1:]), last)
    changed = lake.arrow_rows("router_memory", [[*[*row.values()][:3], to_bytes(memory)]])
    lake.merge("router_memory", changed)
    (told,) = verify(lake).differences
    assert told.what == "binding of the open without an open_id to Q"


@pytest.mark.parametrize(("wanted", "expected"), [(SHARED, [6]), (OWN, [2, 2, 2])])
def test_what_arrives_over_channels_is_of_one_open_too(
    lake: Lake, wanted: Wanted, expected: list[int]
) -> None:
    put_rows(lake, MESSAGES.name, [message("QM1", "WAY", x) for x in range(6)])
    route(lake, options(wanted))
    follow_messages(lake, options(Wanted()), 2)
    ends = Counter(x.dest_qmgr for x in lake.read("hops").where("hop = 2").collect())
    assert sorted(ends.values()) == expected


def test_a_what_if_routes_as_the_lake_does(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    put(lake, 1, 9, bind="ON_OPEN")
    asked = ["what-if", "--lake", lake.root, "--change", "STOP CHANNEL(TO.QM1) ON GATE", "--json"]
    assert main(asked) == 0
    ways = json.loads(capsys.readouterr().out)["by_channel"]
    assert [x["before"] for x in ways if x["before"]] == [9]
    assert [x["after"] for x in ways if x["after"]] == [9]


def test_a_message_exit_is_told_of_no_open_id(lake: Lake) -> None:
    put_rows(lake, MESSAGES.name, [message("GATE", "Q", x, bind="ON_OPEN") for x in range(3)])
    exit_ = "message_exits:leave_what_names_no_open"
    route(lake, RouteOptions(wanted=SHARED, state_partitions=2, message_exit=exit_))
    assert destinations(lake, 0, 3) == "1aa"


def test_a_memory_says_it_on_its_way_to_another_lake(
    lake: Lake, spark: SparkSession, tmp_path: Path
) -> None:
    put(lake, 1, bind="ON_OPEN")
    file = tmp_path / "memory.parquet"
    assert export_memory(lake, file).to_json()["null_open_id"] == "shared"
    other = small_lake(spark, tmp_path / "other")
    with pytest.raises(LakeStateError, match=r"edition 2, the memory is of .*null_open_id shared"):
        import_memory(other, file, replace=False, wanted=OWN)
    assert import_memory(other, file, replace=False).null_open_id == "shared"
    assert begin(other).semantics.shares_null_opens
    with pytest.raises(LakeStateError, match="null_open_id shared"):
        begin(other, OWN)
