"""How differences and snapshots look on the screen, without Spark."""

import io

from rich.console import Console

from clwl_spark.cli.diff import changes_table, counts_table
from clwl_spark.cli.snapshots import snapshots_table
from clwl_spark.snapshots.catalog import SnapshotEntry
from clwl_spark.snapshots.diff import Difference
from clwl_spark.snapshots.inspection import WRITABLE


def shown(table):
    out = io.StringIO()
    Console(file=out, width=160).print(table)
    return out.getvalue()


def change(queue, kind, attribute, old, new):
    key = {"observer": "*", "qmgr": "QM1", "queue": queue, "cluster": ""}
    values = {"attribute": attribute, "old": old, "new": new}
    return {"table": "queues", "key": key, "change": kind, **values}


FOUND = Difference(
    "monday",
    "tuesday",
    (
        change("[red]Q", "CHANGED", "target", "", "T"),
        change("[red]Q", "CHANGED", "clwlrank", None, 7),
        change("B.Q", "ADDED", "put_enabled", None, False),
    ),
)


def entry(name, rows, **more):
    counts = {**dict.fromkeys(WRITABLE, 0), **rows}
    head = {"valid_from": None, "status": "VALID", "being_written": False, "source": None}
    head |= {"base_changed": False}
    return SnapshotEntry(name, **{**head, "base": None, "loaded_at": None, **more}, rows=counts)


def test_counts_are_of_rows_and_not_of_attributes():
    assert FOUND.counts == {"queues": {"added": 1, "removed": 0, "changed": 1}}
    assert "monday -> tuesday" in shown(counts_table(FOUND))


def test_a_blank_value_is_told_from_none_and_names_are_no_markup():
    text = shown(changes_table(FOUND))
    lines = [line.split() for line in text.splitlines() if "CHANGED" in line]
    assert [line[-2] for line in lines] == ["T", "7"]
    assert "''" in lines[0]
    assert "QM1 [red]Q -" in text
    assert "False" in text


def test_of_tables_those_with_rows_are_told():
    listed = [entry("a", {"queues": 1200}), entry("b", {}, being_written=True, base="a")]
    text = shown(snapshots_table(listed))
    assert "2 snapshot(s)" in text
    assert "1,200" in text
    assert "topics" not in text
    assert "being written" in text
