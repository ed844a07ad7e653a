"""Messages as routing takes them, read by Arrow: `intake` once more, without Spark.

Source: SEMANTICS S1, P1; `intake` has the same in Spark's words.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.mq.vocabulary import RejectError
from clwl_spark.routing.intake.blocks import BIND_CODES, GATHERED_ROWS, REJECT
from clwl_spark.routing.intake.reject_rules import DEFAULTS, REJECT_RULES, Condition, RejectRule
from clwl_spark.routing.intake.requests import (
    ASKED,
    ERRORS,
    NO_ERROR,
    Requests,
    coded,
    error_number,
)
from clwl_spark.routing.intake.splits import Judged, Split, read_judged, split_rows
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

SPLIT_ROW: Final = "split_row"
_WORDS: Final = (*ASKED, c.BIND)
_REQUEST_NAMES: Final = (*_WORDS, c.PUT_SEQ, c.PUT_TIME)
_REQUEST_COLUMNS: Final = MESSAGES.arrow(_REQUEST_NAMES)
_KEY_COLUMNS: Final = MESSAGES.arrow((*_REQUEST_NAMES, c.OPEN_ID, c.GROUP_ID))
_MESSAGE_COLUMNS: Final = MESSAGES.arrow(MESSAGES.names)
_UNKNOWN_BIND: Final = -1
_ROW_RULES: Final = tuple(
    x
    for x in REJECT_RULES
    if x.condition is Condition.UNREAD or not {c.SNAPSHOT_ID, *ASKED}.issuperset(x.columns)
)
"""The rules on a message's own cells; the others are `Requests`'."""
_REASONS: Final = pa.array([None, *(x.value for x in ERRORS)], pa.string())


def keys_of(split: Split, requests: Requests) -> Iterator[pa.Table]:
    """What the choice needs of a split's messages.

    Grain: one row per message, in the order of the file, some GATHERED_ROWS at a time: (qmgr,
    put_seq, put_time in microseconds, plan_id, bind, open_id, group_id, split_row, reject).
    """
    first = 0
    for batch, unread in read_judged(split, _KEY_COLUMNS, GATHERED_ROWS, _WORDS):
        asked, of_row, errors = _judged(batch, unread, requests)
        plan_ids = requests.plan_ids[asked]
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


def requests_of(splits: Iterable[Split], requests: Requests) -> set[int]:
    """The numbers of the distinct requests of splits' messages that can be routed."""
    met: set[int] = set()
    for split in splits:
        for batch, unread in read_judged(split, _REQUEST_COLUMNS, GATHERED_ROWS, _WORDS):
            asked, of_row, errors = _judged(batch, unread, requests)
            routable = np.bincount(of_row[errors == NO_ERROR], minlength=len(asked)) > 0
            met.update(asked[routable].tolist())
    return met


def rejected_rows(split: Split, rows: NDArray[np.int32], reasons: pa.ChunkedArray) -> pa.Table:
    """Rejected messages of a split with all that the file says of them, and why.

    A cell that cannot be read is null; a text that is not UTF-8 has U+FFFD for what is wrong.

    Args:
        split: where they are.
        rows: (rejected,) their rows in it.
        reasons: (rejected,) words of RejectError.
    """
    return split_rows(split, _MESSAGE_COLUMNS, rows).append_column(c.ERROR, reasons)


def duplicate_rows(split: Split, rows: pa.ChunkedArray) -> pa.Table:
    """As `rejected_rows`, of duplicates."""
    reasons = pa.chunked_array([pa.repeat(pa.scalar(RejectError.DUPLICATE.value), len(rows))])
    return rejected_rows(split, rows.to_numpy(), reasons)


def _judged(
    batch: pa.RecordBatch, unread: Judged, requests: Requests
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]:
    """The batch's distinct requests, (rows,) which of them each row makes, (rows,) its error."""
    asked, of_row = requests.met(batch)
    errors = requests.errors[asked][of_row]
    for rule in _ROW_RULES:
        for where in _holding(rule, batch, unread):
            _note(errors, where, rule.error)
    return asked, of_row, errors


def _holding(
    rule: RejectRule, batch: pa.RecordBatch, unread: Judged
) -> Iterator[NDArray[np.bool_]]:
    """(rows,) Which rows have what a rule looks for, column by column; left out where none may."""
    for name in rule.columns:
        if rule.condition is Condition.UNREAD:
            if name in unread:
                yield unread[name]
        elif rule.condition is Condition.ABSENT:
            if batch[name].null_count:
                absent = batch[name].is_null().to_numpy(zero_copy_only=False)
                yield absent & ~unread.get(name, np.False_)
        else:
            codes, words = coded(batch[name])
            rejected = [rule.rejects(DEFAULTS.get(name) if x is None else x) for x in words]
            if any(rejected):
                yield np.array(rejected, dtype=np.bool_)[codes]


def _bind_codes(column: pa.Array) -> NDArray[np.int8]:
    """(rows,) the code of MQOO_BIND, _UNKNOWN_BIND for another word."""
    codes, words = coded(column)
    known = [
        BIND_CODES.get(DEFAULTS[c.BIND] if word is None else word, _UNKNOWN_BIND) for word in words
    ]
    return np.array(known, dtype=np.int8)[codes]


def _note(errors: NDArray[np.int8], where: NDArray[np.bool_], error: RejectError) -> None:
    """Write an error down where there is none that comes before it."""
    number = error_number(error)
    errors[where & ((errors == NO_ERROR) | (errors > number))] = number
