"""The cluster workload exit: what it sees, what it may do, and the examples."""

import json
import sys
from types import ModuleType

import pytest
from builders import candidates, dest
from pyspark.sql import functions as F
from scenario_files import START
from small_worlds import qmgr, queue, rcvr, remote, sender, tables
from tracing.way_files import lake_of
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.errors import ExitFunctionError
from clwl_spark.mq.vocabulary import STATUS_TIERS, Algorithm
from clwl_spark.rules import eliminate
from clwl_spark.rules.exit import load_exit
from clwl_spark.rules.exit_examples import GOOD, prefer_channel, prefer_qmgr
from clwl_spark.tables import MESSAGES

EXAMPLES = "clwl_spark.rules.exit_examples"
SEEN = {
    "snapshot_id": "S1", "qmgr": "QM1", "object_type": "QUEUE", "object_name": "Q",
    "object_qmgr": "", "via": "LOCAL", "resolved_object": "Q", "resolved_qmgr": "",
    "clwlmruc": 7, "qmid": "QM2_ID", "qmtype": "REPOS", "conname": "qm2(1414)", "qtype": "QLOCAL",
    "defbind": "NOTFIXED", "clwluseq": "ANY", "queue_rank": 3, "channel_rank": 0, "netprty": 0,
    "dest_seq_number": None, "dest_seq_factor": None, "put_enabled": True, "status": "RUNNING",
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    world = tables(
        qmgr("QM1", clwlmruc=7),
        qmgr("QM2", qmid="QM2_ID"),
        *(qmgr(name) for name in ("QM3", "QM4")),
        *(rcvr(name) for name in ("QM1", "QM3", "QM4")),
        rcvr("QM2", conname="qm2(1414)", qmtype="REPOS"),
        *(queue(name, "Q", "K", defbind="NOTFIXED", clwluseq="ANY", clwlrank=3)
          for name in ("QM2", "QM3", "QM4")),
        remote("QM2", "ALIAS", "", "QM3", cluster="K"),
        sender("QM1", "QM2", "RUNNING"),
        sender("QM1", "QM3", "RETRYING"),
    )  # fmt: skip
    del world["snapshots"]
    for row in world["channel_status"]:
        del row["observer"]
    lake = lake_of(spark, tmp_path_factory.mktemp("exit") / "lake", {"S1": world})
    rows = [
        {"qmgr": "QM1", "put_seq": at, "object_name": "Q", "put_time": START} for at in range(1, 31)
    ]
    lake.create([MESSAGES])
    put_rows(lake, "messages", rows)
    return lake


def explained(capsys, lake, exit_words, *words):
    capsys.readouterr()
    asked = ["explain", "--lake", lake.root, "--from", "QM1", "--exit", exit_words, *words]
    assert main([*asked, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def own_exit(monkeypatch):
    """A module of the user's on the Python path."""
    module = ModuleType("my_exit")
    monkeypatch.setitem(sys.modules, "my_exit", module)
    return module


def test_the_exit_sees_what_mq_hands_to_one(capsys, lake, own_exit):
    seen = []

    def look(destinations):
        seen.extend(row.asDict() for row in destinations.collect())
        return destinations

    own_exit.look = look
    explained(capsys, lake, "my_exit:look", "--object", "Q")
    (row,) = [row for row in seen if row["dest_qmgr"] == "QM2"]
    assert {name: row[name] for name in SEEN} == SEEN
    assert {row["dest_qmgr"] for row in seen} == {"QM2", "QM3", "QM4"}

    seen.clear()
    explained(capsys, lake, "my_exit:look", "--object", "Q", "--object-qmgr", "QM2")
    assert [row["kind"] for row in seen] == ["QMGR"]
    assert (seen[0]["qmid"], seen[0]["qtype"], seen[0]["resolved_qmgr"]) == ("QM2_ID", None, "QM2")


def test_the_preferred_channel_takes_all_while_it_is_good(capsys, lake):
    found = explained(capsys, lake, f"{EXAMPLES}:prefer_channel:TO.QM4", "--object", "Q")
    assert [route["dest_qmgr"] for route in found["routes"]] == ["QM4"]
    lost = {row["dest_qmgr"]: row["eliminated_by"] for row in found["candidates"]}
    assert lost == {"QM2": 100, "QM3": 100, "QM4": None}

    bad = explained(capsys, lake, f"{EXAMPLES}:prefer_qmgr:QM3", "--object", "Q")
    assert [route["dest_qmgr"] for route in bad["routes"]] == ["QM2", "QM4"]


def test_routing_asks_the_exit_too(capsys, lake):
    words = ["route", "--lake", lake.root, "--exit", f"{EXAMPLES}:prefer_qmgr:QM2", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["by_reason"] == {"0": 30}
    outcomes = lake.read("outcomes").groupBy("dest_qmgr").count().collect()
    assert {tuple(row) for row in outcomes} == {("QM2", 30)}


@pytest.mark.parametrize("status", sorted(STATUS_TIERS))
def test_which_channel_states_are_good(spark, status):
    rows = candidates(
        spark, dest("QM1"), dest("QM2", status=status, status_tier=STATUS_TIERS[status])
    )
    kept = {row.dest_qmgr for row in prefer_channel(rows, "TO.QM2").collect()}
    assert kept == ({"QM2"} if status in GOOD else {"QM1", "QM2"})


def test_a_put_disabled_or_absent_destination_is_not_preferred_and_one_row_wins(spark):
    rows = candidates(
        spark, dest("QM1"), dest("QM2", put_enabled=False), dest("QM3"),
        dest("QM3", channel="SECOND"), dest("QM3", plan_id=2), dest("QM4", plan_id=2),
    )  # fmt: skip
    assert prefer_qmgr(rows, "QM2").count() == 6
    assert prefer_qmgr(rows, "QM9").count() == 6
    first = prefer_qmgr(rows, "QM3")
    assert {(row.plan_id, row.channel) for row in first.collect()} == {(1, "SECOND"), (2, "TO.QM3")}
    judged = eliminate(rows, Algorithm.V9, lambda frame: prefer_qmgr(frame, "QM3"))
    assert {row.channel for row in judged.where("eliminated_by IS NULL").collect()} == {
        "SECOND", "TO.QM3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("exit_", "said"),
    [
        (lambda destinations: destinations.where("nope = 1"), "nope"),
        (lambda destinations: destinations[1 // 0], "ZeroDivisionError"),
    ],
)
def test_an_error_of_the_exit_is_told_as_its_own(capsys, lake, own_exit, exit_, said):
    own_exit.fails = exit_
    words = ["explain", "--lake", lake.root, "--from", "QM1", "--object", "Q", "--exit"]
    assert main([*words, "my_exit:fails"]) == 2
    told = capsys.readouterr().err
    assert "exit 'my_exit:fails' raised" in told
    assert said in told


def test_an_exit_that_takes_other_arguments_is_refused(capsys, lake, own_exit):
    own_exit.plain = lambda destinations: destinations
    own_exit.nothing = lambda destinations: destinations.limit(0)
    own_exit.wrong = lambda destinations: destinations.count()
    for reference in ("my_exit:plain:DATA", f"{EXAMPLES}:prefer_channel"):
        with pytest.raises(ExitFunctionError, match="takes other arguments"):
            load_exit(reference)
    words = ["explain", "--lake", lake.root, "--from", "QM1", "--object", "Q", "--exit"]
    assert main([*words, "my_exit:wrong"]) == 2
    assert "must return a DataFrame" in capsys.readouterr().err
    assert main([*words, "my_exit:absent"]) == 2
    assert explained(capsys, lake, "my_exit:nothing", "--object", "Q")["plan"]["reason"] == 2270


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dest_qmgr": "QM4"}, "Q on QM4 by TO.QM2 in K"),
        ({"dest_object": "R"}, "R on QM2 by TO.QM2 in K"),
        ({"channel": None}, "Q on QM2 by None in K"),
    ],
)
def test_a_destination_that_the_exit_did_not_get_is_refused(capsys, lake, own_exit, changed, said):
    def one_more(destinations):
        values = {name: F.lit(value).cast("string") for name, value in changed.items()}
        other = destinations.where("dest_qmgr = 'QM2'").withColumns(values)
        return destinations.unionByName(other)

    own_exit.one_more = one_more
    words = ["explain", "--lake", lake.root, "--from", "QM1", "--object", "Q", "--exit"]
    assert main([*words, "my_exit:one_more"]) == 2
    assert f"a destination that it did not get: {said}" in capsys.readouterr().err


def test_what_the_exit_does_to_other_columns_changes_nothing(capsys, lake, own_exit):
    own_exit.heavier = lambda rows: rows.withColumns({"clwlwght": F.lit(99), "status": F.lit("X")})
    found = explained(capsys, lake, "my_exit:heavier", "--object", "Q")
    assert {row["clwlwght"] for row in found["candidates"]} == {50}
    assert {row["status"] for row in found["candidates"]} == {"RUNNING", "RETRYING", "INACTIVE"}
