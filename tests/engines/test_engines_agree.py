"""The same worlds and questions on Sail and on Apache Spark: no row differs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from engines.asked import questions

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

PROGRAM = Path(__file__).with_name("by_embedded.py")
TESTS = PROGRAM.parents[1]
PATHS = os.pathsep.join(map(str, (TESTS, TESTS / "support")))


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """The folder with the demo's lake, and what the embedded engine answered."""
    folder = tmp_path_factory.mktemp("engines")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)],
        env={**os.environ, "PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder, json.loads((folder / "answers.json").read_text())


@pytest.mark.parametrize("name", questions())
def test_no_row_differs(spark, answered, name):
    folder, embedded = answered
    found = questions()[name](spark, folder / "lake", folder / "spark" / name)
    assert found.keys() == embedded[name].keys()
    for table, rows in found.items():
        assert rows == embedded[name][table], table
    assert any(found.values()), "nothing was compared"
