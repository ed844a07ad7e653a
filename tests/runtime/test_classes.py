"""Java's classes are kept for the next Java; without an archive that fits, all works as well."""

import os
from dataclasses import replace

import pytest
from runtime.java import fake_java

from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.classes import (
    ARCHIVE_VARIABLE,
    archive,
    archive_options,
    make_archive,
)
from clwl_spark.spark.runtime.java import java_home

CONTENT = b"classes" * 100


@pytest.fixture
def java(tmp_path):
    fake_java(tmp_path / "java", "17.0.1")
    return java_home(tmp_path, {"CLWL_JAVA_HOME": str(tmp_path / "java")})


def kept(monkeypatch, cache, java):
    """An archive, made by a program that takes Spark's place."""
    program = "import os; open(os.environ['CLWL_CLASS_ARCHIVE'], 'wb').write(b'classes' * 100)"
    monkeypatch.setattr("clwl_spark.spark.runtime.classes._SESSION", program)
    assert make_archive(cache, java)
    return archive(cache, java)


def test_an_archive_is_made_once_and_named_to_java(monkeypatch, tmp_path, java):
    assert archive_options(tmp_path, java) == ""
    made = kept(monkeypatch, tmp_path, java)
    assert made.read_bytes() == CONTENT
    assert f'-XX:SharedArchiveFile="{made}"' in archive_options(tmp_path, java)
    monkeypatch.setattr("clwl_spark.spark.runtime.classes._SESSION", "raise SystemExit(1)")
    assert make_archive(tmp_path, java)


def test_another_java_has_none_and_its_own_takes_the_place(monkeypatch, tmp_path, java):
    first = kept(monkeypatch, tmp_path, java)
    other = replace(java, version="17.0.2")
    assert archive(tmp_path, other) is None
    second = kept(monkeypatch, tmp_path, other)
    assert [*first.parent.iterdir()] == [second]


def test_one_that_is_not_whole_is_none(monkeypatch, tmp_path, java):
    made = kept(monkeypatch, tmp_path, java)
    made.write_bytes(CONTENT[:-1])
    assert archive_options(tmp_path, java) == ""


def test_where_none_can_be_made_nothing_is_left(monkeypatch, tmp_path, java):
    monkeypatch.setattr("clwl_spark.spark.runtime.classes._SESSION", "raise SystemExit(1)")
    assert not make_archive(tmp_path, java)
    assert [*tmp_path.glob("classes/*/*")] == []
    (tmp_path / "file").write_text("no folder")
    assert not make_archive(tmp_path / "file", java)


def test_the_session_that_it_is_made_of_is_told_where(monkeypatch, tmp_path, java):
    monkeypatch.setenv(ARCHIVE_VARIABLE, "/somewhere/it.jsa")
    assert '-XX:ArchiveClassesAtExit="/somewhere/it.jsa"' in archive_options(tmp_path, java)


@pytest.mark.spark
def test_the_tests_session_has_the_archive_that_make_test_made(spark):
    cache = cache_folder(os.environ)
    there = archive(cache, java_home(cache, os.environ))
    if there is None:
        pytest.skip("python -m clwl_spark.spark.runtime has made none here")
    runtime = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    assert f"-XX:SharedArchiveFile={there}" in [*runtime.getInputArguments()]
