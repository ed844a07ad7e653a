"""The job of conf/platforms is run by a real Dagster."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable
from platform_home import DAGSTER, platform_program

from clwl_spark.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    """Runs the job, in an instance of its own."""
    home = tmp_path / "home"
    home.mkdir()
    job = shutil.copy(ROOT / "conf" / "platforms" / "dagster_clwl.py", tmp_path)
    env = {x: y for x, y in os.environ.items() if not x.startswith("PYTEST")} | {
        "DAGSTER_HOME": str(home),
        "CLWL_LAKE": str(tmp_path / "lake"),
        "CLWL_LANDING": str(ROOT / "data" / "samples" / "topology"),
        "CLWL_REPORTS": str(tmp_path / "reports"),
        "CLWL_PYTHON": sys.executable,
    }
    words = [platform_program("dagster", DAGSTER), "job", "execute", "-f", job, "-j", "clwl_job"]

    def run():
        done = subprocess.run(
            words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_its_ops_route_the_lake_and_one_that_cannot_is_not_tried_again(run, tmp_path):
    code, said = run()
    assert code != 0
    assert "clwl route ended with 2" in said
    assert "STEP_UP_FOR_RETRY" not in said
    lake = tmp_path / "lake"
    shutil.rmtree(lake)
    assert main(["generate", "--lake", str(lake), "--messages", "200", "--quiet"]) == 0
    code, said = run()
    assert code == 0, said[-3000:]
    assert DeltaTable(lake / "outcomes").to_pyarrow_table().num_rows == 200
    assert (tmp_path / "reports" / "report.html").is_file()
