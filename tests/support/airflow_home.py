"""A real Airflow, in an environment of its own: its libraries are not those of this package."""

import os
import subprocess
import sys
from pathlib import Path

from clwl_spark.spark.runtime import cache_folder

AIRFLOW = ("apache-airflow-core==3.3.2", "apache-airflow-providers-standard==1.21.0")


def airflow_program() -> Path:
    """Airflow's program; it is installed once."""
    folder = cache_folder(os.environ) / "platforms" / f"airflow-{AIRFLOW[0].rpartition('=')[2]}"
    done = folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *AIRFLOW]
        subprocess.run(pip, check=True)
        done.touch()
    return folder / "bin" / "airflow"
