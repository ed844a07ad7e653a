"""Operations of activity trace as a table of typed columns; what cannot be read is refused.

Grain: one row per operation. Columns are of this module alone; `traces` makes messages of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.mq.traffic.activity import FIELDS, Event, Kind, Operations
from clwl_spark.studies.load.files import Refused

KIND, LINE, EVENT, PLACE = "kind", "line", "event", "place"
QMGR, CONNECTION, IS_CONNECTION, SEQUENCE = "qmgr", "connection", "is_connection", "sequence"
BY_CLUSTER, TIME, IS_EXACT, OPENED_AT = "by_cluster", "time", "is_exact", "opened_at"

_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_MOMENT: Final = pa.timestamp("us", tz="UTC")
SCHEMA: Final = pa.schema(
    {
        KIND: pa.int8(),
        LINE: pa.int64(),
        EVENT: pa.int32(),
        PLACE: pa.int32(),
        QMGR: _NAME,
        CONNECTION: _NAME,
        IS_CONNECTION: pa.bool_(),
        SEQUENCE: pa.int32(),
        BY_CLUSTER: pa.bool_(),
        TIME: _MOMENT,
        IS_EXACT: pa.bool_(),
        OPENED_AT: _NAME,
        **dict.fromkeys(
            ("hobj", "reasoncode", "openoptions", "putoptions", "persistence", "msglength"),
            pa.int32(),
        ),
        **dict.fromkeys(
            ("objecttype", "objectname", "objectqmgr", "objectstring", "resolvedobjectstring",
             "resolvedqname", "resolvedqmgr", "resolvedlocalqname", "remoteqmgr"), _NAME
        ),
        **dict.fromkeys(("msgid", "groupid"), pa.binary()),
    }
)  # fmt: skip
"""`is_exact`: its moment is to the microsecond. `opened_at`: of an MQOPEN, its moment in words."""

_OF_EVENT: Final = (LINE, QMGR, CONNECTION, IS_CONNECTION, SEQUENCE, BY_CLUSTER)
_WRITTEN_DOWN: Final = ("highrestime", "operationdate", "operationtime")
_BOUND: Final = 1 << 31
_MOST_MICROS: Final = 253_402_300_800_000_000
_SET_BY_PUTTER: Final = 0x200 | 0x800
"""MQPMO_PASS_ALL_CONTEXT and MQPMO_SET_ALL_CONTEXT: put date and time are another message's."""
Wrong = dict[int, str]
"""Row -> why it cannot be used."""


def operations_of(found: Operations, zone: ZoneInfo | None) -> tuple[pa.Table, list[Refused]]:
    """Operations as a table, and those that cannot be used.

    Args:
        found: as they were read.
        zone: of the moments that MQ writes down without one; None = puts that have no other
            are refused.
    """
    if not found.rows:
        return SCHEMA.empty_table(), []
    raw = dict(zip((KIND, EVENT, PLACE, *FIELDS), zip(*found.rows, strict=True), strict=True))
    wrong: Wrong = {}
    columns = {
        name: _column(name, values, wrong) for name, values in raw.items() if name in SCHEMA.names
    }
    columns[TIME], columns[IS_EXACT] = _moments(raw, columns["putoptions"], zone, wrong)
    columns[OPENED_AT] = _opened_at(raw)
    columns |= _of_events(found.events, columns[EVENT])
    table = pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)
    if not wrong:
        return table, []
    refused = [
        Refused(
            found.events[raw[EVENT][at]].line,
            f"{raw['operationid'][at]} {raw['objectname'][at] or ''}"[:SHOWN_TEXT].rstrip(),
            why,
        )
        for at, why in sorted(wrong.items())
    ]
    usable = np.ones(table.num_rows, dtype=np.bool_)
    usable[list(wrong)] = False
    return table.filter(pa.array(usable)), refused


def _of_events(events: Sequence[Event], of: pa.Array) -> dict[str, pa.Array]:
    """What events say, for each of their operations."""
    cells = zip(*events, strict=True)
    return {
        name: _array(values, SCHEMA.field(name).type).take(of)
        for name, values in zip(_OF_EVENT, cells, strict=True)
    }


def _opened_at(raw: Mapping[str, Sequence[Any]]) -> pa.Array:
    """The moment of each MQOPEN as it is written down; null for other operations."""
    found: list[str | None] = [None] * len(raw[KIND])
    for at, kind in enumerate(raw[KIND]):
        if kind == Kind.OPEN:
            found[at] = " ".join(ascii(raw[x][at]) for x in _WRITTEN_DOWN)
    return _array(found, _NAME)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind == _NAME:
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def _column(name: str, values: Sequence[Any], wrong: Wrong) -> pa.Array:
    """Values as the column's type has them; those that are none are noted, and null."""
    kind = SCHEMA.field(name).type
    types = set(map(type, values))
    if types == {type(None)}:
        return pa.nulls(len(values), pa.string()).dictionary_encode() if kind == _NAME else (
            pa.nulls(len(values), kind)
        )  # fmt: skip
    if kind == _NAME:
        return _names(name, values, types, wrong)
    if kind == pa.binary():
        return pa.array(_each(name, values, _identifier, wrong), kind)
    if types == {dict} and all("value" in x for x in values):
        values = [x["value"] for x in values]
        types = set(map(type, values))
    if not types <= {int, type(None)}:
        values = _each(name, values, _number, wrong)
    return _in_range(name, values, kind, wrong)


def _names(name: str, values: Sequence[Any], types: set[type], wrong: Wrong) -> pa.Array:
    """Names without the blanks that they are padded with; blank = null."""
    try:
        plain = values if types <= {str, type(None)} else _each(name, values, _text, wrong)
        found = pa.array(plain, pa.string())
    except UnicodeEncodeError:
        found = pa.array(_each(name, values, _text, wrong), pa.string())
    words = found.dictionary_encode()
    short = [x.rstrip() for x in words.dictionary.to_pylist()]
    if short == words.dictionary.to_pylist() and "" not in short:
        return words
    return pa.array([x or None for x in short], pa.string()).take(words.indices).dictionary_encode()


def _each(name: str, values: Iterable[Any], read: Callable[[Any], Any], wrong: Wrong) -> list[Any]:
    """Values read one by one; those that cannot be read are noted, and null."""
    found: list[Any] = []
    for at, value in enumerate(values):
        try:
            found.append(value if value is None else read(value))
        except (ValueError, TypeError, OverflowError):
            found.append(None)
            wrong.setdefault(at, f"{name} {ascii(value)[:80]} cannot be read")
    return found


def _in_range(name: str, values: Sequence[Any], kind: pa.DataType, wrong: Wrong) -> pa.Array:
    """Whole numbers of 32 bits, as all of MQ's here are."""
    try:
        found = pa.array(values, kind)
        least, most = pc.min_max(found).as_py().values()
        if least is None or -_BOUND <= least <= most < _BOUND:
            return found
    except (pa.ArrowInvalid, OverflowError):
        pass
    for at, value in enumerate(values):
        if value is not None and not -_BOUND <= value < _BOUND:
            wrong.setdefault(at, f"{name} {str(value)[:80]} is out of range")
    return pa.array([x if x is not None and -_BOUND <= x < _BOUND else None for x in values], kind)


def _number(value: object) -> int | None:
    """A number, also as a text, in hexadecimal, or with its name beside it."""
    if isinstance(value, dict):
        value = value["value"] if "value" in value else value.get("options")
    if value is None or type(value) is int:
        return value
    return _number_of(str(value))


@lru_cache(4096)
def _number_of(word: str) -> int:
    word = word.strip()
    return int(word, 16) if word[:2] in ("0x", "0X") else int(word)


def _identifier(value: object) -> bytes | None:
    """An identifier in hexadecimal; None where all of it is zero, which is none."""
    found = bytes.fromhex(value)  # type: ignore[arg-type]  # another type is noted as wrong
    return found if found.strip(b"\0") else None


def _text(value: object) -> str | None:
    """A name, which may be digits, or have a number beside it."""
    if isinstance(value, dict):
        value = value.get("name", value.get("value"))
    if type(value) is int:
        return str(value)
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value and value.encode().decode()


def _moments(
    raw: Mapping[str, Sequence[Any]], options: pa.Array, zone: ZoneInfo | None, wrong: Wrong
) -> tuple[pa.Array, pa.Array]:
    """The moment of each operation, and whether the trace tells it to the microsecond.

    The moments of an MQCLOSE, and of an MQOPEN that succeeded, are not needed.
    """
    exact = raw["highrestime"]
    if set(map(type, exact)) == {int} and min(exact) > 0 and max(exact) < _MOST_MICROS:
        return pa.array(exact, pa.int64()).cast(_MOMENT), pa.array([True]).take(
            pa.array(np.zeros(len(exact), dtype=np.int64))
        )
    found: list[int | None] = [None] * len(exact)
    is_exact = [False] * len(exact)
    for at, (micros, flags) in enumerate(zip(exact, options.to_pylist(), strict=True)):
        try:
            if micros is not None:
                found[at], is_exact[at] = _micros(micros), True
                continue
            words = [raw[x][at] for x in _MOMENT_FIELDS]
            found[at] = _moment(words, zone, by_putter=bool((flags or 0) & _SET_BY_PUTTER))
        except (ValueError, TypeError, OverflowError) as error:
            if raw[KIND][at] >= Kind.PUT:
                wrong.setdefault(at, str(error) or "its moment cannot be read")
    return pa.array(found, pa.int64()).cast(_MOMENT), pa.array(is_exact)


_MOMENT_FIELDS: Final = ("putdate", "puttime", "operationdate", "operationtime")


def _micros(value: object) -> int:
    number = int(str(value))
    if isinstance(value, float | bool) or not 0 < number < _MOST_MICROS:
        raise ValueError(f"highresTime {str(value)[:80]} is no moment")
    return number


def _moment(words: Sequence[Any], zone: ZoneInfo | None, *, by_putter: bool) -> int:
    """The moment of the message descriptor, which is in UTC, else the operation's own."""
    put_date, put_time, date, time = words
    if put_date and put_time and not by_putter:
        digits = f"{put_date}{put_time}0000"[:20]
        return _since_1970(datetime.strptime(f"{digits}+0000", "%Y%m%d%H%M%S%f%z"))
    if not date or not time:
        raise ValueError("it has no highresTime, and no operationDate and operationTime")
    if zone is None:
        raise ValueError("its times have no time zone: give --time-zone")
    when = datetime.fromisoformat(f"{date}T{str(time).replace('.', ':')}")
    return _since_1970(when.replace(tzinfo=zone))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _since_1970(when: datetime) -> int:
    passed = when - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
