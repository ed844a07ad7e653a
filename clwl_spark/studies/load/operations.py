"""Operations of activity trace as a table of typed columns; what cannot be read is refused.

Grain: one row per operation. Columns are of this module alone; `traces` makes messages of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa

from clwl_spark.mq.traffic.activity import FIELDS, Kind, Operations
from clwl_spark.studies.load.files import Refused

KIND, LINE, EVENT, PLACE = "kind", "line", "event", "place"
QMGR, CONNECTION, IS_CONNECTION, SEQUENCE = "qmgr", "connection", "is_connection", "sequence"
BY_CLUSTER, TIME, IS_EXACT, OPENED_AT = "by_cluster", "time", "is_exact", "opened_at"

_INT: Final = pa.int64()
_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_MOMENT: Final = pa.timestamp("us", tz="UTC")
SCHEMA: Final = pa.schema(
    {
        KIND: pa.int8(),
        LINE: _INT,
        EVENT: _INT,
        PLACE: pa.int32(),
        QMGR: _NAME,
        CONNECTION: _NAME,
        IS_CONNECTION: pa.bool_(),
        SEQUENCE: _INT,
        BY_CLUSTER: pa.bool_(),
        TIME: _MOMENT,
        IS_EXACT: pa.bool_(),
        OPENED_AT: _NAME,
        **dict.fromkeys(
            ("hobj", "reasoncode", "openoptions", "putoptions", "persistence", "msglength"), _INT
        ),
        **dict.fromkeys(
            ("objecttype", "objectname", "objectqmgr", "objectstring", "resolvedobjectstring",
             "resolvedqname", "resolvedqmgr", "resolvedlocalqname", "remoteqmgr"), _NAME
        ),
        **dict.fromkeys(("msgid", "groupid"), pa.binary()),
    }
)  # fmt: skip
"""`is_exact`: its moment is to the microsecond. `opened_at`: of an MQOPEN, its moment in words."""

_FIRST_FIELD: Final = 3
_MOST_MICROS: Final = 253_402_300_800_000_000
_SET_BY_PUTTER: Final = 0x200 | 0x800
"""MQPMO_PASS_ALL_CONTEXT and MQPMO_SET_ALL_CONTEXT: put date and time are another message's."""
_NAMES: Final = frozenset(name for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)
                          if kind == _NAME)  # fmt: skip
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
    cells: dict[str, Any] = {KIND: raw[KIND], EVENT: raw[EVENT], PLACE: raw[PLACE]}
    for name in FIELDS:
        if name in SCHEMA.names:
            cells[name] = _cells(name, raw[name], wrong)
    options = [x or 0 for x in cells["putoptions"]]
    cells[TIME], cells[IS_EXACT] = _moments(raw, options, zone, wrong)
    cells[OPENED_AT] = [
        _opened_at(kind, *words)
        for kind, *words in zip(
            raw[KIND], raw["highrestime"], raw["operationdate"], raw["operationtime"], strict=True
        )
    ]
    events = [found.events[x] for x in raw[EVENT]]
    cells[LINE] = [x.line for x in events]
    cells[QMGR] = [x.qmgr for x in events]
    cells[CONNECTION] = [x.connection for x in events]
    cells[IS_CONNECTION] = [x.is_connection for x in events]
    cells[SEQUENCE] = [x.sequence for x in events]
    cells[BY_CLUSTER] = [x.by_cluster for x in events]
    table = pa.table(
        [_array(cells[name], kind) for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)],
        schema=SCHEMA,
    )
    if not wrong:
        return table, []
    refused = [
        Refused(events[at].line, f"{raw['operationid'][at]} {raw['objectname'][at] or ''}", why)
        for at, why in sorted(wrong.items())
    ]
    usable = [at not in wrong for at in range(table.num_rows)]
    return table.filter(pa.array(usable)), refused


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind == _NAME:
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def _cells(name: str, values: Sequence[Any], wrong: Wrong) -> Sequence[Any]:
    """Values as the column's type has them; those that are none are noted."""
    kind = SCHEMA.field(name).type
    if kind == _INT:
        return _read(name, values, int, _number, wrong)
    if kind == _NAME:
        return [x.rstrip() or None if type(x) is str else _text(name, at, x, wrong)
                for at, x in enumerate(values)]  # fmt: skip
    return _read(name, values, bytes, _identifier, wrong)


def _read(
    name: str,
    values: Iterable[Any],
    own: type,
    read: Callable[[Any], Any],
    wrong: Wrong,
) -> list[Any]:
    """Values read one by one, but for those that are null or of the type already."""
    found: list[Any] = []
    for at, value in enumerate(values):
        if value is None or type(value) is own:
            found.append(value)
            continue
        try:
            found.append(read(value))
        except (ValueError, TypeError, OverflowError):
            found.append(None)
            wrong.setdefault(at, f"{name} {str(value)[:80]!r} cannot be read")
    if own is int:
        _in_range(name, found, wrong)
    return found


def _in_range(name: str, found: list[Any], wrong: Wrong) -> None:
    most = 1 << 31
    for at, value in enumerate(found):
        if value is not None and not -most <= value < most:
            found[at] = None
            wrong.setdefault(at, f"{name} {str(value)[:80]} is out of range")


def _number(value: object) -> int | None:
    """A number, also as a text, in hexadecimal, or with its name beside it."""
    if isinstance(value, dict):
        value = value["value"] if "value" in value else value.get("options")
    if value is None or type(value) is int:
        return value
    word = str(value).strip()
    return int(word, 16) if word[:2] in ("0x", "0X") else int(word)


def _identifier(value: object) -> bytes | None:
    """An identifier in hexadecimal; None where all of it is zero, which is none."""
    found = bytes.fromhex(str(value))
    return found if found.strip(b"\0") else None


def _text(name: str, at: int, value: object, wrong: Wrong) -> str | None:
    """A name that is not a text."""
    if isinstance(value, dict):
        value = value.get("name", value.get("value"))
    if value is None or isinstance(value, str):
        return value and (value.rstrip() or None)
    if type(value) is int:
        return str(value)
    wrong.setdefault(at, f"{name} {str(value)[:80]!r} is no name")
    return None


def _opened_at(kind: Kind, micros: object, date: object, time: object) -> str | None:
    """The moment of an MQOPEN as it is written down; None for other operations."""
    return f"{micros or ''} {date or ''} {time or ''}" if kind == Kind.OPEN else None


def _moments(
    raw: Mapping[str, Sequence[Any]], options: Sequence[int], zone: ZoneInfo | None, wrong: Wrong
) -> tuple[Sequence[int | None], Sequence[bool]]:
    """Microseconds since 1970 of each operation, and whether the trace tells them as such.

    The moments of an MQCLOSE, and of an MQOPEN that succeeded, are not needed.
    """
    exact = raw["highrestime"]
    if all(type(x) is int and 0 < x < _MOST_MICROS for x in exact):
        return exact, [True] * len(exact)
    found: list[int | None] = []
    is_exact: list[bool] = []
    for at, micros in enumerate(exact):
        try:
            when = None if micros is None else _micros(micros)
            is_exact.append(when is not None)
            if when is None:
                words = [raw[x][at] for x in _MOMENT_FIELDS]
                when = _moment(words, zone, by_putter=bool(options[at] & _SET_BY_PUTTER))
        except (ValueError, TypeError, OverflowError) as error:
            when = None
            is_exact[at:] = [False]
            if raw[KIND][at] >= Kind.PUT:
                wrong.setdefault(at, str(error) or "its moment cannot be read")
        found.append(when)
    return found, is_exact


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
