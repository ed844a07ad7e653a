"""Trace-route probes, of dspmqrte (text) and dspmqrtj (JSON): where each put of a probe went.

A put on the way, by a channel at the next queue manager, is a row as the probe's own.

Source: IBM MQ documentation, "Activity report reference"; ibm-messaging/mq-metric-samples,
`dspmqrtj`, whose moments are in UTC.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from clwl_spark.mq.traffic.headings import Moment
from clwl_spark.mq.traffic.records import (
    Document,
    Items,
    Needless,
    Record,
    RecordRefusedError,
    Unusable,
    local_moment,
    text,
)
from clwl_spark.mq.vocabulary import REASON_TEXTS

SIGN: Final = re.compile(r"^AMQ86\d\d[A-Z]?: DSPMQRTE |^\s*OperationType: ", re.MULTILINE)
KIND: Final = "probe"
_FIELD: Final = re.compile(r"\s*(\w+): ?(?:X?'(.*?)\s*'|(.*?))\s*")
_REASONS: Final = {x.replace("_", "").upper(): code for code, x in REASON_TEXTS.items()}
_MQRC: Final = range(2001, 3000)
_PUT: Final = frozenset({"PUT", "MQPUT"})
_ARRIVED: Final = frozenset({"NOTDELIVERED", "MQFBNOTDELIVERED"})
"""Feedback of a probe that was discarded at its target queue because it is only a probe."""
_PARAMETER: Final = re.compile(r"(?:^|\s)--?(\w+)[ =]'?([^\s']+)")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on a probe, whichever tool shows it."""

    kind: str
    line: int = 0
    qmgr: str = ""
    queue: str = ""
    resolved: str = ""
    remote_queue: str = ""
    remote_qmgr: str = ""
    channel: str = ""
    feedback: str = ""
    message_id: bytes | None = None
    at: Moment | None = None
    topic: str = ""


def is_probe(document: Document) -> bool:
    """Whether a JSON document is dspmqrtj's."""
    summary = document.get("summary")
    return isinstance(summary, dict) and ("parameters" in summary or "activities" in document)


def probe_records(document: Document) -> Iterator[Record]:
    """The puts of a probe that dspmqrtj shows.

    Raises:
        RecordRefusedError: it shows neither a put nor an error of one.
    """
    summary: Document = document["summary"]
    asked = dict(_PARAMETER.findall(text(summary, "parameters")))
    found = [
        _of_json(one)
        for activity in _dicts(document.get("activities"))
        for one in _dicts(activity.get("operations"))
    ]
    if not any(x.kind in _PUT for x in found):
        found.insert(0, _asked(asked, summary, document.get("error")))
    rows = list(_routes(found))
    if not rows:
        raise RecordRefusedError("a probe without a put")
    yield from rows


def probe_items(text_of: str) -> Items:
    """The puts of the probes that dspmqrte shows; a probe begins with its command."""
    operations = list(_of_text(text_of))
    for operation in operations:
        if operation.kind in _PUT and not operation.qmgr:
            yield operation.line, Unusable("OperationType: Put", "it has no QMgrName")
    usable = [x for x in operations if x.qmgr or x.kind not in _PUT]
    given = 0
    for at, operation in enumerate(usable):
        item = _route(operation, usable[at + 1 :])
        if item is not None:
            given += 1
            yield operation.line, item
    if not given:
        yield 1, Needless("output of dspmqrte without a put")


def _routes(found: list[Operation]) -> Iterator[Record]:
    for at, operation in enumerate(found):
        record = _route(operation, found[at + 1 :])
        if record is not None:
            yield record


def _route(operation: Operation, later: list[Operation]) -> Record | None:
    """Where a put went; a probe that is discarded at a queue was put there. None = it is none."""
    is_put = operation.kind in _PUT
    if not operation.qmgr or not (is_put or operation.kind == "DISCARD"):
        return None
    reason = _reason(operation.feedback)
    put = {
        "qmgr": operation.qmgr,
        "object_type": "TOPIC" if operation.topic else "QUEUE",
        "object_name": operation.topic or operation.queue,
        "put_time": operation.at,
        "message_id": operation.message_id,
        "reason": reason,
        "dest_qmgr": None if reason else operation.remote_qmgr or operation.qmgr,
        **(_onward(operation, later) if _is_remote(operation) else _kept(operation)),
    }
    return Record("observed_routes", put, KIND)


def _is_remote(operation: Operation) -> bool:
    return bool(operation.remote_qmgr) and operation.remote_qmgr != operation.qmgr


def _kept(operation: Operation) -> Document:
    """The way of a put to a queue of its queue manager's own."""
    return {"resolved_object": operation.resolved or None, "channel": None, "xmitq": None}


def _onward(operation: Operation, later: list[Operation]) -> Document:
    """The way of a put that went to another queue manager."""
    left = _left(operation, later)
    return {
        "resolved_object": operation.remote_queue or None,
        "channel": left.channel or None if left else None,
        "xmitq": operation.resolved or None,
    }


def _left(operation: Operation, later: list[Operation]) -> Operation | None:
    """The operation that sent the probe on, before it was put again."""
    for one in later:
        if one.kind in _PUT:
            return None
        if one.kind == "SEND" and (not one.qmgr or one.qmgr == operation.qmgr):
            return one
    return None


def _reason(feedback: str) -> int | None:
    """MQRC_NONE, or what the put ended with; None = a feedback that is no reason."""
    plain = re.sub("[^A-Z0-9]", "", feedback.upper())
    if not plain or plain in _ARRIVED or plain in {"0", "NONE"}:
        return 0
    if plain.isdecimal():
        return int(plain) if int(plain) in _MQRC else None
    return _REASONS.get(plain, _REASONS.get(f"MQRC{plain}"))


def _of_json(one: Document) -> Operation:
    told = one.get("details")
    details: Document = told if isinstance(told, dict) else {}
    milliseconds = one.get("epochMilliSec")
    is_topic = text(details, "objectType") == "topic"
    return Operation(
        kind=text(one, "operation").upper(),
        qmgr=text(details, "localQueueManager", "queueManager"),
        queue=text(details, "objectName", "queue"),
        resolved=text(details, "resolvedQueue"),
        remote_queue=text(details, "remoteQueue"),
        remote_qmgr=text(details, "remoteQueueManager"),
        channel=text(details, "channelName"),
        feedback=str(details.get("feedback", "")),
        at=_since_1970(milliseconds) if milliseconds else None,
        topic=text(details, "topicString") or (text(details, "objectName") if is_topic else ""),
    )


def _asked(asked: dict[str, str], summary: Document, error: object) -> Operation:
    """The put that the command asked for, where no operation shows it."""
    failed = error if isinstance(error, dict) else {}
    hops = summary.get("channelCount", 0)
    final = text(summary, "finalQueueManager")
    return Operation(
        kind="PUT" if final or failed else "",
        qmgr=asked.get("m", ""),
        queue=asked.get("q", ""),
        remote_qmgr=final if isinstance(hops, int) and hops <= 1 else "",
        feedback=str(failed.get("mqrc", "")),
    )


def _since_1970(milliseconds: object) -> datetime:
    try:
        return datetime.fromtimestamp(int(str(milliseconds)) / 1_000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise RecordRefusedError(f"epochMilliSec {milliseconds!r} is no moment") from error


def _dicts(found: object) -> list[Document]:
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


_MEMBERS: Final = {
    "QMgrName": "qmgr",
    "QName": "queue",
    "ResolvedQName": "resolved",
    "RemoteQName": "remote_queue",
    "RemoteQMgrName": "remote_qmgr",
    "ChannelName": "channel",
    "Feedback": "feedback",
    "TopicString": "topic",
}
"""Field of dspmqrte -> of an operation."""


def _of_text(shown: str) -> Iterator[Operation]:
    """The operations that dspmqrte shows; a field stands for itself on a line."""
    begins, told = 0, dict[str, str]()
    for line, words in enumerate(shown.split("\n"), 1):
        found = _FIELD.fullmatch(words)
        if not found:
            continue
        name, value = found[1], (found[2] if found[2] is not None else found[3]).strip()
        if name == "OperationType":
            if begins:
                yield _of_fields(told, begins)
            begins, told = line, {}
        told[name] = value
    if begins:
        yield _of_fields(told, begins)


def _of_fields(told: dict[str, str], line: int) -> Operation:
    members = {_MEMBERS[name]: value for name, value in told.items() if name in _MEMBERS}
    return Operation(
        kind=told["OperationType"].upper(),
        line=line,
        message_id=_identifier(told.get("MsgId", "")),
        at=_moment(told.get("OperationDate", ""), told.get("OperationTime", "")),
        **members,
    )


def _moment(date: str, time: str) -> Moment | None:
    try:
        return local_moment(date, time)
    except RecordRefusedError:
        return None


def _identifier(words: str) -> bytes | None:
    try:
        return bytes.fromhex(words) or None
    except ValueError:
        return None
