"""Writes what a collector and queue managers would record of puts: spans, and statistics.

A put is a message with where it went, as in `activity_traces`. Written from the documentation of
MQ and of OpenTelemetry, not from the package.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]
PER_DOCUMENT = 50
"""Spans that the collector exports at a time."""


def as_spans(puts: Iterable[Row]) -> str:
    """As the collector's file exporter does: a document per line, each of one queue manager."""
    by_qmgr: defaultdict[str, list[Row]] = defaultdict(list)
    for put in puts:
        by_qmgr[put["qmgr"]].append(put)
    lines = []
    for qmgr, own in sorted(by_qmgr.items()):
        for start in range(0, len(own), PER_DOCUMENT):
            spans = [_span(x) for x in own[start : start + PER_DOCUMENT]]
            resource = {"attributes": [_attribute("service.name", qmgr)]}
            scope = {"scopeSpans": [{"scope": {"name": "mq"}, "spans": spans}]}
            lines.append(json.dumps({"resourceSpans": [{"resource": resource, **scope}]}))
    return "\n".join(lines) + "\n"


def _span(put: Row) -> Row:
    told = {
        "messaging.system": "ibmmq",
        "messaging.operation.name": "MQPUT1" if put["open_id"] is None else "MQPUT",
        "messaging.destination.name": put["object_name"],
        "messaging.message.id": put["message_id"].hex().upper(),
        "messaging.message.body.size": put["msg_length"],
        "messaging.ibmmq.message.persistent": bool(put["persistent"]),
    }
    if put["object_type"] == "TOPIC":
        told["messaging.destination.type"] = "topic"
    if put["reason"]:
        told["messaging.ibmmq.application.reason_code"] = put["reason"]
    elif put["object_type"] != "TOPIC":
        told["messaging.ibmmq.destination.resolved_name"] = put["dest_object"]
        told["messaging.ibmmq.destination.resolved_qmgr_name"] = put["dest_qmgr"]
        if not put["is_local"]:
            told["messaging.ibmmq.destination.transmission_queue"] = put["xmitq"]
    begin = round(put["put_time"].astimezone(UTC).timestamp() * 1_000_000) * 1_000
    return {
        "traceId": put["message_id"].hex()[:32].ljust(32, "0"),
        "spanId": put["message_id"].hex()[-16:].rjust(16, "0"),
        "name": f"{told['messaging.operation.name']} {put['object_name']}",
        "kind": 4,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 250_000),
        "attributes": [_attribute(*x) for x in told.items()],
        "status": {},
    }


def _attribute(key: str, value: object) -> Row:
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"stringValue": value}}


def as_statistics(puts: Iterable[Row], interval: timedelta) -> str:
    """As `amqsevt -o json` shows STATCHL and STATQ of all queue managers, with times in UTC.

    Of a queue manager that puts: its cluster senders. Of one that has the queue: what came there.
    """
    channels: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
    queues: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
    for put in puts:
        if put["reason"] or put["object_type"] == "TOPIC":
            continue
        begin = _begin(put["put_time"].astimezone(UTC), interval)
        if put["channel"]:
            channels[put["qmgr"], begin][put["channel"], put["dest_qmgr"]] += 1
        queues[put["dest_qmgr"], begin][put["dest_object"], bool(put["persistent"])] += 1
    documents = [
        *(_statistics(166, *key, interval, _of_channels(x)) for key, x in sorted(channels.items())),
        *(_statistics(165, *key, interval, _of_queues(x)) for key, x in sorted(queues.items())),
    ]
    return "".join(f"{json.dumps(x, indent=1)}\n" for x in documents)


def _begin(when: datetime, interval: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (when - epoch) // interval * interval


def _of_channels(counts: Counter[Any]) -> Row:
    rows = [
        {
            "channelName": channel,
            "channelType": "Clussdr",
            "remoteQueueMgrName": remote,
            "connectionName": "10.0.0.7(1414)",
            "msgs": count,
        }
        for (channel, remote), count in sorted(counts.items())
    ]
    return {"chlStatisticsData": rows}


def _of_queues(counts: Counter[Any]) -> Row:
    """Puts of messages that are not persistent, and that are; an MQPUT1 now and then."""
    rows = []
    for name in sorted({x for x, _ in counts}):
        total = [counts[name, False], counts[name, True]]
        ones = [x // 3 for x in total]
        puts = [x - y for x, y in zip(total, ones, strict=True)]
        rows.append({"queueName": name, "queueType": "Local", "puts": puts, "put1s": ones})
    return {"queueStatisticsData": rows}


def _statistics(kind: int, qmgr: str, begin: datetime, interval: timedelta, data: Row) -> Row:
    end = begin + interval
    return {
        "eventSource": {
            "objectName": "SYSTEM.ADMIN.STATISTICS.QUEUE",
            "objectType": "Queue",
            "queueMgr": qmgr,
        },
        "eventType": {"name": "Statistics", "value": kind},
        "eventReason": {"name": "None", "value": 0},
        "eventCreation": {
            "timeStamp": f"{end:%Y-%m-%dT%H:%M:%SZ}",
            "epoch": int(end.timestamp()),
        },
        "eventData": {
            "queueMgrName": qmgr,
            "startDate": f"{begin:%Y-%m-%d}",
            "startTime": f"{begin:%H.%M.%S}",
            "endDate": f"{end:%Y-%m-%d}",
            "endTime": f"{end:%H.%M.%S}",
            "commandLevel": 940,
            **data,
        },
    }
