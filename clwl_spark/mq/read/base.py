"""MQSC commands applied to rows of an earlier state: what changes, and what is gone.

Rows are turned back into the definitions that they came of, the commands are carried out on
these, and the rows of before and after are compared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.assemble import rows_of
from clwl_spark.mq.read.authorities import TABLE, earlier_authorities
from clwl_spark.mq.read.merge import KEYS
from clwl_spark.mq.read.records import Attributes, Definition, Reject, Row, RowDetail, TextState
from clwl_spark.mq.read.rows import EVERYONE
from clwl_spark.mq.read.scan import scan
from clwl_spark.mq.read.sections import read_sections
from clwl_spark.mq.read.state import gather

Values = Mapping[str, object]
RowKey = tuple[object, ...]

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


@dataclass(frozen=True, slots=True)
class Changes:
    """What commands make of an earlier state.

    Args:
        rows: table -> rows that are new or other than before, each with `source`: the commands'
            file and line where they define the object, else the row's own.
        deleted: table -> keys (columns as in `merge.KEYS`) of rows that are gone.
        rejects: the commands that could not be carried out.
        qmgrs: the queue managers whose commands they were.
    """

    rows: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    deleted: dict[str, list[RowKey]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    qmgrs: tuple[str, ...] = ()
    details: dict[str, list[RowDetail]] = field(default_factory=dict)


def apply_changes(
    base: Mapping[str, Iterable[Values]], text: str, source: str, observer: str | None = None
) -> Changes:
    """Carry out a script on an earlier state of its queue managers.

    Name lists are not part of the state, so ALTER NAMELIST of one that the script does not define
    is a reject; the objects that used it keep their clusters.

    Args:
        base: table -> rows of the earlier state; of them the definitions (observer `*`) of the
            script's queue managers count, other columns and rows are left alone.
        text: commands; DEFINE, ALTER, DELETE, SUSPEND and RESUME QMGR change something.
        source: its name, for `source` and rejects.
        observer: the queue manager of a text that names none.

    Returns:
        Changed and new rows, keys of deleted ones, and rejects.

    Raises:
        IngestError: the text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become", 6.
    """
    sections, rejects = read_sections(list(scan(text)), source, observer)
    names = tuple(dict.fromkeys(section.qmgr for section in sections))
    before = {name: earlier_state(base, name, source) for name in names}
    states, nameless = gather(sections, source, before.values())
    changes = Changes(rejects=[*rejects, *nameless], qmgrs=names)
    for state in states:
        if state.qmgr in before:
            _compare(_rows_before(base, state.qmgr), state, changes)
    return changes


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


def _compare(before: Mapping[str, Iterable[Values]], state: TextState, changes: Changes) -> None:
    """Add the difference of a queue manager's rows before and after."""
    rows, rejects = rows_of([state])
    changes.rejects.extend(rejects)
    gone = {(table, _key(table, row)): row for table, found in before.items() for row in found}
    for row in rows:
        if row.table in _KINDS:
            _add(row, gone.pop((row.table, _key(row.table, row.values)), None), changes)
    for table, key in gone:
        changes.deleted.setdefault(table, []).append(key)


def _add(row: Row, known: Values | None, changes: Changes) -> None:
    """Add a row that is new or other than before."""
    if known is not None and _same(known, row.values):
        return
    place: object = f"{row.file}:{row.line}"
    if known is not None and not row.line:
        place = known.get("source") or place
    changes.rows.setdefault(row.table, []).append({**row.values, "source": place})
    changes.details.setdefault(row.table, []).append(RowDetail(row.known(), row.stamp))


def _key(table: str, row: Values) -> RowKey:
    return tuple(row.get(column, EVERYONE) for column in KEYS[table])


def _same(before: Values, after: Values) -> bool:
    return all(before.get(column) == value for column, value in after.items())
