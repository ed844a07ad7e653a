"""The page of figures says what was measured."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import publish  # noqa: E402


def test_tables_are_made_from_what_was_measured():
    page = publish.PAGE.read_text(encoding="utf-8")
    assert publish.with_tables(page, json.loads(publish.MEASURED.read_text())) == page
    assert all(f"<!-- measured: {name} -->" in page for name in publish.TABLES)


def test_a_later_day_comes_into_the_tables_and_the_history():
    entries = json.loads(publish.MEASURED.read_text())
    small = [{"engine": "embedded", "followed": 7.1, "little_new": 7.2, "nothing_new": 7.3}]
    page = publish.with_tables(publish.PAGE.read_text(), [*entries, {"date": "X", "small": small}])
    assert "| embedded | 7.10 s | 7.20 s | 7.30 s |" in page
    assert entries[-1]["date"] in page
