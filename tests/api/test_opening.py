"""The Python API: where a lake is, whose session is used, and what importing starts."""

import gc
import subprocess
import sys
from contextlib import contextmanager

import pytest

import clwl_spark as cw
from clwl_spark.api import sessions as api_sessions
from clwl_spark.errors import MissingLakeError, UsageError


def test_settings_are_those_of_the_commands(sessions, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("state_partitions = 3\nbinding_ttl = '7d'\n")
    found = cw.lake(tmp_path, config=file, settings={"state_partitions": 4}).settings
    assert (found.state_partitions, found.binding_ttl.days) == (4, 7)
    with pytest.raises(UsageError, match="unknown setting 'state_partition'"):
        cw.lake(tmp_path, settings={"state_partition": 4})
    assert sessions == ["started"]


def test_a_lake_has_one_place():
    with pytest.raises(UsageError, match="where is the lake"):
        cw.lake()
    with pytest.raises(UsageError, match="two lakes"):
        cw.lake("here", catalog="a.b")


@pytest.fixture
def sessions(monkeypatch):
    """No session runs; what is started and ended is told."""
    told = []

    @contextmanager
    def started(*_):
        told.append("started")
        yield f"session {len(told)}"
        told.append("ended")

    class Nothing:
        @staticmethod
        def getActiveSession():  # noqa: N802  (Spark's name)
            return None

    monkeypatch.setattr(api_sessions, "SparkSession", Nothing)
    monkeypatch.setattr(api_sessions, "session_for", started)
    return told


def test_a_folder_that_is_not_there_starts_no_session(sessions, tmp_path):
    with pytest.raises(MissingLakeError):
        cw.lake(tmp_path / "none")
    assert sessions == []


def test_a_session_that_was_started_ends_with_the_block_and_not_before(sessions, tmp_path):
    with cw.lake(tmp_path) as lake:
        assert lake.tables.spark == "session 1"
        other = cw.lake(tmp_path)
        del other
        gc.collect()
        assert sessions == ["started", "started"]
    assert sessions == ["started", "started", "ended"]
    lake.close()
    assert sessions == ["started", "started", "ended"]


def test_a_session_that_is_given_goes_on(sessions, tmp_path):
    with cw.lake(tmp_path, spark="mine") as lake:
        assert lake.tables.spark == "mine"
    assert sessions == []


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, clwl_spark as cw; "
        "print([x for x in ('pyspark', 'pandas', 'pyarrow', 'clwl_spark.api') if x in sys.modules])"
        "; print('lake' in dir(cw), hasattr(cw, 'pond'), cw.UsageError.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "True False UsageError"]
