"""What the machine does to a run: one sentence, and the next run goes on right.

Each lake is routed by `clwl route --engine embedded`; by a process of its own where something
happens to that.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from killed_lakes import Killed, world_in
from whole_runs import can_mount, complains, goes_on, route
from worlds import World

import clwl_spark

SMALL_FILE = 16 * 1024
FREE_KIB = (0, 100)
"""Room on a disk: for nothing, for some of the tables."""


@contextmanager
def small_disk(place: Path, mebibytes: int = 4) -> Iterator[Path]:
    """A disk of its own, mounted on a folder."""
    place.mkdir()
    can_mount(place, "-t", "tmpfs", "-o", f"size={mebibytes}m", "none")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, but_kib: int) -> Path:
    """Fill a disk but for so much."""
    filler = disk / "filler"
    filler.write_bytes(bytes(max(shutil.disk_usage(disk).free - but_kib * 1024, 0)))
    return filler


def files(folder: Path) -> set[str]:
    return {str(x.relative_to(folder)) for x in folder.rglob("*") if x.is_file()}


def files_of_log(world: World) -> set[str]:
    """Data files that the tables of a lake have."""
    folders = [x for x in Path(world.lake.root).iterdir() if (x / "_delta_log").is_dir()]
    return {f"{x.name}/{y}" for x in folders for y in _names(x)}


def _names(folder: Path) -> list[str]:
    return [str(x) for x in pa.table(DeltaTable(folder).get_add_actions())["path"].to_pylist()]


@pytest.mark.fault(20)
@pytest.mark.parametrize("free_kib", FREE_KIB)
def test_a_full_disk(killed: Killed, tmp_path: Path, free_kib: int) -> None:
    """What is half written is taken away, so that the disk is not full of it.

    A file of a few rows whose commit had no room may stay: `clwl maintain` finds it.
    """
    with small_disk(tmp_path / "disk") as disk:
        world = killed.copy(disk / "lake")
        before, filler = files(disk / "lake"), fill(disk, free_kib)
        complains(route(world), 3, f"the disk of {disk / 'lake'} is full", "needed")
        new = {x for x in files(disk / "lake") - before if "_delta_log" not in x}
        left = new - files_of_log(world)
        assert sum((disk / "lake" / x).stat().st_size for x in left) < SMALL_FILE
        filler.unlink()
        goes_on(killed, world)


def test_a_full_folder_of_temporary_files(killed: Killed, tmp_path: Path) -> None:
    world = killed.copy(tmp_path / "lake")
    with small_disk(tmp_path / "disk") as disk:
        fill(disk, 12)
        complains(route(world, env={"TMPDIR": str(disk)}), 3, f"the disk of {disk} is full")
    goes_on(killed, world)


@pytest.mark.fault(20)
def test_a_lake_that_cannot_be_written(killed: Killed, tmp_path: Path) -> None:
    world = killed.copy(tmp_path / "lake")
    can_mount(tmp_path / "lake", "--bind", world.lake.root)
    try:
        can_mount(tmp_path / "lake", "-o", "remount,bind,ro")
        complains(route(world), 3, f"lake {world.lake.root} cannot be written (it is read-only)")
    finally:
        subprocess.run(["umount", "-l", world.lake.root], check=True)
    goes_on(killed, world)


def newest_message_file(world: World) -> Path:
    """A file of messages that no batch has taken."""
    return max(Path(world.lake.path("messages")).glob("*.parquet"), key=os.path.getmtime)


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "short": lambda data: data[:-40],
    "overwritten": lambda data: data[:10] + bytes(3000) + data[3010:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_of_messages_that_is_gone_or_damaged(
    killed: Killed, tmp_path: Path, damage: str
) -> None:
    world = killed.copy(tmp_path / "lake")
    file = newest_message_file(world)
    data = file.read_bytes()
    damaged = DAMAGES[damage](data)
    if damaged is None:
        file.unlink()
    else:
        file.write_bytes(damaged)
    words = (f"file {file.name} of table messages in lake {world.lake.root} is", "restore it")
    complains(route(world), 2, *words)
    file.write_bytes(data)
    goes_on(killed, world)


def test_messages_of_a_file_that_is_gone_are_given_up_when_told_so(
    killed: Killed, tmp_path: Path
) -> None:
    """The way out that the sentence names."""
    world = killed.copy(tmp_path / "lake")
    newest_message_file(world).unlink()
    DeltaTable(world.lake.path("messages")).repair()
    done = route(world)
    assert (done.returncode, json.loads(done.stdout)["messages"]) == (0, 0)


@pytest.mark.fault(19)
def test_a_worker_that_the_system_ends(killed: Killed, tmp_path: Path) -> None:
    world = killed.copy(tmp_path / "lake")
    complains(route(world, fault="worker:killed"), 3, "a worker process was ended from outside")
    goes_on(killed, world)


@pytest.mark.fault(19)
def test_a_worker_that_gets_no_memory(killed: Killed, tmp_path: Path) -> None:
    """It says so, or its libraries end it."""
    world = killed.copy(tmp_path / "lake")
    complains(route(world, fault="worker:memory"), 3, "worker_memory_mib", "the next run goes on")
    goes_on(killed, world)


def test_home_and_caches_that_cannot_be_written(killed: Killed, tmp_path: Path) -> None:
    """Nor can the package's own folder, where numba keeps what it has compiled."""
    world = killed.copy(tmp_path / "lake")
    home = tmp_path / "home"
    home.mkdir()
    can_mount(home, "-t", "tmpfs", "none")
    subprocess.run(["umount", "-l", str(home)], check=True)
    package = Path(clwl_spark.__file__).parent
    read_only = " && ".join(
        f"mount --bind '{x}' '{x}' && mount -o remount,bind,ro '{x}'" for x in (home, package)
    )
    caches = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    goes_on(killed, world, env=caches, before=read_only)


@pytest.mark.parametrize("name", ["a 'b' \"c\" 100%", "ü ß\u2003€𝄞 #?&;", "$HOME`x`"])
def test_folders_of_any_name_in_any_locale_and_zone(
    killed: Killed, tmp_path: Path, name: str
) -> None:
    world = killed.copy(tmp_path / name)
    goes_on(killed, world, env={"LANG": "C", "LC_ALL": "C", "TZ": "America/New_York"})


@pytest.mark.parametrize("name", ["per%20cent", "a[b]"])
def test_a_folder_whose_name_delta_rs_takes_for_another_one(
    killed: Killed, tmp_path: Path, name: str
) -> None:
    world = killed.copy(tmp_path / name)
    words = (f"the name of {tmp_path / name} has", "rename it", "--engine spark")
    complains(route(world, alone=True), 2, *words)
    (tmp_path / name).rename(tmp_path / "renamed")
    goes_on(killed, world_in(world.spark, tmp_path / "renamed"))
