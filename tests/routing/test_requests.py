"""Requests get a number each, the same in every batch, and are judged by their words."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clwl_spark.mq.vocabulary import RejectError
from clwl_spark.routing.intake.numbering import Numbering
from clwl_spark.routing.intake.requests import ERRORS, Requests
from clwl_spark.routing.intake.splits import spark_hash

WHOLE = st.integers(-(2**40), 2**40)
COLUMNS = ("qmgr", "object_type", "object_name", "object_qmgr", "via", "scope")


@given(st.lists(st.lists(WHOLE, max_size=9), max_size=9))
def test_a_value_keeps_its_number(batches: list[list[int]]) -> None:
    numbering, given_out = Numbering(), {}
    for batch in batches:
        numbers = numbering.of(np.array(batch, dtype=np.int64)).tolist()
        for value, number in zip(batch, numbers, strict=True):
            assert given_out.setdefault(value, number) == number
    assert sorted(given_out.values()) == list(range(len(numbering)))


def batch_of(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Messages at microsecond 5, words as dictionaries that have every word twice."""
    columns = {}
    for name, cells in zip(COLUMNS, zip(*rows, strict=True), strict=True):
        words = sorted({x for x in cells if x is not None}) * 2
        at = [None if x is None else words.index(x) + row % 2 * len(words) // 2
              for row, x in enumerate(cells)]  # fmt: skip
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), pa.array(words))
    time = pa.array([5] * len(rows), pa.timestamp("us", tz="UTC"))
    return pa.record_batch({**columns, "put_time": time})


A = ("QM1", "QUEUE", "Q1", "", "LOCAL", None)
SHORT = ("QM1", None, "Q1", None, None, "QMGR")
B = ("QM2", "QUEUE", "Q1", "", "LOCAL", None)
BAD = ("QM2", "PROCESS", "Q1", "", "LOCAL", None)
KEPT = ("QM1", "TOPIC", "a/b", "", "LOCAL", "QMGR")


def met(requests: Requests, rows: list[tuple[Any, ...]]) -> list[int]:
    """The number of each row's request."""
    numbers, of_row = requests.met(batch_of(rows))
    return numbers[of_row].tolist()


def test_a_request_is_judged_once_whatever_batch_it_is_in() -> None:
    requests = Requests(["S1", "S2"], np.array([1, 9]))
    first = met(requests, [A, B, A, BAD, B])
    again = met(requests, [BAD, B, A])
    assert first == [first[0], first[1], first[0], first[3], first[1]]
    assert again == [first[3], first[1], first[0]]
    assert requests.of(first) == {("S1", *A), ("S1", *B), ("S1", *BAD)}
    assert requests.plan_ids[first].tolist() == [spark_hash(("S1", *x)) for x in (A, B, A, BAD, B)]
    bad = ERRORS.index(RejectError.UNKNOWN_OBJECT_TYPE) + 1
    assert requests.errors[first].tolist() == [0, 0, 0, bad, 0]


def test_what_is_left_out_means_the_default() -> None:
    requests = Requests(["S1"], np.array([1]))
    numbers = met(requests, [A, SHORT])
    assert requests.of(numbers) == {("S1", *A)}
    assert len(set(requests.plan_ids[numbers].tolist())) == 1


@pytest.mark.parametrize(("scope", "same"), [("QMGR", False), ("ALL", True), ("?", True)])
def test_a_publication_with_another_scope_is_another_request(scope: str, same: bool) -> None:
    requests = Requests(["S1"], np.array([1]))
    first, second = met(requests, [(*KEPT[:5], scope), (*KEPT[:5], None)])
    assert (requests.plan_ids[first] == requests.plan_ids[second]) == same
    assert requests.of([first]) == {("S1", *KEPT[:5], None if same else scope)}


def test_messages_before_the_first_snapshot_have_none() -> None:
    requests = Requests(["S1"], np.array([6]))
    (number,) = met(requests, [A])
    assert ERRORS[requests.errors[number] - 1] == RejectError.NO_SNAPSHOT
