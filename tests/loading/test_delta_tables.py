"""A Delta table of puts is loaded as it is, and later what was appended to it."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake

BEGIN = datetime(2026, 9, 14, 8, tzinfo=UTC)


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


@pytest.fixture
def puts(tmp_path):
    return tmp_path / "exports" / "puts"


@pytest.fixture
def load(lake, puts, capsys):
    """Load the folder above the table, and give what the command says."""

    def loaded(code=0):
        capsys.readouterr()
        assert main(["load", "--lake", lake.root, "--json", str(puts.parent)]) == code
        shown = capsys.readouterr()
        return json.loads(shown.out) if code == 0 else shown.err

    return loaded


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
    assert load()["rows"]["messages"] == 2
    assert load()["rows"]["messages"] == 0
    append(puts, 3, "C")
    append(puts, 4, "D")
    said = load()
    assert (said["files"], said["rows"]["messages"]) == (1, 2)
    assert queues(lake) == [("QM 0", "A", 1), ("QM 0", "B", 2), ("QM 1", "C", 1), ("QM 0", "D", 3)]


def test_files_that_are_written_anew_give_no_row_again(lake, puts, load):
    append(puts, 0, "A")
    append(puts, 2, "B")
    load()
    append(puts, 4, "C")
    assert DeltaTable(str(puts)).optimize.compact()["numFilesAdded"] == 1
    assert load()["rows"]["messages"] == 1
    assert [x for _, x, _ in queues(lake)] == ["A", "B", "C"]


def test_files_that_are_gone_are_told(lake, puts, load):
    append(puts, 0, "A")
    load()
    append(puts, 2, "B")
    table = DeltaTable(str(puts))
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
    assert "a Delta table that cannot be read" in load(code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_what_was_overwritten_before_is_not_loaded(lake, puts, load):
    append(puts, 0, "A", "B")
    append(puts, 2, "C", mode="overwrite")
    load()
    assert [x for _, x, _ in queues(lake)] == ["C"]


def test_rows_that_were_taken_away_are_refused(lake, puts, load):
    append(puts, 0, "A")
    load()
    append(puts, 2, "B")
    DeltaTable(str(puts)).delete("put_time > '2026-09-14'")
    assert "deletes rows" in load(code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_a_log_that_was_cleaned_up_is_told(lake, puts, load):
    append(puts, 0, "A")
    load()
    append(puts, 2, "B")
    append(puts, 4, "C")
    DeltaTable(str(puts)).create_checkpoint()
    (puts / "_delta_log" / f"{1:020}.json").unlink()
    assert "no longer in its log" in load(code=2)
    assert [x for _, x, _ in queues(lake)] == ["A"]


def test_a_folder_that_only_looks_like_a_table_is_told(puts, load):
    (puts / "_delta_log").mkdir(parents=True)
    (puts / "_delta_log" / "notes.txt").write_text("no log")
    assert "a Delta table that cannot be read" in load(code=2)
