"""Views and questions on a routed lake: the same rows in Spark and in DuckDB; the command."""

import json

import pytest
from questions.asking import EVIL, all_rows, comparable, rows_of, select_all

from clwl_spark.algorithm.ladder import LADDER
from clwl_spark.cli.ask import run
from clwl_spark.cli.commands.ask import AskWords
from clwl_spark.cli.options import Common
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import MissingLakeError
from clwl_spark.present.questions.running import ask, create_views, prepared
from clwl_spark.present.questions.texts import Question, all_questions, all_views

ZONE = "spark.sql.session.timeZone"


@pytest.mark.parametrize("name", sorted(all_questions()))
def test_spark_and_duckdb_answer_alike(duckdb_lake, answered, name):
    expected = rows_of(duckdb_lake, all_questions()[name].sql)
    assert comparable(answered[name]) == comparable(expected)
    assert expected


@pytest.mark.parametrize("name", sorted(all_views()))
def test_spark_and_duckdb_see_the_same_views(duckdb_lake, named, name):
    found = comparable(all_rows(named, Question(name, "", "", select_all(name))))
    expected = comparable(rows_of(duckdb_lake, select_all(name)))
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert list(found[0]) == list(all_views()[name].columns)


def test_the_callers_session_is_left_as_it_is(spark, lake):
    zone = Question("", "", "", "SELECT current_timezone() AS zone")
    spark.conf.set(ZONE, "Asia/Tokyo")
    try:
        with prepared(lake, all_questions().values()) as named:
            views = [f"{named._mark}_{name}" for name in named._names]
            assert {"ladder", "outcomes"} <= set(named._names)
            assert all(map(spark.catalog.tableExists, views))
            assert all_rows(named, zone) == [{"zone": "UTC"}]
        assert spark.conf.get(ZONE) == "Asia/Tokyo"
        assert not any(map(spark.catalog.tableExists, views))
    finally:
        spark.conf.set(ZONE, "UTC")


def test_the_command_answers_and_says_that_there_is_more(capsys, lake, answered):
    common = Common(lake=lake.root, as_json=True)
    assert run(common, AskWords("busiest-channels", limit=2)) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["more"] is True
    expected = [x["channel"] for x in answered["busiest-channels"][:2]]
    assert [x["channel"] for x in document["rows"]] == expected
    assert document["rows"][0]["busiest_hour"].endswith(":00:00Z")
    assert run(Common(lake=lake.root), AskWords("failures")) == 0
    assert "MQRC_UNKNOWN_OBJECT_NAME" in capsys.readouterr().out


def test_all_answers_are_on_one_page_and_names_are_text(lake, tmp_path):
    file = tmp_path / "new" / "answers.html"
    assert run(Common(lake=lake.root, quiet=True), AskWords(page=file)) == 0
    html = file.read_text()
    assert EVIL not in html
    assert "&lt;script&gt;" in html
    assert all(f'<section id="{name}">' in html for name in all_questions())


@pytest.mark.spark
def test_views_are_permanent_in_a_catalog(spark, lake, duckdb_lake):
    spark.sql("CREATE SCHEMA clwl_asked")
    there = Lake(spark, "spark_catalog.clwl_asked", in_catalog=True)
    try:
        for name in ("outcomes", "messages", "route_plans", "route_candidates"):
            place = f"USING DELTA LOCATION '{lake.path(name)}'"
            spark.sql(f"CREATE TABLE {there.sql_name(name)} {place}")
        for _ in range(2):
            made = create_views(there)
        assert made == [f"spark_catalog.clwl_asked.{name}" for name in all_views()]
        frame = spark.table("spark_catalog.clwl_asked.queue_manager_balance")
        found = [row.asDict() for row in frame.orderBy("object_name", "dest_qmgr").collect()]
        sql = "SELECT * FROM queue_manager_balance ORDER BY object_name, dest_qmgr"
        assert comparable(found) == comparable(rows_of(duckdb_lake, sql))
        comments = {x.name: x.metadata.get("comment") for x in frame.schema.fields}
        assert comments == dict(all_views()["queue_manager_balance"].columns)
        assert spark.table("spark_catalog.clwl_asked.ladder").count() == len(LADDER)
    finally:
        spark.sql("DROP SCHEMA clwl_asked CASCADE")


def test_a_folder_that_is_no_lake_is_told_of(spark, tmp_path):
    empty = Lake(spark, str(tmp_path))
    question = all_questions()["runs"]
    with prepared(empty, [question]) as named:
        assert ask(named, question, 1).rows == ()
    for words in (AskWords("runs"), AskWords(page=tmp_path / "answers.html")):
        with pytest.raises(MissingLakeError, match="no table 'outcomes'"):
            run(Common(lake=str(tmp_path)), words)
