"""`clwl share-queue`: files, options, lakes, and what it says about wrong ones."""

import json
from pathlib import Path

import pytest
from sharing.lakes import lake_of
from small_worlds import qmgr, queue, snapshot

from clwl_spark import cli

OPTIONS = ["--get", "A=1", "--get", "B=2", "--put", "A=100", "--runs", "20", "--messages", "50"]
SCENARIO = Path(__file__).parent / "scenarios" / "local_getter_first" / "group.toml"


def document(capsys, words):
    assert cli.main(["share-queue", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, words):
    assert cli.main(["share-queue", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("clwl: ")
    assert shown.err.count("\n") == 1
    return shown.err


def test_options_alone_tell_a_group(capsys):
    answer = document(capsys, [*OPTIONS, "--group", "G", "--queue", "Q", "--persistent", "1"])
    assert (answer["group"], answer["queue"], answer["runs"]) == ("G", "Q", 20)
    assert [(x["qmgr"], x["getters"]) for x in answer["queue_managers"]] == [("A", 1), ("B", 2)]
    assert answer["how"]["direct"]["mean"] == 0


def test_the_same_words_give_the_same_answer_and_the_seed_another(capsys):
    first = document(capsys, OPTIONS)
    assert document(capsys, OPTIONS) == first
    assert document(capsys, [*OPTIONS, "--seed", "2"])["how"] != first["how"]


def test_options_change_what_a_file_tells(capsys):
    changed = ["--runs", "10", "--messages", "30", "--get", "MQP1=0", "--syncpoint", "0"]
    answer = document(capsys, ["--scenario", str(SCENARIO), *changed])
    assert (answer["messages"], answer["runs"]) == (30, 10)
    members = {x["qmgr"]: x for x in answer["queue_managers"]}
    assert members["MQP2"]["share"]["mean"] == 1
    busy = document(capsys, ["--scenario", str(SCENARIO), "--busy", "MQP1=0.9", "--runs", "50"])
    assert busy["queue_managers"][0]["share"]["mean"] < 0.9
    put = document(capsys, ["--scenario", str(SCENARIO), "--put", "MQP2=5", "--service-ms", "0.1"])
    assert put["queue_managers"][1]["how"]["direct"]["mean"] == 1


def test_a_reader_is_told_shares_and_ways(capsys):
    assert cli.main(["share-queue", *OPTIONS]) == 0
    shown = capsys.readouterr().out
    assert "SHARED.QUEUE in QSG1: A gets most" in shown
    assert "straight to a waiting getter where they were put, which notifies nobody" in shown
    assert "20 runs of 50 messages, seed 1" in shown


def test_wrong_words_are_one_sentence(capsys, tmp_path):
    assert "give --scenario FILE, or --get QM=N" in complaint(capsys, ["--get", "A=1"])
    assert "nobody gets from" in complaint(capsys, ["--get", "A=0", "--put", "A=1"])
    assert "--get A=x: give QM=a whole number" in complaint(
        capsys, ["--get", "A=x", "--put", "A=1"]
    )
    assert "--put 3: give QM=a number" in complaint(capsys, ["--get", "A=1", "--put", "3"])
    assert "nobody gets or puts on C" in complaint(capsys, [*OPTIONS, "--busy", "C=0.5"])
    assert "--snapshot names a snapshot of a lake" in complaint(
        capsys, [*OPTIONS, "--snapshot", "S1"]
    )
    assert "putters.0.persistent" in complaint(capsys, [*OPTIONS, "--persistent", "7"])
    assert "No such file" in complaint(capsys, ["--scenario", str(tmp_path / "none.toml")])
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("queue_managers = 3\n")
    assert "write each as a table [[queue_managers]]" in complaint(
        capsys, ["--scenario", str(wrong)]
    )
    wrong.write_text('[[queue_managers]]\nname="A"\n[[queue_managers]]\nname="A"\ngetters=1\n')
    said = complaint(capsys, ["--scenario", str(wrong), "--put", "A=1"])
    assert "queue manager A is there twice" in said


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    return lake_of(
        spark,
        tmp_path_factory.mktemp("sharing") / "lake",
        snapshot("S1"),
        *(qmgr(name, qsgname="QSGP") for name in ("MQP2", "MQP1", "MQP3")),
        qmgr("QM1"),
        queue("MQP1", "ORDERS", qsgdisp="SHARED"),
        queue("MQP1", "PRIVATE", qsgdisp="QMGR"),
    )


def test_members_come_from_the_lake(capsys, lake):
    words = ["--lake", lake.root, "--group", "QSGP", "--queue", "ORDERS", "--runs", "10"]
    answer = document(capsys, [*words, "--get", "MQP2=1", "--put", "MQP3=10"])
    members = [(x["qmgr"], x["getters"]) for x in answer["queue_managers"]]
    assert members == [("MQP1", 0), ("MQP2", 1), ("MQP3", 0)]
    assert answer["queue_managers"][1]["share"]["mean"] == 1


def test_what_the_lake_does_not_have_is_bad_input(capsys, lake):
    def asked(group, name, *more, getter="MQP2"):
        words = ["--lake", lake.root, "--group", group, "--queue", name, *more]
        return complaint(capsys, [*words, "--get", f"{getter}=1", "--put", "MQP1=1"])

    assert "no queue manager of queue-sharing group X in snapshot S1" in asked("X", "ORDERS")
    assert "(QSGP)" in asked("X", "ORDERS")
    assert "queue PRIVATE is QMGR on MQP1, MQP2, MQP3" in asked("QSGP", "PRIVATE")
    assert "queue NONE does not exist on" in asked("QSGP", "NONE")
    assert "QM1 is no queue manager of QSGP" in asked("QSGP", "ORDERS", getter="QM1")
    assert "no snapshot 'S9'" in asked("QSGP", "ORDERS", "--snapshot", "S9")
    said = complaint(capsys, ["--lake", lake.root, *OPTIONS])
    assert "name what to look up there with --group QSG and --queue Q" in said
