"""The same worlds and questions on Sail and on Apache Spark: no row differs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from engines.asked import questions

pytestmark = [pytest.mark.java, pytest.mark.timeout(1800)]

PROGRAM = Path(__file__).with_name("by_spark.py")


@pytest.fixture(scope="session")
def answered(tmp_path_factory):
    """The folder with the lake that Spark routed and with Spark's answers."""
    folder = tmp_path_factory.mktemp("engines")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder, json.loads((folder / "answers.json").read_text())


@pytest.mark.parametrize("name", questions())
def test_no_row_differs(spark, answered, name):
    folder, by_spark = answered
    found = questions()[name](spark, folder / "lake", folder / "embedded" / name)
    assert found.keys() == by_spark[name].keys()
    for table, rows in found.items():
        assert rows == by_spark[name][table], table
    assert any(found.values()), "nothing was compared"
