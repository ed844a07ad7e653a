"""Which files are read, in which order, with which queue manager's name; without Spark."""

import io
import pickle
import sys
from pathlib import Path

import pytest

from clwl_spark.errors import IngestError
from clwl_spark.snapshots import reading
from clwl_spark.snapshots.reading import read_here, receivers, sources_of, unpacked

QUEUE = "DEFINE QLOCAL(APP.Q)\n"
RECEIVERS = """
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one') CLUSTER(K)
DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSSDR) CONNAME('two') CLUSTER(K)
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("b/QM2.mqsc", "a/QM1.mqsc", "a/.hidden", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(QUEUE)
    return tmp_path


@pytest.fixture
def told():
    return []


def qmgrs(sources, told):
    found = read_here(sources, lambda *progress: told.append(progress))
    return [name for file in found for name in file.qmgrs]


def test_files_come_once_and_those_of_a_folder_in_order(folder):
    first = folder / "b" / "QM2.mqsc"
    sources = sources_of([first, folder, folder])
    assert sources.files == (first, folder / "a" / "QM1.mqsc")
    assert sources.named == f"{first}; {folder}; {folder}"
    assert (sources.count, sources.are_many) == (2, False)


@pytest.mark.parametrize(
    ("observer", "names"),
    [
        ("{stem}", ["QM1", "QM2"]),
        ("{folder}", ["a", "b"]),
        ("{folder}.{stem}", ["a.QM1", "b.QM2"]),
        ("GATE", ["GATE", "GATE"]),
    ],
)
def test_an_observer_may_be_made_of_the_file_s_path(folder, told, observer, names):
    assert qmgrs(sources_of([folder], observer), told) == names
    assert told == [("reading", 0, 2), ("reading", 2, 2)]


def test_standard_input_comes_last_and_has_no_name_to_make_an_observer_of(
    folder, told, monkeypatch
):
    def type_in(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    type_in("Starting MQSC for queue manager QM9.\n" + QUEUE)
    sources = sources_of([Path("-"), folder, Path("-")], "{stem}")
    assert (sources.count, sources.named) == (3, f"standard input; {folder}; standard input")
    assert qmgrs(sources, told) == ["QM1", "QM2", "QM9"]
    type_in(QUEUE)
    with pytest.raises(IngestError, match="standard input: names no queue manager"):
        qmgrs(sources_of([Path("-")], "{stem}"), told)
    type_in(QUEUE)
    assert qmgrs(sources_of([Path("-")], "QM1"), told) == ["QM1"]


def test_files_in_ebcdic_are_read_by_their_name_for_it(tmp_path, told):
    path = tmp_path / "CSQ1.txt"
    path.write_bytes(QUEUE.replace("\n", "\x85").encode("cp037"))
    assert qmgrs(sources_of([path], "{stem}", "cp037"), told) == ["CSQ1"]
    with pytest.raises(IngestError, match="no encoding 'klingon'"):
        sources_of([path], encoding="klingon")


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(IngestError, match=r"no such file or folder: .*gone"):
        sources_of([tmp_path / "gone"])
    with pytest.raises(IngestError, match="no files in"):
        sources_of([tmp_path])


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_a_file_that_cannot_be_read_is_named(tmp_path, told):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    sources = reading.Sources((loop,), "loop", "QM1")
    with pytest.raises(IngestError, match="loop cannot be read"):
        qmgrs(sources, told)


def test_many_files_or_large_ones_are_for_the_workers(folder, monkeypatch):
    sources = sources_of([folder])
    monkeypatch.setattr(reading, "FEW_BYTES", 2 * len(QUEUE) - 1)
    assert sources.are_many
    monkeypatch.undo()
    monkeypatch.setattr(reading, "FEW_FILES", 1)
    assert sources.are_many
    # One file cannot be shared out, and standard input is here alone.
    assert not sources_of([folder / "a"]).are_many


def test_a_file_s_pieces_are_its_queue_managers_and_its_rejects_come_once():
    both = f"Starting MQSC for queue manager QM1.\n     1 : {RECEIVERS.split(chr(10))[1]}\n"
    both += "     2 : DEFINE QLOCAL(+X+.Q)\n"
    both += "Starting MQSC for queue manager QM2.\n     1 : DEFINE QLOCAL(APP.Q)\n"
    found = reading.read_states(both, "log.txt")
    pieces = reading._pieces(found, 7)
    assert list(pieces["qmgr"]) == ["QM1", "QM2"]
    assert set(pieces["position"]) == {7}
    assert [list(x) for x in pieces["channels"]] == [["TO.QM1"], []]
    files = unpacked(list(pieces["payload"]))
    assert [file.qmgrs for file in files] == [("QM1",), ("QM2",)]
    assert sum(len(file.rejects) for file in files) == len(found.rejects)


def test_a_file_of_nobody_is_a_piece_with_the_error():
    pieces = reading._pieces(reading.read_states(QUEUE, "nobody.txt"), 0)
    assert list(pieces["qmgr"]) == [""]
    assert "nobody.txt: names no queue manager" in pieces["error"][0]


def test_only_receivers_tell_whose_a_channel_is():
    (state,) = reading.read_states(RECEIVERS, "x", "QM1").states
    assert receivers(state) == ["TO.QM1"]
    assert len(pickle.dumps(state)) < 2000
