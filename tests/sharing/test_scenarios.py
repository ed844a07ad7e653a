"""The situations of the seed, one folder each."""

import csv
from pathlib import Path

import pytest

from clwl_spark.studies.shared_queue.group import make_group, read_entries
from clwl_spark.studies.shared_queue.simulation import HOW, simulate_group

FOLDERS = sorted(path for path in (Path(__file__).parent / "scenarios").iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_scenario(folder):
    assert "IBM's page on shared queues" in (folder / "scenario.md").read_text()
    result = simulate_group(make_group(read_entries(folder / "group.toml"), folder.name))
    answer = result.to_json()
    members = {x["qmgr"]: x for x in answer["queue_managers"]}
    with (folder / "expected.csv").open() as lines:
        for row in csv.DictReader(lines):
            place = members[row["qmgr"]] if row["qmgr"] else answer
            found = (place["how"] if row["what"] in HOW else place)[row["what"]]
            assert float(row["low"]) <= found["low"] + 1e-9, (row, found)
            assert found["high"] <= float(row["high"]) + 1e-9, (row, found)
