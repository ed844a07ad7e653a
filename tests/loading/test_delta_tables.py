"""A Delta table of puts is loaded as it is, and later what was appended to it."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

BEGIN = datetime(2026, 9, 14, 8, tzinfo=UTC)


@pytest.fixture
def puts(tmp_path):
    return tmp_path / "exports" / "puts"


def append(puts, first, *names, mode="append"):
    """Puts to queues, a second apart; each queue manager's are a partition."""
    table = pa.table(
        {
            "Queue Name": list(names),
            "put_time": [BEGIN + timedelta(seconds=first + at) for at in range(len(names))],
            "qmgr": [f"QM {first % 2}"] * len(names),
        }
    )
    write_deltalake(str(puts), table, mode=mode, partition_by=["qmgr"])


def queues(lake):
    rows = lake.read("messages").orderBy("put_time").collect()
    return [(x.qmgr, x.object_name, x.put_seq) for x in rows]


def test_rows_come_once_and_with_the_values_of_their_partitions(lake, puts, load):
    append(puts, 0, "A", "B")
    assert load(puts.parent)["rows"]["messages"] == 2
    assert load(puts.parent)["rows"]["messages"] == 0
    append(puts, 3, "C")
    append(puts, 4, "D")
    said = load(puts.parent)
    assert (said["files"], said["rows"]["messages"]) == (1, 2)
    assert queues(lake) == [("QM 0", "A", 1), ("QM 0", "B", 2), ("QM 1", "C", 1), ("QM 0", "D", 3)]


@pytest.mark.parametrize("first", ["08:00:00", "08:00:01"])
def test_what_is_loaded_between_moments_is_not_loaded_again(lake, puts, load, first):
    since = ("--since", f"2026-09-14T{first}Z")
    append(puts, 0, "A", "B")
    here = load(puts.parent, *since)["rows"]["messages"]
    assert load(puts.parent, *since)["rows"]["messages"] == 0
    append(puts, 3, "C")
    assert load(puts.parent, *since)["rows"]["messages"] == 1
    assert lake.read("messages").count() == here + 1


def test_after_all_was_loaded_bounds_give_nothing_again(puts, load):
    append(puts, 0, "A", "B")
    assert load(puts.parent)["rows"]["messages"] == 2
    assert load(puts.parent, "--since", "2026-09-14T00:00:00Z")["rows"]["messages"] == 0


def test_files_that_are_written_anew_give_no_row_again(lake, puts, load):
    append(puts, 0, "A")
    append(puts, 2, "B")
    load(puts.parent)
    append(puts, 4, "C")
    assert DeltaTable(str(puts)).optimize.compact()["numFilesAdded"] == 1
    assert load(puts.parent)["rows"]["messages"] == 1
    assert [x for _, x, _ in queues(lake)] == ["A", "B", "C"]


def test_files_that_are_gone_are_told(lake, puts, load):
    append(puts, 0, "A")
    load(puts.parent)
    append(puts, 2, "B")
    table = DeltaTable(str(puts))
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
    assert "a Delta table that cannot be read" in load(puts.parent, code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_what_was_overwritten_before_is_not_loaded(lake, puts, load):
    append(puts, 0, "A", "B")
    append(puts, 2, "C", mode="overwrite")
    load(puts.parent)
    assert [x for _, x, _ in queues(lake)] == ["C"]


def test_rows_that_were_taken_away_are_refused(lake, puts, load):
    append(puts, 0, "A")
    load(puts.parent)
    append(puts, 2, "B")
    DeltaTable(str(puts)).delete("put_time > '2026-09-14'")
    assert "deletes rows" in load(puts.parent, code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_a_log_that_was_cleaned_up_is_told(lake, puts, load):
    append(puts, 0, "A")
    load(puts.parent)
    append(puts, 2, "B")
    append(puts, 4, "C")
    DeltaTable(str(puts)).create_checkpoint()
    (puts / "_delta_log" / f"{1:020}.json").unlink()
    assert "no longer in its log" in load(puts.parent, code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_a_folder_that_only_looks_like_a_table_is_told(puts, load):
    (puts / "_delta_log").mkdir(parents=True)
    (puts / "_delta_log" / "notes.txt").write_text("no log")
    assert "a Delta table that cannot be read" in load(puts.parent, code=2)
