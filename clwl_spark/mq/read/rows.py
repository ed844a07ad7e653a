"""Definitions of a queue manager's own objects to rows, observer '*'."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.records import Definition, PieceRefusedError, Row

EVERYONE: Final = "*"
"""Observer of definitions: what the full repositories see."""

_BLANK_TOPICS: Final = {"SYSTEM.BASE.TOPIC": "", "SYSTEM.DEFAULT.TOPIC": ""}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a definition refers to, from all texts of its queue manager.

    Args:
        namelists: name list -> its names.
        repositories: clusters that the queue manager is a full repository of; None where no text
            tells it.
        suspended: cluster -> whether the queue manager is suspended in it, where a command says so.
        topics: topic object -> its topic string.
    """

    qmgr: str
    namelists: Mapping[str, list[str]]
    repositories: frozenset[str] | None
    suspended: Mapping[str, bool]
    topics: Mapping[str, str]


def definition_rows(definition: Definition, around: Surroundings, file: str) -> Iterator[Row]:
    """Give the rows of one definition.

    Grain: one row per (object, cluster) for queues and channels, else one per object; none for
    model queues, other channels, and channels in no cluster.

    Raises:
        PieceRefusedError: a value, name or reference that cannot be used.

    Source: CONTRACT, "What MQ's texts become", 1, 4, 5 and 7.
    """
    if definition.implied:
        return
    build = _BUILDERS.get(definition.kind)
    if build is None:
        return
    changed = values.stamp(definition.attributes, "ALT")
    for table, row in build(definition, around):
        shown = _told(definition, table, row, around)
        yield Row(table, row, file, definition.line, changed, definition.shown, shown)


def _told(
    definition: Definition, table: str, row: Mapping[str, object], around: Surroundings
) -> frozenset[str] | None:
    """The columns that a definition tells; None = all, as a DEFINE does.

    That a queue manager is suspended, and what it is a repository of, is not said by the
    definition of its channel.
    """
    if not definition.shown:
        if table != "cluster_channels":
            return None
        columns = set(row)
    else:
        attributes = definition.attributes
        columns = values.told(_MAPPINGS[table], attributes) | values.NAMES
        if attributes.keys() & {"CLUSTER", "CLUSNL"}:
            columns.add("cluster")
        if "TOPICOBJ" in attributes:
            columns.add("topicstr")
    columns -= {"suspended", "qmtype"}
    if row.get("suspended") is not None:
        columns.add("suspended")
    if around.repositories is not None:
        columns.add("qmtype")
    return values.shared(frozenset(columns & row.keys()))


def clusters_of(definition: Definition, around: Surroundings) -> Sequence[str | None]:
    """Clusters of an object, name lists resolved; '' = none, None = DISPLAY did not show it.

    Raises:
        PieceRefusedError: the name list is not known, or both attributes are set.
    """
    cluster = definition.attributes.get("CLUSTER")
    namelist = definition.attributes.get("CLUSNL")
    if cluster is None and namelist is None:
        return [None if definition.shown else ""]
    if not namelist:
        return [cluster or ""]
    if cluster:
        reason = f"CLUSTER({cluster}) and CLUSNL({namelist}) exclude each other"
        raise PieceRefusedError(reason)
    return resolve(namelist, "CLUSNL", around) or [""]


def resolve(namelist: str, keyword: str, around: Surroundings) -> list[str]:
    """Names of a name list.

    Raises:
        PieceRefusedError: no text of the queue manager defines it.
    """
    names = around.namelists.get(namelist)
    if names is None:
        reason = f"{keyword}({namelist}): no text of {around.qmgr} defines this name list"
        raise PieceRefusedError(reason)
    return names


Built = Iterator[tuple[str, dict[str, object]]]


def _queue_manager(definition: Definition, around: Surroundings) -> Built:
    table = "queue_managers"
    keys = {"observer": EVERYONE, "qmgr": around.qmgr}
    yield table, {**keys, **values.convert(table, values.QUEUE_MANAGER, definition.attributes)}


def _queue(definition: Definition, around: Surroundings) -> Built:
    table = "queues"
    if definition.subtype == "QMODEL":
        return
    clusters = clusters_of(definition, around)
    queue = values.name(table, "queue", definition.name)
    own = values.convert(table, values.QUEUE, definition.attributes)
    qtype = values.convert(table, {"qtype": "TYPE"}, {"TYPE": definition.subtype})
    for cluster in clusters:
        if cluster:
            values.name(table, "cluster", cluster)
        keys = {"observer": EVERYONE, "qmgr": around.qmgr, "queue": queue, "cluster": cluster}
        yield table, {**keys, **qtype, **own}


def _channel(definition: Definition, around: Surroundings) -> Built:
    if definition.subtype in values.MESSAGE_CHANNEL_TYPES:
        yield _message_channel(definition, around)
        return
    if definition.subtype == "CLUSRCVR":
        table, mapping = "cluster_channels", values.CHANNEL
    elif definition.subtype == "CLUSSDR":
        table, mapping = "cluster_senders", values.SENDER
    else:
        return
    for cluster in clusters_of(definition, around):
        if not cluster:
            continue
        channel = values.name(table, "channel", definition.name)
        values.name(table, "cluster", cluster)
        keys = {"observer": EVERYONE, "qmgr": around.qmgr, "channel": channel, "cluster": cluster}
        row = {**keys, **values.convert(table, mapping, definition.attributes)}
        if table == "cluster_channels":
            full = cluster in (around.repositories or ())
            row["qmtype"] = "REPOS" if full else "NORMAL"
            row["suspended"] = around.suspended.get(cluster)
        yield table, row


def _message_channel(definition: Definition, around: Surroundings) -> tuple[str, dict[str, object]]:
    """A sender or server channel: it is in no cluster, so it is one row."""
    table = "message_channels"
    channel = values.name(table, "channel", definition.name)
    keys = {"qmgr": around.qmgr, "channel": channel, "chltype": definition.subtype}
    return table, {**keys, **values.convert(table, values.MESSAGE_CHANNEL, definition.attributes)}


def _topic(definition: Definition, around: Surroundings) -> Built:
    table = "topics"
    topic = values.name(table, "topic", definition.name)
    for cluster in clusters_of(definition, around):
        if cluster:
            values.name(table, "cluster", cluster)
        keys = {"observer": EVERYONE, "qmgr": around.qmgr, "topic": topic, "cluster": cluster}
        yield table, {**keys, **values.convert(table, values.TOPIC, definition.attributes)}


def _subscription(definition: Definition, around: Surroundings) -> Built:
    table = "subscriptions"
    row = values.convert(table, values.SUBSCRIPTION, definition.attributes)
    topic = definition.attributes.get("TOPICOBJ")
    if topic:
        string = around.topics.get(topic, _BLANK_TOPICS.get(topic))
        if string is None:
            reason = f"TOPICOBJ({topic}): no text of {around.qmgr} defines this topic"
            raise PieceRefusedError(reason)
        row["topicstr"] = "/".join(part for part in (string, str(row["topicstr"] or "")) if part)
    if row["subtype"] is None and not definition.shown:
        row["subtype"] = "USER"
    yield table, {"qmgr": around.qmgr, "sub_name": definition.name, **row}


_MAPPINGS: Final = {
    "queue_managers": values.QUEUE_MANAGER,
    "queues": values.QUEUE,
    "cluster_channels": values.CHANNEL,
    "cluster_senders": values.SENDER,
    "topics": values.TOPIC,
    "subscriptions": values.SUBSCRIPTION,
    "message_channels": values.MESSAGE_CHANNEL,
}
_BUILDERS: Final = {
    "qmgr": _queue_manager,
    "queue": _queue,
    "channel": _channel,
    "topic": _topic,
    "sub": _subscription,
}
