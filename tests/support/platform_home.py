"""A platform's programs, in an environment of their own: their libraries are not those of this."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from clwl_spark.spark.runtime import cache_folder

AIRFLOW = ("apache-airflow-core==3.3.2", "apache-airflow-providers-standard==1.21.0")
DAGSTER = ("dagster==1.13.28",)
DBT = ("dbt-duckdb==1.11.1", "dbt-core>=1.11,<1.12", "deltalake>=1.2,<2", "pyarrow>=18")
ICEBERG = ("pyiceberg[pyarrow,sql-sqlite]==0.12.0",)


def platform_program(name: str, packages: Sequence[str]) -> Path:
    """A program of a platform, which is installed once.

    Args:
        name: of the program.
        packages: the platform's, the first with its version.
    """
    first, _, version = packages[0].partition("==")
    folder = cache_folder(os.environ) / "platforms" / f"{first.partition('[')[0]}-{version}"
    done = folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(pip, check=True)
        done.touch()
    return folder / "bin" / name
