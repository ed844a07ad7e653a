"""`clwl upgrade`: lakes that earlier versions wrote get what tables of this one have."""

import json
import tarfile
from pathlib import Path

import pytest
from deltalake import DeltaTable

from clwl_spark.cli import main
from clwl_spark.delta.creation import old_checks
from clwl_spark.tables import TABLES

GOLDEN = Path(__file__).parents[1] / "routing" / "golden"


@pytest.fixture(params=["state-1", "state-2"])
def lake(request, tmp_path):
    """A lake as a release wrote it."""
    with tarfile.open(GOLDEN / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "lake"


def document(capsys, words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def tables_of(lake):
    return {x.name: DeltaTable(x) for x in lake.iterdir() if x.name in TABLES}


def test_lakes_of_releases_get_what_they_lack_and_no_row_changes(lake, capsys):
    before = tables_of(lake)
    rows = {name: table.to_pyarrow_table() for name, table in before.items()}
    words = ["upgrade", "--lake", str(lake)]
    told = document(capsys, [*words, "--dry-run"])
    assert told["there"] == len(before)
    assert {name: x.version() for name, x in tables_of(lake).items()} == {
        name: x.version() for name, x in before.items()
    }
    lacked = {x["table"]: x for x in told["tables"]}
    assert "memory_version" in lacked["runs"]["columns"]
    assert document(capsys, words)["tables"] == told["tables"]
    after = tables_of(lake)
    assert after.keys() == before.keys()
    for name, table in after.items():
        contract = TABLES[name]
        there = [x.name for x in table.schema().fields]
        assert {x.name for x in contract.columns if x.optional} <= set(there), name
        assert not old_checks(table.metadata().configuration, contract), name
        found = table.to_pyarrow_table()
        assert found.select(rows[name].column_names).equals(rows[name]), name
        for column in lacked.get(name, {"columns": []})["columns"]:
            assert found[column].null_count == found.num_rows
    assert document(capsys, words)["tables"] == []
    assert main(words) == 0
    assert f"0 of {len(after)} tables changed" in capsys.readouterr().out
