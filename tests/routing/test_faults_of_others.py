"""What other programs do to a lake's tables between runs, and during one."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from killed_lakes import Killed
from whole_runs import clwl, complains, goes_on, route
from worlds import World


def test_messages_are_found_in_newer_files_where_theirs_were_put_together(
    killed: Killed, tmp_path: Path
) -> None:
    """By whoever cleans up behind a run that was killed; what came later is not of its batch."""
    world = killed.copy(tmp_path / "lake")
    killed.kill(world, "after:outcomes")
    messages = DeltaTable(world.lake.path("messages"))
    messages.optimize.compact()
    messages.vacuum(0, dry_run=False, enforce_retention_duration=False)
    goes_on(killed, world)


def merged(world: World) -> None:
    """Let the messages that wait come by a MERGE that changes one which is routed."""
    messages = DeltaTable(world.lake.path("messages"))
    newest = messages.version()
    rows = messages.to_pyarrow_table()
    messages.restore(newest - 1)
    equal = (f"(t.{x} = s.{x} OR (t.{x} IS NULL AND s.{x} IS NULL))" for x in rows.column_names)
    same = " AND ".join(equal)
    merging = messages.merge(rows, same, source_alias="s", target_alias="t")
    merging.when_matched_update_all().when_not_matched_insert_all().execute()


@pytest.mark.parametrize("point", ["outcomes", "router_memory"])
def test_messages_that_a_merge_brought_survive_a_kill(
    killed: Killed, tmp_path: Path, point: str
) -> None:
    """They are told by key from what is routed, but for what their own batch has written."""
    world = killed.copy(tmp_path / "lake")
    merged(world)
    killed.kill(world, f"after:{point}")
    goes_on(killed, world)


def damage_memory(world: World, change: Callable[[bytes], bytes | None]) -> None:
    """Change what queue managers remember, all but some of them, in a commit as by hand."""
    folder = world.lake.path("router_memory")
    table = DeltaTable(folder)
    rows = table.to_pyarrow_table()
    payloads = [change(x) for x in rows["payload"].to_pylist()]
    changed = rows.set_column(3, rows.schema.field("payload"), [pa.array(payloads, pa.binary())])
    write_deltalake(folder, changed, mode="overwrite")


def flipped(data: bytes) -> bytes:
    """One bit of the first number of a channel is another one."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


CHANGES: dict[str, Callable[[bytes], bytes | None]] = {
    "flipped": flipped,
    "cut": lambda data: data[: len(data) // 2],
    "null": lambda _: None,
}


@pytest.mark.fault(6)
@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_row_of_the_memory(killed: Killed, tmp_path: Path, change: str) -> None:
    """Nothing is routed with it; repairing leads to the row that was there."""
    world = killed.copy(tmp_path / "lake")
    damage_memory(world, CHANGES[change])
    complains(route(world), 2, "in table router_memory is damaged: `clwl state repair`")
    assert clwl("state", "repair", "--lake", world.lake.root).returncode == 0
    goes_on(killed, world)


@pytest.mark.fault(12)
@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("outcomes", "commits"),
        ("outcomes", "compacts"),
        ("router_memory", "commits"),
        ("outcomes", "alters"),
    ],
)
def test_somebody_else_commits_meanwhile(
    killed: Killed, tmp_path: Path, table: str, name: str
) -> None:
    """The run is done, or says so and the next one goes on."""
    world = killed.copy(tmp_path / "lake")
    done = route(world, fault=f"meanwhile:{table}:{name}")
    if done.returncode:
        complains(done, 3, "somebody else wrote to table")
    goes_on(killed, world)


def test_messages_that_come_meanwhile_are_of_the_next_batch(killed: Killed, tmp_path: Path) -> None:
    world = killed.copy(tmp_path / "lake")
    rows = world.lake.read("messages").count()
    first = json.loads(route(world, fault="meanwhile:outcomes:appends").stdout)
    assert world.lake.read("messages").count() == rows + 3
    killed.check(world)
    second = json.loads(route(world).stdout)
    assert (second["messages"], second["batch_id"]) == (3, first["batch_id"] + 1)
