"""What is published: the same bytes from the same files, and all that a platform needs in it."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = (
    "clwl_spark", "conf", "data/samples", "jobs", "notebooks",
    "pyproject.toml", "CHANGELOG.md", "LICENSE", "README.md",
)  # fmt: skip


def built(folder, when):
    """A wheel and a source distribution, from a copy of the files that has other moments."""
    for name in BUILT:
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    for path in folder.rglob("*"):
        os.utime(path, (when, when))
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist")]
    env = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    return sorted((folder / "dist").iterdir())


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return [built(tmp_path_factory.mktemp(x), at) for x, at in (("one", 10**9), ("two", 1.5e9))]


def test_the_same_files_make_the_same_bytes(two):
    one, other = [{x.name: hashlib.sha256(x.read_bytes()).hexdigest() for x in y} for y in two]
    assert one == other
    assert {x.rpartition(".")[2] for x in one} == {"gz", "whl"}


def test_a_wheel_has_what_a_platform_runs_and_what_its_commands_read(two):
    (wheel,) = [x for x in two[0] if x.suffix == ".whl"]
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "jobs/clwl.py", "jobs/route.py", "conf/cluster.toml", "conf/platforms/databricks.yml",
        "conf/monitoring/grafana.json", "notebooks/before_a_change.ipynb", "default.toml",
        "gates/health.yml", "present/questions/views/routed_messages.sql",
    }  # fmt: skip
    assert {f"clwl_spark/{x}" for x in wanted} <= names
    info = next(x for x in names if x.endswith("/METADATA"))
    text = zipfile.ZipFile(wheel).read(info).decode()
    for extra in ("all", "embedded", "gates", "report", "spark"):
        assert f"Provides-Extra: {extra}\n" in text
