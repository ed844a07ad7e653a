"""Configuration events: what an object is after it was created or changed, and that it was deleted.

Attributes become columns of the topology; what an event does not tell is left out. The image before
a change gives nothing: the snapshot has it.

Source: IBM MQ, "Configuration events" (Create, Change, Delete, Refresh object), as amqsevt names
their fields: the constant's words without its prefix, Q spelled out, in camel case. Of queues there
was a capture; of channels and queue managers the rule is that of amqsevt's published source.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from clwl_spark.mq.traffic.records import Document, RecordRefusedError, text

CREATED: Final = "CREATED"
CHANGED: Final = "CHANGED"
DELETED: Final = "DELETED"
CHANGES: Final[Mapping[int, str]] = {2367: CREATED, 2368: CHANGED, 2369: DELETED, 2370: CHANGED}
"""Reason of the event -> what became of the object."""

QUEUE: Final = "QUEUE"
CHANNEL: Final = "CHANNEL"
QMGR: Final = "QMGR"
_BEFORE: Final = "BEFORE CHANGE"
_QUEUE_TYPES: Final = {"LOCAL": "QLOCAL", "ALIAS": "QALIAS", "REMOTE": "QREMOTE"}
_USES: Final = {"USEQ AS QUEUE MGR": "QMGR", "USEQ LOCAL": "LOCAL", "USEQ ANY": "ANY"}
_WORDS: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "inhibitPut": ("put_enabled", {"PUT ALLOWED": True, "PUT INHIBITED": False}),
    "clwlUseq": ("clwluseq", _USES),
    "defBind": (
        "defbind",
        {"BIND ON OPEN": "OPEN", "BIND NOT FIXED": "NOTFIXED", "BIND ON GROUP": "GROUP"},
    ),
    "usage": ("usage", {"NORMAL": "NORMAL", "TRANSMISSION": "XMITQ"}),
    "queueType": ("qtype", _QUEUE_TYPES),
    "defClusterXmitQueueType": ("defclxq", {"SCTQ": "SCTQ", "CHANNEL": "CHANNEL"}),
}
"""Field -> column, and its values by their words."""
_NUMBERS: Final[Mapping[str, str]] = {
    "clwlQueueRank": "clwlrank", "clwlQueuePriority": "clwlprty", "clwlChannelRank": "clwlrank",
    "clwlChannelPriority": "clwlprty", "clwlChannelWeight": "clwlwght",
    "networkPriority": "netprty", "clwlMruChannels": "clwlmruc",
}  # fmt: skip
_NAMES: Final[Mapping[str, str]] = {
    "clusterName": "cluster", "clusChlName": "clchname", "baseObjectName": "target",
    "baseQueueName": "target", "remoteQueueName": "rname", "remoteQueueMgrName": "rqmname",
    "xmitQueueName": "xmitq", "connectionName": "conname", "defXmitQueueName": "defxmitq",
}  # fmt: skip


def configured(reason: int, document: Document, data: Document) -> Iterator[Document]:
    """The object of an event: object_type, object_name, change and attributes; none of no use.

    Raises:
        RecordRefusedError: it says something that cannot be used.
    """
    change = CHANGES.get(reason)
    if change is None:
        raise RecordRefusedError(f"{reason} is no reason of a configuration event that is known")
    if text(document, "objectState").upper() == _BEFORE:
        return
    kind = text(data, "objectType").upper().replace(" ", "")
    if kind == "QUEUE" and text(data, "queueType").upper() in _QUEUE_TYPES:
        yield _object(QUEUE, _named(data, "queueName"), change, data)
    elif kind == "CHANNEL" and _is_receiver(text(data, "channelType")):
        yield _object(CHANNEL, _named(data, "channelName"), change, data)
    elif kind in ("QUEUEMGR", "QUEUEMANAGER"):
        yield _object(QMGR, "", change, data)


def _object(kind: str, name: str, change: str, data: Document) -> Document:
    told = {} if change == DELETED else dict(_attributes(data))
    return {"object_type": kind, "object_name": name, "change": change, "attributes": told}


def _attributes(data: Document) -> Iterator[tuple[str, Any]]:
    if text(data, "clusterNamelist"):
        raise RecordRefusedError(
            "it names a namelist of clusters, which it does not tell: ingest the object as it is"
        )
    for field, (column, words) in _WORDS.items():
        word = text(data, field).upper()
        if word and word not in words:
            raise RecordRefusedError(f"{field} {word!r} is none of {', '.join(words)}")
        if word:
            yield column, words[word]
    for field, column in _NUMBERS.items():
        if isinstance(data.get(field), int):
            yield column, data[field]
    for field, column in _NAMES.items():
        if isinstance(data.get(field), str):
            yield column, data[field].rstrip()


def _named(data: Document, field: str) -> str:
    found = text(data, field)
    if not found:
        raise RecordRefusedError(f"it has no {field}")
    return found


def _is_receiver(words: str) -> bool:
    return words.upper().replace(" ", "") in ("CLUSRCVR", "CLUSTERRCVR", "CLUSTERRECEIVER")
