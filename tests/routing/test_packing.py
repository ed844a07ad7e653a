"""What tasks of a packing say of the requests of their messages; no Spark."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clwl_spark.routing.engines.gathered import distinct_requests
from clwl_spark.routing.engines.tasks import PackTask, pack
from clwl_spark.routing.intake.splits import Split, spark_hash
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import MESSAGES

PINS = (Pin("S1", 0),)


def task(folder: Path, packing: str, *puts: tuple[str, str | None]) -> PackTask:
    """Puts of queue managers to queues, in a file of their own; None = to none."""
    name = f"{len([*folder.iterdir()])}"
    rows = [
        {"qmgr": qmgr, "put_seq": at, "put_time": 1, "object_name": queue}
        for at, (qmgr, queue) in enumerate(puts)
    ]
    file = folder / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, MESSAGES.arrow(MESSAGES.names)), file)
    splits = (Split(str(file), 0, len(rows)),)
    return PackTask(splits, packing, PINS, 2, frozenset(), str(folder / f"{name}.blocks"))


def queues(*tasks: PackTask) -> list[list[str]]:
    """The queues of the requests that each task says, sorted."""
    return [sorted(x.object_name for _, x in pack(one).requests) for one in tasks]


def test_a_process_says_a_request_once_in_a_packing(tmp_path: Path) -> None:
    first = task(tmp_path, "1", ("A", "Q1"), ("A", "Q2"), ("A", "Q1"))
    second = task(tmp_path, "1", ("A", "Q3"), ("A", "Q2"))
    assert queues(first, second) == [["Q1", "Q2"], ["Q3"]]
    assert queues(task(tmp_path, "2", ("A", "Q2"))) == [["Q2"]]


def test_what_was_set_aside_is_said_when_a_message_needs_it(tmp_path: Path) -> None:
    aside = task(tmp_path, "3", ("A", None), ("A", ""), ("", "Q9"))
    left_out = replace(task(tmp_path, "3", ("B", "Q1")), skipped=frozenset({"B"}))
    assert queues(aside, left_out, task(tmp_path, "3", ("B", "Q1"))) == [[], [], ["Q1"]]


def test_all_that_was_said_is_known_by_its_id(tmp_path: Path) -> None:
    tasks = task(tmp_path, "4", ("A", "Q1")), task(tmp_path, "5", ("A", "Q1"), ("B", "Q1"))
    found = distinct_requests(pack(x) for x in tasks)
    assert [x.qmgr for x in found.values()] in (["A", "B"], ["B", "A"])
    assert [*found] == sorted(spark_hash(x) for x in found.values())
