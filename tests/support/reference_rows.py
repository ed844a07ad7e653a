"""Rows of the topology as the plain reference router takes them: MQ's defaults in place of nulls.

Columns are those of CONTRACT.md. `reference_views` says which of the rows a queue manager sees.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

Row = dict[str, Any]
Tables = Mapping[str, Iterable[Mapping[str, Any]]]

TABLES: Final = (
    "snapshots", "queue_managers", "cluster_channels", "channel_status", "queues", "topics",
    "subscriptions", "views",
)  # fmt: skip
DEFAULTS: Final[dict[str, Row]] = {
    "snapshots": {},
    "queue_managers": {
        "clwluseq": "LOCAL", "clwlmruc": 999_999_999, "defclxq": "SCTQ", "defxmitq": "",
    },
    "cluster_channels": {
        "cluster": "", "clwlrank": 0, "clwlprty": 0, "clwlwght": 50, "netprty": 0,
        "suspended": False, "qmtype": "NORMAL",
    },
    "channel_status": {
        "remote_qmgr": "", "status": "INACTIVE", "xmitq": "", "backlog": None,
    },
    "queues": {
        "cluster": "", "put_enabled": True, "clwlrank": 0, "clwlprty": 0, "clwluseq": "QMGR",
        "defbind": "OPEN", "target": "", "rname": "", "rqmname": "", "xmitq": "",
        "usage": "NORMAL", "clchname": "",
    },
    "topics": {
        "cluster": "", "topicstr": "", "clroute": "DIRECT", "pub_enabled": True,
        "proxysub": "FIRSTUSE", "pub_scope": None, "sub_scope": None,
    },
    "subscriptions": {
        "topicstr": "", "subtype": "USER", "dest_qmgr": "", "wschema": "TOPIC", "sub_scope": None,
    },
    "views": {"whole": False},
}  # fmt: skip
STATUS_TIERS: Final[dict[str, int]] = {
    "INACTIVE": 1, "RUNNING": 1,
    "BINDING": 2, "INITIALIZING": 2, "STARTING": 2, "STOPPING": 2,
    "RETRYING": 3,
    "REQUESTING": 4, "PAUSED": 4, "STOPPED": 4, "SWITCHING": 4,
}  # fmt: skip


def with_defaults(table: str, row: Mapping[str, Any]) -> Row:
    """The row with MQ's default in place of every null or missing attribute."""
    filled = dict(row)
    for column, default in DEFAULTS[table].items():
        if filled.get(column) is None:
            filled[column] = default
    return filled


def is_queue_manager_alias(queue: Row) -> bool:
    """True for a QREMOTE without a remote queue name (P5)."""
    return bool(queue["qtype"] == "QREMOTE" and queue["rname"] == "")


def matches_topic(subscription: Row, topic_string: str) -> bool:
    """True where a subscription's string takes the publication (P19)."""
    pattern = subscription["topicstr"]
    if subscription["wschema"] == "CHAR":
        return _matches_characters(pattern, topic_string)
    return _matches_levels(pattern.split("/"), topic_string.split("/"))


def _matches_characters(pattern: str, topic_string: str) -> bool:
    """Match character by character: `*` is any run of them, also none, `?` is one."""
    if not pattern:
        return not topic_string
    if pattern[0] == "*":
        rests = (topic_string[n:] for n in range(len(topic_string) + 1))
        return any(_matches_characters(pattern[1:], rest) for rest in rests)
    if not topic_string or pattern[0] not in ("?", topic_string[0]):
        return False
    return _matches_characters(pattern[1:], topic_string[1:])


def _matches_levels(pattern: list[str], levels: list[str]) -> bool:
    """Match level by level: `+` is one level, `#` any number, also none."""
    if not pattern:
        return not levels
    if pattern[0] == "#":
        return any(_matches_levels(pattern[1:], levels[n:]) for n in range(len(levels) + 1))
    if not levels or pattern[0] not in ("+", levels[0]):
        return False
    return _matches_levels(pattern[1:], levels[1:])
