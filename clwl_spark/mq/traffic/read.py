"""The records of a text, each told apart by what is in it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from clwl_spark.mq.read.documents import LineNumbers, Piece
from clwl_spark.mq.read.records import SHOWN_TEXT, Broken
from clwl_spark.mq.traffic import amqsact
from clwl_spark.mq.traffic.activity import Operations, is_trace, take_operations
from clwl_spark.mq.traffic.documents import documents_of
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
        operations: of application activity trace.
    """

    records: list[tuple[int, Record]]
    refused: list[Refusal]
    needless: Counter[str]
    operations: Operations


def is_recorded(data: bytes) -> bool:
    """Whether a text holds records of MQ, as far as its beginning tells."""
    head = data[:_LOOKED_AT]
    return any(x.search(head) for x in (_SIGNS, amqsact.STARTS_BYTES))


def records_of(text: str, first_line: int = 1) -> Recorded:
    """Read the records of a text: JSON documents, on lines of their own or over many; amqsact's.

    Args:
        text: of one file, or a part of it.
        first_line: the line that it begins with.
    """
    found = Recorded([], [], Counter(), Operations())
    lines = LineNumbers(text)
    for piece in _pieces(text):
        line = first_line - 1 + lines.at(piece.offset)
        item = piece.item
        if isinstance(item, Broken):
            found.refused.append(Refusal(line, item.text, item.reason))
        elif isinstance(item, dict):
            _take(item, line, found)
        else:
            found.refused.append(Refusal(line, str(item)[:SHOWN_TEXT], "it is no record of MQ"))
    found.refused.extend(Refusal(*x) for x in found.operations.refused)
    return found


def _pieces(text: str) -> Iterator[Piece]:
    """The pieces of a text, each in the form that it is of."""
    is_json = text.lstrip()[:1] in ("{", "[")
    if not is_json and amqsact.STARTS.search(text):
        return amqsact.records_of_amqsact(text)
    return documents_of(text)


def _take(document: Document, line: int, found: Recorded) -> None:
    """Take a document's records."""
    if is_event(document) and is_trace(document):
        try:
            take_operations(document, line, found.operations)
        except RecordRefusedError as error:
            found.refused.append(Refusal(line, _kind(document), str(error)))
        return
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
