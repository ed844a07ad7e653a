"""The requests that messages make, each judged once, however many messages make it; no Spark.

Rows get a number of their request by their columns' dictionaries. The numbers last from batch to
batch: 60,210 requests looked up anew for every 400,000 messages took 2.5 s of 10 million.

Source: SEMANTICS S1, P1.
"""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final

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

    def with_ids(self, numbers: NDArray[np.int64]) -> list[tuple[int, Request]]:
        """(numbers,) the plan_id and the request of each."""
        requests = (self._requests[x] for x in numbers.tolist())
        return [*zip(self.plan_ids[numbers].tolist(), requests, strict=True)]

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
            snapshots = (at[new] + 1, [None, *self._snapshots])
            self._judge([snapshots, *((codes[new], meaning) for codes, meaning in words)])
        return numbers

    def _judge(self, columns: Sequence[tuple[NDArray[np.int64], list[str | None]]]) -> None:
        """Add requests, by the codes of their columns, which are REQUEST, and what these mean."""
        cells: list[list[str | None]] = []
        rules = np.full(len(columns[0][0]), len(_RULES))
        for name, (codes, meaning) in zip(REQUEST, columns, strict=True):
            words = [DEFAULTS.get(name) if word is None else word for word in meaning]
            rules = np.minimum(rules, np.array([_rule_of(name, x) for x in words])[codes])
            cells.append([words[x] for x in codes.tolist()])
        *before, scopes = cells
        kept = map(_kept_scope, before[REQUEST.index(c.OBJECT_TYPE)], scopes)
        requests = [*map(Request._make, zip(*before, kept, strict=True))]
        self._requests += requests
        hashes = np.array([spark_hash(x) for x in requests], dtype=np.int64)
        self.plan_ids = np.concatenate([self.plan_ids, hashes])
        self.errors = np.concatenate([self.errors, _ERRORS[rules]])


def _kept_scope(object_type: str | None, scope: str | None) -> str | None:
    """The scope of a put that counts: only QMGR does, and of a publication."""
    return scope if object_type == ObjectType.TOPIC and scope == Reach.QMGR else None


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


def _rule_of(column: str, word: str | None) -> int:
    """The place of the first rule that rejects a word of a column; behind all = none does."""
    rules = ((at, x) for at, x in enumerate(_RULES) if column in x.columns)
    return next((at for at, x in rules if x.rejects(word)), len(_RULES))


_RULES: Final = [
    x
    for x in REJECT_RULES
    if x.condition is not Condition.UNREAD and not {*REQUEST}.isdisjoint(x.columns)
]
"""The rules on what a request consists of, in the order in which they are looked for."""
_ERRORS: Final = np.array([*(error_number(x.error) for x in _RULES), NO_ERROR], dtype=np.int8)
"""The reason of each rule, as its place in ERRORS; 0 = of none."""
