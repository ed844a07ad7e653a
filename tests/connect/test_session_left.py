"""A session that is given is left as it was: its settings, views, schema, and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from connect.session_used import state_of, use

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

SCRIPT = Path(__file__).with_name("session_used.py")
TESTS = SCRIPT.parent.parent


def assert_left(before, after):
    """Spark may have forgotten rows meanwhile that others had it keep."""
    kept = [x for x in before["kept"] if x in after["kept"]]
    assert after == {**before, "kept": kept}


def test_a_session_of_spark_connect(server, tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "lake")],
        env={**os.environ, "SPARK_REMOTE": server, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, routed, after = json.loads(done.stdout)
    assert routed == 300
    assert before["views"] == ["of_the_user"]
    for what, was in before.items():
        assert after[what] == was, what


def test_a_classic_session(spark, tmp_path):
    before = state_of(spark)
    assert use(spark, {"lake": str(tmp_path / "lake")}) == 300
    assert_left(before, state_of(spark))


def test_a_classic_session_with_a_lake_in_its_catalog(spark, tmp_path):
    spark.sql("CREATE SCHEMA clwl_left")
    try:
        before = state_of(spark)
        place = {"catalog": "spark_catalog.clwl_left"}
        assert use(spark, place, str(tmp_path / "checkpoints")) == 300
        assert_left(before, state_of(spark))
    finally:
        spark.sql("DROP SCHEMA clwl_left CASCADE")
