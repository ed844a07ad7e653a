"""The three kinds of change that switch a channel to another queue, one folder each."""

import csv
from pathlib import Path

import pytest
from readings import read_text
from tracing.way_files import lake_of

from clwl_spark.studies.switch.associations import associations
from clwl_spark.studies.switch.causes import KINDS

FOLDER = Path(__file__).parent / "scenarios"
NAMES = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
SEEN_ON = "GATE"


def expected(name):
    """Its lines by channel."""
    with (FOLDER / name / "expected.csv").open(encoding="utf-8", newline="") as lines:
        return {line["channel"]: line for line in csv.DictReader(lines)}


def topology(name, changed):
    """Rows by table; with the change, those of the script that goes on with it."""
    tables = {}
    for path in sorted((FOLDER / name).glob("[A-Z]*.mqsc")):
        text = path.read_text(encoding="utf-8")
        if changed and path.stem == SEEN_ON:
            text += (FOLDER / name / "change.mqsc").read_text(encoding="utf-8")
        reading = read_text(text, path.name, path.stem)
        assert not reading.rejects
        for table, rows in reading.rows.items():
            tables.setdefault(table, []).extend(rows)
    tables["channel_status"] = [
        {
            "qmgr": SEEN_ON, "channel": channel, "chltype": "CLUSSDR", "status": "RUNNING",
            "remote_qmgr": channel.split(".")[1], "xmitq": line["current"],
        }
        for channel, line in expected(name).items()
    ]  # fmt: skip
    return tables


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    named = {f"{x}.{y}": topology(x, y == "after") for x in NAMES for y in ("before", "after")}
    return lake_of(spark, tmp_path_factory.mktemp("switches") / "lake", named)


@pytest.mark.parametrize("name", NAMES)
def test_scenario(lake, name):
    before, after = (
        {x.channel: x for x in associations(lake, SEEN_ON, f"{name}.{when}")}
        for when in ("before", "after")
    )
    found = {
        channel: {
            "channel": channel,
            "current": of.current,
            "before": before[channel].next,
            "after": of.next,
            "pending": "yes" if of.pending else "no",
            "kind": "" if of.cause is None else str(KINDS[of.cause]),
        }
        for channel, of in after.items()
    }
    assert found == expected(name)
    assert not any(of.pending for of in before.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_cites_its_source(name):
    lines = (FOLDER / name / "scenario.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "IBM's page on transmission queues" in " ".join(lines)
