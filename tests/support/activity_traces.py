"""Writes what a queue manager would record of puts: application activity trace, in three forms.

A put is a message (columns of `messages`) with where it went (`reason`, `dest_qmgr`, `dest_object`,
`xmitq`, `is_local`). Written from MQ's documentation, not from the package.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

Row = dict[str, Any]
OPTIONS = {None: 0, "AS_Q_DEF": 0, "ON_OPEN": 0x4000, "NOT_FIXED": 0x8000, "ON_GROUP": 0x400000}
NUMBERS = {"Open": 6, "Close": 7, "Put1": 8, "Put": 9, "Connx": 4, "Get": 10, "Disc": 5}
PER_EVENT = 40
"""Operations of an event; a connection that has more has several events."""


def events_of(puts: Iterable[Row], per_event: int = PER_EVENT) -> list[Row]:
    """The events of puts, in the order of time of each connection.

    Every queue manager has one connection for puts, and one for each kind of channel.
    """
    connections: defaultdict[tuple[str, bool], list[Row]] = defaultdict(list)
    for put in sorted(puts, key=lambda x: x["put_time"]):
        connections[put["qmgr"], put.get("via") == "CLUSTER"].append(put)
    events = []
    for number, ((qmgr, by_cluster), own) in enumerate(sorted(connections.items()), 1):
        operations = [*_operations(own)]
        for sequence, start in enumerate(range(0, len(operations), per_event)):
            some = operations[start : start + per_event]
            head = {
                "queueMgrName": qmgr,
                "startDate": some[0]["operationDate"],
                "startTime": some[0]["operationTime"].replace(":", "."),
                "commandLevel": 940,
                "sequenceNumber": sequence,
                "applName": "order-entry",
                "userIdentifier": "clerk",
                "connectionId": (b"AMQC" + qmgr.encode().ljust(12) + number.to_bytes(8)).hex(),
                **({"channelName": "TO.X", "channelType": "Clusrcvr"} if by_cluster else {}),
            }
            events.append(_event(qmgr, some[-1], {**head, "activityTrace": some}))
    return events


def _event(qmgr: str, last: Row, data: Row) -> Row:
    when = datetime.fromtimestamp(last["highresTime"] // 1_000_000, UTC)
    return {
        "eventSource": {
            "objectName": "SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE",
            "objectType": "Queue",
            "queueMgr": qmgr,
        },
        "eventType": {"name": "Activity Trace", "value": 209},
        "eventReason": {"name": "None", "value": 0},
        "eventCreation": {
            "timeStamp": f"{when:%Y-%m-%dT%H:%M:%SZ}",
            "epoch": int(when.timestamp()),
        },
        "eventData": data,
    }


def _operations(puts: list[Row]) -> Iterator[Row]:
    """Handles are used again when they are free; opens that were named stay open."""
    handles: dict[Any, int] = {}
    yield _operation("Connx", puts[0])
    for put in puts:
        named = put["open_id"] is not None
        if not named and put["bind"] in (None, "AS_Q_DEF"):
            yield {**_operation("Put1", put), **_object(put), **_message(put)}
            continue
        key = (put["open_id"], put["object_name"], put["bind"])
        if not named or key not in handles:
            handle = 100 + len(handles) if named else 2
            handles[key] = handle
            options = 0x10 | OPTIONS[put["bind"]]
            yield {
                **_operation("Open", put),
                "hobj": handle,
                "openOptions": {"options": options, "optionsString": ["out"]},
                **_object(put),
            }
        handle = handles[key]
        yield {**_operation("Put", put), "hobj": handle, **_reason(put), **_message(put)}
        if not named:
            yield {**_operation("Close", put), "hobj": handle}


def _operation(name: str, put: Row) -> Row:
    when = put["put_time"].astimezone(UTC)
    return {
        "operationId": name,
        "threadId": 1,
        "operationDate": f"{when:%Y-%m-%d}",
        "operationTime": f"{when:%H:%M:%S}",
        "compCode": {"name": "Ok", "value": 0},
        "reasonCode": {"name": "None", "value": 0},
        "highresTime": round(when.timestamp() * 1_000_000),
    }


def _object(put: Row) -> Row:
    if put["object_type"] == "TOPIC":
        return {"objectType": "Topic", "objectName": "", "objectString": put["object_name"]}
    named = {"objectQueueMgrName": put["object_qmgr"]} if put["object_qmgr"] else {}
    return {"objectType": "Queue", "objectName": put["object_name"], **named}


def _reason(put: Row) -> Row:
    if not put["reason"]:
        return {}
    return {
        "compCode": {"name": "Failed", "value": 2},
        "reasonCode": {"name": "Some Reason", "value": put["reason"]},
    }


def _message(put: Row) -> Row:
    logical = 0x8000 if put.get("logical_order") else 0
    found = {"putOptions": f"0x{logical | 0x2000:08X}", **_reason(put)}
    if put["dest_qmgr"] and put["object_type"] != "TOPIC":
        found["resolvedQueueName"] = put["dest_object"]
        found["resolvedQueueMgr"] = put["dest_qmgr"]
        if not put["is_local"]:
            found["resolvedLocalQueueName"] = put["xmitq"]
            found["resolvedLocalQueueMgr"] = put["qmgr"]
    group = {"groupId": put["group_id"].hex().upper()} if put["group_id"] else {}
    return {
        **found,
        "priority": 4,
        "persistence": int(bool(put["persistent"])),
        "msgId": put["message_id"].hex().upper(),
        **group,
        "msgLength": put["msg_length"],
    }


def as_json(events: Iterable[Row]) -> str:
    """As `amqsevt -o json` does: an event over many lines."""
    return "".join(f"{json.dumps(x, indent=1)}\n" for x in events)


def as_raw_json(events: Iterable[Row]) -> str:
    """The same with every line at the left, as some versions write it."""
    return "\n".join(x.lstrip() for x in as_json(events).splitlines()) + "\n"


def as_compact(events: Iterable[Row]) -> str:
    """As `amqsevt -o json_compact` does: an event per line."""
    return "".join(f"{json.dumps(x)}\n" for x in events)


NAMES = {
    "threadId": "ApplicationTid", "operationDate": "OperationDate", "hobj": "Hobj",
    "operationTime": "OperationTime", "highresTime": "High Res Time",
    "objectName": "Object_name", "objectQueueMgrName": "Object_Q_mgr_name",
    "objectString": "Object_string", "resolvedQueueName": "Resolved_Q_Name",
    "resolvedQueueMgr": "Resolved_Q_mgr", "resolvedLocalQueueName": "Resolved_local_Q_name",
    "resolvedLocalQueueMgr": "Resolved_local_Q_mgr", "priority": "Priority",
    "persistence": "Persistence", "msgLength": "Msg length",
}  # fmt: skip
LINE = "=" * 77


def as_amqsact(events: Iterable[Row]) -> str:
    """As `amqsact -v` does."""
    return "".join(f"{chr(10).join(_verbose(x['eventData']))}\n{LINE}\n\n" for x in events)


def _verbose(data: Row) -> Iterator[str]:
    yield "MonitoringType: MQI Activity Trace"
    yield from _bytes("", "Correl_id", data["connectionId"])
    yield from _head(data)
    for at, operation in enumerate(data["activityTrace"]):
        yield f"MQI Operation: {at}"
        yield f"  Operation Id: MQXF_{operation['operationId'].upper()}"
        for name, value in operation.items():
            yield from _verbose_field(name, value)


def _head(data: Row) -> Iterator[str]:
    yield f"QueueManager: '{data['queueMgrName']}'"
    yield "Host Name: 'here'"
    yield f"IntervalStartDate: '{data['startDate']}'"
    yield f"IntervalStartTime: '{data['startTime']}'"
    yield f"SeqNumber: {data['sequenceNumber']}"
    yield f"ApplicationName: '{data['applName']}'"
    yield f"UserId: '{data['userIdentifier']}'"
    yield from _bytes("", "ConnectionId", data["connectionId"])
    if "channelType" in data:
        yield f"Channel Type: MQCHT_{data['channelType'].upper()}"


def _verbose_field(name: str, value: Any) -> Iterator[str]:
    if name == "compCode":
        yield f"  Completion Code: MQCC_{value['name'].upper()}"
    elif name == "reasonCode":
        yield f"  Reason Code: {value['value']}"
    elif name == "openOptions":
        yield f"  Open_options: {value['options']}"
    elif name == "putOptions":
        yield f"  Put Options: {int(value, 16)}"
    elif name == "objectType":
        yield f"  Object_type: {'MQOT_Q' if value == 'Queue' else 8}"
    elif name in ("msgId", "groupId"):
        yield from _bytes("  ", {"msgId": "Msg_id", "groupId": "GroupId"}[name], value)
    elif name in NAMES:
        yield f"  {NAMES[name]}: {value!r}"


def _bytes(indent: str, name: str, hexes: str) -> Iterator[str]:
    yield f"{indent}{name}:"
    data = bytes.fromhex(hexes)
    for at in range(0, len(data), 16):
        some = data[at : at + 16]
        pairs = [some[x : x + 2].hex().upper() for x in range(0, len(some), 2)]
        shown = "".join(chr(x) if 31 < x < 127 else "." for x in some).ljust(16)
        yield f"{indent}{at:08X}: {''.join(f' {x}' for x in pairs).ljust(40)}  '{shown}'"


def as_terse(events: Iterable[Row]) -> str:
    """As `amqsact` does without `-v`: a line per operation."""
    found = []
    for event in events:
        data = event["eventData"]
        found += ["MonitoringType: MQI Activity Trace", *_head(data), LINE]
        found.append(
            "  Tid Date       Time      Operation       CompCode      MQRC  HObj (ObjName)"
        )
        for one in data["activityTrace"]:
            handle = f"{one['hobj']}" if "hobj" in one else "-"
            named = f" ({one['objectName']:<48})" if "objectName" in one and "hobj" in one else ""
            found.append(
                f"  {one['threadId']:03d} {one['operationDate']} {one['operationTime']}  "
                f"{'MQXF_' + one['operationId'].upper():<15} "
                f"{'MQCC_' + one['compCode']['name'].upper():<13} "
                f"{one['reasonCode']['value']:04d}  {handle}{named}"
            )
        found += [LINE, ""]
    return "\n".join(found) + "\n"
