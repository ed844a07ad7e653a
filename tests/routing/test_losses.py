"""A lake whose tables have lost something is refused before anything is routed."""

import json
import shutil
from pathlib import Path

import pytest
from damaged_lakes import (
    lose_newest_commit,
    newest_run,
    restore,
    tables,
)
from routed import Routed
from worlds import World, put_rows

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.losses import losses, refuse_foreign_checkpoint
from clwl_spark.routing.ledger.runs import after, begin, claim
from clwl_spark.routing.maintenance.upkeep import maintain, read_keep
from clwl_spark.routing.run import RouteOptions, route

REPAIR = r"has lost batch 1, which table runs says is done: `clwl state repair` routes"
BATCHES = 2


def append(lake: Lake, world: World) -> None:
    """Messages that are new."""
    batch = [x | {"put_seq": (x["put_seq"] or 0) + 10**6} for x in world.batch(0)]
    world.lake, before = lake, world.lake
    world.append("messages", batch)
    world.lake = before


def refused(lake: Lake, words: str) -> None:
    """The lake is refused, and nothing of it changes."""
    before = tables(lake)
    with pytest.raises(LakeStateError, match=words):
        route(lake, RouteOptions())
    assert tables(lake) == before


def test_a_whole_lake_has_lost_nothing_and_goes_on(lake: Lake, routed: Routed) -> None:
    assert losses(lake).batches == []
    append(lake, routed.world)
    assert route(lake, RouteOptions()).batch_id == 2
    assert losses(lake).batches == []


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("table", ["outcomes", "rejected_messages", "router_memory"])
def test_a_table_that_lost_its_newest_commit_is_refused(
    lake: Lake, routed: Routed, table: str, is_new: bool
) -> None:
    lose_newest_commit(lake, table)
    if is_new:
        append(lake, routed.world)
    refused(lake, f"table {table} of .*{REPAIR}")
    assert losses(lake).by_table() == {table: (1,)}


@pytest.mark.parametrize("table", ["outcomes", "rejected_messages", "router_memory"])
def test_an_older_copy_of_a_table_is_refused(lake: Lake, routed: Routed, table: str) -> None:
    restore(lake, table, routed.after[0])
    refused(lake, f"table {table} of .*{REPAIR}")


@pytest.mark.fault(5)
def test_a_table_that_was_deleted_has_lost_all_batches(lake: Lake) -> None:
    shutil.rmtree(lake.path("outcomes"))
    with pytest.raises(LakeStateError, match=r"table outcomes of .* has lost batch 0, .*repair"):
        route(lake, RouteOptions())
    assert losses(lake).outcomes == (0, 1)


def test_an_older_copy_of_runs_is_refused(lake: Lake, routed: Routed) -> None:
    restore(lake, "runs", routed.after[0])
    refused(lake, "table runs of .* is older .*router_memory is of batch 1: restore all tables")
    restore(lake, "router_memory", routed.after[0])
    refused(lake, "table runs of .* is older .*outcomes has batch 1: restore all tables")


def test_runs_that_are_gone_are_refused(lake: Lake) -> None:
    shutil.rmtree(lake.path("runs"))
    with pytest.raises(LakeStateError, match=r"table runs .* is older than others"):
        route(lake, RouteOptions())


def test_messages_that_lost_a_commit_are_refused(lake: Lake) -> None:
    lose_newest_commit(lake, "messages")
    refused(lake, "table messages .* is older .*version 2 of it is routed: restore all tables")


def test_messages_of_an_older_copy_that_was_appended_to_are_told_by_key(
    lake: Lake, routed: Routed
) -> None:
    outcomes = lake.read("outcomes").count()
    restore(lake, "messages", routed.after[0])
    append(lake, routed.world)
    append_again = [x | {"put_seq": (x["put_seq"] or 0) + 10**7} for x in routed.world.batch(0)]
    put_rows(lake, "messages", append_again)
    kept = maintain(lake, read_keep("1h"), dry_run=True, tell=lambda *_: None)
    (note,) = (x.note for x in kept.tables if x.table == "messages")
    assert "its log has lost commits" in note
    summary = route(lake, RouteOptions())
    assert summary.messages == 2 * len(append_again)
    assert lake.read("outcomes").count() == outcomes + summary.outcomes
    assert newest_run(lake)["messages_from"] == -2
    assert route(lake, RouteOptions()).messages == 0


def test_an_older_lake_is_a_lake(lake: Lake, routed: Routed) -> None:
    for name in ("messages", *tables(lake), "runs"):
        restore(lake, name, routed.after[0])
    assert losses(lake).batches == []


def test_a_run_that_was_killed_is_gone_on_with(lake: Lake, routed: Routed) -> None:
    append(lake, routed.world)
    run = begin(lake)
    claim(lake, run)
    assert losses(lake).batches == []
    lose_newest_commit(lake, "outcomes")
    refused(lake, REPAIR)


def test_maintenance_hides_no_batch(lake: Lake) -> None:
    maintain(lake, read_keep("1h"), dry_run=False, tell=lambda *_: None)
    assert losses(lake).batches == []


def checkpoint(lake: Lake, batches: int, version: int) -> None:
    """Make the newest run one of Spark's, with a checkpoint that has done so many batches."""
    row = newest_run(lake)
    run = after(row).with_new_checkpoint()
    values = dict(row, checkpoint="buckets-x", snapshots=row["snapshots"])
    table = lake.arrow_rows("runs", [[values[x] for x in values]])
    lake.merge("runs", table)
    folder = Path(lake.checkpoint_root, "buckets-x")
    assert run.checkpoint != "buckets-x"
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True)
        for at in range(batches):
            end = {"reservoirId": row["messages_id"], "reservoirVersion": version, "index": -1}
            (folder / name / str(at)).write_text(f"v1\n{json.dumps({})}\n{json.dumps(end)}")


@pytest.mark.parametrize(
    ("batches", "version", "is_refused"), [(2, 3, False), (3, 3, True), (2, 4, True), (1, 2, False)]
)
def test_a_checkpoint_with_other_batches_is_refused(
    lake: Lake, batches: int, version: int, is_refused: bool
) -> None:
    checkpoint(lake, batches, version)
    run = begin(lake)
    assert run.checkpoint == "buckets-x"
    if not is_refused:
        refuse_foreign_checkpoint(lake, run)
        return
    with pytest.raises(LakeStateError, match=r"checkpoint .*buckets-x has routed other messages"):
        refuse_foreign_checkpoint(lake, run)
