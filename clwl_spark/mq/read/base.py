"""Rows of an earlier state turned back into the definitions that they came of.

Commands of a later text are carried out on these.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.authorities import TABLE, earlier_authorities
from clwl_spark.mq.read.records import Attributes, Definition, TextState
from clwl_spark.mq.read.rows import EVERYONE

Values = Mapping[str, object]

_LISTED: Final = "(clusters of {})"
"""Name of the name list that stands for an object's clusters: no name of MQ's has parentheses."""

_KINDS: Final = {
    "queue_managers": ("qmgr", "qmgr", values.QUEUE_MANAGER),
    "queues": ("queue", "queue", values.QUEUE),
    "cluster_channels": ("channel", "channel", values.CHANNEL),
    "cluster_senders": ("channel", "channel", values.SENDER),
    "topics": ("topic", "topic", values.TOPIC),
    "subscriptions": ("sub", "sub_name", values.SUBSCRIPTION),
    "message_channels": ("channel", "channel", values.MESSAGE_CHANNEL),
}
"""Table -> kind of its objects, the column of their names, and columns -> MQSC keywords."""

_SUBTYPES: Final = {"cluster_channels": "CLUSRCVR", "cluster_senders": "CLUSSDR"}
_DERIVED: Final = frozenset({"suspended", "qmtype"})
"""Columns of a channel that its definition does not set."""


def _rows_before(base: Mapping[str, Iterable[Values]], qmgr: str) -> dict[str, list[Values]]:
    """The definitions of a queue manager among the rows of a state."""
    return {
        table: [
            row
            for row in base.get(table, ())
            if row["qmgr"] == qmgr and row.get("observer", EVERYONE) == EVERYONE
        ]
        for table in _KINDS
    }


def earlier_state(base: Mapping[str, Iterable[Values]], qmgr: str, source: str) -> TextState:
    """Turn the rows of a queue manager back into the definitions that give them.

    Args:
        base: table -> rows of the earlier state; definitions (observer `*`) count.
        qmgr: the queue manager.
        source: name of the text that the definitions seem to come of, at line 0.

    Source: CONTRACT, "What MQ's texts become", 9.
    """
    rows = _rows_before(base, qmgr)
    state = TextState(qmgr, source)
    for table, found in rows.items():
        grouped: dict[str, list[Values]] = {}
        for row in found:
            grouped.setdefault(str(row[_KINDS[table][1]]), []).append(row)
        for name, of_object in grouped.items():
            _define(state, table, name, of_object)
    _restore_memberships(state, rows["cluster_channels"])
    state.authorities.extend(earlier_authorities(base.get(TABLE, ()), qmgr))
    return state


def _define(state: TextState, table: str, name: str, rows: list[Values]) -> None:
    """Add the definition of one object; its clusters become a name list where they are many."""
    kind, _, mapping = _KINDS[table]
    first = rows[0]
    attributes = {
        keyword: _word(column, first[column])
        for column, keyword in mapping.items()
        if first.get(column) is not None and column not in _DERIVED
    }
    clusters = [str(row["cluster"]) for row in rows if row.get("cluster")]
    attributes.update(_clusters(state, f"{kind} {name}", clusters, ("CLUSTER", "CLUSNL")))
    subtype = _SUBTYPES.get(table) or str(first.get("chltype") or first.get("qtype") or "")
    state.objects[kind, name] = Definition(kind, subtype, name, attributes, 0)


def _clusters(
    state: TextState, owner: str, clusters: list[str], keywords: tuple[str, str]
) -> Attributes:
    """CLUSTER or CLUSNL, REPOS or REPOSNL of an object."""
    if not clusters[1:]:
        return dict(zip(keywords, clusters, strict=False))
    name = _LISTED.format(owner)
    names = ",".join(f"'{cluster}'" for cluster in clusters)
    state.objects["namelist", name] = Definition("namelist", "", name, {"NAMES": names}, 0)
    return {keywords[1]: name}


def _word(column: str, value: object) -> str:
    """A column's value as MQ writes it."""
    words = values.WORDS.get(column, {})
    return next((word for word, meant in words.items() if meant == value), str(value))


def _restore_memberships(state: TextState, channels: list[Values]) -> None:
    """What the queue manager's channels tell of it: suspended in, and repository of, clusters."""
    full = sorted({str(row["cluster"]) for row in channels if row.get("qmtype") == "REPOS"})
    key = ("qmgr", state.qmgr)
    old = state.objects.get(key)
    repositories = _clusters(state, "REPOS", full, ("REPOS", "REPOSNL"))
    if old or repositories:
        attributes = {**(old.attributes if old else {}), **repositories}
        implied = old is None
        state.objects[key] = Definition("qmgr", "", state.qmgr, attributes, 0, implied=implied)
    for row in channels:
        if row.get("suspended") is not None:
            state.suspensions["CLUSTER", str(row["cluster"])] = (bool(row["suspended"]), 0)
