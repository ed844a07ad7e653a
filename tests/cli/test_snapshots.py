"""`clwl snapshots`, `diff`, `export` and the ways to say what `ingest` reads."""

import io
import json
import sys

import pytest

from clwl_spark.cli import main

MONDAY = """
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one(1414)') CLUSTER(K)
DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(1)
"""


def document(capsys, words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    assert spark.range(1).count() == 1
    folder = tmp_path_factory.mktemp("cli_snapshots")
    (folder / "QM1.mqsc").write_text(MONDAY)
    words = ["ingest", str(folder / "QM1.mqsc"), "--lake", str(folder / "lake"), "--quiet"]
    words += ["--observer", "{stem}", "--valid-from", "2026-09-14T06:00:00Z"]
    assert main([*words, "--snapshot", "monday"]) == 0
    return str(folder / "lake")


def test_snapshots_are_listed_as_json_and_as_a_table(capsys, lake):
    (entry, *_) = document(capsys, ["snapshots", "--lake", lake])["snapshots"]
    assert (entry["snapshot_id"], entry["status"]) == ("monday", "VALID")
    assert entry["valid_from"] == "2026-09-14T06:00:00Z"
    assert (entry["rows"]["queues"], entry["rows"]["topics"]) == (1, 0)
    assert main(["snapshots", "--lake", lake]) == 0
    shown = capsys.readouterr().out
    assert "monday" in shown
    assert "topics" not in shown


@pytest.mark.usefixtures("spark")
def test_a_folder_without_snapshots_is_bad_input(capsys, tmp_path):
    for words in (["snapshots"], ["diff", "a", "b"], ["export", "--snapshot", "a", "--out", "-"]):
        assert main([*words, "--lake", str(tmp_path)]) == 2
        assert "no table 'snapshots' in" in capsys.readouterr().err


def test_export_writes_what_ingest_reads_back(capsys, lake, tmp_path):
    out = tmp_path / "texts"
    words = ["export", "--lake", lake, "--snapshot", "monday"]
    told = document(capsys, [*words, "--out", str(out)])
    assert told["files"] == [str(out / "QM1.mqsc")]
    assert (told["rows"], told["left_out"]) == (2, [])
    again = ["ingest", str(out), "--lake", lake, "--snapshot", "again"]
    assert document(capsys, again)["rejects"] == []
    same = document(capsys, ["diff", "monday", "again", "--lake", lake])
    assert same["changes"] == []
    assert main(["diff", "monday", "again", "--lake", lake]) == 0
    assert "have the same topology" in capsys.readouterr().out
    assert main([*words, "--out", str(out)]) == 2
    assert "is not empty: give a new folder" in capsys.readouterr().err


def test_export_to_standard_output_is_the_text_alone(capsys, lake):
    words = ["export", "--lake", lake, "--snapshot", "monday", "--out", "-"]
    assert main([*words, "--qmgr", "QM1"]) == 0
    assert "DEFINE QLOCAL('APP.Q')" in capsys.readouterr().out
    assert main([*words, "--qmgr", "QM2"]) == 2
    assert "has nothing of QM2" in capsys.readouterr().err
    assert main([*words, "--json"]) == 2
    assert main([*words, "--format", "yaml"]) == 2
    assert "there is mqsc" in capsys.readouterr().err


def test_a_change_is_ingested_from_standard_input(capsys, lake, monkeypatch):
    script = b"ALTER QLOCAL(APP.Q) CLWLRANK(7)\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(script)))
    words = ["ingest", "-", "--lake", lake, "--snapshot", "tuesday", "--base", "monday"]
    assert document(capsys, [*words, "--observer", "QM1"])["rows"]["queues"] == 1
    (change,) = document(capsys, ["diff", "monday", "tuesday", "--lake", lake])["changes"]
    assert change == {
        "table": "queues",
        "key": {"observer": "*", "qmgr": "QM1", "queue": "APP.Q", "cluster": "K"},
        "change": "CHANGED",
        "attribute": "clwlrank",
        "old": 1,
        "new": 7,
    }
    assert main(["diff", "monday", "tuesday", "--lake", lake]) == 0
    assert "clwlrank" in capsys.readouterr().out
    listed = document(capsys, ["snapshots", "--lake", lake])["snapshots"]
    assert {x["snapshot_id"]: x["base"] for x in listed}["tuesday"] == "monday"


def test_an_unknown_base_or_encoding_is_bad_input(capsys, lake, tmp_path):
    text = tmp_path / "QM1.mqsc"
    text.write_bytes(MONDAY.encode("cp037"))
    words = ["ingest", str(text), "--lake", lake, "--observer", "QM1", "--snapshot"]
    assert main([*words, "x", "--base", "sunday"]) == 2
    assert "no snapshot 'sunday'" in capsys.readouterr().err
    assert main([*words, "x", "--encoding", "klingon"]) == 2
    assert "no encoding 'klingon'" in capsys.readouterr().err
    assert document(capsys, [*words, "zos", "--encoding", "ebcdic"])["rows"]["queues"] == 1
