"""The scenario folders: what an administrator writes down, and what becomes of what waits.

A folder is a snapshot of its own, a day each, in one lake; one history of events runs all of them.
"""

import csv
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from scenario_files import START, TABLES, Scenario, read_scenario
from waiting_worlds import FIRST, SECOND, routed_lake
from worlds import put_rows

from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.reallocate.events import read_events
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.tables import CHANNEL_EVENTS

FOLDER = Path(__file__).parent / "scenarios"
NAMES = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
COLUMNS = (
    "event", "object_name", "to_channel", "to_xmitq", "outcome", "deciding_rule",
    "ineligible_reason",
)  # fmt: skip
Line = tuple[str, ...]


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def in_its_own_day(scenario: Scenario, at: int) -> dict[str, list[dict[str, Any]]]:
    """The scenario's rows, in a snapshot of its name and day."""
    day = timedelta(days=at)
    tables = {
        table: [row | {"snapshot_id": scenario.name} for row in scenario.tables[table]]
        for table in TABLES
    }
    head = scenario.tables["snapshots"][0]
    tables["snapshots"] = [
        head | {"snapshot_id": scenario.name, "valid_from": head["valid_from"] + day}
    ]
    tables["messages"] = [
        row
        | {"put_time": row["put_time"] + day, "message_id": f"{at:4d}{row['put_seq']:20d}".encode()}
        | ({"group_id": b"G", "logical_order": True} if row["bind"] == "ON_GROUP" else {})
        for row in scenario.messages
    ]
    return tables


def history(name: str, at: int) -> list[dict[str, Any]]:
    start = START + timedelta(days=at)
    return [
        {
            **{column: line[column] for column in ("qmgr", "channel", "status")},
            "at": start + timedelta(seconds=int(line["seconds"])),
            "since": start - timedelta(seconds=1),
        }
        for line in lines(FOLDER / name / "events.csv")
    ]


@pytest.fixture(scope="module", params=[FIRST, SECOND], ids=str)
def found(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> list[Counter[Line]]:
    semantics = request.param
    scenarios = [read_scenario(str(FOLDER / name)) for name in NAMES]
    together: dict[str, list[dict[str, Any]]] = {}
    for at, scenario in enumerate(scenarios):
        for table, rows in in_its_own_day(scenario, at).items():
            together.setdefault(table, []).extend(rows)
    messages = together.pop("messages")
    folder = tmp_path_factory.mktemp("scenarios")
    lake = routed_lake(spark, folder, together, messages, semantics)
    events = [event for at, name in enumerate(NAMES) for event in history(name, at)]
    lake.create([CHANNEL_EVENTS])
    put_rows(lake, "channel_events", events)
    reallocate(lake, read_events(lake, "channel_events"), Ladder(semantics))
    named = {row["message_id"]: row["object_name"] for row in messages}
    counts: list[Counter[Line]] = [Counter() for _ in NAMES]
    for row in lake.read("reallocations").collect():
        at = (row["at"].replace(tzinfo=START.tzinfo) - START).days
        of_folder = [event["at"] for event in history(NAMES[at], at)]
        number = of_folder.index(row["at"].replace(tzinfo=START.tzinfo)) + 1
        values = {"event": number, "object_name": named[bytes(row["message_id"])]}
        said = row.asDict() | values
        counts[at][tuple("" if said[x] is None else str(said[x]) for x in COLUMNS)] += 1
    return counts


@pytest.mark.parametrize("name", NAMES)
def test_scenario(found: list[Counter[Line]], name: str) -> None:
    expected: Counter[Line] = Counter()
    for line in lines(FOLDER / name / "reallocations.csv"):
        expected[tuple(line[column] for column in COLUMNS)] += int(line["messages"])
    assert found[NAMES.index(name)] == expected
