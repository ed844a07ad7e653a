"""`clwl state repair`: what was lost of a batch is routed again, to the same rows."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from damaged_lakes import lose_newest_commit, restore, tables
from deltalake import DeltaTable
from routed import Routed

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.losses import losses
from clwl_spark.routing.ledger.repair import repair
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.tables import MESSAGES

LOST = ("outcomes", "rejected_messages", "router_memory")
BATCHES = 3


def repaired(lake: Lake, **options: Any) -> list[tuple[int, tuple[str, ...]]]:
    found = repair(lake, RouteOptions(**options), lambda *_: None)
    return [(x.batch_id, x.tables) for x in found]


@pytest.mark.parametrize("table", LOST)
def test_the_newest_batch_of_a_table_comes_back(lake: Lake, routed: Routed, table: str) -> None:
    lose_newest_commit(lake, table)
    assert tables(lake) != routed.expected
    (batch,) = losses(lake).batches
    assert repaired(lake) == [(batch, (table,))]
    assert tables(lake) == routed.expected
    assert losses(lake).batches == []
    assert route(lake, RouteOptions()).messages == 0


@pytest.mark.parametrize("lost", [LOST[:1], LOST[2:], LOST])
def test_several_batches_come_back_in_order(
    lake: Lake, routed: Routed, lost: tuple[str, ...]
) -> None:
    for table in lost:
        restore(lake, table, routed.after[0])
    assert [x for x, _ in repaired(lake)] == [1, 2]
    assert tables(lake) == routed.expected


def test_a_table_that_is_gone_comes_back_whole(lake: Lake, routed: Routed) -> None:
    for table in (*LOST, "route_plans", "balance_history"):
        shutil.rmtree(lake.path(table))
    assert [x for x, _ in repaired(lake)] == [0, 1, 2]
    assert tables(lake) == routed.expected


def test_tables_that_lost_different_batches_come_back(lake: Lake, routed: Routed) -> None:
    restore(lake, "router_memory", routed.after[1])
    restore(lake, "outcomes", routed.after[0])
    assert repaired(lake) == [(1, ("outcomes",)), (2, ("outcomes", "router_memory"))]
    assert tables(lake) == routed.expected


def test_history_is_brought_in_line_with_the_memory(lake: Lake, routed: Routed) -> None:
    restore(lake, "balance_history", routed.after[0])
    assert repaired(lake) == []
    assert tables(lake) == routed.expected
    version = DeltaTable(lake.path("balance_history")).version()
    assert repaired(lake) == []
    assert DeltaTable(lake.path("balance_history")).version() == version


def test_other_options_than_those_of_the_batch_are_refused(lake: Lake) -> None:
    lose_newest_commit(lake, "outcomes")
    before = tables(lake)
    with pytest.raises(LakeStateError, match=r"differs from what is known of it, .*binding_ttl"):
        repaired(lake, binding_ttl=timedelta(microseconds=1))
    assert tables(lake) == before


def test_messages_that_are_gone_are_named(lake: Lake) -> None:
    lose_newest_commit(lake, "outcomes")
    table = DeltaTable(lake.path("messages"))
    for file in table.file_uris():
        Path(file).unlink()
    with pytest.raises(LakeStateError, match=r"batch 2 .*(again|differs)"):
        repaired(lake)


def test_another_table_of_messages_is_named(lake: Lake) -> None:
    rows = lake.read("messages").toArrow()
    lose_newest_commit(lake, "outcomes")
    shutil.rmtree(lake.path("messages"))
    lake.create([MESSAGES])
    lake.append("messages", rows)
    with pytest.raises(LakeStateError, match=r"batch 2 cannot .*table messages is another one"):
        repaired(lake)


def test_a_memory_that_is_gone_is_named(lake: Lake) -> None:
    lose_newest_commit(lake, "outcomes")
    log = Path(lake.path("router_memory"), "_delta_log")
    DeltaTable(lake.path("router_memory")).create_checkpoint()
    for entry in sorted(log.glob("*.json"))[:-1]:
        entry.unlink()
    with pytest.raises(LakeStateError, match="files of the memory before it are gone; restore"):
        repaired(lake)


def test_the_command_says_what_it_repaired(capsys: Any, lake: Lake) -> None:
    lose_newest_commit(lake, "outcomes")
    words = ["state", "repair", "--lake", lake.root]
    assert main(["route", "--lake", lake.root]) == 2
    assert "clwl state repair" in capsys.readouterr().err
    assert main([*words, "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["repaired"]
    assert (one["batch_id"], one["tables"]) == (2, ["outcomes"])
    assert main(words) == 0
    assert "0 batch(es) routed again" in capsys.readouterr().out
