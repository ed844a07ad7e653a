"""Messages as routing takes them, read by Arrow: `intake` once more, without Spark.

A request is classified once, however many messages make it: rows get a code of their request by
their columns' dictionaries. Source: SEMANTICS S1, P1; `intake` has the same in Spark's words.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.routing.bindings import BIND_CODES
from clwl_spark.routing.blocks import GATHERED_ROWS, REJECT
from clwl_spark.routing.intake import Pin
from clwl_spark.routing.splits import Split, read_split, spark_hash, split_rows
from clwl_spark.schemas import MESSAGES
from clwl_spark.vocabulary import Bind, ObjectType, RejectError, Via

Request = tuple[str, str, str, str, str, str]
"""(snapshot_id, qmgr, object_type, object_name, object_qmgr, via), after defaults."""

SPLIT_ROW: Final = "split_row"
_TIME: Final = pa.timestamp("us", tz="UTC")
_ASKED: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.VIA)
_WORDS: Final = (*_ASKED, c.BIND)
_DEFAULTS: Final = {
    c.OBJECT_TYPE: ObjectType.QUEUE.value,
    c.OBJECT_QMGR: "",
    c.VIA: Via.LOCAL.value,
    c.BIND: Bind.AS_Q_DEF.value,
}
_REQUEST_COLUMNS: Final = pa.schema(
    [*((name, pa.string()) for name in _WORDS), (c.PUT_SEQ, pa.int64()), (c.PUT_TIME, _TIME)]
)
_KEY_COLUMNS: Final = pa.schema(
    [*_REQUEST_COLUMNS, pa.field(c.OPEN_ID, pa.int64()), pa.field(c.GROUP_ID, pa.binary())]
)
_TYPES: Final = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "timestamp": _TIME,
}
_MESSAGE_COLUMNS: Final = pa.schema([(x.name, _TYPES[x.type]) for x in MESSAGES.columns])
_OBJECT_TYPES: Final = frozenset(ObjectType)
_VIAS: Final = frozenset(Via)
_NO_ERROR: Final = 0
_ERRORS: Final = tuple(RejectError)
"""In the order in which they are looked for: a message has the first."""
_UNKNOWN_BIND: Final = -1
_CODES_UP_TO: Final = 2**62
_ABSENT: Final = (
    (c.PUT_SEQ, RejectError.NO_PUT_SEQ),
    (c.PUT_TIME, RejectError.NO_PUT_TIME),
)
_REASONS: Final = pa.array([None, *(x.value for x in _ERRORS)], pa.string())


@dataclass(frozen=True, slots=True)
class Judged:
    """A request: its plan's id, its error (0 = none, else its place in RejectError), itself."""

    plan_id: int
    error: int
    request: Request


@dataclass
class Requests:
    """The requests that were met, each judged once; threads may share them.

    Attributes:
        snapshots: ids of the valid snapshots, in order.
        valid_from: (snapshots,) microsecond from which each is in force.
        judged: by place of the snapshot (-1 = none) and the request's words as the file has them.
    """

    snapshots: list[str]
    valid_from: NDArray[np.int64]
    judged: dict[tuple[Any, ...], Judged] = field(default_factory=dict)

    @classmethod
    def under(cls, pins: Sequence[Pin]) -> "Requests":
        """None yet, with these valid snapshots."""
        return cls([x.snapshot_id for x in pins], np.array([x.valid_from for x in pins], np.int64))

    def judge(self, asked: tuple[Any, ...]) -> Judged:
        """The request of (place of the snapshot, qmgr, object_type, ...), null as None."""
        found = self.judged.get(asked)
        if found is None:
            at, *words = asked
            filled = [
                _DEFAULTS.get(name) if word is None else word
                for name, word in zip(_ASKED, words, strict=True)
            ]
            request: Any = (self.snapshots[at] if at >= 0 else None, *filled)
            found = Judged(spark_hash(request), _error(*request), request)
            self.judged[asked] = found
        return found


def keys_of(split: Split, requests: Requests) -> Iterator[pa.Table]:
    """What the choice needs of a split's messages.

    Grain: one row per message, in the order of the file, some GATHERED_ROWS at a time: (qmgr,
    put_seq, put_time in microseconds, plan_id, bind, open_id, group_id, split_row, reject).
    """
    first = 0
    for batch in read_split(split, _KEY_COLUMNS, GATHERED_ROWS, _WORDS):
        asked, of_row, errors = _judged(batch, requests)
        plan_ids = np.array([x.plan_id for x in asked], dtype=np.int64)
        yield pa.table(
            {
                c.QMGR: batch[c.QMGR],
                c.PUT_SEQ: batch[c.PUT_SEQ],
                c.PUT_TIME: batch[c.PUT_TIME].view(pa.int64()),
                c.PLAN_ID: plan_ids[of_row],
                c.BIND: _bind_codes(batch[c.BIND]),
                c.OPEN_ID: batch[c.OPEN_ID],
                c.GROUP_ID: batch[c.GROUP_ID],
                SPLIT_ROW: np.arange(first, first + batch.num_rows, dtype=np.int32),
                REJECT: _REASONS.take(pa.array(errors)),
            }
        )
        first += batch.num_rows


def requests_of(splits: Iterable[Split], requests: Requests) -> set[Request]:
    """The distinct requests of splits' messages that can be routed."""
    met: set[Request] = set()
    for split in splits:
        for batch in read_split(split, _REQUEST_COLUMNS, GATHERED_ROWS, _WORDS):
            asked, of_row, errors = _judged(batch, requests)
            routable = np.unique(of_row[errors == _NO_ERROR])
            met.update(asked[at].request for at in routable.tolist())
    return met


def rejected_rows(split: Split, rows: NDArray[np.int32], reasons: pa.ChunkedArray) -> pa.Table:
    """Rejected messages of a split with all that the file says of them, and why.

    Args:
        split: where they are.
        rows: (rejected,) their rows in it.
        reasons: (rejected,) words of RejectError.
    """
    return split_rows(split, _MESSAGE_COLUMNS, rows).append_column(c.ERROR, reasons)


def _judged(
    batch: pa.RecordBatch, requests: Requests
) -> tuple[list[Judged], NDArray[np.int64], NDArray[np.int8]]:
    """The batch's distinct requests, (rows,) which of them each row makes, (rows,) its error."""
    columns = [_coded(batch[name]) for name in _ASKED]
    at = _snapshots_at(batch[c.PUT_TIME], requests.valid_from)
    of_row = _numbered([at + 1, *(codes for codes, _ in columns)])
    first = np.empty(int(of_row.max(initial=-1)) + 1, dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    words = [[values[x] for x in codes[first].tolist()] for codes, values in columns]
    asked = [requests.judge(x) for x in zip(at[first].tolist(), *words, strict=True)]
    errors = np.array([x.error for x in asked], dtype=np.int8)[of_row]
    for column, error in _ABSENT:
        if batch[column].null_count:
            _note(errors, batch[column].is_null().to_numpy(zero_copy_only=False), error)
    unknown = _bind_codes(batch[c.BIND]) == _UNKNOWN_BIND
    if unknown.any():
        _note(errors, unknown, RejectError.UNKNOWN_BIND)
    return asked, of_row, errors


def _numbered(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
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


def _coded(column: pa.Array) -> tuple[NDArray[np.int64], list[str | None]]:
    """(rows,) codes, and what each code means."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words = column.dictionary.to_pylist()
    codes = column.indices.fill_null(len(words)).to_numpy().astype(np.int64)
    return codes, [*words, None]


def _bind_codes(column: pa.Array) -> NDArray[np.int8]:
    """(rows,) the code of MQOO_BIND, _UNKNOWN_BIND for another word."""
    codes, words = _coded(column)
    known = [
        BIND_CODES.get(_DEFAULTS[c.BIND] if word is None else word, _UNKNOWN_BIND) for word in words
    ]
    return np.array(known, dtype=np.int8)[codes]


def _error(
    snapshot: str | None,
    qmgr: str | None,
    object_type: str,
    object_name: str | None,
    _object_qmgr: str,
    via: str,
) -> int:
    """The first reason why a request cannot be routed, as its place in RejectError; 0 = none."""
    reasons = (
        (not qmgr, RejectError.NO_QMGR),
        (object_type not in _OBJECT_TYPES, RejectError.UNKNOWN_OBJECT_TYPE),
        (not object_name, RejectError.NO_OBJECT),
        (via not in _VIAS, RejectError.UNKNOWN_VIA),
        (snapshot is None, RejectError.NO_SNAPSHOT),
    )
    return next((_number(reason) for holds, reason in reasons if holds), _NO_ERROR)


def _note(errors: NDArray[np.int8], where: NDArray[np.bool_], error: RejectError) -> None:
    """Write an error down where there is none that comes before it."""
    number = _number(error)
    errors[where & ((errors == _NO_ERROR) | (errors > number))] = number


def _number(error: RejectError) -> int:
    return _ERRORS.index(error) + 1
