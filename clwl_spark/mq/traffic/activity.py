"""Application activity trace: the MQOPENs, MQCLOSEs and puts of events, as rows of their fields.

Grain: one row per operation. What other operations there are is counted. Message bodies, users and
connection names are not looked at.

Source: IBM MQ documentation, "Application activity trace message reference"; fields are called as
amqsevt (`-o json`, names of PCF parameters without their prefix) and amqsact call them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

from clwl_spark.mq.traffic.records import Document, RecordRefusedError, is_writable, text


class Kind(IntEnum):
    """What an operation does."""

    OPEN = 0
    CLOSE = 1
    PUT = 2
    PUT1 = 3


FIELDS: Final = (
    "operationid", "hobj", "reasoncode", "openoptions", "putoptions", "objecttype", "objectname",
    "objectqmgr", "objectstring", "resolvedobjectstring", "resolvedqname", "resolvedqmgr",
    "resolvedlocalqname", "remoteqmgr", "highrestime", "operationdate", "operationtime", "putdate",
    "puttime", "msgid", "groupid", "persistence", "msglength",
)  # fmt: skip
"""Fields of an operation, as `plain` makes their names."""

_ACTIVITY_TRACE: Final = 209
_MOST_SHAPES: Final = 4096
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "objecthandle": "hobj",
    "reason": "reasoncode",
    "xqhremoteqmgr": "remoteqmgr",
    "transmitheaderremoteqmgr": "remoteqmgr",
    "qmanager": "qmgr",
    "seqnumber": "sequencenumber",
    "intervalstartdate": "startdate",
    "intervalstarttime": "starttime",
    "applicationpid": "processid",
    "applicationtid": "threadid",
}
_KINDS: Final[Mapping[object, Kind]] = {
    name: kind
    for kind, number in ((Kind.OPEN, 6), (Kind.CLOSE, 7), (Kind.PUT1, 8), (Kind.PUT, 9))
    for name in (kind.name.title(), f"MQXF_{kind.name}", f"MQ{kind.name}", number, str(number))
}
_OTHERS: Final = re.compile(
    r"(?:MQXF_|MQ)?(?:CONNX?|DISC|GET|INQ|SET|BEGIN|CMIT|BACK|STAT|CB|CTL|CALLBACK|SUB|SUBRQ|INIT|"
    r"TERM|DATA_CONV_ON_GET|XA ?\w+|AX ?\w+|[1-5]|[1-4]\d)",
    re.IGNORECASE,
)
_RECEIVERS: Final = frozenset({"CLUSRCVR", "MQCHT_CLUSRCVR", "8"})


class Event(NamedTuple):
    """What an event says of all its operations.

    Attributes:
        line: that it begins in.
        qmgr: queue manager.
        connection: its identifier; where the event has none, what else tells the connection.
        is_connection: whether that is an identifier.
        sequence: which of the connection's events it is, from 0.
        by_cluster: whether a cluster receiver does the operations.
    """

    line: int
    qmgr: str
    connection: str
    is_connection: bool
    sequence: int
    by_cluster: bool


@dataclass(slots=True)
class Operations:
    """Operations in their order.

    Attributes:
        events: in their order.
        rows: (kind, index of the event, place in it, values of FIELDS), None = no such field.
        refused: (line, text, reason) of those that are none.
        others: names of the operations that put nothing, and how many there are.
    """

    events: list[Event] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    refused: list[tuple[int, str, str]] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


def is_trace(document: Document) -> bool:
    """Whether an event is one of activity trace."""
    kind = document["eventType"]
    data = document["eventData"]
    number = kind.get("value") if isinstance(kind, dict) else None
    return number == _ACTIVITY_TRACE or (isinstance(data, dict) and "activityTrace" in data)


def take_operations(document: Document, line: int, found: Operations) -> None:
    """Take an event's operations.

    Raises:
        RecordRefusedError: it does not say what all of them need.
    """
    data = document["eventData"]
    trace = data.get("activityTrace", []) if isinstance(data, dict) else None
    if not isinstance(trace, list):
        raise RecordRefusedError("its activityTrace is no list of operations")
    event = len(found.events)
    found.events.append(_event(document, data, line))
    rows, kinds = found.rows, _KINDS
    for at, operation in enumerate(trace):
        if not isinstance(operation, dict):
            found.refused.append((line, str(operation)[:80], "it is no operation"))
            continue
        values = _values_of(tuple(operation))
        operation[""] = None
        row = values(operation)
        name = row[0] if isinstance(row[0], str | int) else text({"": _named(row[0])}, "")
        kind = kinds.get(name)
        if kind is not None:
            rows.append((kind, event, at, *row))
        else:
            _note_other(name, line, found)


def plain(name: str) -> str:
    """A field's name without case, separators and what the tools write differently."""
    bare = re.sub(r"^MQ[A-Z0-9]+_", "", name)
    short = re.sub(r"[^a-z0-9]", "", bare.lower()).replace("queue", "q")
    short = short.replace("qmgrname", "qmgr")
    return _OTHER_NAMES.get(short, short)


@lru_cache(_MOST_SHAPES)
def _values_of(names: tuple[str, ...]) -> Callable[[Document], tuple[Any, ...]]:
    """What gets the values of FIELDS from an operation that has these fields, and one named ''."""
    own = {plain(name): name for name in reversed(names)}
    return itemgetter(*(own.get(x, "") for x in FIELDS))


def _named(value: object) -> object:
    """The name in a value that has a name and a number."""
    return value.get("name", value.get("value")) if isinstance(value, dict) else value


def _note_other(name: str | int, line: int, found: Operations) -> None:
    shown = str(name)
    if _OTHERS.fullmatch(shown):
        found.others[f"MQ{shown.upper().removeprefix('MQXF_').removeprefix('MQ')}"] += 1
    else:
        found.refused.append((line, shown[:80], "it is no operation that is known"))


def _event(document: Document, data: Document, line: int) -> Event:
    """What an event says of all its operations."""
    told = {plain(x): y for x, y in data.items() if not isinstance(y, list)}
    source = document.get("eventSource")
    qmgr = text(told, "qmgr") or text(source if isinstance(source, dict) else {}, "queueMgr")
    if not qmgr:
        raise RecordRefusedError("it has no queueMgrName")
    connection = text(told, "connectionid").upper()
    parts: Iterable[str] = ("startdate", "starttime", "processid", "threadid", "sequencenumber")
    channel = str(_named(told.get("channeltype")) or "")
    words = connection or " ".join(str(told.get(x, "")) for x in parts)
    if not (is_writable(qmgr) and is_writable(words)):
        raise RecordRefusedError("what names its queue manager or connection is no text")
    return Event(
        line,
        qmgr,
        words,
        bool(connection),
        _sequence(told.get("sequencenumber")),
        channel.strip().upper() in _RECEIVERS,
    )


def _sequence(value: object) -> int:
    """Which of the connection's events it is."""
    try:
        number = int(str(value if value is not None else 0))
    except ValueError as error:
        raise RecordRefusedError(f"sequenceNumber {value!r} is no number") from error
    if not 0 <= number < 1 << 31:
        raise RecordRefusedError(f"sequenceNumber {number} is none")
    return number
