import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from clwl_spark.spark.local_settings import SMALL_WORK
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.java import java_home

JOBS = Path(__file__).parents[2] / "jobs"
SIZES = ["--qmgrs", "4", "--queues", "2", "--instances", "2", "--messages", "50"]
FEW_ROWS = {
    **SMALL_WORK,
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.ui.enabled": "false",
}


def job(name):
    spec = importlib.util.spec_from_file_location(f"job_{name}", JOBS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_jobs_take_a_lake_from_topology_to_answers(capsys, spark, tmp_path):
    lake = ["--lake", str(tmp_path / "lake"), "--json"]
    assert job("generate")([*lake, *SIZES]) == 0
    assert job("route")(lake) == 0
    assert job("explain")([*lake, "--from", "QM1", "--object", "Q1"]) == 0
    decoder, text, documents = json.JSONDecoder(), capsys.readouterr().out, []
    while text := text.strip():
        found, end = decoder.raw_decode(text)
        documents.append(found)
        text = text[end:]
    generated, routed, explained = documents
    assert generated["messages"] == routed["messages"] == 50
    assert explained["plan"]["qmgr"] == "QM1"
    assert spark.range(1).count() == 1


@pytest.mark.usefixtures("spark")
def test_the_ingest_job_ends_with_the_commands_exit_code(capsys, tmp_path):
    missing = str(tmp_path / "none.txt")
    words = [missing, "--snapshot", "s", "--lake", str(tmp_path / "lake")]
    assert job("ingest")(words) == 2
    assert capsys.readouterr().err.startswith("clwl: ")


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.py")), ids=lambda path: path.stem)
def test_a_job_is_one_screen(path):
    assert len(path.read_text().splitlines()) <= 40


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.py")), ids=lambda path: path.stem)
def test_a_job_is_the_command_of_its_name(capsys, path):
    is_any = path.stem == "clwl"
    assert job(path.stem)([*(["route"] if is_any else []), "--help"]) == 0
    named = "route" if is_any else path.stem.strip("_").replace("_", "-")
    assert f"Usage: clwl {named} " in capsys.readouterr().out


@pytest.mark.java
def test_spark_submit_brings_the_session(tmp_path):
    java = java_home(cache_folder(os.environ), os.environ)
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    env = {
        "PATH": f"{java.path / 'bin'}:{os.environ['PATH']}",
        "HOME": os.environ["HOME"],
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": str(JOBS.parent),
    }
    words = ["--lake", str(tmp_path / "lake"), "--json", *SIZES]
    few = [f"--conf={name}={value}" for name, value in FEW_ROWS.items()]
    command = [submit, "--master", "local[2]", *few, str(JOBS / "generate.py"), *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["messages"] == 50
    assert '"event": "generated"' in done.stderr
    assert (tmp_path / "lake" / "messages" / "_delta_log").is_dir()
