"""The requests that messages make, each judged once, however many messages make it; no Spark.

Rows get a number of their request by their columns' dictionaries. The numbers last from batch to
batch: 60,210 requests looked up anew for every 400,000 messages took 2.5 s of 10 million.

Source: SEMANTICS S1, P1.
"""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.algorithm.request import REQUEST, Request
from clwl_spark.mq.vocabulary import ObjectType, Reach, RejectError
from clwl_spark.routing.intake.numbering import Numbering
from clwl_spark.routing.intake.reject_rules import DEFAULTS, REJECT_RULES, Condition
from clwl_spark.routing.intake.splits import spark_hash
from clwl_spark.snapshots.catalog import Pin, heads_of
from clwl_spark.tables import columns as c

ASKED: Final = REQUEST[1:]
"""The columns of messages that are a request's; its snapshot is that of the put's time."""

NO_ERROR: Final = 0
ERRORS: Final = tuple(RejectError)
_CODES_UP_TO: Final = 2**62
_BITS: Final = 32


class Requests:
    """The requests that were met, by number; threads may share them.

    Attributes:
        plan_ids: (requests,) the id of each one's plan.
        errors: (requests,) 0 = none, else its place in ERRORS, from 1 on.
    """

    def __init__(self, snapshots: Sequence[str], valid_from: NDArray[np.int64]) -> None:
        """None yet.

        Args:
            snapshots: ids of the valid snapshots, in order.
            valid_from: (snapshots,) microsecond from which each is in force.
        """
        self.plan_ids = np.empty(0, dtype=np.int64)
        self.errors = np.empty(0, dtype=np.int8)
        self._requests: list[Request] = []
        self._snapshots = snapshots
        self._valid_from = valid_from
        self._words: dict[str | None, int] = {}
        self._numberings = [Numbering() for _ in ASKED]
        self._lock = Lock()

    @classmethod
    def under(cls, pins: Sequence[Pin]) -> "Requests":
        """None yet, with these valid snapshots: requests are made in the heads of their lines."""
        heads = heads_of(pins)
        since = np.array([x.valid_from for x in heads], np.int64)
        return cls([x.snapshot_id for x in heads], since)

    def of(self, numbers: Iterable[int]) -> set[Request]:
        """The requests of numbers; what differs in words may be the same after defaults."""
        return {self._requests[x] for x in numbers}

    def met(self, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct requests of a batch of messages.

        Returns:
            (distinct,) number of each, and (rows,) which of these each row makes.
        """
        columns = [coded(batch[name]) for name in ASKED]
        at = _snapshots_at(batch[c.PUT_TIME], self._valid_from)
        of_row = _places([at + 1, *(codes for codes, _ in columns)])
        first = np.empty(int(of_row.max(initial=-1)) + 1, dtype=np.int64)
        first[of_row[::-1]] = np.arange(len(of_row))[::-1]
        words = [(codes[first], meaning) for codes, meaning in columns]
        with self._lock:
            return self._numbers(at[first], words), of_row

    def _numbers(
        self, at: NDArray[np.int64], words: Sequence[tuple[NDArray[np.int64], list[str | None]]]
    ) -> NDArray[np.int64]:
        """(distinct,) the numbers of rows that differ from one another; new ones are judged."""
        numbers = at + 1
        for numbering, (codes, meaning) in zip(self._numberings, words, strict=True):
            known = [self._words.setdefault(word, len(self._words)) for word in meaning]
            pairs = numbers << _BITS | np.array(known, dtype=np.int64)[codes]
            numbers = numbering.of(pairs)
        new = np.flatnonzero(numbers >= len(self._requests))
        if len(new):
            # A file's dictionary may have a word twice.
            new = new[np.unique(numbers[new], return_index=True)[1]]
            cells = [[meaning[x] for x in codes[new].tolist()] for codes, meaning in words]
            self._judge(at[new].tolist(), cells)
        return numbers

    def _judge(self, at: list[int], cells: Sequence[list[str | None]]) -> None:
        """Add requests, by the place of their snapshot (-1 = none) and their words in the file."""
        snapshots = [self._snapshots[x] if x >= 0 else None for x in at]
        filled = [
            [DEFAULTS.get(name) if word is None else word for word in column]
            for name, column in zip(ASKED, cells, strict=True)
        ]
        requests = [_with_scope(x) for x in zip(snapshots, *filled, strict=True)]
        self._requests += requests
        hashes = np.array([spark_hash(x) for x in requests], dtype=np.int64)
        errors = np.array([_error(x) for x in requests], dtype=np.int8)
        self.plan_ids = np.concatenate([self.plan_ids, hashes])
        self.errors = np.concatenate([self.errors, errors])


def _with_scope(words: Sequence[Any]) -> Request:
    """A request of a message's words after defaults: only QMGR, and of a publication, counts."""
    request = Request(*words)
    is_kept = request.object_type == ObjectType.TOPIC and request.scope == Reach.QMGR
    return request if is_kept else request._replace(scope=None)


def coded(column: pa.Array) -> tuple[NDArray[np.int64], list[str | None]]:
    """(rows,) codes, and what each code means."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words = column.dictionary.to_pylist()
    codes = column.indices.fill_null(len(words)).to_numpy().astype(np.int64)
    return codes, [*words, None]


def error_number(error: RejectError) -> int:
    """Its place in ERRORS, from 1 on."""
    return ERRORS.index(error) + 1


def _places(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(rows,) a number from 0 on for each distinct row of the columns, which are not negative."""
    numbers, size = columns[0], int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        sizes = int(column.max(initial=0)) + 1
        if size * sizes > _CODES_UP_TO:
            numbers, distinct = pd.factorize(numbers)
            size = len(distinct)
        numbers, size = numbers * sizes + column, size * sizes
    result: NDArray[np.int64] = pd.factorize(numbers)[0].astype(np.int64)
    return result


def _snapshots_at(put_time: pa.Array, valid_from: NDArray[np.int64]) -> NDArray[np.int64]:
    """(rows,) the place of the snapshot in force, -1 = none."""
    micros = put_time.view(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy()
    places: NDArray[np.int64] = np.searchsorted(valid_from, micros, side="right") - 1
    return places


def _error(request: Request) -> int:
    """The first reason why a request cannot be routed, as its place in ERRORS; 0 = none."""
    return next((number for at, rule, number in _RULES if rule.rejects(request[at])), NO_ERROR)


_RULES: Final = [
    (REQUEST.index(column), rule, error_number(rule.error))
    for rule in REJECT_RULES
    if rule.condition is not Condition.UNREAD
    for column in rule.columns
    if column in REQUEST
]
"""(place, rule, number) The rules on what a request consists of."""
