"""The project of conf/platforms/dbt is built by a real dbt, in DuckDB."""

import os
import shutil
import subprocess
from pathlib import Path

import duckdb
from platform_home import DBT, platform_program
from platform_lake import in_order, routed_lake, view_of
from questions.asking import rows_of, select_all

from clwl_spark.cli import main

PROJECT = Path(__file__).parents[2] / "conf" / "platforms" / "dbt"


def build(lake, folder):
    """Build the models over a lake, and ask their tests."""
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    env = os.environ | {"CLWL_LAKE": str(lake), "DBT_SEND_ANONYMOUS_USAGE_STATS": "False"}
    return subprocess.run(
        [platform_program("dbt", DBT), "build", "--profiles-dir", "."],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_its_model_is_the_view_of_that_name(tmp_path):
    lake = routed_lake(tmp_path / "lake")
    done = build(lake, tmp_path / "dbt")
    assert done.returncode == 0, done.stdout[-3000:]
    with duckdb.connect(tmp_path / "dbt" / "clwl.duckdb", read_only=True) as built:
        built.execute("SET TimeZone = 'UTC'")
        rows = in_order(rows_of(built, select_all("share_per_hour")))
    assert rows == view_of(lake, "share_per_hour")
    assert rows


def test_a_gate_that_said_no_fails_its_test(tmp_path):
    lake = tmp_path / "lake"
    assert main(["demo", "--lake", str(lake), "--quiet"]) == 0
    done = build(lake, tmp_path / "dbt")
    assert done.returncode == 1
    assert "Failure in test no_gate_said_no" in done.stdout
    assert "PASS=4" in done.stdout
