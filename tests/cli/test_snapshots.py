"""`clwl snapshots`, `diff`, `export` and the ways to say what `ingest` reads."""

import errno
import io
import json
import os
import sys
from pathlib import Path

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
    said = capsys.readouterr().out
    assert "DEFINE QLOCAL('APP.Q')" in said
    assert "engine" not in said
    assert main([*words, "--qmgr", "QM2"]) == 2
    assert "has nothing of QM2" in capsys.readouterr().err
    assert main([*words, "--json"]) == 2
    assert main([*words, "--format", "yaml"]) == 2
    assert "there is mqsc" in capsys.readouterr().err


def test_an_export_that_breaks_off_leaves_the_folder_empty(capsys, lake, tmp_path, monkeypatch):
    def half(path, text, encoding):
        path.write_bytes(text[:9].encode(encoding))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    words = ["export", "--lake", lake, "--snapshot", "monday", "--out", str(tmp_path)]
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", half)
        assert main(words) == 3
    assert "make room" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
    assert main(words) == 0


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


TUESDAY = "DEFINE QLOCAL(NEW.Q) CLUSTER(K)\nALTER QLOCAL(APP.Q) CLWLRANK(7)\n"


@pytest.fixture
def own(spark, tmp_path):
    """A lake of the test's own, with a snapshot `b` and one `c` that is a change to it."""
    assert spark.range(1).count() == 1
    (tmp_path / "QM1.mqsc").write_text(MONDAY)
    (tmp_path / "change.mqsc").write_text(TUESDAY)
    ingest = Ingest(tmp_path)
    assert ingest("QM1.mqsc", "--snapshot", "b", "--valid-from", "2026-09-14T06:00:00Z") == 0
    assert ingest(*CHANGE, "--valid-from", "2026-09-15T06:00:00Z") == 0
    return ingest


CHANGE = ("change.mqsc", "--snapshot", "c", "--base", "b")


class Ingest:
    """`clwl ingest` of a file of a folder into the lake there."""

    def __init__(self, folder):
        self.folder, self.lake = folder, ["--lake", str(folder / "lake")]

    def __call__(self, file, *words):
        path = str(self.folder / file)
        return main(["ingest", path, *words, "--observer", "QM1", *self.lake])

    def differences(self, capsys, before, after):
        capsys.readouterr()
        found = document(capsys, ["diff", before, after, *self.lake])["changes"]
        return sorted({(x["change"], x["key"]["queue"]) for x in found})


def test_a_change_says_what_it_changed(capsys, own):
    shown = capsys.readouterr().out
    assert "queue_managers" not in shown.rpartition("Snapshot c")[2]
    found = document(capsys, ["ingest", str(own.folder / "change.mqsc"), *CHANGE[1:3], "--base",
        "b", *own.lake, "--observer", "QM1"])  # fmt: skip
    assert found["changes"] == {"queues": {"added": 1, "changed": 1, "removed": 0}}
    (own.folder / "gone.mqsc").write_text("DELETE QLOCAL(APP.Q)\n")
    assert own("gone.mqsc", "--snapshot", "d", "--base", "c") == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "queues" in x]
    assert line.split("│")[2:5] == ["     0 ", "       1 ", "       0 "]


def test_a_snapshot_is_made_anew_when_its_base_has_changed(capsys, own):
    (own.folder / "more.mqsc").write_text("DEFINE QLOCAL(MORE.Q) CLUSTER(K)\n")
    assert own("more.mqsc", "--snapshot", "b") == 0
    assert "snapshot c was made of b as it was: ingest it again" in capsys.readouterr().err
    listed = document(capsys, ["snapshots", *own.lake])["snapshots"]
    assert {x["snapshot_id"]: x["base_changed"] for x in listed} == {"b": False, "c": True}
    assert main(["snapshots", *own.lake]) == 0
    assert "b (changed since)" in capsys.readouterr().out
    assert own(*CHANGE) == 0
    assert "snapshot c was made of its base anew" in capsys.readouterr().err
    assert own.differences(capsys, "b", "c") == [("ADDED", "NEW.Q"), ("CHANGED", "APP.Q")]
    assert own(*CHANGE) == 0
    assert "anew" not in capsys.readouterr().err
    listed = document(capsys, ["snapshots", *own.lake])["snapshots"]
    assert not any(x["base_changed"] for x in listed)


def test_a_snapshot_of_more_than_its_base_is_not_made_anew_in_silence(capsys, own):
    (own.folder / "more.mqsc").write_text("DEFINE QLOCAL(MORE.Q) CLUSTER(K)\n")
    assert own("more.mqsc", "--snapshot", "c") == 0
    assert own("more.mqsc", "--snapshot", "b") == 0
    capsys.readouterr()
    (own.folder / "change.mqsc").write_text(TUESDAY.replace("7", "8"))
    assert own(*CHANGE) == 2
    assert "was made of 'b', which has changed since" in capsys.readouterr().err
    assert own("change.mqsc", "--snapshot", "c", "--base", "c") == 0
    assert own("change.mqsc", "--snapshot", "b", "--base", "c") == 2
    assert "was made without a base, not of 'c'" in capsys.readouterr().err


def test_a_snapshot_can_be_dropped_until_routing_has_used_it(capsys, own):
    assert main(["snapshots", "--drop", "b", *own.lake]) == 0
    assert "snapshot b was dropped; c, made of it, keeps its rows" in capsys.readouterr().err
    (entry,) = document(capsys, ["snapshots", *own.lake])["snapshots"]
    assert (entry["snapshot_id"], entry["rows"]["queues"]) == ("c", 2)
    assert main(["snapshots", "--drop", "b", *own.lake]) == 2
    assert "no snapshot 'b'" in capsys.readouterr().err
    assert own("QM1.mqsc", "--snapshot", "b") == 0


def test_a_rejected_definition_says_what_becomes_of_its_object(capsys, own):
    (own.folder / "bad.mqsc").write_text(
        "DEFINE QLOCAL(BAD.Q) CLUSTER(K) CLWLRANK(99)\nDEFINE QL(APP.Q) REPLACE CLWLFOO(1)\n"
        "DEFINE CHANNEL(TO.X) CHLTYPE(CLUSTER)\nDEFINE QLOCAL(GOOD.Q)\n"
    )
    assert own("bad.mqsc", "--snapshot", "b") == 0
    said = capsys.readouterr().err
    assert "queue BAD.Q is not there: DEFINE QLOCAL(BAD.Q)" in said
    assert "queue APP.Q stays as it was" in said
    assert "channel TO.X is not there" in said
