"""`clwl state verify`: outcomes that are replayed lead to what is remembered."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaged_lakes import copied, restore
from pyspark.sql import SparkSession
from routed import Routed
from worlds import World

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.runs import begin, claim
from clwl_spark.routing.ledger.verify import verify
from clwl_spark.routing.maintenance.upkeep import maintain, read_keep
from clwl_spark.routing.state.history import Memory, from_bytes, to_bytes
from clwl_spark.routing.state.memory_file import export_memory, import_memory
from clwl_spark.routing.state.memory_table import current_rows

BATCHES = 3


@pytest.mark.parametrize("algorithm", ["v9", "v7"])
def test_outcomes_of_random_clusters_lead_to_what_is_remembered(
    spark: SparkSession, tmp_path: Path, algorithm: str
) -> None:
    world = World.random(spark, tmp_path / "lake", 3, 60, algorithm)
    for at in world.batches():
        world.append("messages", world.batch(at), files=2)
        world.route()
    found = verify(world.lake)
    assert found.differences == []
    assert found.untold == {}
    assert found.outcomes == world.lake.read("outcomes").count()
    assert found.queue_managers > 100
    assert found.bindings > 20


def changed(lake: Lake, change: Callable[[Memory], None]) -> str:
    """Change what one queue manager that has chosen and bound remembers; its name."""
    for row in current_rows(lake).to_pylist():
        memory = from_bytes(row["payload"])
        if memory.bindings and len(memory.balance) > 1 and memory.brought:
            change(memory)
            table = lake.arrow_rows("router_memory", [[*[*row.values()][:3], to_bytes(memory)]])
            lake.merge("router_memory", table)
            return str(row["qmgr"])
    raise AssertionError


def count_more(memory: Memory) -> None:
    memory.counter += 1


def see_more(memory: Memory) -> None:
    memory.highest_put_seq += 1


def forget_reset(memory: Memory) -> None:
    memory.brought.pop()


def weigh_more(memory: Memory) -> None:
    channel = next(iter(memory.balance))
    number, factor = memory.balance[channel]
    memory.balance[channel] = (number, factor + 20)


def bind_elsewhere(memory: Memory) -> None:
    for key, (route, at) in memory.bindings.items():
        memory.bindings[key] = (("OTHER", *route[1:]), at)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (count_more, {"counter"}),
        (see_more, {"highest_put_seq"}),
        (forget_reset, {"reset of"}),
        (weigh_more, {"channel", "balance_history: channel"}),
        (bind_elsewhere, {"binding of"}),
    ],
)
def test_a_memory_that_was_changed_is_told(
    lake: Lake, change: Callable[[Memory], None], what: set[str]
) -> None:
    assert verify(lake).differences == []
    qmgr = changed(lake, change)
    found = verify(lake).differences
    assert {x.qmgr for x in found} == {qmgr}
    assert all(any(x.what.startswith(y) for y in what) for x in found)
    assert all(any(x.what.startswith(y) for x in found) for y in what)


def test_an_older_history_is_told(lake: Lake, routed: Routed) -> None:
    restore(lake, "balance_history", routed.after[0])
    found = verify(lake).differences
    assert found
    assert all(x.what.startswith("balance_history: channel") for x in found)


def test_outcomes_that_are_gone_are_told(lake: Lake, routed: Routed) -> None:
    restore(lake, "outcomes", routed.after[0])
    found = verify(lake).differences
    lost = [x for x in found if not x.qmgr]
    assert [x.what for x in lost] == ["batches of outcomes"]
    assert lost[0].replayed == "1, 2: run clwl state repair"
    assert any(x.what == "counter" for x in found)


def test_compaction_hides_batches_only_where_messages_came_late(lake: Lake) -> None:
    late = {x.qmgr for x in lake.read("outcomes").where("out_of_order").collect()}
    whole = verify(lake)
    maintain(lake, read_keep("1h"), dry_run=False, tell=lambda *_: None)
    found = verify(lake)
    assert found.differences == []
    assert found.untold.keys() == late
    assert all("compaction" in x for x in found.untold.values())
    assert found.queue_managers == whole.queue_managers - len(late) > 0


def test_plans_that_are_gone_are_told(lake: Lake) -> None:
    plans = lake.read("route_plans").collect()
    lake.delete("route_plans", "plan_id", plans[0].plan_id)
    found = verify(lake)
    assert found.untold == {plans[0].qmgr: "plans of its outcomes are gone from route_plans"}
    assert found.differences == []


def test_an_imported_memory_is_where_it_begins(
    routed: Routed, spark: SparkSession, tmp_path: Path
) -> None:
    export_memory(routed.after[0], tmp_path / "memory.parquet")
    fresh = World.made(spark, tmp_path / "fresh", routed.world.cases, "v9")
    import_memory(fresh.lake, tmp_path / "memory.parquet", replace=False)
    replaced = copied(routed.after[0], tmp_path / "replaced")
    import_memory(replaced, tmp_path / "memory.parquet", replace=True)
    for lake in (fresh.lake, replaced):
        fresh.lake = lake
        fresh.append("messages", routed.world.batch(1))
        fresh.route()
        found = verify(lake)
        assert (found.differences, found.untold) == ([], {})
        assert found.outcomes > 0


def test_a_run_in_hand_is_waited_for(lake: Lake) -> None:
    claim(lake, begin(lake))
    with pytest.raises(LakeStateError, match="is in hand or was killed: run clwl route"):
        verify(lake)


def test_the_command_ends_with_1_where_something_differs(capsys: Any, lake: Lake) -> None:
    words = ["state", "verify", "--lake", lake.root]
    assert main(words) == 0
    assert "0 difference(s); compared:" in capsys.readouterr().out
    qmgr = changed(lake, count_more)
    assert main([*words, "--json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["differences"]
    assert (one["qmgr"], one["what"]) == (qmgr, "counter")
    assert int(one["remembered"]) == int(one["replayed"]) + 1
    assert main(words) == 1
    assert "Outcomes lead to" in capsys.readouterr().out
