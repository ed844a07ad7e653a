"""The DAG of conf/platforms is run by a real Airflow."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable
from platform_home import AIRFLOW, platform_program

from clwl_spark.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def airflow(tmp_path):
    """Airflow with the DAG and nothing else; runs a command of it."""
    shutil.copy(ROOT / "conf" / "platforms" / "airflow_clwl.py", tmp_path / "clwl_dag.py")
    env = {x: y for x, y in os.environ.items() if not x.startswith(("AIRFLOW", "PYTEST"))} | {
        "AIRFLOW_HOME": str(tmp_path / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "CLWL_LAKE": str(tmp_path / "lake"),
        "CLWL_LANDING": str(ROOT / "data" / "samples" / "topology"),
        "CLWL_REPORTS": str(tmp_path / "reports"),
        "CLWL_PYTHON": sys.executable,
        "CLWL_RECORDS": str(ROOT / "data" / "samples" / "records"),
    }

    def run(*words):
        return subprocess.run(
            [platform_program("airflow", AIRFLOW), *words],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("db", "migrate").returncode == 0
    return run


def test_its_tasks_route_the_lake_and_one_that_cannot_is_not_tried_again(airflow, tmp_path):
    lake = tmp_path / "lake"
    done = airflow("dags", "test", "clwl")
    assert done.returncode != 0
    assert "clwl route ended with 2" in done.stdout + done.stderr
    assert "up_for_retry" not in done.stdout + done.stderr
    shutil.rmtree(lake)
    assert main(["generate", "--lake", str(lake), "--messages", "200", "--quiet"]) == 0
    done = airflow("dags", "test", "clwl")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert (lake / "observed_routes").is_dir()
    assert DeltaTable(lake / "outcomes").to_pyarrow_table().num_rows == 200
    assert (tmp_path / "reports" / "report.html").is_file()
