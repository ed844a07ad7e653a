"""What each command needs: without an extra's library it works, or names the extra."""

import subprocess
import sys

import pytest

from clwl_spark.cli import main

LACKING = """
import sys
from importlib.abc import MetaPathFinder

class Lacking(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {given!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Lacking())
from clwl_spark.cli import main
sys.exit(main(sys.argv[1:]))
"""
OF_EXTRA = {
    "gates": ["great_expectations"],
    "report": ["altair", "networkx", "vl_convert"],
    "lineage": ["openlineage"],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A lake with everything that the commands ask for."""
    folder = tmp_path_factory.mktemp("extras") / "lake"
    sizes = ["--messages", "20", "--qmgrs", "4", "--instances", "2", "--quiet"]
    assert main(["generate", "--lake", str(folder), *sizes]) == 0
    return folder


def without(extra, *words):
    """A command in a process that lacks what an extra brings."""
    program = LACKING.format(given=OF_EXTRA[extra])
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("extra", ["gates", "report"])
def test_what_needs_no_extra_goes_without(lake, extra):
    for words in (["route"], ["explain", "--from", "QM1", "--object", "Q1"]):
        done = without(extra, *words, "--lake", lake)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("gates", ["validate"]),
        ("report", ["report", "--out", "{lake}-report"]),
        ("lineage", ["snapshots", "--set", "lineage=true"]),
    ],
)
def test_what_needs_one_names_it(lake, extra, words):
    done = without(extra, *(x.format(lake=lake) for x in words), "--lake", lake)
    assert done.returncode == 3
    assert f"pip install 'clwl-spark[{extra}]'" in done.stderr.splitlines()[-1]
    assert OF_EXTRA[extra][0] in done.stderr
