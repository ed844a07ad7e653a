"""Attribute values as MQ writes them to values of the contract's columns, with MQ's ranges."""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final

from clwl_spark.mq.read.records import Attributes, PieceRefusedError
from clwl_spark.mq.vocabulary import (
    CHANNEL_NAME_LENGTH,
    DEFAULT_MRUC,
    MAX_RANK,
    MAX_WEIGHT,
    NAME_LENGTH,
    STATUS_TIERS,
    ClusterRoute,
    DefaultTransmissionQueue,
    DefBind,
    ProxySub,
    QmType,
    QueueType,
    Reach,
    Usage,
    UseQueue,
    WildcardSchema,
)

BACKLOG: Final = "XQMSGSA"
"""Messages that wait for a channel: a count of a moment, and no state of an object."""

COUNTS: Final = frozenset({"backlog", "curdepth", "ipprocs", "opprocs"})
"""Columns of such counts: of two texts that tell different ones the later text is right."""

_MOST: Final = 10**9 - 1
"""The greatest MAXDEPTH of a queue."""

RANGES: Final = {
    "clwlrank": (0, MAX_RANK),
    "clwlprty": (0, MAX_RANK),
    "netprty": (0, MAX_RANK),
    "clwlwght": (1, MAX_WEIGHT),
    "clwlmruc": (1, DEFAULT_MRUC),
    "backlog": (0, 10**12 - 1),
    "curdepth": (0, _MOST),
    "ipprocs": (0, _MOST),
    "opprocs": (0, _MOST),
}
"""Numeric column -> lowest and highest value that MQ takes."""


def _words(words: type[StrEnum]) -> dict[str, object]:
    return {word.value: word.value for word in words}


_SWITCH: Final[dict[str, object]] = {"ENABLED": True, "DISABLED": False}
_PARENT: Final[dict[str, object]] = {**_SWITCH, "ASPARENT": None}
_REACH: Final[dict[str, object]] = {**_words(Reach), "ASPARENT": None}

WORDS: Final[dict[str, dict[str, object]]] = {
    "qtype": _words(QueueType),
    "clwluseq": _words(UseQueue),
    "defbind": _words(DefBind),
    "usage": _words(Usage),
    "defclxq": _words(DefaultTransmissionQueue),
    "clroute": _words(ClusterRoute),
    "proxysub": _words(ProxySub),
    "qmtype": _words(QmType),
    "status": {status: status for status in STATUS_TIERS},
    "put_enabled": _SWITCH,
    "pub_enabled": _PARENT,
    "sub_enabled": _PARENT,
    "pub_scope": _REACH,
    "sub_scope": _REACH,
    "suspended": {"YES": True, "NO": False},
    "wschema": _words(WildcardSchema),
    "subtype": {"USER": "USER", "ADMIN": "USER", "API": "USER", "PROXY": "PROXY"},
}
"""Column of a few words -> what MQ writes and what the column holds."""

_OWN_WORDS: Final[dict[tuple[str, str], dict[str, object]]] = {
    ("queue_managers", "clwluseq"): {"LOCAL": "LOCAL", "ANY": "ANY"},
    ("subscriptions", "sub_scope"): _words(Reach),
}
"""Table and column that has fewer words than the column has in other tables."""

_NAME: Final = re.compile(r"[A-Za-z0-9._/%]+")
_NUMBER: Final = re.compile(r"\d{1,12}", re.ASCII)

QUEUE: Final = {
    "put_enabled": "PUT",
    "clwlrank": "CLWLRANK",
    "clwlprty": "CLWLPRTY",
    "clwluseq": "CLWLUSEQ",
    "defbind": "DEFBIND",
    "target": "TARGET",
    "rname": "RNAME",
    "rqmname": "RQMNAME",
    "xmitq": "XMITQ",
    "usage": "USAGE",
    "clchname": "CLCHNAME",
    "qsgdisp": "QSGDISP",
}
"""Columns of `queues` behind its keys -> MQSC keywords. The other mappings are alike."""

QUEUE_MANAGER: Final = {
    "qmid": "QMID",
    "clwluseq": "CLWLUSEQ",
    "clwlmruc": "CLWLMRUC",
    "defclxq": "DEFCLXQ",
    "defxmitq": "DEFXMITQ",
    "qsgname": "QSGNAME",
}
CHANNEL: Final = {
    "clwlrank": "CLWLRANK",
    "clwlprty": "CLWLPRTY",
    "clwlwght": "CLWLWGHT",
    "netprty": "NETPRTY",
    "suspended": "SUSPEND",
    "conname": "CONNAME",
    "qmtype": "QMTYPE",
}
SENDER: Final = {key: word for key, word in CHANNEL.items() if key not in ("suspended", "qmtype")}
MESSAGE_CHANNEL: Final = {"xmitq": "XMITQ", "conname": "CONNAME"}
MESSAGE_CHANNEL_TYPES: Final = ("SDR", "SVR")
"""Types of channels in no cluster that take messages from a transmission queue."""
TOPIC: Final = {
    "topicstr": "TOPICSTR",
    "clroute": "CLROUTE",
    "pub_enabled": "PUB",
    "sub_enabled": "SUB",
    "proxysub": "PROXYSUB",
    "pub_scope": "PUBSCOPE",
    "sub_scope": "SUBSCOPE",
}
SUBSCRIPTION: Final = {
    "topicstr": "TOPICSTR",
    "subtype": "SUBTYPE",
    "dest": "DEST",
    "dest_qmgr": "DESTQMGR",
    "wschema": "WSCHEMA",
    "sub_scope": "SUBSCOPE",
}
STATUS: Final = {"status": "STATUS", "xmitq": "XMITQ", "backlog": BACKLOG}
QUEUE_STATUS: Final = {"curdepth": "CURDEPTH", "ipprocs": "IPPROCS", "opprocs": "OPPROCS"}

NAMES: Final = frozenset(
    {"observer", "qmgr", "queue", "qtype", "channel", "topic", "sub_name", "chltype"}
    | {"remote_qmgr"}
)
"""Columns of names and types: no text leaves them out."""

_OTHERS_USED: Final = (
    "ALTDATE ALTTIME CHANNEL CHLTYPE CHSTATUS CLUSDATE CLUSNL CLUSQMGR CLUSQT CLUSTER CLUSTIME"
    " DEFTYPE NAMELIST NAMES QMNAME QUEUE REPOS REPOSNL RQMNAME SAVED SUB SUBID TARGQ TOPIC"
    " TOPICOBJ TYPE"
)
CONVERTED: Final = frozenset[str]().union(
    *(x.values() for x in (QUEUE, QUEUE_MANAGER, CHANNEL, TOPIC, SUBSCRIPTION))
)
"""MQSC keywords of objects that have a column each."""
USED: Final = frozenset(_OTHERS_USED.split()).union(CONVERTED, STATUS.values())
"""The attributes that rows are made of; of a displayed object no other is kept."""


def convert(table: str, mapping: Mapping[str, str], attributes: Attributes) -> dict[str, object]:
    """Convert the attributes that a table has columns for.

    Args:
        table: the table's name, for the reason of a refusal.
        mapping: column -> MQSC keyword.
        attributes: the object's attributes.

    Returns:
        Column -> value; null where the attribute is absent.

    Raises:
        PieceRefusedError: a value that MQ does not have; it names table, column and value.

    Source: CONTRACT, "Topology" (ranges and words).
    """
    return {
        column: _value(table, column, attributes.get(keyword))
        for column, keyword in mapping.items()
    }


@cache
def shared(columns: frozenset[str]) -> frozenset[str]:
    """The same set of columns for all rows that have it: few are different."""
    return columns


def told(mapping: Mapping[str, str], attributes: Attributes) -> set[str]:
    """Columns of which the attributes tell the value, be it blank."""
    return {column for column, keyword in mapping.items() if keyword in attributes}


def name(table: str, column: str, value: str) -> str:
    """Check a name that is part of a key: not empty, not too long, of MQ's letters alone.

    Raises:
        PieceRefusedError: the name cannot be one of MQ's; it names table, column and value.
    """
    longest = CHANNEL_NAME_LENGTH if column == "channel" else NAME_LENGTH
    if len(value) > longest or not _NAME.fullmatch(value):
        reason = (
            f"{table}.{column}: '{value}' is not a name of 1 to {longest} letters, digits and ./_%"
        )
        raise PieceRefusedError(reason)
    return value


def stamp(attributes: Attributes, *keywords: str) -> str:
    """Give "date time" of the first pair of keywords that is there, else ''."""
    for prefix in keywords:
        date = attributes.get(f"{prefix}DATE", "")
        if date:
            return f"{date} {attributes.get(f'{prefix}TIME', '')}".strip()
    return ""


def is_count(value: str) -> bool:
    """True where a value is a number that a count can be; a blank one is not known."""
    return not value or bool(_NUMBER.fullmatch(value))


def _value(table: str, column: str, value: str | None) -> object:
    """One attribute as the column's value."""
    if value is None:
        return None
    if column in RANGES:
        return _number(table, column, value)
    words = _OWN_WORDS.get((table, column)) or WORDS.get(column)
    if words is None:
        return value
    word = value.upper()
    if word and word not in words:
        reason = f"{table}.{column}: '{value}' is not one of {', '.join(words)}"
        raise PieceRefusedError(reason)
    return words[word] if word else None


def _number(table: str, column: str, value: str) -> int | None:
    """A number within MQ's range."""
    if not value:
        return None
    low, high = RANGES[column]
    number = int(value) if _NUMBER.fullmatch(value) else low - 1
    if not low <= number <= high:
        reason = f"{table}.{column}: '{value}' is not in {low} to {high}"
        raise PieceRefusedError(reason)
    return number
