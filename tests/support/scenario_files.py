"""Reads the folders of `scenarios/`: what an administrator writes down, and what should come of it.

A folder holds `scenario.md`, one `QMNAME.mqsc` per queue manager, `messages.csv` and
`expected.csv`; where needed also `QMNAME.txt`, what DISPLAY showed there, `channel_status.csv`, and
`subscriptions.csv` for proxy subscriptions, which no MQSC command defines.
"""

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from readings import read_text

Row = dict[str, Any]
Line = tuple[str, ...]

FOLDER: Final = Path(__file__).parents[1] / "scenarios"
START: Final = datetime(2024, 6, 1, 8, 0, 0, tzinfo=UTC)
TABLES: Final = (
    "queue_managers", "cluster_channels", "channel_status", "queues", "topics", "subscriptions",
    "views",
)  # fmt: skip
EXPECTED_COLUMNS: Final = (
    "qmgr", "object_name", "object_qmgr", "dest_qmgr", "channel", "xmitq", "reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenario:
    """One folder.

    Attributes:
        tables: topology rows by table name, in the snapshot `S1`.
        messages: one row per message, in the order of `messages.csv`, a second apart.
        expected: how many outcomes there are of each `EXPECTED_COLUMNS`, blank for null.
    """

    name: str
    tables: dict[str, list[Row]]
    messages: list[Row]
    expected: Counter[Line]


def scenario_names() -> list[str]:
    """Every folder."""
    return sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def read_scenario(name: str) -> Scenario:
    """Read one folder."""
    folder = FOLDER / name
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    for path in sorted([*folder.glob("*.mqsc"), *folder.glob("*.txt")]):
        reading = read_text(path.read_text(encoding="utf-8"), path.name, path.stem)
        if reading.rejects:
            raise AssertionError(path, reading.rejects)
        for table in TABLES:
            tables[table] += reading.rows.get(table, [])
    for table in ("channel_status", "subscriptions"):
        tables[table] += _lines(folder / f"{table}.csv")
    tables = {
        table: [{"snapshot_id": "S1", **row} for row in rows] for table, rows in tables.items()
    }
    head = {"snapshot_id": "S1", "valid_from": START, "status": "VALID"}
    tables["snapshots"] = [head | {"source": name, "loaded_at": START}]
    expected: Counter[Line] = Counter()
    for line in _lines(folder / "expected.csv"):
        key = tuple(line[column] or "" for column in EXPECTED_COLUMNS)
        expected[key] += int(line["messages"])
    return Scenario(name, tables, _messages(_lines(folder / "messages.csv")), expected)


def counted(outcomes: Iterable[Row]) -> Counter[Line]:
    """Outcomes as `expected.csv` counts them."""
    lines = ([outcome[column] for column in EXPECTED_COLUMNS] for outcome in outcomes)
    return Counter(tuple("" if cell is None else str(cell) for cell in line) for line in lines)


def _lines(path: Path) -> list[Row]:
    """The lines of a CSV file, blank cells null; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: v or None for k, v in line.items()} for line in csv.DictReader(file)]


def _messages(lines: Iterable[Row]) -> list[Row]:
    """One message row per message of each line."""
    wanted = [line for line in lines for _ in range(int(line["count"]))]
    columns = ("qmgr", "object_type", "object_name", "object_qmgr", "bind", "via")
    unused = ("open_id", "group_id", "logical_order", "persistent", "msg_length")
    return [
        {
            **{column: line[column] for column in columns},
            **dict.fromkeys(unused),
            "scope": line.get("scope"),
            "put_seq": number,
            "message_id": number.to_bytes(24, "big"),
            "put_time": START + timedelta(seconds=number),
        }
        for number, line in enumerate(wanted, 1)
    ]
