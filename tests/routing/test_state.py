"""`clwl state`: what the queue managers remember."""

import json
from pathlib import Path
from typing import Any

import pytest
from damaged_lakes import routed_world
from lakes import lake_with
from pyspark.sql import SparkSession
from worlds import World

from clwl_spark.cli import main
from clwl_spark.routing.state.remembered import list_memories


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    return routed_world(spark, tmp_path_factory.mktemp("state") / "lake")


def test_a_memory_has_what_was_routed(world: World) -> None:
    outcomes = world.lake.read("outcomes").toArrow().to_pylist()
    history = world.lake.read("balance_history").toArrow().to_pylist()
    found = list_memories(world.lake)
    assert [x.qmgr for x in found] == sorted({x["qmgr"] for x in outcomes})
    for one in found:
        own = [x for x in outcomes if x["qmgr"] == one.qmgr]
        channels = [x for x in history if x["qmgr"] == one.qmgr]
        assert one.highest_put_seq == max(x["put_seq"] for x in own)
        assert one.channels == len(channels)
        numbers = [x["dest_seq_number"] for x in channels]
        assert one.choices == max(numbers, default=0) <= len(own)
        assert (one.oldest is None) == (one.bindings == 0)
        assert one.bytes > 0
    assert {x.batch_id for x in found} == {0, 1}
    assert any(x.bindings for x in found)
    assert any(x.brought for x in found)


def test_the_command_lists_them_as_json_and_as_a_table(capsys: Any, world: World) -> None:
    words = ["state", "--lake", world.lake.root]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = list_memories(world.lake)
    assert document["queue_managers"] == [x.to_json() for x in found]
    assert document["engine"] == "embedded"
    assert main([*words, "--qmgr", found[0].qmgr]) == 0
    shown = capsys.readouterr().out
    assert "1 queue manager(s) remember" in shown
    assert found[0].qmgr in shown
    assert "Snapshots" in shown  # which its messages came to; few of them reset anything
    assert "Resets" not in shown


def test_a_lake_that_was_never_routed_remembers_nothing(
    capsys: Any, spark: SparkSession, tmp_path: Path
) -> None:
    lake = lake_with(spark, tmp_path, ["messages"])
    assert list_memories(lake) == []
    assert main(["state", "--lake", lake.root]) == 0
    assert "0 queue manager(s) remember" in capsys.readouterr().out


def test_a_folder_that_is_no_lake_is_not_one_that_remembers_nothing(
    capsys: Any, tmp_path: Path
) -> None:
    assert main(["state", "--lake", str(tmp_path)]) == 2
    assert "no table 'messages'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export"], "clwl state export needs a file"),
        (["verify", "x"], "clwl state verify takes no file: leave x out"),
    ],
)
def test_words_that_do_not_fit_are_refused(capsys: Any, words: list[str], said: str) -> None:
    assert main(["state", *words, "--lake", "none"]) == 2
    assert said in capsys.readouterr().err
