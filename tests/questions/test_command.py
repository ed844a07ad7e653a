"""`clwl ask` where it starts no Spark."""

import json

import pytest
import typer

from clwl_spark.cli.commands.ask import ask
from clwl_spark.cli.options import with_options
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.present.questions.running import FolderLakeError
from clwl_spark.present.questions.texts import UnknownQuestionError, all_questions, all_views

APP = typer.Typer()
APP.command("ask")(with_options(ask))


def clwl_ask(*words):
    return APP(list(words), standalone_mode=False)


def document(capsys, *words):
    assert clwl_ask(*words, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_questions_are_listed(capsys):
    assert clwl_ask() == 0
    shown = capsys.readouterr().out
    assert all(x.name in shown and x.question in shown for x in all_questions().values())
    listed = document(capsys)["questions"]
    assert [x["name"] for x in listed] == list(all_questions())
    (one,) = [x for x in listed if x["name"] == "deciding-rules"]
    assert sorted(one["views"]) == ["ladder", "plan_traffic", "rule_funnel"]
    assert one["tables"] == ["outcomes", "route_candidates", "route_plans", "runs"]


def test_views_are_listed_with_their_columns(capsys):
    assert clwl_ask("--views") == 0
    shown = capsys.readouterr().out
    assert "share_per_hour: Where each object's messages went, hour by hour." in shown
    assert "Start of the hour of put_time, UTC" in shown
    listed = document(capsys, "--views")["views"]
    assert [x["name"] for x in listed] == list(all_views())
    assert all(column["comment"] for x in listed for column in x["columns"])


def test_sql_is_printed_as_it_is(capsys):
    assert clwl_ask("moved-traffic", "--sql") == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"{all_questions()['moved-traffic'].sql};\n")
    assert document(capsys, "moved-traffic", "--sql") == {"sql": shown}
    assert clwl_ask("--sql", "--lake", "s3://b/lake") == 0
    shown = capsys.readouterr().out
    assert shown.count("delta_scan('s3://b/lake/") == 7
    assert shown.count("CREATE OR REPLACE TEMP VIEW") == 7 + len(all_views())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["failures", "--views"], "NAME and --views"),
        (["--views", "--sql"], "--views and --sql"),
        (["--create-views", "--page", "x.html"], "--create-views and --page"),
        (["failures", "--sql", "--page", "x.html"], "NAME and --page"),
        (["--create-views", "--sql"], "--create-views and --sql"),
    ],
)
def test_words_that_do_not_go_together_are_refused(words, told):
    with pytest.raises(UsageError, match=f"^{told} ask for different things"):
        clwl_ask(*words)


def test_what_cannot_be_asked_is_told_before_spark_starts(tmp_path):
    with pytest.raises(UnknownQuestionError, match="did you mean 'unbalanced'"):
        clwl_ask("unbalance", "--lake", "nowhere")
    with pytest.raises(UsageError, match="where is the lake"):
        clwl_ask("unbalanced")
    with pytest.raises(MissingLakeError, match="no table 'outcomes'"):
        clwl_ask("unbalanced", "--lake", str(tmp_path / "nowhere"))
    with pytest.raises(FolderLakeError, match=r"lake there is a folder, .* give --catalog"):
        clwl_ask("--create-views", "--lake", "there")
    with pytest.raises(FolderLakeError, match="none"):
        clwl_ask("--create-views")
    with pytest.raises(typer.TyperException, match="greater than or equal to 1"):
        clwl_ask("unbalanced", "--limit", "0")
