"""`clwl topics`: document, table, saved tables, and what it says about wrong words."""

import json

import pytest
from small_worlds import qmgr, rcvr, tables, topic
from tracing.way_files import lake_of

from clwl_spark.cli import main
from clwl_spark.errors import UsageError
from clwl_spark.studies.topics.strings import check_topic_string


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    world = tables(
        *(x for name in ("QM1", "QM2", "QM3") for x in (qmgr(name), rcvr(name))),
        topic("QM1", "SPORTS", "/sports"),
        topic("QM2", "SPORTS", "/sports", clroute="TOPICHOST"),
        topic("QM1", "NEWS", "/news"),
        ("subscriptions", {"qmgr": "QM3", "sub_name": "S", "topicstr": "/sports/#"}),
    )
    del world["snapshots"]
    world["subscriptions"] = [
        {k: v for k, v in row.items() if k != "observer"} for row in world["subscriptions"]
    ]
    return lake_of(spark, tmp_path_factory.mktemp("topics") / "lake", {"S1": world})


def document(capsys, lake, *words):
    capsys.readouterr()
    assert main(["topics", "--lake", lake.root, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_document_has_topics_conflicts_costs_and_sizes(capsys, lake):
    found = document(capsys, lake, "--size", "100", "--size", "1000")
    assert list(found) == [
        "snapshot_id",
        "topics",
        "conflicts",
        "costs",
        "sizes",
        "scopes",
        "engine",
    ]
    assert [(x["topic"], x["clroute"]) for x in found["topics"]] == [
        ("NEWS", "DIRECT"), ("SPORTS", "TOPICHOST"),
    ]  # fmt: skip
    assert {(x["qmgr"], x["value"]) for x in found["conflicts"]} == {
        ("QM1", "DIRECT"), ("QM2", "TOPICHOST"),
    }  # fmt: skip
    assert len(found["costs"]) == 6
    assert [x["members"] for x in found["sizes"]] == [100, 1000, 100, 1000]


def test_a_reader_sees_conflicts_and_costs_and_tables_are_saved(capsys, lake):
    words = ["topics", "--lake", lake.root, "--topic", "/sports/tennis", "--save"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "snapshot S1: 1 cluster topic, 1 with definitions that contradict" in shown
    assert "AMQ9465 (CSQX465I)" in shown
    assert "PUBSCOPE" in shown
    assert "QM2 (host)" in shown
    assert main([*words, "--quiet"]) == 0
    assert lake.read("topic_costs").count() == 6
    assert lake.read("topic_conflicts").count() == 2


def test_one_queue_manager_or_topic_can_be_asked_for(capsys, lake):
    found = document(capsys, lake, "--topic", "/news/today", "--qmgr", "QM3")
    assert [(x["topic"], x["qmgr"]) for x in found["costs"]] == [("NEWS", "QM3")]
    assert [x["topic"] for x in found["topics"]] == ["NEWS"]


def test_one_topic_is_as_among_all(capsys, spark, tmp_path):
    """One has definitions with other strings; what is asked below the other is not asked of it."""
    world = tables(
        *(x for name in ("QM1", "QM2") for x in (qmgr(name), rcvr(name))),
        topic("QM1", "NEWS", "/news"), topic("QM2", "NEWS", "/newes"),
        topic("QM1", "ALL", "/a"), topic("QM1", "PART", "/a/b"),
        ("subscriptions", {"qmgr": "QM2", "sub_name": "S", "topicstr": "/a/b/c"}),
    )  # fmt: skip
    del world["snapshots"], world["subscriptions"][0]["observer"]
    lake = lake_of(spark, tmp_path / "lake", {"S1": world})
    whole = document(capsys, lake)
    assert {x["topic"]: (x["hosts"], x["strings"]) for x in whole["topics"]} == {
        "ALL": (1, 0), "NEWS": (2, 0), "PART": (1, 1),
    }  # fmt: skip
    assert {x["attribute"] for x in whole["conflicts"]} == {"TOPICSTR"}
    for string, name in (("/news/today", "NEWS"), ("/newes", "NEWS"), ("/a", "ALL")):
        found = document(capsys, lake, "--topic", string)
        for part in ("topics", "conflicts", "costs", "scopes"):
            assert found[part] == [x for x in whole[part] if x["topic"] == name], (string, part)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--topic", "/sports/#"), "wildcard"),
        (("--topic", " "), "blank"),
        (("--topic", "/weather"), "no cluster topic at or above '/weather'"),
        (("--qmgr", "qm1"), "no queue manager 'qm1' in snapshot S1 (case counts): it has QM1"),
        (("--snapshot", "S9"), "no snapshot 'S9'"),
        (("--size", "0"), "give a number of queue managers"),
    ],
)
def test_bad_words_end_with_2_and_one_sentence(capsys, lake, words, said):
    assert main(["topics", "--lake", lake.root, *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_what_is_no_topic_string():
    for text in ("", "  ", "a/+/b", "#", "a\0b", "x" * 10_241):
        with pytest.raises(UsageError, match="is no topic string"):
            check_topic_string(text)
    for text in ("a", "/", "/a//b", "a+b/c#", "*"):
        check_topic_string(text)
