"""Events of commands, by OpenLineage's own client into a file."""

import json

import pytest

from clwl_spark.cli import main

TOLD = ("--set", "lineage=true", "--quiet")


@pytest.fixture
def events(tmp_path, monkeypatch):
    """What was told since it was last asked, in order."""
    file = tmp_path / "events.json"
    transport = {"type": "file", "log_file_path": str(file), "append": True}
    for name, value in transport.items():
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__{name.upper()}", str(value).lower())

    def read():
        found = [json.loads(x) for x in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    return read


def names(datasets):
    return {x["name"].rpartition("/")[2] for x in datasets}


@pytest.mark.usefixtures("spark")
def test_a_command_tells_what_it_reads_and_what_it_wrote(events, tmp_path):
    lake = ("--lake", str(tmp_path / "lake"))
    sizes = ("--messages", "50", "--qmgrs", "4", "--instances", "2")
    assert main(["generate", *sizes, *lake, *TOLD]) == 0
    start, end = events()
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["run"] == end["run"]
    assert end["job"] | {"facets": {}} == {"namespace": "clwl", "name": "generate", "facets": {}}
    assert {"messages", "snapshots", "queues"} <= names(end["outputs"])
    assert main(["route", *lake, *TOLD]) == 0
    _, end = events()
    assert {"queues", "messages"} <= names(end["inputs"])
    assert {"outcomes", "runs", "router_memory"} <= names(end["outputs"])
    assert not {"messages", "queues"} & names(end["outputs"])
    assert {x["namespace"] for x in end["outputs"]} == {"file"}
    assert main(["explain", "--from", "QM1", "--object", "Q1", *lake, *TOLD]) == 0
    assert events()[1]["outputs"] == []


@pytest.mark.usefixtures("spark")
def test_a_command_that_fails_tells_so_and_one_that_is_not_asked_tells_nothing(events, tmp_path):
    lake = ("--lake", str(tmp_path / "lake"))
    (tmp_path / "lake").mkdir()
    assert main(["route", *lake, *TOLD]) == 2
    assert [x["eventType"] for x in events()] == ["START", "FAIL"]
    assert main(["route", *lake, "--quiet"]) == 2
    assert events() == []


@pytest.mark.usefixtures("spark")
def test_a_server_that_does_not_answer_keeps_nobody_from_working(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "none" / "x"))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    lake = ("--lake", str(tmp_path / "lake"))
    assert main(["init", *lake, "--set", "lineage=true", "--log", "text"]) == 0
    assert "untold=START" in capsys.readouterr().err
