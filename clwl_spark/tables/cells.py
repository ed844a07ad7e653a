"""Cells that any writer's Parquet file has, in the contract's types; no Spark.

A cell that cannot be read as its column's type is null (a name that is not UTF-8 has U+FFFD for
what is wrong in it), and is told of: its row is set aside, the others are routed. `contract` does
the same in Spark's words.
"""

from datetime import datetime
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.tables.moments import (
    DAY,
    FIRST,
    ISO_8601,
    LAST,
    MILLISECOND,
    PARTS,
    SECOND,
    SPELLED,
)

Unread = NDArray[np.bool_] | None
"""(cells,) which of them cannot be read; None = all can."""

_MOMENT: Final = pa.timestamp("us", tz="UTC")
_MICROS: Final = {"s": SECOND, "ms": MILLISECOND, "us": 1}


def in_type(
    cells: pa.Array, wanted: pa.DataType, *, as_words: bool = False
) -> tuple[pa.Array, Unread]:
    """Cells in one of the contract's types, or as a dictionary of words of that type.

    Args:
        cells: of a file.
        wanted: the type.
        as_words: what is a dictionary stays one.

    Returns:
        The cells, in order, and which of them cannot be read.

    Raises:
        ArrowException: no cell of such a column means one of that type.
    """
    if isinstance(cells, pa.ExtensionArray):
        cells = cells.storage
    if not pa.types.is_dictionary(cells.type):
        return _plain(cells, wanted)
    words, unread = _plain(cells.dictionary, wanted)
    if unread is not None:
        codes = cells.indices.fill_null(0).to_numpy()
        unread = unread[codes] & cells.indices.is_valid().to_numpy(zero_copy_only=False)
    if words is not cells.dictionary:
        cells = pa.DictionaryArray.from_arrays(cells.indices.cast(pa.int32()), words)
    return cells if as_words else cells.dictionary_decode(), unread


def with_readable_texts(table: pa.Table) -> pa.Table:
    """The table with U+FFFD for what is not UTF-8 in its texts; Arrow's engines refuse it else."""
    for at, field in enumerate(table.schema):
        if _is_text(field.type):
            chunks = [_texts(x)[0] for x in table.column(at).chunks]
            table = table.set_column(at, field.name, pa.chunked_array(chunks, pa.string()))
    return table


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _plain(cells: pa.Array, wanted: pa.DataType) -> tuple[pa.Array, Unread]:
    """As `in_type`, of cells that are no dictionary."""
    if pa.types.is_string(wanted):
        return _texts(cells)
    if pa.types.is_timestamp(wanted):
        return _moments(cells)
    if cells.type == wanted:
        return cells, None
    if pa.types.is_integer(wanted):
        return _whole_numbers(cells, wanted)
    return cells.cast(wanted), None


def _texts(cells: pa.Array) -> tuple[pa.Array, Unread]:
    """Bytes of any kind as text."""
    try:
        if cells.type == pa.string():
            cells.validate(full=True)
            return cells, None
        cells = cells.cast(pa.binary())
        return cells.cast(pa.string()), None
    except pa.ArrowInvalid:
        found: list[bytes | None] = cells.cast(pa.binary()).to_pylist()
    texts = [None if x is None else x.decode(errors="replace") for x in found]
    unread = [x is not None and not _is_utf8(x) for x in found]
    return pa.array(texts, pa.string()), np.array(unread, dtype=np.bool_)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _whole_numbers(cells: pa.Array, wanted: pa.DataType) -> tuple[pa.Array, Unread]:
    """Numbers of any width, of which some may be too large, or no whole ones."""
    if not (pa.types.is_integer(cells.type) or pa.types.is_decimal(cells.type)):
        raise pa.ArrowTypeError(f"{cells.type} is no type of whole numbers")
    try:
        return cells.cast(wanted), None
    except pa.ArrowInvalid:
        numbers: list[Decimal | int | None] = cells.to_pylist()
    most = 2 ** (wanted.bit_width - 1)
    found = [
        int(x) if x is not None and -most <= x < most and x == int(x) else None for x in numbers
    ]
    return _less(cells, pa.array(found, wanted))


def _moments(cells: pa.Array) -> tuple[pa.Array, Unread]:
    """Text, days, or moments of any unit; without a zone they are in UTC."""
    kind = cells.type
    if pa.types.is_timestamp(kind):
        unit = kind.unit
        if unit == "ns":
            cells = pc.floor_temporal(cells.cast(pa.timestamp("ns")), unit="microsecond")
            cells, unit = cells.cast(pa.timestamp("us")), "us"
        found = _in_micros(cells.view(pa.int64()), _MICROS[unit])
    elif pa.types.is_date(kind):
        found = _in_micros(cells.cast(pa.date32()).view(pa.int32()).cast(pa.int64()), DAY)
    else:
        found = _in_micros(_spelled(_texts(cells)[0]).view(pa.int64()), 1)
    return _less(cells, found)


def _in_micros(numbers: pa.Array, micros: int) -> pa.Array:
    """Numbers, each of so many microseconds, as moments; null outside of the years 1 to 9999."""
    least, most = -(-FIRST // micros), LAST // micros
    met = pc.min_max(numbers).as_py()
    if met["min"] is not None and (met["min"] < least or met["max"] > most):
        inside = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, most))
        numbers = pc.if_else(inside, numbers, None)
    return (numbers if micros == 1 else pc.multiply(numbers, micros)).view(_MOMENT)


def _spelled(texts: pa.Array) -> pa.Array:
    """Texts as moments; null where one is none."""
    parts = dict(zip(PARTS, pc.extract_regex(texts, ISO_8601).flatten(), strict=True))
    for name, left_out in PARTS.items():
        parts[name] = pc.if_else(pc.equal(parts[name], ""), left_out, parts[name])
    spelled = pc.binary_join_element_wise(*(parts.get(x, x) for x in SPELLED), "")
    try:
        return spelled.cast(_MOMENT)
    except pa.ArrowInvalid:
        return pa.array(map(_moment, spelled.to_pylist()), _MOMENT)


def _moment(spelled: str | None) -> datetime | None:
    """A moment; None where the month has no such day."""
    try:
        return None if spelled is None else datetime.fromisoformat(spelled)
    except ValueError:
        return None


def _less(cells: pa.Array, found: pa.Array) -> tuple[pa.Array, Unread]:
    """What was found, and which cells became null by it."""
    if found.null_count == cells.null_count:
        return found, None
    lost = pc.and_(found.is_null(), cells.is_valid())
    return found, lost.to_numpy(zero_copy_only=False)
