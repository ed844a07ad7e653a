"""The pipeline of conf/platforms/pipelines is run by spark-pipelines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
from deltalake import DeltaTable
from platform_lake import in_order, routed_lake, view_of

from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.jars import delta_jars, jars_for
from clwl_spark.spark.runtime.java import java_home

PIPELINE = Path(__file__).parents[2] / "conf" / "platforms" / "pipelines"
SPARK = Path(pyspark.__file__).parent


def test_its_materialized_views_are_those_of_the_lake(tmp_path):
    lake = routed_lake(tmp_path / "lake")
    folder = shutil.copytree(PIPELINE, tmp_path / "pipeline")
    spec = folder / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("/data/pipeline", str(tmp_path / "notes")))
    cache = cache_folder(os.environ)
    java = java_home(cache, os.environ)
    jars, defaults = delta_jars(cache, java, os.environ), folder / "spark-defaults.conf"
    packages = f"spark.jars.packages              {jars_for('4.2')[0].coordinates}\n"
    told = defaults.read_text()
    assert packages in told
    here = {
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    given = "".join(f"{name} {value}\n" for name, value in here.items())
    defaults.write_text(told.replace(packages, given))
    env = {x: y for x, y in os.environ.items() if "SPARK" not in x} | {
        "CLWL_LAKE": str(lake),
        "JAVA_HOME": str(java.path),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(folder),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    words = ["run", "--spec", spec.name, "--remote", "local[2]"]
    done = subprocess.run(
        [SPARK / "bin" / "spark-pipelines", *words],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Run is COMPLETED" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]
    made = folder / "spark-warehouse"
    shares = DeltaTable(made / "share_per_hour").to_pyarrow_table().to_pylist()
    assert in_order(shares) == view_of(lake, "share_per_hour")
    failed = DeltaTable(made / "failures_per_hour").to_pyarrow_table()["messages"].to_pylist()
    outcomes = DeltaTable(lake / "outcomes").to_pyarrow_table()["reason"].to_pylist()
    assert sum(failed) == sum(x != 0 for x in outcomes) > 0
