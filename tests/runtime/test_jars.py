import hashlib
import os
import shutil
from pathlib import Path

import pytest

from clwl_spark.errors import SetupError
from clwl_spark.spark.embedded import why_not_here
from clwl_spark.spark.runtime import cache_folder, jars
from clwl_spark.spark.runtime.doctor import check_jars
from clwl_spark.spark.runtime.jars import (
    DELTA_JARS,
    JarsMissing,
    delta_jars,
    jar_faults,
    jars_folder,
    jars_for,
)
from clwl_spark.spark.runtime.java import JavaHome, java_home

SMALL = tuple(
    jars.Jar(name, "1", len(name), hashlib.sha256(name.encode()).hexdigest())
    for name in ("delta-one", "delta-two")
)


@pytest.fixture
def java(tmp_path):
    return JavaHome(tmp_path, "17", "PATH", tmp_path)


@pytest.fixture
def small(monkeypatch):
    """JARs of a few bytes, and no waiting between attempts."""
    monkeypatch.setattr(jars, "DELTA_JARS", SMALL)
    monkeypatch.setattr(jars, "PAUSE_SECONDS", 0)


def resolver(*contents: dict[str, str]):
    """A stand-in for Spark's resolver that brings the next of `contents` at each call."""
    calls = iter(contents)

    def resolve(work: Path, *_rest: object) -> str:
        for name, text in next(calls).items():
            (work / "ivy" / "jars").mkdir(parents=True, exist_ok=True)
            (work / "ivy" / "jars" / f"io.delta_{name}-1.jar").write_text(text)
        return "host not found"

    return resolve


def test_the_cache_is_in_the_home_folder_unless_told_otherwise(tmp_path):
    assert cache_folder({}) == Path.home() / ".cache" / "clwl_spark"
    assert cache_folder({"CLWL_CACHE": str(tmp_path)}) == tmp_path
    assert cache_folder({"CLWL_CACHE": "relative"}).is_absolute()


@pytest.mark.usefixtures("small")
def test_a_failed_fetch_is_tried_again(tmp_path, java, monkeypatch):
    whole = {jar.artifact: jar.artifact for jar in SMALL}
    monkeypatch.setattr(jars, "_resolve", resolver({}, whole))
    assert [path.read_text() for path in delta_jars(tmp_path, java, {})] == list(whole)
    assert sorted(path.name for path in jars_folder(tmp_path).iterdir()) == [
        "delta-one-1.jar",
        "delta-two-1.jar",
    ]


@pytest.mark.usefixtures("small")
def test_what_one_attempt_brought_is_kept_for_the_next(tmp_path, java, monkeypatch):
    one, two = ({jar.artifact: jar.artifact} for jar in SMALL)
    monkeypatch.setattr(jars, "_resolve", resolver(one, two))
    assert len(delta_jars(tmp_path, java, {})) == len(SMALL)


@pytest.mark.usefixtures("small")
def test_a_partial_download_is_never_used(tmp_path, java, monkeypatch):
    monkeypatch.setattr(jars, "ATTEMPTS", 1)
    monkeypatch.setattr(
        jars, "_resolve", resolver({"delta-one": "delta", "delta-two": "delta-tow"})
    )
    with pytest.raises(JarsMissing, match=r"5 bytes instead of 9.*SHA-256") as raised:
        delta_jars(tmp_path, java, {})
    assert list(raised.value.folder.iterdir()) == []


@pytest.mark.fault(25)
@pytest.mark.usefixtures("small")
def test_offline_names_both_ways_out(tmp_path, java, monkeypatch):
    monkeypatch.setattr(jars, "_resolve", resolver(*[{}] * jars.ATTEMPTS))
    with pytest.raises(JarsMissing, match=r"host not found; run .* or copy delta-one-1\.jar and"):
        delta_jars(tmp_path, java, {})


@pytest.mark.usefixtures("small")
def test_a_changed_jar_is_fetched_again(tmp_path, java, monkeypatch):
    whole = {jar.artifact: jar.artifact for jar in SMALL}
    monkeypatch.setattr(jars, "_resolve", resolver(whole, whole))
    first, _ = delta_jars(tmp_path, java, {})
    first.write_text("delta-eno")
    assert len(jar_faults(tmp_path)) == 1
    delta_jars(tmp_path, java, {})
    assert jar_faults(tmp_path) == ()


@pytest.mark.usefixtures("small")
def test_a_cache_that_cannot_be_written_names_the_variable(tmp_path, java):
    (tmp_path / "jars").write_text("a file")
    with pytest.raises(JarsMissing, match="set CLWL_CACHE"):
        delta_jars(tmp_path, java, {})


def test_a_slow_resolver_is_stopped(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    submit = tmp_path / "bin" / "spark-submit"
    submit.write_text("#!/bin/sh\nexec sleep 60\n")
    submit.chmod(0o755)
    monkeypatch.setattr(jars.pyspark, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(jars, "ATTEMPT_SECONDS", 0.2)
    java = JavaHome(tmp_path, "17", "PATH", tmp_path)
    assert "more than 0.2 seconds" in jars._resolve(tmp_path, java, {"PATH": "/bin"}, ())


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("a\nHost x not found. url=y\nException in z\n", "Host x not found. url=y"),
        ("no such\nError: boom\nend", "Error: boom"),
        ("first\nlast\n\n", "last"),
        ("", "the resolver said nothing"),
    ],
)
def test_the_telling_line_is_picked(output, line):
    assert jars._complaint(output) == line


@pytest.mark.network
def test_sparks_resolver_brings_exactly_the_two_jars(tmp_path, monkeypatch):
    monkeypatch.setattr(jars, "ATTEMPTS", 2)
    java = java_home(tmp_path, os.environ)
    try:
        found = delta_jars(tmp_path, java, os.environ)
    except JarsMissing as missing:
        pytest.skip(f"needs Maven Central: {missing.reason}")
    assert [path.stat().st_size for path in found] == [jar.size for jar in DELTA_JARS]
    assert sorted(path.name for path in found[0].parent.iterdir()) == sorted(
        jar.file_name for jar in DELTA_JARS
    )
    shutil.rmtree(tmp_path / "jars")


@pytest.mark.parametrize("version", ["3.5.8", "4.3.0"])
def test_a_pyspark_that_no_delta_goes_with_is_refused_with_the_one_that_does(
    version, tmp_path, java, monkeypatch
):
    monkeypatch.setattr(jars, "DELTA_JARS", jars_for(version))
    monkeypatch.setattr(jars.pyspark, "__version__", version)
    with pytest.raises(SetupError, match=rf"{version}.* works with 4.0, 4.1, 4.2: pip") as it:
        delta_jars(tmp_path, java, {})
    assert jar_faults(tmp_path) == (str(it.value),)
    assert why_not_here() == str(it.value)
    assert not check_jars({"CLWL_CACHE": str(tmp_path)}).ok
