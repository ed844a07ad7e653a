"""Executors whose Python lacks the package."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pyspark

from clwl_spark.cli import main
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.java import java_home

JOBS = Path(__file__).parents[2] / "jobs"


def python_without_clwl(folder):
    """A Python with the libraries of this one: what an editable install adds, it does not see."""
    program = folder / "python"
    libraries = sysconfig.get_path("purelib")
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec "{sys._base_executable}" "$@"\n'
    )
    program.chmod(0o755)
    return program


def test_the_remedy_is_named(tmp_path):
    lake = tmp_path / "lake"
    assert main(["generate", "--lake", str(lake), "--messages", "20", "--quiet"]) == 0
    java = java_home(cache_folder(os.environ), os.environ)
    known = {x: y for x, y in os.environ.items() if "SPARK" not in x and x != "PYTHONPATH"}
    env = known | {
        "PATH": f"{java.path / 'bin'}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_PYTHON": str(python_without_clwl(tmp_path)),
    }
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    words = ["--master", "local[1]", str(JOBS / "route.py"), "--lake", str(lake)]
    done = subprocess.run(
        [submit, *words, "--engine", "spark"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    (said,) = [x for x in done.stderr.splitlines() if x.startswith("clwl: ")]
    assert "No module named 'clwl_spark" in said
    assert "set PYSPARK_PYTHON to their Python" in said
