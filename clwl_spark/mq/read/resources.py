"""Objects as the administrative REST interface names them: queues, channels, queue managers.

Its attributes are nested and have names of their own; they are turned into those of MQSC.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from clwl_spark.mq.read.records import Attributes, Shown
from clwl_spark.mq.read.values import MESSAGE_CHANNEL_TYPES

_TYPES: Final = {
    "local": "QLOCAL",
    "alias": "QALIAS",
    "remote": "QREMOTE",
    "model": "QMODEL",
    "cluster": "QCLUSTER",
    "queueManagerAlias": "QMGR",
    "sender": "SDR",
    "server": "SVR",
    "clusterSender": "CLUSSDR",
    "clusterReceiver": "CLUSRCVR",
}
_QUEUE: Final = {
    "name": "QUEUE",
    "type": "TYPE",
    "cluster.name": "CLUSTER",
    "cluster.namelist": "CLUSNL",
    "cluster.qmgrName": "CLUSQMGR",
    "cluster.qmgrId": "QMID",
    "cluster.queueType": "CLUSQT",
    "cluster.workloadPriority": "CLWLPRTY",
    "cluster.workloadRank": "CLWLRANK",
    "cluster.workloadQueueUse": "CLWLUSEQ",
    "cluster.transmissionQueueForChannelName": "CLCHNAME",
    "general.inhibitPut": "PUT",
    "general.isTransmissionQueue": "USAGE",
    "applicationDefaults.clusterBind": "DEFBIND",
    "alias.targetName": "TARGET",
    "remote.queueName": "RNAME",
    "remote.qmgrName": "RQMNAME",
    "remote.transmissionQueueName": "XMITQ",
    "timestamps.altered": "ALT",
    "timestamps.clustered": "CLUS",
}
_CHANNEL: Final = {
    "name": "CHANNEL",
    "type": "CHLTYPE",
    **{
        f"{kind}.{name}": keyword
        for kind in ("sender", "server")
        for name, keyword in (("transmissionQueueName", "XMITQ"), ("connection", "CONNAME"))
    },
    **{
        f"{kind}.{name}": keyword
        for kind in ("clusterSender", "clusterReceiver")
        for name, keyword in (
            ("clusterName", "CLUSTER"),
            ("clusterNamelist", "CLUSNL"),
            ("connection", "CONNAME"),
        )
    },
    "clusterRouting.networkPriority": "NETPRTY",
    "clusterRouting.workloadPriority": "CLWLPRTY",
    "clusterRouting.workloadRank": "CLWLRANK",
    "clusterRouting.workloadWeight": "CLWLWGHT",
    "timestamps.altered": "ALT",
}
_SUBSCRIPTION: Final = {
    "name": "SUB",
    "id": "SUBID",
    "resolvedTopicString": "TOPICSTR",
    "topic.string": "TOPICSTR",
    "destination.name": "DEST",
    "destination.qmgrName": "DESTQMGR",
    "general.type": "SUBTYPE",
}
_WORDS: Final = {
    "TYPE": _TYPES,
    "CHLTYPE": _TYPES,
    "CLUSQT": _TYPES,
    "CLWLUSEQ": {"asQmgr": "QMGR"},
    "DEFBIND": {"onOpen": "OPEN", "notFixed": "NOTFIXED", "onGroup": "GROUP"},
    "PUT": {"true": "DISABLED", "false": "ENABLED"},
    "USAGE": {"true": "XMITQ", "false": "NORMAL"},
}
_CHANNELS: Final = frozenset({"CLUSSDR", "CLUSRCVR", *MESSAGE_CHANNEL_TYPES})
"""Types of the channels that give rows."""

_DATES: Final = frozenset({"ALT", "CLUS"})

RESOURCES: Final = {
    "queue": ("queue", _QUEUE),
    "channel": ("channel", _CHANNEL),
    "qmgr": ("qmstatus", {"name": "QMNAME"}),
    "subscription": ("sub", _SUBSCRIPTION),
}
"""Name of a resource's list -> kind of its objects, and path of an attribute -> MQSC keyword."""


def shown_resource(resource: str, item: Mapping[str, object], line: int) -> Iterator[Shown]:
    """Give one resource as displayed objects: its definition, and a channel's status.

    Args:
        resource: `queue`, `channel`, `qmgr` or `subscription`.
        item: the resource as the interface answers it.
        line: where it stands.

    Source: MQ REST API, "Response body attributes" of queues, channels and queue managers.
    """
    kind, names = RESOURCES[resource]
    attributes: Attributes = {}
    for path, value in _leaves(item):
        keyword = names.get(path)
        if keyword in _DATES:
            attributes.update(_stamp(str(keyword), str(value)))
        elif keyword:
            attributes[keyword] = _word(keyword, value)
    if kind != "channel" or attributes.get("CHLTYPE") in _CHANNELS:
        yield Shown(line, kind, attributes)
        yield from _status(item, attributes, line)


def _status(item: Mapping[str, object], channel: Attributes, line: int) -> Iterator[Shown]:
    """The instances of a channel that run."""
    instances = item.get("currentStatus")
    for instance in instances if isinstance(instances, list) else []:
        found = dict(_leaves(instance)) if isinstance(instance, dict) else {}
        state = found.get("state", found.get("general.state", ""))
        partner = found.get("partner.qmgrName", found.get("remoteQmgrName", ""))
        attributes = {key: channel.get(key, "") for key in ("CHANNEL", "CHLTYPE")}
        yield Shown(
            line,
            "status",
            {**attributes, "STATUS": str(state).upper(), "RQMNAME": str(partner).strip()},
        )


def _leaves(item: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Path and value of every attribute, nested ones with a point between the names."""
    for key, value in item.items():
        if isinstance(value, dict) and before.count(".") < 1:
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield before + key, value


def _word(keyword: str, value: object) -> str:
    """A value as MQSC writes it."""
    if isinstance(value, list):
        return ",".join(_connection(part) for part in value)
    text = str(value).strip()
    if isinstance(value, bool):
        text = text.lower()
    words = _WORDS.get(keyword)
    return text if words is None else words.get(text, text.upper())


def _connection(part: object) -> str:
    """One host(port) of a connection name."""
    if not isinstance(part, dict):
        return str(part).strip()
    host, port = str(part.get("host", "")), part.get("port")
    return host if port is None else f"{host}({port})"


def _stamp(prefix: str, value: str) -> Attributes:
    """Date and time of MQSC out of 2026-01-02T03:04:05.000Z."""
    date, _, time = value.partition("T")
    return {f"{prefix}DATE": date, f"{prefix}TIME": time[:8].replace(":", ".")}
