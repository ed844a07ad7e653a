"""OTLP/JSON of the OpenTelemetry Collector: the puts among the spans of IBM MQ.

Bodies, users and connection names are not looked at.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from clwl_spark.mq.traffic.records import Document, Record, RecordRefusedError
from clwl_spark.mq.vocabulary import REASON_TEXTS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PUTS: Final = frozenset({"MQPUT", "MQPUT1"})
_MQ: Final = "messaging.ibmmq."
_CODES: Final = {name: code for code, name in REASON_TEXTS.items()}


def is_of_spans(document: Document) -> bool:
    """Whether a document is a batch of spans."""
    return isinstance(document.get("resourceSpans"), list)


def span_records(document: Document) -> Iterator[Record | RecordRefusedError]:
    """The rows of a document's puts, a message and where it went; errors where one is unusable."""
    for resource in dicts(document["resourceSpans"]):
        qmgr = attributes(resource.get("resource", {})).get("service.name")
        for scope in dicts(resource.get("scopeSpans", [])):
            for span in dicts(scope.get("spans", [])):
                try:
                    yield from _put(span, qmgr)
                except RecordRefusedError as error:
                    yield error


def _put(span: Document, qmgr: object) -> Iterator[Record]:
    told = attributes(span)
    if _text(told.get("messaging.operation.name")) not in _PUTS:
        return
    name = _text(told.get("messaging.destination.name"))
    if not isinstance(qmgr, str) or not qmgr or not name:
        raise RecordRefusedError("a put without service.name or messaging.destination.name")
    put = {
        "qmgr": qmgr,
        "object_type": "TOPIC" if told.get("messaging.destination.type") == "topic" else "QUEUE",
        "object_name": name,
        "object_qmgr": "",
        "put_time": _moment(span),
        "message_id": _identifier(told.get("messaging.message.id")),
    }
    reason = _reason(told.get(f"{_MQ}application.reason_code"))
    if reason == 0:
        length = told.get("messaging.message.body.size")
        more = {
            "persistent": told.get(f"{_MQ}message.persistent"),
            "msg_length": length if isinstance(length, int) else None,
        }
        yield Record("messages", {**put, **more})
    yield Record(
        "observed_routes",
        {
            **put,
            "reason": reason,
            "resolved_object": _text(told.get(f"{_MQ}destination.resolved_name")),
            "dest_qmgr": _text(told.get(f"{_MQ}destination.resolved_qmgr_name")),
            "xmitq": _text(told.get(f"{_MQ}destination.transmission_queue")),
        },
    )


def dicts(found: object) -> list[Document]:
    """The objects of a list."""
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def attributes(of: object) -> dict[str, Any]:
    """Attributes by key; each value has one member, whose name is its type."""
    found: dict[str, Any] = {}
    for pair in dicts(of.get("attributes", []) if isinstance(of, dict) else []):
        value = pair.get("value")
        if isinstance(value, dict) and len(value) == 1:
            ((kind, content),) = value.items()
            found[str(pair.get("key"))] = _whole(content) if kind == "intValue" else content
    return found


def _whole(content: object) -> object:
    try:
        return int(str(content))
    except ValueError:
        return content


def _text(value: object) -> str | None:
    return value.rstrip() or None if isinstance(value, str) else None


def _moment(span: Document) -> datetime:
    try:
        nanos = int(str(span.get("startTimeUnixNano")))
        return _EPOCH + timedelta(microseconds=nanos // 1_000)
    except (ValueError, OverflowError) as error:
        raise RecordRefusedError("a put without startTimeUnixNano") from error


def _identifier(value: object) -> bytes | None:
    try:
        return bytes.fromhex(value) if isinstance(value, str) else None
    except ValueError as error:
        raise RecordRefusedError(f"{value!r} is no message identifier") from error


def _reason(value: object) -> int:
    """MQRC_NONE, or the MQRC's number; one whose name is not known is refused."""
    if value in (None, "MQRC_NONE"):
        return 0
    if isinstance(value, str) and value in _CODES:
        return _CODES[value]
    if isinstance(value, int):
        return value
    raise RecordRefusedError(f"{value!r} is no reason that is known")
