"""Conflicts and costs of the folders in `scenarios/`, as an administrator expects them."""

import tomllib
from pathlib import Path

import pytest
from readings import read_text
from tracing.way_files import lake_of

from clwl_spark.studies.topics.design import TopicQuestion, design_of

FOLDER = Path(__file__).parent / "scenarios"
NAMES = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
COSTS = (
    "subscribed", "direct_proxies", "direct_channels", "topichost_proxies", "topichost_channels",
)  # fmt: skip


def definitions(name):
    tables = {}
    for path in sorted((FOLDER / name).glob("*.mqsc")):
        reading = read_text(path.read_text(encoding="utf-8"), path.name, path.stem)
        assert not reading.rejects
        for table, rows in reading.rows.items():
            tables.setdefault(table, []).extend(rows)
    return tables


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    named = {name: definitions(name) for name in NAMES}
    return lake_of(spark, tmp_path_factory.mktemp("topics") / "lake", named)


@pytest.mark.parametrize("name", NAMES)
def test_a_design_is_judged_as_expected(lake, name):
    expected = tomllib.loads((FOLDER / name / "design.toml").read_text(encoding="utf-8"))
    found = design_of(lake, TopicQuestion(snapshot_id=name)).to_json()
    said = [
        f"{x['code']} {x['cluster']} {x['topic']} {x['qmgr']} {x['attribute']}({x['value']})"
        for x in found["conflicts"]
    ]
    assert sorted(said) == expected["conflicts"]
    for topic in found["topics"]:
        wanted = expected["topics"][f"{topic['cluster']} {topic['topic']}"]
        assert {key: topic[key] for key in wanted} == wanted
    costs = {}
    for row in found["costs"]:
        of_topic = costs.setdefault(f"{row['cluster']} {row['topic']}", {})
        of_topic[row["qmgr"]] = [row[name] for name in COSTS]
    assert costs == expected["costs"]


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_cites_its_seed(name):
    lines = (FOLDER / name / "scenario.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "Hughson's deck" in " ".join(lines)
