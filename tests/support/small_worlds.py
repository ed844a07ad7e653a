"""Hand-made rows for tests of the reference: a test states only what matters.

A definition is a pair (table, row). `tables` puts them into one snapshot, `S1`, unless `at` says
otherwise.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]
Definition = tuple[str, Row]

NOON = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)


def snapshot(name: str, hours: float = 0, status: str = "VALID") -> Definition:
    """A snapshot from so many hours after noon on."""
    start = NOON + timedelta(hours=hours)
    return "snapshots", {"snapshot_id": name, "valid_from": start, "status": status}


def qmgr(name: str, **attributes: Any) -> Definition:
    """A queue manager."""
    return "queue_managers", {"qmgr": name, **attributes}


def rcvr(name: str, cluster: str = "K", channel: str = "", **attributes: Any) -> Definition:
    """A CLUSRCVR, called `TO.<qmgr>` if nothing else is said."""
    row = {"qmgr": name, "channel": channel or f"TO.{name}", "cluster": cluster, **attributes}
    return "cluster_channels", row


def queue(name: str, queue: str, cluster: str = "", **attributes: Any) -> Definition:
    """A QLOCAL, or what `qtype` says."""
    row = {"qmgr": name, "queue": queue, "cluster": cluster, "qtype": "QLOCAL", **attributes}
    return "queues", row


def alias(name: str, queue_name: str, target: str, **attributes: Any) -> Definition:
    """A QALIAS."""
    return queue(name, queue_name, qtype="QALIAS", target=target, **attributes)


def remote(name: str, queue_name: str, rname: str, rqmname: str, **attributes: Any) -> Definition:
    """A QREMOTE; with a blank `rname` a queue manager alias."""
    return queue(name, queue_name, qtype="QREMOTE", rname=rname, rqmname=rqmname, **attributes)


def topic(name: str, topic_name: str, topicstr: str, cluster: str = "K", **more: Any) -> Definition:
    """A topic object."""
    row = {"qmgr": name, "topic": topic_name, "cluster": cluster, "topicstr": topicstr, **more}
    return "topics", row


def proxy(name: str, topicstr: str, dest_qmgr: str, **attributes: Any) -> Definition:
    """A proxy subscription on queue manager `name` for `dest_qmgr`."""
    row = {
        "qmgr": name, "sub_name": f"{dest_qmgr} {topicstr}", "topicstr": topicstr,
        "subtype": "PROXY", "dest_qmgr": dest_qmgr, **attributes,
    }  # fmt: skip
    return "subscriptions", row


def sender(name: str, dest_qmgr: str, status: str, channel: str = "", **more: Any) -> Definition:
    """The status of a CLUSSDR on queue manager `name`."""
    row = {"channel": channel or f"TO.{dest_qmgr}", "chltype": "CLUSSDR", "status": status}
    return "channel_status", {"qmgr": name, "remote_qmgr": dest_qmgr, **row, **more}


def queue_status(name: str, queue: str, **counts: Any) -> Definition:
    """What DISPLAY QSTATUS shows of a queue."""
    return "queue_status", {"qmgr": name, "queue": queue, **counts}


def action(name: str, command: str) -> Definition:
    """A REFRESH or RESET command in a text of queue manager `name`."""
    what = " ".join(command.partition("(")[0].split())
    row = {"command": command, "action": what, "object": "K", "source": f"{name}.mqsc:1"}
    return "actions", {"qmgr": name, **row}


def authority(name: str, profile: str, group: str, words: str, **more: Any) -> Definition:
    """The authority record of a group for queues."""
    row = {"qmgr": name, "profile": profile, "objtype": "QUEUE", "entity": group}
    return "authorities", {**row, "entity_type": "GROUP", "authorities": words, **more}


def message_channel(name: str, channel: str, xmitq: str, **attributes: Any) -> Definition:
    """A sender channel, or what `chltype` says."""
    row = {"qmgr": name, "channel": channel, "chltype": "SDR", "xmitq": xmitq, **attributes}
    return "message_channels", row


def receiver(name: str, from_qmgr: str, status: str, channel: str = "") -> Definition:
    """The status of one instance of a CLUSRCVR on queue manager `name`."""
    row = {"channel": channel or f"TO.{name}", "chltype": "CLUSRCVR", "status": status}
    return "channel_status", {"qmgr": name, "remote_qmgr": from_qmgr, **row}


def at(snapshot_id: str, *definitions: Definition) -> list[Definition]:
    """The same definitions in another snapshot."""
    return [(table, {**row, "snapshot_id": snapshot_id}) for table, row in definitions]


def seen_by(observer: str, *definitions: Definition) -> list[Definition]:
    """The same definitions as one queue manager knows them."""
    return [(table, {**row, "observer": observer}) for table, row in definitions]


def tables(*definitions: Definition) -> dict[str, list[Row]]:
    """Tables of these definitions; without a snapshot among them, `S1` from noon on."""
    names = (
        "snapshots", "queue_managers", "cluster_channels", "channel_status", "queues", "topics",
        "subscriptions",
    )  # fmt: skip
    found: dict[str, list[Row]] = {name: [] for name in names}
    for table, row in definitions:
        found[table].append({"snapshot_id": "S1", "observer": "*", **row})
    if not found["snapshots"]:
        found["snapshots"].append(snapshot("S1")[1])
    return found


def message(name: str, object_name: str, put_seq: int = 1, **attributes: Any) -> Row:
    """A message put `put_seq` seconds after noon, NOT_FIXED."""
    when = NOON + timedelta(seconds=put_seq)
    fixed = {"qmgr": name, "put_seq": put_seq, "message_id": b"%8d" % put_seq, "put_time": when}
    return {**fixed, "object_name": object_name, "bind": "NOT_FIXED", **attributes}


def messages(count: int, name: str, object_name: str, **attributes: Any) -> list[Row]:
    """The first `count` messages of a queue manager."""
    return [message(name, object_name, number, **attributes) for number in range(1, count + 1)]
