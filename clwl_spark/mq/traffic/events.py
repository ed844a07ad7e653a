"""amqsevt's JSON: events of channels and queue managers, statistics and accounting."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from clwl_spark.mq.traffic.configuration import configured
from clwl_spark.mq.traffic.records import (
    ACCOUNTING,
    Document,
    LocalMoment,
    Record,
    RecordRefusedError,
    count,
    local_moment,
    text,
)

FAILED_PUTS: Final = frozenset({2051, 2053, 2082, 2085, 2087, 2184, 2189, 2197, 2198, 2268, 2270})
"""Reasons of queue manager events that a put ended with."""

_CONFIG_EVENT: Final = 43
_QMGR_EVENT: Final = 44
_CHANNEL_EVENT: Final = 46
_STATISTICS_QUEUE: Final = 165
_STATISTICS_CHANNEL: Final = 166
_ACCOUNTING_QUEUE: Final = 168
_STOPPED: Final = frozenset({2283, 2279})
_BEGUN: Final[Mapping[int, str]] = {2282: "RUNNING", 2295: "STARTING", 2296: "STARTING"}
"""Reason of a channel event -> status. Activated or not, a channel that waits for a place among the
active ones is starting."""
_NO_STATUS: Final = frozenset({2233, 2234, 2284, 2371, 2552, 2577, 2578})
"""Channel auto-defined or not, errors of conversion and TLS, and what was blocked: no channel has
another status for that alone."""
_STATUSES: Final[Mapping[str, str]] = {
    "CHANNEL STOPPED OK": "INACTIVE",
    "CHANNEL STOPPED ERROR": "INACTIVE",
    "CHANNEL STOPPED RETRY": "RETRYING",
    "CHANNEL STOPPED DISABLED": "STOPPED",
}
"""ReasonQualifier -> the status that the channel has then."""


def is_event(document: Document) -> bool:
    """Whether a document is one of amqsevt's."""
    return "eventData" in document and "eventType" in document


def event_records(document: Document) -> Iterator[Record]:
    """The rows of an event or of statistics; none where it is about something else.

    Raises:
        RecordRefusedError: something that the rows need is not there.
    """
    kind = document["eventType"]
    number = kind.get("value") if isinstance(kind, dict) else None
    data = document["eventData"]
    reader = _READERS.get(number if isinstance(number, int) else 0)
    if reader is not None and isinstance(data, dict):
        yield from reader(document, data)


def _qmgr_event(document: Document, data: Document) -> Iterator[Record]:
    reason = _reason(document)
    if reason not in FAILED_PUTS:
        return
    yield Record(
        "observed_routes",
        {
            "qmgr": _qmgr(document, data),
            "object_type": "TOPIC" if text(data, "topicString") else "QUEUE",
            "object_name": text(data, "queueName", "objectName", "topicString"),
            "object_qmgr": text(data, "objectQMgrName", "objectQmgrName"),
            "put_time": _created(document),
            "reason": reason,
        },
    )


def _channel_event(document: Document, data: Document) -> Iterator[Record]:
    reason, qualifier = _reason(document), text(data, "reasonQualifier")
    if reason in _BEGUN:
        status = _BEGUN[reason]
    elif reason in _STOPPED:
        status = _STATUSES.get(qualifier.upper(), "STOPPED")
    elif reason in _NO_STATUS:
        return
    else:
        raise RecordRefusedError(f"{reason} is no reason of a channel event that is known")
    yield Record(
        "status_events",
        {
            "qmgr": _qmgr(document, data),
            "channel": _required(data, "channelName"),
            "at": _created(document),
            "chltype": text(data, "channelType").upper() or None,
            "remote_qmgr": text(data, "remoteQueueMgrName") or None,
            "status": status,
            "reason": qualifier or text(document.get("eventReason", {}), "name") or None,
        },
    )


def _channel_statistics(document: Document, data: Document) -> Iterator[Record]:
    for one in _list(data, "chlStatisticsData"):
        if text(one, "channelType").upper() == "CLUSSDR":
            yield Record(
                "observed_counts",
                {
                    **_interval(document, data),
                    "object_type": "CHANNEL",
                    "object_name": _required(one, "channelName"),
                    "remote_qmgr": text(one, "remoteQueueMgrName"),
                    "messages": count(one.get("msgs")),
                },
            )


def _queue_statistics(document: Document, data: Document) -> Iterator[Record]:
    for one in _list(data, "queueStatisticsData", "qStatisticsData"):
        yield _puts(document, data, one)


def _queue_accounting(document: Document, data: Document) -> Iterator[Record]:
    """Puts of one connection, by queue; of queues that it put nothing to there is no row."""
    for one in _list(data, "queueAccountingData", "qAccountingData"):
        found = _puts(document, data, one, ACCOUNTING)
        if found.values["messages"]:
            yield found


def _puts(document: Document, data: Document, one: Document, kind: str = "") -> Record:
    """Puts to a queue, persistent or not."""
    return Record(
        "observed_counts",
        {
            **_interval(document, data),
            "object_type": "QUEUE",
            "object_name": _required(one, "queueName", "qName"),
            "remote_qmgr": "",
            "messages": count(one.get("puts")) + count(one.get("put1s")),
        },
        kind,
    )


def _config_event(document: Document, data: Document) -> Iterator[Record]:
    for found in configured(_reason(document), document, data):
        named = {"queueMgrName": text(data, "queueMgrName", "eventQueueMgr")}
        values = {
            **found,
            "qmgr": _qmgr(document, named),
            "at": _created(document),
            "attributes": json.dumps(found["attributes"], ensure_ascii=False),
        }
        yield Record("config_events", values)


_READERS: Final[Mapping[int, Callable[[Document, Document], Iterator[Record]]]] = {
    _CONFIG_EVENT: _config_event,
    _QMGR_EVENT: _qmgr_event,
    _CHANNEL_EVENT: _channel_event,
    _STATISTICS_QUEUE: _queue_statistics,
    _STATISTICS_CHANNEL: _channel_statistics,
    _ACCOUNTING_QUEUE: _queue_accounting,
}


def _list(data: Document, *names: str) -> list[Document]:
    """The groups of the first of some names that is there; releases spell them differently."""
    found: object = next((data[x] for x in names if x in data), None)
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def _required(of: Document, *names: str) -> str:
    found = text(of, *names)
    if not found:
        raise RecordRefusedError(f"it has no {names[0]}")
    return found


def _qmgr(document: Document, data: Document) -> str:
    source = document.get("eventSource")
    found = text(data, "queueMgrName") or text(
        source if isinstance(source, dict) else {}, "queueMgr"
    )
    if not found:
        raise RecordRefusedError("it has no queueMgrName")
    return found


def _reason(document: Document) -> int:
    reason = document.get("eventReason")
    value = reason.get("value") if isinstance(reason, dict) else None
    return value if isinstance(value, int) else 0


def _created(document: Document) -> datetime:
    """When the event message was put, to the second."""
    created = document.get("eventCreation")
    epoch = created.get("epoch") if isinstance(created, dict) else None
    try:
        return datetime.fromtimestamp(int(str(epoch)), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise RecordRefusedError("it has no eventCreation.epoch") from error


def _interval(document: Document, data: Document) -> Document:
    """The time that statistics count, in the queue manager's zone."""
    return {
        "qmgr": _qmgr(document, data),
        "from_time": _local(data, "startDate", "startTime"),
        "to_time": _local(data, "endDate", "endTime"),
    }


def _local(data: Document, date: str, time: str) -> LocalMoment:
    try:
        return local_moment(text(data, date), text(data, time))
    except RecordRefusedError as error:
        raise RecordRefusedError(f"{date} and {time}: {error}") from error
