"""The records of a text, each told apart by what is in it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from clwl_spark.mq.read.documents import LineNumbers, Piece
from clwl_spark.mq.read.encoding import decode
from clwl_spark.mq.read.records import SHOWN_TEXT, Broken
from clwl_spark.mq.traffic import amqsact, metrics, monitoring, otlp_metrics, probes, smf, statuses
from clwl_spark.mq.traffic.activity import Operations, is_trace, take_operations
from clwl_spark.mq.traffic.documents import documents_of
from clwl_spark.mq.traffic.events import event_records, is_event
from clwl_spark.mq.traffic.records import (
    Document,
    Items,
    Record,
    RecordRefusedError,
    Unusable,
)
from clwl_spark.mq.traffic.spans import is_of_spans, span_records

_JSON: Final = re.compile(
    r'"(?:eventData|resourceSpans|resourceMetrics|recordSubType)"\s*:'
    r'|"summary"\s*:\s*\{\s*"parameters"'
)
_TEXTS: Final[tuple[tuple[re.Pattern[str], Callable[[str], Items]], ...]] = (
    (smf.SIGN, smf.smf_items),
    (monitoring.SIGN, monitoring.monitoring_items),
    (metrics.SIGN, metrics.metric_items),
    (probes.SIGN, probes.probe_items),
    (statuses.SIGN, statuses.status_items),
)
"""What tells the texts of each of MQ's tools apart, and its reader."""
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
    head = decode(data[:_LOOKED_AT])
    signs = (_JSON, amqsact.STARTS)
    return any(x.search(head) for x in signs) or _reader(head) is not None


def text_of(data: bytes, start: int = 0) -> str:
    """The text of records from some byte on; a line that names fields stands before all others."""
    rest = decode(data[start:])
    head = decode(data[:_LOOKED_AT])
    if start and smf.SIGN.search(head):
        rest = head.partition("\n")[0] + "\n" + rest
    return rest


def records_of(text: str, first_line: int = 1) -> Recorded:
    """Read the output of one of MQ's tools, or JSON documents, one a line or over many.

    Args:
        text: of one file, or a part of it.
        first_line: the line that it begins with.
    """
    head = text[:_LOOKED_AT]
    if not _JSON.search(head):
        if amqsact.STARTS.search(head):
            return _documents(amqsact.records_of_amqsact(text), text, first_line)
        if (reader := _reader(head)) is not None:
            return _items(reader(text))
    return _documents(documents_of(text), text, first_line)


def _reader(head: str) -> Callable[[str], Items] | None:
    """Who reads a text that begins so; None = it is of none of the tools."""
    return next((read for sign, read in _TEXTS if sign.search(head)), None)


def _items(items: Items) -> Recorded:
    """The items of a text by what they are."""
    found = Recorded([], [], Counter(), Operations())
    for line, item in items:
        if isinstance(item, Record):
            found.records.append((line, item))
        elif isinstance(item, Unusable):
            found.refused.append(Refusal(line, item.text[:SHOWN_TEXT], item.reason))
        else:
            found.needless[item.kind] += 1
    return found


def _documents(pieces: Iterator[Piece], text: str, first_line: int) -> Recorded:
    """What the documents of a text give."""
    found = Recorded([], [], Counter(), Operations())
    lines = LineNumbers(text)
    for piece in pieces:
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
    elif otlp_metrics.is_of_metrics(document):
        yield from otlp_metrics.metric_records(document)
    elif probes.is_probe(document):
        yield from probes.probe_records(document)
    elif smf.is_smf(document):
        yield from smf.smf_records(document)
    else:
        raise RecordRefusedError("it is no record of MQ that is known")


def _kind(document: Document) -> str:
    """What a document is, in words."""
    kind = document.get("eventType")
    reason = document.get("eventReason")
    words = [x.get("name") for x in (kind, reason) if isinstance(x, dict)]
    named = ", ".join(str(x) for x in words if x and x != "None")
    if smf.is_smf(document):
        named = f"SMF {document['recordType']} {document['structure']}"
    if otlp_metrics.is_of_metrics(document):
        named = "metrics without a count of messages"
    return named or ("spans without a put" if is_of_spans(document) else "a JSON document")
