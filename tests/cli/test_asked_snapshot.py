"""--at: the snapshot in force then, for every command that looks at one."""

import json

import pytest
from lakes import lake_with
from small_worlds import NOON, at, message, qmgr, queue, rcvr, snapshot, tables
from worlds import put_rows

from clwl_spark.cli import main

PUT = ["--from", "QM1", "--object", "Q"]
COMMANDS = {
    "explain": PUT,
    "trace": PUT,
    "shares": PUT,
    "advise": [*PUT, "--want", "QM2=2,QM3=1"],
    "what-if": ["--sweep", "channels", "--put", "QM1:Q=9"],
    "insights": [],
    "separation": ["--qmgr", "QM1"],
}


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """Q has two hosts from noon on, and an hour later a third."""
    lake = lake_with(spark, tmp_path_factory.mktemp("at") / "lake")
    rows = [snapshot("S1", 0), snapshot("S2", 1)]
    there = [qmgr("QM1"), *(rcvr(x) for x in ("QM1", "QM2", "QM3", "QM4"))]
    hosts = [queue(x, "Q", "K") for x in ("QM2", "QM3", "QM4")]
    rows += [*at("S1", *there, *hosts[:2]), *at("S2", *there, *hosts)]
    puts = [message("QM1", "Q", x, put_time=NOON) for x in (1, 2)]
    for name, found in {**tables(*rows), "messages": puts}.items():
        put_rows(lake, name, found)
    return lake


def answer(capsys, lake, command, *words):
    """Exit code, and what is told."""
    code = main([command, "--lake", lake.root, *words, "--json"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if code == 0 else shown.err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_snapshot_in_force_then_is_looked_at(lake, capsys, command):
    words = COMMANDS[command]
    code, told = answer(capsys, lake, command, *words, "--snapshot", "S1")
    assert code == 0, told
    then = answer(capsys, lake, command, *words, "--at", "2024-05-06T12:30:00Z")
    assert then == (code, told)
    # In the last snapshot advise refuses: the third host has no wanted share.
    assert answer(capsys, lake, command, *words) != then


def test_what_cannot_be_is_refused(lake, capsys):
    words = ["explain", "--lake", lake.root, *PUT]
    assert main([*words, "--at", "2024-05-06T12:30:00Z", "--snapshot", "S1"]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert main([*words, "--at", "noon"]) == 2
    assert "--at" in capsys.readouterr().err
    assert main([*words, "--at", "2001-01-01T00:00:00Z"]) == 2
    assert "before the first valid snapshot" in capsys.readouterr().err


def test_what_explain_names_looks_at_the_same_snapshot(lake, capsys):
    words = ["explain", "--lake", lake.root, "--from", "QM1", "--object", "NONE"]
    assert main([*words, "--snapshot", "S1"]) == 0
    assert "--qmgr QM1 --at 2024-05-06T12:00:00Z" in capsys.readouterr().out
    assert main([*words[:-3], "qm1", "--object", "NONE"]) == 0
    assert "clwl repository" not in capsys.readouterr().out
