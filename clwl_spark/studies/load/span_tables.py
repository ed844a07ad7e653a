"""Spans as rows of a table: the collector's documents in a column, or a row per span.

Columns are known by their names, as exporters and lakes of traces call them; attributes are a map,
an object, OTLP's pairs, or one of these as JSON.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

_DOCUMENT: Final = "resourcespans"
_ATTRIBUTES: Final = ("spanattributes", "attributes")
_RESOURCE: Final = ("resourceattributes", "resource")
_SERVICE: Final = "servicename"
_START: Final = ("starttimeunixnano", "starttime", "timestamp")
_NUMBERS: Final = ("body.size", "reason_code")
"""What keys end in whose values are numbers, where a map of texts has them."""
_FLAGS: Final = {"true": True, "false": False}
Row = dict[str, Any]


def is_of_spans(names: Sequence[str]) -> bool:
    """Whether fields are those of spans."""
    plain = {_plain(x) for x in names}
    is_row_per_span = plain & {*_ATTRIBUTES} and plain & {*_START}
    return _DOCUMENT in plain or bool(is_row_per_span and plain & {_SERVICE, *_RESOURCE})


def text_of_spans(rows: pa.Table) -> str:
    """The spans as the collector's file exporter writes them, a line per row."""
    plain = [_plain(x) for x in rows.column_names]
    found = (dict(zip(plain, row.values(), strict=True)) for row in rows.to_pylist())
    return "\n".join(json.dumps(_document(x), default=str) for x in found)


def _document(row: Row) -> Row:
    """The document that a row is."""
    if _DOCUMENT in row:
        return {"resourceSpans": _pruned(_parsed(row[_DOCUMENT]))}
    resource = dict(_pairs(_first(row, _RESOURCE)))
    resource.setdefault("service.name", row.get(_SERVICE))
    span = {
        "startTimeUnixNano": _nanos(_first(row, _START)),
        "attributes": [_attribute(*x) for x in _pairs(_first(row, _ATTRIBUTES))],
    }
    own = {"attributes": [_attribute(*x) for x in resource.items()]}
    return {"resourceSpans": [{"resource": own, "scopeSpans": [{"spans": [span]}]}]}


def _pairs(of: object) -> Iterator[tuple[str, object]]:
    """Attributes by key, however they are written."""
    of = _parsed(of)
    if isinstance(of, Mapping):
        inner = of.get("attributes")
        yield from _pairs(inner) if isinstance(inner, list) else map(_pair, of.items())
    for one in of if isinstance(of, list) else ():
        if isinstance(one, tuple):
            yield _pair(one)
        elif isinstance(one, Mapping):
            value: Any = _pruned(one.get("value"))
            is_told = isinstance(value, Mapping) and len(value) == 1
            yield str(one.get("key")), next(iter(value.values())) if is_told else value


def _pair(of: Sequence[Any]) -> tuple[str, object]:
    return str(of[0]), of[1]


def _attribute(key: str, value: object) -> Row:
    """OTLP's pair of a key and a value."""
    word = value.lower() if isinstance(value, str) else ""
    value = _FLAGS.get(word, value)
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int) or (word.isdecimal() and key.endswith(_NUMBERS)):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"stringValue": value}}


def _nanos(moment: object) -> object:
    """Nanoseconds since 1970 of a moment, or what is no moment as it is."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        return moment
    return round(moment.timestamp() * 1_000_000) * 1_000


def _pruned(value: object) -> object:
    """A value without what is null in it: a column has each kind of value for each attribute."""
    if isinstance(value, list):
        return [_pruned(x) for x in value]
    if isinstance(value, dict):
        return {x: _pruned(y) for x, y in value.items() if y is not None}
    return value


def _parsed(value: object) -> object:
    """What a text of JSON says; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _first(row: Row, names: Sequence[str]) -> object:
    return next((row[x] for x in names if row.get(x) is not None), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
