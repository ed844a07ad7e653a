"""Rows of many texts to one row per table key."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from clwl_spark.mq.read.records import SHOWN_TEXT, Reject, Row
from clwl_spark.mq.read.values import COUNTS
from clwl_spark.mq.vocabulary import DEFAULT_MRUC, DEFAULT_STATUS, DEFAULT_WEIGHT, STATUS_TIERS

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "queue_managers": ("observer", "qmgr"),
    "cluster_channels": ("observer", "qmgr", "channel", "cluster"),
    "channel_status": ("qmgr", "channel", "chltype", "remote_qmgr"),
    "queues": ("observer", "qmgr", "queue", "cluster"),
    "topics": ("observer", "qmgr", "topic", "cluster"),
    "subscriptions": ("qmgr", "sub_name"),
    "views": ("observer", "table"),
    "cluster_senders": ("observer", "qmgr", "channel", "cluster"),
    "queue_status": ("qmgr", "queue"),
    "authorities": ("qmgr", "profile", "objtype", "entity_type", "entity"),
    "message_channels": ("qmgr", "channel"),
    "actions": ("qmgr", "command"),
}
"""Table -> its key; the tables of a `Reading`."""

_DEFAULTS: Final[dict[str, object]] = {
    "clwlmruc": DEFAULT_MRUC,
    "clwlrank": 0,
    "clwlprty": 0,
    "netprty": 0,
    "clwlwght": DEFAULT_WEIGHT,
    "put_enabled": True,
    "suspended": False,
    "defbind": "OPEN",
    "defclxq": "SCTQ",
    "usage": "NORMAL",
    "clroute": "DIRECT",
    "proxysub": "FIRSTUSE",
    "qsgdisp": "QMGR",
}

Key = tuple[object, ...]


def merge(rows: Iterable[Row]) -> tuple[list[Row], list[Reject]]:
    """Keep one row per table key.

    Rows that do not contradict one another become one; of others the one changed last, where MQ
    tells both times; else the later row is a reject that names both places.

    Grain: any number of rows per key, before; one row per (table, key), after.

    Source: CONTRACT, "What MQ's texts become", 8 and 9.
    """
    rejects: list[Reject] = []
    kept = [_settled(of_key, rejects) for of_key in _by_key(rows)]
    return kept, rejects


def _by_key(rows: Iterable[Row]) -> Iterable[list[Row]]:
    """The rows of each key, in the order of the texts.

    A row whose display left the cluster out is with each of the object's rows, else unshared.
    """
    keys: dict[Key, list[Row]] = {}
    waiting: list[Row] = []
    for row in rows:
        if row.partial and row.values.get("cluster", "") is None:
            waiting.append(row)
        else:
            keys.setdefault(_key(row), []).append(row)
    of_object: dict[Key, list[Key]] = {}
    for key in keys:
        of_object.setdefault(key[:4], []).append(key)
    for row in waiting:
        for key in of_object.get(_key(row)[:4], [(*_key(row)[:4], "")]):
            placed = replace(row, values={**row.values, "cluster": key[4]})
            keys.setdefault(key, []).append(placed)
    return keys.values()


def _key(row: Row) -> Key:
    return (row.table, *(row.values[column] for column in KEYS[row.table]))


def _settled(rows: list[Row], rejects: list[Reject]) -> Row:
    """One row of those of a key; what contradicts it becomes a reject.

    Rows whose times MQ tells are settled among themselves first, from the oldest on, so that
    neither the order of the texts nor a row without a time between them decides which one counts.
    """
    dated = [row for row in rows if row.stamp]
    if len(dated) > 1:
        dated.sort(key=lambda row: row.stamp)
        first = next(place for place, row in enumerate(rows) if row.stamp)
        undated = [row for row in rows[first:] if not row.stamp]
        rows = [*rows[:first], _folded(dated, rejects), *undated]
    return _folded(rows, rejects)


def _folded(rows: list[Row], rejects: list[Reject]) -> Row:
    kept, *others = rows
    for row in others:
        kept = _joined(kept, row, rejects)
    return kept


def _joined(old: Row, row: Row, rejects: list[Reject]) -> Row:
    """What is known by two rows of a key."""
    column = _contradiction(old, row)
    if not column:
        return _counted(_filled(old, row), row)
    if old.stamp and row.stamp and old.stamp != row.stamp:
        newer, older = (row, old) if row.stamp > old.stamp else (old, row)
        return newer if newer.known() is None else _updated(newer, older)
    if row.values.get("chltype") == "CLUSRCVR":
        return min(old, row, key=_tier)
    rejects.append(_conflict(old, row, column))
    return old


def _contradiction(old: Row, new: Row) -> str:
    """The first column in which the rows cannot both be right, else ''."""
    for column, left in old.values.items():
        right = new.values[column]
        if column in COUNTS or left == right or not (old.knows(column) and new.knows(column)):
            continue
        if _plain(old.values, column) != _plain(new.values, column):
            return column
    return ""


def _plain(values: Mapping[str, object], column: str) -> object:
    """A column's value with MQ's default in place of null and blank."""
    value = values[column]
    if value is not None and value != "":
        return value
    if column == "clwluseq":
        return "QMGR" if "queue" in values else "LOCAL"
    return _DEFAULTS.get(column, "")


def _filled(row: Row, other: Row) -> Row:
    """The row with what it does not know, or leaves null, taken from the other one."""
    values = {
        column: value
        if (value is not None and row.knows(column)) or not other.knows(column)
        else other.values[column]
        for column, value in row.values.items()
    }
    own, more = row.known(), other.known()
    shown = None if own is None or more is None else own | more
    stamp = max(row.stamp, other.stamp)
    partial = row.partial and other.partial
    return replace(row, values=values, stamp=stamp, partial=partial, shown=shown)


def _counted(row: Row, later: Row) -> Row:
    """The row with the later counts: what waits for a channel changes from moment to moment."""
    told = {x: y for x, y in later.values.items() if x in COUNTS and y is not None}
    return replace(row, values={**row.values, **told}) if told else row


def _updated(newer: Row, older: Row) -> Row:
    """The older row with what the newer one tells."""
    told = {column: value for column, value in newer.values.items() if newer.knows(column)}
    return replace(_filled(newer, older), values={**older.values, **told})


def _tier(row: Row) -> int:
    """Several instances of a receiving channel: the best one counts (SEMANTICS 3)."""
    return STATUS_TIERS[str(row.values["status"] or DEFAULT_STATUS)]


def _conflict(old: Row, new: Row, column: str) -> Reject:
    """The reject of a row that contradicts an earlier one."""
    key = ", ".join(str(new.values[part]) for part in KEYS[new.table])
    reason = (
        f"{new.table} ({key}): {column} is {new.values[column]!r} at {new.file}:{new.line} and "
        f"{old.values[column]!r} at {old.file}:{old.line}, and no ALTDATE tells which is newer"
    )
    return Reject(new.file, new.line, key[:SHOWN_TEXT], reason)
