"""The files of SQL: what their headers say, and that all of them run in DuckDB."""

import pytest
from questions.asking import duck, rows_of, with_views

from clwl_spark.algorithm.ladder import ORDER
from clwl_spark.mq.vocabulary import REASON_TEXTS, Algorithm
from clwl_spark.present.questions import texts
from clwl_spark.present.questions.texts import (
    QuestionFileError,
    UnknownQuestionError,
    all_questions,
    all_views,
    question_named,
    read_question,
    read_text,
    read_view,
    tables_of,
    views_of,
)
from clwl_spark.tables import OUTCOMES, TABLES

VIEW = """\
-- title: Puts
-- row: a queue manager
-- column qmgr: Where
-- column messages: How many,
--   failed ones among them
-- A remark would end up in the header: there is none.
"""
TYPES = {"BIGINT", "BOOLEAN", "DOUBLE", "INTEGER", "VARCHAR", "TIMESTAMP WITH TIME ZONE"}


@pytest.fixture(scope="module")
def empty():
    return with_views(duck())


def test_a_header_is_read_and_its_lines_are_joined():
    lines = VIEW.splitlines()[:-1]
    view = read_view("puts", "\n".join([*lines, "SELECT 1 -- why", "  AS qmgr;", ""]))
    assert (view.title, view.row) == ("Puts", "a queue manager")
    assert view.columns == {"qmgr": "Where", "messages": "How many, failed ones among them"}
    assert view.sql == "SELECT 1 -- why\n  AS qmgr"


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (VIEW + "SELECT 1", "line 6 is not 'key: value': -- A remark"),
        ("-- title: a\n-- title: b\nSELECT 1", "line 2 has 'title' for the second time"),
        ("--   more\nSELECT 1", "line 1 is not"),
        ("-- title:\nSELECT 1", "line 1 is not"),
        ("-- titel: a\nSELECT 1", "line 1 is not"),
        ("-- title: a\n", "there is no query"),
        ("", "there is no query"),
        ("-- title: a\n;\n", "there is no query"),
    ],
)
def test_a_header_that_cannot_be_read_is_told_with_its_line(content, wrong):
    with pytest.raises(QuestionFileError) as told:
        read_text(content, "x.sql")
    assert str(told.value).startswith(f"x.sql: {wrong}")


def test_what_a_header_has_to_have():
    with pytest.raises(QuestionFileError, match=r"v.sql: 'column NAME' is missing"):
        read_view("v", "-- title: a\n-- row: b\nSELECT 1")
    with pytest.raises(QuestionFileError, match=r"v.sql: 'row' is missing"):
        read_view("v", "-- title: a\n-- column x: b\nSELECT 1 AS x")
    with pytest.raises(QuestionFileError, match=r"q.sql: 'answers' is missing"):
        read_question("q", "-- question: Why?\nSELECT 1")


def test_an_unknown_question_is_answered_with_the_nearest():
    with pytest.raises(UnknownQuestionError, match="did you mean 'failures'") as told:
        question_named("failure")
    assert told.value.exit_code == 2
    with pytest.raises(UnknownQuestionError, match=r"there are busiest-channels, .* more"):
        question_named("xyz")
    assert question_named("failures").question.startswith("Why did messages fail")


def test_views_come_after_those_that_they_use():
    seen = set()
    for name, view in all_views().items():
        assert {x.name for x in views_of(view.sql)} <= seen
        seen.add(name)
    assert [x.name for x in views_of("SELECT * FROM rule_funnel")][-1] == "rule_funnel"
    assert {x.name for x in views_of("SELECT * FROM rule_funnel")} == {
        "ladder",
        "plan_traffic",
        "rule_funnel",
    }


def test_what_a_query_reads_is_found_where_it_reads_and_nowhere_else():
    sql = "SELECT messages, 'FROM queues' -- FROM runs\nfrom snapshots JOIN\n  topics ON true"
    assert tables_of(sql) == ["snapshots", "topics"]
    assert tables_of("SELECT * FROM share_per_hour") == [OUTCOMES.name]
    assert views_of(sql) == []


def test_no_view_has_the_name_of_a_table():
    assert not set(all_views()) & set(TABLES)


@pytest.mark.parametrize("name", sorted(all_views()))
def test_a_view_has_the_columns_that_its_header_describes(empty, name):
    described = empty.table(name)
    assert described.columns == list(all_views()[name].columns)
    assert {str(x) for x in described.types} <= TYPES


@pytest.mark.parametrize("name", sorted(all_questions()))
def test_a_question_runs_without_any_rows(empty, name):
    assert rows_of(empty, all_questions()[name].sql) == []
    assert {str(x[1]) for x in empty.description} <= TYPES
    assert "ORDER BY" in all_questions()[name].sql


@pytest.mark.parametrize("name", sorted(all_questions()))
def test_a_question_is_one(name):
    asked = all_questions()[name]
    assert asked.question.endswith("?")
    assert asked.answers.endswith(".")


def test_reasons_are_those_that_routing_gives(empty):
    rows = rows_of(empty, "SELECT * FROM reason_names")
    assert {row["reason"]: row["reason_name"] for row in rows} == REASON_TEXTS


@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_the_ladder_is_in_the_order_of_the_algorithm(algorithm):
    connection = duck()
    connection.execute("DROP VIEW runs")
    connection.execute(f"CREATE VIEW runs AS SELECT '{algorithm.value}' AS algorithm")
    rows = rows_of(with_views(connection), "SELECT rule FROM ladder ORDER BY place")
    in_order = [number for numbers in ORDER[algorithm] for number in numbers]
    assert [row["rule"] for row in rows] == in_order


def test_the_files_are_in_the_package():
    assert all((texts._FOLDER / x).is_dir() for x in ("views", "asked"))
