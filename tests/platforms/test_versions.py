"""Other Pythons and PySparks than those of the lock: the package does there what it does here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lake_rows import differing
from other_versions import pyspark_of, python_of, python_with, wheel_of_this

ROOT = Path(__file__).parents[2]
QUICK = ("tests/kernel", "tests/rules")
"""Tests that start no session."""
CLUSTER = ("--qmgrs", "6", "--instances", "3", "--on-open", "0.2", "--messages", "1000")

pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """This checkout's."""
    return wheel_of_this(tmp_path_factory.mktemp("wheel"))


def run(python, folder, *words, path=""):
    """Run a program of a Python in a folder; what it printed."""
    env = {x: y for x, y in os.environ.items() if not x.startswith(("PYTEST", "PYTHON", "SPARK"))}
    given = [python, "-W", "ignore", *map(str, words)]
    done = subprocess.run(
        given, cwd=folder, env=env | {"PYTHONPATH": str(path)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def works(python, folder, path=""):
    """The demo, then both engines on one lake each, whose rows are the same."""

    def clwl(*words):
        code, said, told = run(python, folder, "-m", "clwl_spark", *words, path=path)
        assert code == 0, told[-3000:]
        return said

    clwl("demo", "--lake", "demo")
    assert (folder / "demo-report" / "report.html").is_file()
    for engine in ("embedded", "spark"):
        clwl("generate", "--lake", engine, *CLUSTER)
        clwl("route", "--lake", engine, "--engine", engine)
    assert differing(folder / "embedded", folder / "spark") == set()
    found = json.loads(run(python, folder, "-m", "clwl_spark", "doctor", "--json", path=path)[1])
    return {x["name"]: x["found"] for x in found["checks"] if not x["ok"]}


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_another_python(version, wheel, tmp_path):
    program = python_of(version)
    if program is None:
        pytest.skip(f"there is no Python {version} here")
    python = python_with(program, wheel)
    assert works(python, tmp_path) == {}
    code, said, _ = run(python, ROOT, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK)
    assert code == 0, said[-3000:]


@pytest.mark.parametrize("version", ["4.0.5", "4.1.4"])
def test_another_pyspark(version, tmp_path):
    faults = works(sys.executable, tmp_path, pyspark_of(version))
    assert faults == {"lock": f"pyspark {version}, locked ==4.2.0"}
