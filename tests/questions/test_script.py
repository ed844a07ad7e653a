"""Scripts for DuckDB: they run as they are printed, but for the extension that is not here."""

import re
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from questions.asking import duck

from clwl_spark.present.questions.script import question_script, views_script
from clwl_spark.present.questions.texts import all_questions, all_views, question_named

AT = datetime(2026, 1, 1, 6, 30, tzinfo=UTC)


def _without_extension(script: str) -> str:
    """The script with Delta's files read as Parquet, since DuckDB fetches `delta`."""
    assert script.count("INSTALL delta;\nLOAD delta;\n") == 1
    local = script.replace("INSTALL delta;\nLOAD delta;\n", "")
    return re.sub(r"delta_scan\('([^\n]*)'\)", r"read_parquet('\1/*.parquet')", local)


@pytest.fixture
def lake(tmp_path):
    rejected = {
        "qmgr": ["A", "A"], "put_seq": [1, 2], "object_name": ["Q", "Q"], "put_time": [AT, AT],
        "bind": ["SOMETIMES"] * 2, "error": ["UNKNOWN_BIND"] * 2,
    }  # fmt: skip
    folder = tmp_path / "it's a lake"
    write_deltalake(str(folder / "rejected_messages"), pa.table(rejected))
    return folder


def test_of_a_timeline_a_script_says_that_its_topology_is_not_whole(tmp_path):
    (tmp_path / "snapshot_changes" / "_delta_log").mkdir(parents=True)
    script = question_script(question_named("unused-queues"), str(tmp_path))
    assert "-- This lake has a timeline" in script
    assert "timeline" not in question_script(question_named("set-aside"), str(tmp_path))


def test_a_question_is_printed_with_the_lakes_tables(lake):
    script = question_script(question_named("set-aside"), str(lake))
    (row,) = duckdb.connect().execute(_without_extension(script)).fetchall()
    assert row == ("A", "UNKNOWN_BIND", "Q", "SOMETIMES", 2, 1, AT, AT)
    assert script.startswith("-- Which messages were set aside, and why?")


@pytest.mark.parametrize("name", sorted(all_questions()))
def test_tables_that_the_lake_lacks_are_empty(lake, name):
    script = question_script(all_questions()[name], str(lake))
    rows = duckdb.connect().execute(_without_extension(script)).fetchall()
    assert len(rows) == (1 if name == "set-aside" else 0)


def test_without_a_folder_the_tables_are_the_readers():
    script = question_script(question_named("deciding-rules"))
    assert "-- It reads the tables outcomes, route_candidates, route_plans, runs." in script
    assert "delta" not in script
    assert duck().execute(script).fetchall() == []


def test_a_uri_is_left_to_duckdb():
    script = question_script(question_named("set-aside"), "s3://bucket/lake/")
    assert "delta_scan('s3://bucket/lake/rejected_messages')" in script


def test_all_views_are_printed():
    connection = duck()
    connection.execute(views_script())
    made = connection.execute("SELECT view_name FROM duckdb_views() WHERE temporary").fetchall()
    assert set(all_views()) <= {name for (name,) in made}
