"""The records of a text, each told apart by what is in it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from clwl_spark.mq.read.documents import LineNumbers, pieces_of
from clwl_spark.mq.read.records import SHOWN_TEXT, Broken
from clwl_spark.mq.traffic.events import event_records, is_event
from clwl_spark.mq.traffic.records import Document, Record, RecordRefusedError
from clwl_spark.mq.traffic.spans import is_of_spans, span_records

_SIGNS: Final = re.compile(rb'"(?:eventData|resourceSpans)"\s*:')
_LOOKED_AT: Final = 64 << 10


class Refusal(NamedTuple):
    """A piece that cannot be used."""

    line: int
    text: str
    reason: str


class Recorded(NamedTuple):
    """What a text holds.

    Attributes:
        records: (line, record), in order.
        refused: the pieces that cannot be used.
        needless: kinds of records that give no row, and how many there are.
    """

    records: list[tuple[int, Record]]
    refused: list[Refusal]
    needless: Counter[str]


def is_recorded(data: bytes) -> bool:
    """Whether a text holds records of MQ, as far as its beginning tells."""
    return _SIGNS.search(data[:_LOOKED_AT]) is not None


def records_of(text: str) -> Recorded:
    """Read the JSON documents of a text, on lines of their own or over many."""
    found = Recorded([], [], Counter())
    lines = LineNumbers(text)
    for piece in pieces_of(text):
        line = lines.at(piece.offset)
        item = piece.item
        if isinstance(item, Broken):
            found.refused.append(Refusal(line, item.text, item.reason))
        elif isinstance(item, dict):
            _take(item, line, found)
        else:
            found.refused.append(Refusal(line, str(item)[:SHOWN_TEXT], "it is no record of MQ"))
    return found


def _take(document: Document, line: int, found: Recorded) -> None:
    """Take a document's records."""
    count = len(found.records) + len(found.refused)
    try:
        for one in _records(document):
            if isinstance(one, RecordRefusedError):
                found.refused.append(Refusal(line, _kind(document), str(one)))
            else:
                found.records.append((line, one))
    except RecordRefusedError as error:
        found.refused.append(Refusal(line, _kind(document), str(error)))
    if count == len(found.records) + len(found.refused):
        found.needless[_kind(document)] += 1


def _records(document: Document) -> Iterator[Record | RecordRefusedError]:
    if is_event(document):
        yield from event_records(document)
    elif is_of_spans(document):
        yield from span_records(document)
    else:
        raise RecordRefusedError("it is no record of MQ that is known")


def _kind(document: Document) -> str:
    """What a document is, in words."""
    kind = document.get("eventType")
    reason = document.get("eventReason")
    words = [x.get("name") for x in (kind, reason) if isinstance(x, dict)]
    named = ", ".join(str(x) for x in words if x and x != "None")
    return named or ("spans without a put" if is_of_spans(document) else "a JSON document")
