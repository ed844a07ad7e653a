import json
import sys
from importlib import metadata

import pytest
from runtime.java import fake_java

from clwl_spark.errors import SetupError
from clwl_spark.spark.runtime import doctor
from clwl_spark.spark.runtime.doctor import (
    Check,
    check_jars,
    check_java,
    check_library,
    check_lock,
    check_python,
    check_workers,
    checks,
    doctor_report,
    healthy,
)


def test_every_part_is_looked_at():
    names = [check.name for check in checks()]
    assert names == [
        "python",
        "java",
        "pyspark",
        "pysail",
        "delta-spark",
        "pandas",
        "pyarrow",
        "delta jars",
        "worker python",
        "disk space",
        "lock",
    ]


def test_a_failing_check_always_has_a_remedy(tmp_path):
    env = {"PATH": "", "CLWL_JAVA_HOME": str(tmp_path), "CLWL_CACHE": str(tmp_path)}
    bad = [check for check in checks(env | {"PYSPARK_PYTHON": "nowhere"}) if not check.ok]
    assert {"java", "delta jars", "worker python"} <= {check.name for check in bad}
    assert all(check.remedy for check in bad)


@pytest.mark.parametrize(("version", "ok"), [((3, 10, 9), False), ((3, 11, 0), True)])
def test_an_old_python_is_refused(version, ok):
    assert check_python(version).ok is ok


@pytest.mark.fault(25)
def test_a_missing_java_is_one_line_with_the_way_out(tmp_path):
    check = check_java({"CLWL_JAVA_HOME": str(tmp_path), "CLWL_CACHE": str(tmp_path), "PATH": ""})
    assert "does not start" in check.found
    assert check.remedy.startswith("install Java 17")


def test_a_cache_that_cannot_be_written_is_told_as_it_is(tmp_path):
    (tmp_path / "cache").write_text("a file")
    java = fake_java(tmp_path / "java", "17.0.1").parent.parent
    check = check_java({"CLWL_CACHE": str(tmp_path / "cache"), "CLWL_JAVA_HOME": str(java)})
    assert not check.ok
    assert "cannot write" in check.found
    assert "CLWL_CACHE" in check.remedy


@pytest.mark.parametrize(
    ("wanted", "ok"),
    [("==" + metadata.version("pandas"), True), ("<1", False)],
)
def test_a_library_is_held_to_its_range(wanted, ok):
    assert check_library("pandas", wanted).ok is ok


def test_a_missing_library_is_named():
    assert check_library("no-such-library", ">=1").found == "missing"


def test_a_partial_jar_is_told_with_its_size(tmp_path):
    folder = doctor.jars_folder(tmp_path)
    folder.mkdir(parents=True)
    (folder / "delta-storage-4.4.0.jar").write_text("half")
    check = check_jars({"CLWL_CACHE": str(tmp_path)})
    assert not check.ok
    assert "delta-storage-4.4.0.jar: 4 bytes instead of 113863" in check.found
    assert "No such file" in check.found


def test_workers_may_name_the_same_python_in_any_way():
    assert check_workers({}).ok
    assert check_workers({"PYSPARK_PYTHON": sys.executable}).ok


@pytest.mark.fault(25)
def test_another_python_for_the_workers_is_a_fault(tmp_path):
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho /elsewhere\n")
    other.chmod(0o755)
    check = check_workers({"PYSPARK_PYTHON": "python3", "PATH": str(tmp_path)})
    assert not check.ok
    assert "/elsewhere" in check.found
    assert sys.executable in check.remedy


def test_drift_from_the_lock_is_listed(tmp_path):
    lock = tmp_path / "requirements.txt"
    lock.write_text(
        f"# made by make lock\npandas=={metadata.version('pandas')} \\\n    --hash=sha256:00\n"
        "numpy==0.1 \\\nno-such-library==1\nnot-here==1 ; sys_platform == 'win32'\n"
    )
    found = check_lock(lock).found
    assert found == f"numpy {metadata.version('numpy')}, locked ==0.1; no-such-library missing"


def test_without_a_lock_there_is_no_drift(tmp_path):
    assert check_lock(tmp_path / "none").ok


def test_a_session_that_does_not_start_is_a_check_too(monkeypatch):
    def broken(**_words: object) -> None:
        raise SetupError("no Java")

    monkeypatch.setattr(doctor, "spark_session", broken)
    assert doctor.check_spark().found == "no Java"


def test_a_running_session_writes_and_reads_a_table(spark):
    assert doctor.check_spark().ok
    assert spark.range(1).count() == 1


def test_the_report_is_a_line_a_check_or_one_document():
    found = [Check("java", ok=True, found="17"), Check("lock", ok=False, found="x", remedy="y")]
    assert doctor_report(found).splitlines() == ["ok   java 17", "FAIL lock x -> y"]
    document = json.loads(doctor_report(found, as_json=True))
    assert document["ok"] is healthy(found) is False
    assert document["checks"][1] == {"name": "lock", "ok": False, "found": "x", "remedy": "y"}
