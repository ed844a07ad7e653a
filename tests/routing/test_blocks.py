"""Blocks of many queue managers are put together, in order and up to a limit."""

import pyarrow as pa
import pytest

from clwl_spark.routing.intake import blocks
from clwl_spark.routing.intake.blocks import gathered


def _tables(qmgrs: int, rows: int, number: int, plans: int = 1) -> list[pa.Table]:
    """Tables whose rows go round so many queue managers and plans.

    Each table has a queue manager of its own, too.
    """
    return [
        pa.table(
            {
                "qmgr": pa.array(
                    [f"QM{x % qmgrs}" if x else f"ONLY{at}" for x in range(rows)]
                ).dictionary_encode(),
                "put_seq": pa.array(range(at * rows, (at + 1) * rows)),
                "plan_id": pa.array([x % plans for x in range(rows)]),
            }
        )
        for at in range(number)
    ]


@pytest.mark.parametrize(("worth", "wanted"), [(1, [100] * 6), (50, [600]), (20, [300, 300])])
def test_tables_are_put_together_until_blocks_are_worth_their_cost(
    monkeypatch: pytest.MonkeyPatch, worth: int, wanted: list[int]
) -> None:
    monkeypatch.setattr(blocks, "GATHERED_ROWS", 100)
    monkeypatch.setattr(blocks, "_WORTH", worth)
    tables = _tables(10, 100, 6)
    found = [*gathered(tables, 0)]
    assert [x.num_rows for x in found] == wanted
    both = [pa.concat_tables(x).unify_dictionaries().to_pylist() for x in (tables, found)]
    assert both[0] == both[1]


def test_rows_of_many_plans_are_put_together_though_queue_managers_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "GATHERED_ROWS", 100)
    monkeypatch.setattr(blocks, "_WORTH", 1)
    monkeypatch.setattr(blocks, "_WORTH_NAMING", 10)
    assert [x.num_rows for x in gathered(_tables(2, 100, 6, plans=30), 0)] == [300, 300]


def test_no_more_rows_are_put_together_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "GATHERED_ROWS", 100)
    monkeypatch.setattr(blocks, "GATHERED_AT_MOST", 250)
    assert [x.num_rows for x in gathered(_tables(100, 100, 7), 0)] == [300, 300, 100]


def test_names_that_are_no_dictionary_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "GATHERED_ROWS", 100)
    monkeypatch.setattr(blocks, "_WORTH", 20)
    plain = [x.set_column(0, "qmgr", x["qmgr"].cast(pa.string())) for x in _tables(10, 100, 6)]
    found = [*gathered(plain, 0)]
    assert [x.num_rows for x in found] == [300, 300]
    assert pa.concat_tables(found).to_pylist() == pa.concat_tables(plain).to_pylist()


def test_nothing_gathers_to_nothing() -> None:
    assert [*gathered([], 0)] == []
