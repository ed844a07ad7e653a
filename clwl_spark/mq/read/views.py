"""Objects of the cluster as one queue manager sees them, and its channels' status, to rows."""

from collections.abc import Iterator, Mapping
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.records import Attributes, PieceRefusedError, Row, Shown

Built = Iterator[tuple[str, dict[str, object]]]

CLUSTER_CHANNELS: Final = frozenset({"CLUSSDR", "CLUSRCVR"})

_UNKNOWN_QMGR: Final = "SYSTEM.TEMPQMGR."
"""MQ's placeholder until a manually defined CLUSSDR has reached its queue manager."""

_OF_A_MOMENT: Final = frozenset({"channel_status", "queue_status"})
"""Tables of what is so at one moment: nothing of it is altered, and a blank is not known."""


def view_rows(shown: Shown, viewer: str, file: str) -> Iterator[Row]:
    """Give the rows of one displayed object.

    Grain: one row per (object, cluster) and table; a CLUSQMGR gives up to three rows.

    Raises:
        PieceRefusedError: a value or name that cannot be used; then none of its rows is.

    Source: CONTRACT, "What MQ's texts become", 1-3.
    """
    changed = values.stamp(shown.attributes, "CLUS", "ALT")
    for table, row in _BUILDERS[shown.kind](shown.attributes, viewer):
        stamp = "" if table in _OF_A_MOMENT else changed
        told = _told(table, row, shown.attributes)
        yield Row(table, row, file, shown.line, stamp, partial=True, shown=told)


def _told(table: str, row: Mapping[str, object], attributes: Attributes) -> frozenset[str]:
    """The columns that a display tells."""
    columns = {"cluster"} | values.NAMES | values.told(_MAPPINGS[table], attributes)
    if table in _OF_A_MOMENT:
        columns -= {column for column, value in row.items() if value is None}
    elif row.get("rname") is not None:
        columns.add("rname")
    return values.shared(frozenset(columns & row.keys()))


def _cluster_queue_manager(attributes: Attributes, viewer: str) -> Built:
    qmgr = attributes.get("CLUSQMGR", "")
    if qmgr.startswith(_UNKNOWN_QMGR):
        yield from _unknown_queue_manager(attributes, viewer)
        return
    table = "cluster_channels"
    keys: dict[str, object] = {
        "observer": viewer,
        "qmgr": values.name(table, "qmgr", qmgr),
        "channel": values.name(table, "channel", attributes.get("CHANNEL", "")),
        "cluster": values.name(table, "cluster", attributes.get("CLUSTER", "")),
    }
    manual = attributes.get("DEFTYPE") == "CLUSSDR"
    channel = values.convert(table, values.CHANNEL, attributes)
    status = _status(attributes)
    if not manual:
        yield table, {**keys, **channel}
    if attributes.get("QMID"):
        identity = values.convert(
            "queue_managers", values.QUEUE_MANAGER, {"QMID": attributes["QMID"]}
        )
        yield "queue_managers", {"observer": viewer, "qmgr": qmgr, **identity}
    remote = attributes.get("DEFTYPE") != "CLUSRCVR" and qmgr != viewer
    if remote and status["status"]:
        yield (
            "channel_status",
            {
                "qmgr": viewer,
                "channel": keys["channel"],
                "chltype": "CLUSSDR",
                "remote_qmgr": qmgr,
                **status,
            },
        )


def _unknown_queue_manager(attributes: Attributes, viewer: str) -> Built:
    """A CLUSSDR that has never reached its queue manager: its status tells of it."""
    table = "channel_status"
    status = _status(attributes)
    if status["status"]:
        channel = values.name(table, "channel", attributes.get("CHANNEL", ""))
        keys = {"qmgr": viewer, "channel": channel, "chltype": "CLUSSDR"}
        yield table, {**keys, "remote_qmgr": attributes["CLUSQMGR"], **status}


def _status(attributes: Attributes) -> dict[str, object]:
    """Status, transmission queue and backlog; a blank one is not known rather than none."""
    row = values.convert("channel_status", values.STATUS, attributes)
    return {column: None if value == "" else value for column, value in row.items()}


def _channel_status(attributes: Attributes, viewer: str) -> Built:
    if attributes.get("CHLTYPE") not in CLUSTER_CHANNELS or "SAVED" in attributes:
        # Saved status tells of an instance that no longer runs.
        return
    table = "channel_status"
    channel = attributes.get("CHANNEL") or attributes.get("CHSTATUS", "")
    row = _status(attributes)
    if attributes["CHLTYPE"] == "CLUSRCVR":
        row["xmitq"] = row["backlog"] = None
    yield (
        table,
        {
            "qmgr": viewer,
            "channel": values.name(table, "channel", channel),
            "chltype": attributes["CHLTYPE"],
            "remote_qmgr": attributes.get("RQMNAME", ""),
            **row,
        },
    )


def _cluster_queue(attributes: Attributes, viewer: str) -> Built:
    table = "queues"
    qtype = attributes.get("CLUSQT") or attributes.get("TYPE", "").replace("QCLUSTER", "")
    row = values.convert(table, values.QUEUE, attributes)
    queue = values.name(table, "queue", attributes.get("QUEUE", ""))
    if qtype == "QMGR":
        qtype, row["rname"] = "QREMOTE", ""
    elif qtype == "QREMOTE" and not row["rname"]:
        # DISPLAY does not show it, and a blank one would make a queue manager alias of it.
        row["rname"] = queue
    yield (
        table,
        {
            "observer": viewer,
            "qmgr": values.name(table, "qmgr", attributes["CLUSQMGR"]),
            "queue": queue,
            "cluster": values.name(table, "cluster", attributes.get("CLUSTER", "")),
            **values.convert(table, {"qtype": "TYPE"}, {"TYPE": qtype}),
            **row,
        },
    )


def _queue_status(attributes: Attributes, viewer: str) -> Built:
    table = "queue_status"
    name = attributes.get("QUEUE") or attributes.get("QSTATUS", "")
    keys = {"qmgr": viewer, "queue": values.name(table, "queue", name)}
    yield table, {**keys, **values.convert(table, values.QUEUE_STATUS, attributes)}


def _cluster_topic(attributes: Attributes, viewer: str) -> Built:
    table = "topics"
    yield (
        table,
        {
            "observer": viewer,
            "qmgr": values.name(table, "qmgr", attributes["CLUSQMGR"]),
            "topic": values.name(table, "topic", attributes.get("TOPIC", "")),
            "cluster": values.name(table, "cluster", attributes.get("CLUSTER", "")),
            **values.convert(table, values.TOPIC, attributes),
        },
    )


def _nothing(attributes: Attributes, _viewer: str) -> Built:
    reason = f"an object of {attributes['CLUSQMGR']} that is neither queue nor topic"
    raise PieceRefusedError(reason)


_MAPPINGS: Final = {
    "queue_managers": {"qmid": "QMID"},
    "cluster_channels": values.CHANNEL,
    "channel_status": values.STATUS,
    "queues": values.QUEUE,
    "queue_status": values.QUEUE_STATUS,
    "topics": values.TOPIC,
}
_BUILDERS: Final = {
    "clusqmgr": _cluster_queue_manager,
    "status": _channel_status,
    "queue": _cluster_queue,
    "qstatus": _queue_status,
    "topic": _cluster_topic,
    "qmgr": _nothing,
    "channel": _nothing,
    "namelist": _nothing,
    "sub": _nothing,
    "": _nothing,
}
