"""Cells of somebody's table as columns of `messages`; what cannot be read is refused with a reason.

No Spark. Texts that spreadsheets and MQ's tools write are understood: identifiers in hexadecimal,
moments with a comma, dates and times with a blank between, flags in words, whole numbers with a
decimal part of zeros.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.mq.vocabulary import Bind, ObjectType, Reach, Via
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c
from clwl_spark.tables.cells import in_type

_MOMENT: Final = pa.timestamp("us", tz="UTC")
_ZONED: Final = re.compile(r"[T ].*(Z|[+-]\d{2}(:?\d{2})?)$")
"""A moment of a text that names its zone; a day alone has none, though it ends like an offset."""
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    c.OBJECT_TYPE: frozenset(ObjectType),
    c.BIND: frozenset(Bind),
    c.VIA: frozenset(Via),
    c.SCOPE: frozenset(Reach),
}
_TRUE: Final = frozenset({"true", "yes", "y", "1", "persistent", "mqper_persistent"})
_FALSE: Final = frozenset({"false", "no", "n", "0", "not persistent", "mqper_not_persistent"})
_MUST: Final = {c.QMGR: "no queue manager", c.PUT_TIME: "no put_time", c.OBJECT_NAME: "no object"}
_NUMBER: Final = re.compile(r"^\d{9,17}(\.\d+)?$")
_LEAST: Final = 10**8
_SECONDS: Final = 10**11
_MILLIS: Final = 10**14
"""Numbers below the first are no moments: MQ's own dates and times (20260914, 8000012) are such. Of
the others, those below the second are seconds since 1970, below the third millis, else micros."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a file as messages.

    Attributes:
        rows: columns of `messages`, put_seq null where the file does not give it.
        reasons: (rows,) why a row cannot be used; '' = it can.
    """

    rows: pa.Table
    reasons: list[str] | None

    @property
    def usable(self) -> NDArray[np.bool_]:
        """(rows,) whether it can be used."""
        if self.reasons is None:
            return np.ones(self.rows.num_rows, dtype=np.bool_)
        return np.array([not x for x in self.reasons], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Reading:
    """How cells are read.

    Attributes:
        observer: the queue manager of rows that name none.
        zone: of moments without one; None = they are refused.
    """

    observer: str | None = None
    zone: ZoneInfo | None = None


def messages_of(rows: pa.Table, fields: Mapping[str, str], how: Reading) -> Cells:
    """The messages that the rows of a file are.

    Args:
        rows: of the file.
        fields: column -> field.
        how: what the file leaves open.

    Grain: one row per row.
    """
    wrong = _Wrong(rows.num_rows)
    columns: dict[str, pa.Array] = {}
    for name in MESSAGES.names:
        kind = MESSAGES.arrow((name,)).field(0).type
        if name in fields:
            cells = rows[fields[name]].combine_chunks()
            columns[name] = _column(name, cells, kind, how, wrong)
        else:
            columns[name] = pa.nulls(rows.num_rows, kind)
    if how.observer:
        columns[c.QMGR] = pc.coalesce(_blank_is_null(columns[c.QMGR]), how.observer)
    for name, why in _MUST.items():
        absent = pc.is_null(_blank_is_null(columns[name]))
        wrong.note(absent.to_numpy(zero_copy_only=False), partial(_lacks, why))
    return Cells(pa.table(columns, schema=MESSAGES.arrow(MESSAGES.names)), wrong.reasons)


def _lacks(why: str, _at: int) -> str:
    return f"it has {why}"


class _Wrong:
    """Why rows cannot be used; the first reason of each counts."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.reasons: list[str] | None = None

    def note(self, where: NDArray[np.bool_], why: Callable[[int], str]) -> None:
        """Note a reason for these rows."""
        for at in np.flatnonzero(where).tolist():
            if self.reasons is None:
                self.reasons = [""] * self._rows
            self.reasons[at] = self.reasons[at] or why(at)


def _column(name: str, cells: pa.Array, kind: pa.DataType, how: Reading, wrong: _Wrong) -> pa.Array:
    """Cells as a column."""
    cells = _plain(cells)
    if not _means(cells.type, kind):
        cells = _as_texts(cells)
    if pa.types.is_timestamp(kind):
        found = _moments(cells, how.zone)
    elif pa.types.is_binary(kind):
        found = cells.cast(kind) if _is_bytes(cells.type) else _identifiers(cells)
    elif pa.types.is_boolean(kind):
        found = cells if pa.types.is_boolean(cells.type) else _flags(cells)
    elif pa.types.is_integer(kind):
        found = _numbers(cells, kind)
    else:
        texts, _ = in_type(cells, pa.string())
        found = pc.utf8_trim_whitespace(texts)
        if name in _WORDS:
            return _words(name, found, wrong)
        return found
    lost = pc.and_(pc.is_null(found), pc.is_valid(_blank_is_null(cells)))
    shown = cells
    wrong.note(
        lost.to_numpy(zero_copy_only=False),
        lambda at: f"{name} {shown[at].as_py()!r} {_NO[_kind(kind)]}{_hint(name, how)}",
    )
    return found


_NO: Final = {
    "moment": "is no moment",
    "identifier": "is no identifier in hexadecimal",
    "flag": "is neither true nor false",
    "number": "is no whole number in range",
}


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "moment"
    if pa.types.is_binary(kind):
        return "identifier"
    return "flag" if pa.types.is_boolean(kind) else "number"


def _hint(name: str, how: Reading) -> str:
    is_moment = name == c.PUT_TIME
    return ", or has no time zone: give --time-zone" if is_moment and how.zone is None else ""


def _plain(cells: pa.Array) -> pa.Array:
    """Cells without what stands around them: words, another's type; NaN is none that is there."""
    if isinstance(cells, pa.ExtensionArray):
        cells = cells.storage
    if isinstance(cells, pa.DictionaryArray):
        cells = cells.dictionary_decode()
    if pa.types.is_floating(cells.type):
        return pc.if_else(pc.is_nan(cells), None, cells)
    return cells


def _means(own: pa.DataType, kind: pa.DataType) -> bool:
    """Whether cells of a type are read as they are; others as their texts are."""
    meant = next((x for is_of, x in _MEANT if is_of(kind)), ())
    return any(is_such(own) for is_such in (*meant, _is_text))


def _as_texts(cells: pa.Array) -> pa.Array:
    """The texts of cells of any type."""
    if _is_bytes(cells.type):
        return in_type(cells, pa.string())[0]
    return pa.array([None if x is None else str(x) for x in cells.to_pylist()], pa.string())


_TYPES: Final = pa.types


def _is_bytes(kind: pa.DataType) -> bool:
    is_any = (_TYPES.is_binary, _TYPES.is_large_binary, _TYPES.is_fixed_size_binary)
    return any(x(kind) for x in (*is_any, _TYPES.is_binary_view))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


_MEANT: Final = (
    (
        _TYPES.is_timestamp,
        (_TYPES.is_integer, _TYPES.is_floating, _TYPES.is_timestamp, _TYPES.is_date),
    ),
    (_TYPES.is_boolean, (_TYPES.is_boolean, _TYPES.is_integer)),
    (_TYPES.is_integer, (_TYPES.is_integer, _TYPES.is_floating, _TYPES.is_decimal)),
    (_TYPES.is_binary, (_is_bytes,)),
)
"""Of a column's type: which types of cells are read as they are, beside texts."""


def _blank_is_null(cells: pa.Array) -> pa.Array:
    """Texts of blanks as null."""
    if not _is_text(cells.type):
        return cells
    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(cells), ""), None, cells)


def _words(name: str, found: pa.Array, wrong: _Wrong) -> pa.Array:
    """Words of MQ in upper case; others are refused."""
    upper = pc.utf8_upper(_blank_is_null(found))
    known = pc.is_in(upper, pa.array(sorted(_WORDS[name])))
    unknown = pc.and_(pc.is_valid(upper), pc.invert(known))
    wrong.note(
        unknown.to_numpy(zero_copy_only=False),
        lambda at: f"{name} {upper[at].as_py()!r} is none of {', '.join(sorted(_WORDS[name]))}",
    )
    return pc.if_else(known, upper, None)


def _identifiers(cells: pa.Array) -> pa.Array:
    """Identifiers in hexadecimal, as MQ shows them."""
    texts, _ = in_type(cells, pa.string())
    words = texts.dictionary_encode()
    found = [_bytes(x) for x in words.dictionary.to_pylist()]
    return pa.array(found, pa.binary()).take(words.indices)


def _bytes(text: str) -> bytes | None:
    plain = text.strip().removeprefix("0x").removeprefix("ID:")
    if plain[:2] in ("X'", "x'") and plain.endswith("'"):
        plain = plain[2:-1]
    try:
        return bytes.fromhex(plain) if plain else None
    except ValueError:
        return None


def _flags(cells: pa.Array) -> pa.Array:
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(cells.cast(pa.string())))
    texts = pc.replace_substring_regex(texts, r"^([01])\.0*$", r"\1")
    true, false = (pc.is_in(texts, pa.array(sorted(x))) for x in (_TRUE, _FALSE))
    return pc.if_else(true, True, pc.if_else(false, False, None))


def _numbers(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whole numbers; texts and decimals whose fraction is zero mean one, too."""
    if not _is_text(cells.type):
        try:
            return cells.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return pa.array([_whole(x, kind) for x in cells.to_pylist()], kind)
    texts = pc.utf8_trim_whitespace(cells)
    try:
        return _blank_is_null(texts).cast(kind)
    except pa.ArrowInvalid:
        return pa.array([_whole(x, kind) for x in texts.to_pylist()], kind)


def _whole(value: object, kind: pa.DataType) -> int | None:
    """A whole number of the type; None where it is none."""
    text = str(value).strip().strip('="')
    found = re.fullmatch(r"([+-]?\d+)(?:[.,]0*)?", text)
    most = 2 ** (kind.bit_width - 1)
    number = int(found[1]) if found else most
    return number if -most <= number < most else None


def _moments(cells: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    """Moments; those without a zone are in the zone given, else none."""
    kind = cells.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return in_type(cells, _MOMENT)[0]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        if zone is None:
            return pa.nulls(len(cells), _MOMENT)
        plain = in_type(cells, _MOMENT)[0]
        return _in_zone(plain, zone)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.array([_since_1970(x) for x in cells.to_pylist()], _MOMENT)
    return _told_moments(pc.utf8_trim_whitespace(cells.cast(pa.string())), zone)


def _told_moments(texts: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    """Moments of texts; those without a zone are in the zone given, else none."""
    texts = pc.replace_substring(texts, ",", ".")
    zoned = pc.match_substring_regex(texts, _ZONED.pattern)
    found = in_type(texts, _MOMENT)[0]
    if pc.any(pc.fill_null(pc.match_substring_regex(texts, _NUMBER.pattern), False)).as_py():
        return _with_numbers(texts, found, zone)
    if pc.all(pc.fill_null(zoned, True)).as_py():
        return found
    plain = _in_zone(found, zone) if zone is not None else pa.nulls(len(texts), _MOMENT)
    return pc.if_else(zoned, found, plain)


def _with_numbers(texts: pa.Array, found: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    """Moments of texts of which some are numbers since 1970."""
    is_number = pc.fill_null(pc.match_substring_regex(texts, _NUMBER.pattern), False)
    words = texts.filter(pc.invert(is_number))
    numbers = [_since_1970(float(x)) for x in texts.filter(is_number).to_pylist()]
    found = pc.replace_with_mask(found, is_number, pa.array(numbers, _MOMENT))
    return pc.replace_with_mask(found, pc.invert(is_number), _told_moments(words, zone))


def _in_zone(found: pa.Array, zone: ZoneInfo) -> pa.Array:
    """Moments that were read as if in UTC, as moments of a zone; null beyond the calendar.

    A clock that is not put forward goes on through the hour that the zone leaves out, so that what
    it says then keeps its distance from what it said before. Of an hour that comes twice, it is the
    first.
    """
    local = found.cast(pa.timestamp("us"))
    zoned = pc.assume_timezone(local, zone.key, ambiguous="earliest", nonexistent="earliest")
    left_out = pc.subtract(local, pc.local_timestamp(zoned))
    return in_type(pc.add(zoned.cast(_MOMENT), left_out), _MOMENT)[0]


def _since_1970(value: float | None) -> datetime | None:
    """Seconds, milliseconds or microseconds since 1970."""
    if value is None or value < _LEAST:
        return None
    divisor = 1 if value < _SECONDS else 1_000 if value < _MILLIS else 1_000_000
    try:
        return datetime.fromtimestamp(value / divisor, UTC)
    except (OverflowError, ValueError, OSError):
        return None
