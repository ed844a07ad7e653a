"""amqsact's text, verbose and terse: each record as the document that amqsevt would write of it.

Source: IBM MQ documentation, "amqsact sample program".
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from clwl_spark.mq.read.documents import Piece
from clwl_spark.mq.read.records import SHOWN_TEXT, Broken

STARTS: Final = re.compile(r"^MonitoringType: MQI Activity Trace", re.MULTILINE)
STARTS_BYTES: Final = re.compile(STARTS.pattern.encode(), re.MULTILINE)
ENDS: Final = re.compile(r"^={20,}[ \t]*\r?\n[ \t]*\r?\n", re.MULTILINE)
"""Behind a record; the line that terse output draws above its titles has no blank one behind it."""
ENDS_BYTES: Final = re.compile(ENDS.pattern.encode(), re.MULTILINE)
_FIELD: Final = re.compile(r"( *)([A-Za-z_][\w ]*?) ?:(?: (.*))?")
_BYTES: Final = re.compile(r" *[0-9A-F]{8}: ((?: +[0-9A-F]{2,4}|[0-9A-F]{4})+)(?: .*)?")
_TERSE: Final = re.compile(
    r" *(\d+) +(\d{4}-\d\d-\d\d) +(\d\d[:.]\d\d[:.]\d\d) +(\S+) +(\S+) +(\d+) +(-?\d+|-)"
    r"(?: \((.*)\))? *"
)
_TERSE_NAMES: Final = ("threadId", "operationDate", "operationTime", "operationId", "compCode",
                       "reasonCode", "hobj", "objectName")  # fmt: skip
_SUBSCRIBING: Final = "Subscribing to the activity trace topic"
_IN_LIST: Final = 4
"""Blanks before the fields of a distribution list, which stand within an operation's."""


def records_of_amqsact(text: str) -> Iterator[Piece]:
    """The records of a text, in order, as documents; one that is cut off is a `Broken`."""
    starts = [match.start() for match in STARTS.finditer(text)]
    before = text[: starts[0] if starts else None].strip()
    if before and not before.startswith(_SUBSCRIBING):
        near = before.split("\n", 1)[0][:SHOWN_TEXT]
        yield Piece(0, "", Broken(0, near, "it is no record of amqsact"))
    for start, stop in pairwise([*starts, len(text)]):
        end = None
        for end in ENDS.finditer(text, start, stop):  # noqa: B007  (the last one counts)
            pass
        if end is None:
            near = text[start:stop].split("\n", 1)[0][:SHOWN_TEXT]
            yield Piece(start, "", Broken(0, near, "a record of amqsact that breaks off"))
        else:
            yield Piece(start, "", _document(text[start : end.start()]))


def _document(record: str) -> dict[str, Any]:
    """The document of a record."""
    data: dict[str, Any] = {}
    trace: list[dict[str, Any]] = []
    into, name = data, ""
    for line in record.splitlines():
        if hexes := _BYTES.fullmatch(line):
            into[name] = f"{into.get(name) or ''}{hexes[1].replace(' ', '')}"
        elif terse := _TERSE.fullmatch(line):
            values = zip(_TERSE_NAMES, terse.groups(), strict=True)
            trace.append({x: y for x, y in values if y not in (None, "-")})
        elif line.startswith("MQI Operation:"):
            into = {}
            trace.append(into)
        elif (told := _FIELD.fullmatch(line)) and len(told[1]) < _IN_LIST:
            name = told[2]
            into.setdefault(name, _value(told[3] or ""))
    data["activityTrace"] = trace
    return {"eventType": {"name": "Activity Trace", "value": 209}, "eventData": data}


def _value(word: str) -> str:
    """A value without its quotes."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == "'" else word
