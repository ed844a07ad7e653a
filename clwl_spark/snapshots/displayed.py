"""Rows as DISPLAY shows them: what a queue manager sees of others, status, subscriptions."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.display import SECOND_COLUMN
from clwl_spark.mq.read.merge import KEYS
from clwl_spark.snapshots.diff import default_of
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.snapshots.spelling import LeftOut, key_of, left_out_of, shown, stamp_pairs
from clwl_spark.tables import columns as c

Row = Mapping[str, Any]
Pairs = list[tuple[str, str]]

_MARGIN: Final = "   "
_COMMANDS: Final = {
    "cluster_channels": "DISPLAY CLUSQMGR(*) ALL\n",
    "queues": "DISPLAY QCLUSTER(*) ALL\n",
}
_OF_VIEWER: Final = frozenset({"channel_status", "queue_status", "subscriptions"})
"""Tables of which all rows are what one queue manager has."""

_HEADS: Final = {
    "cluster_channels": "AMQ8441I: Display Cluster Queue Manager details.",
    "queues": "AMQ8409I: Display Queue details.",
    "topics": "AMQ8633I: Display topic details.",
    "channel_status": "AMQ8417I: Display Channel Status details.",
    "queue_status": "AMQ8450I: Display queue status details.",
    "subscriptions": "AMQ8096I: IBM MQ subscription inquired.",
}


def displayed(qmgr: str, rows: Mapping[str, Sequence[Row]]) -> tuple[str, list[LeftOut]]:
    """The output of DISPLAY commands on one queue manager.

    Args:
        qmgr: the queue manager.
        rows: by table name, all rows that belong into its texts.

    Returns:
        The output, and each row or attribute that DISPLAY cannot show.
    """
    seen = {table: _seen(table, found, qmgr) for table, found in rows.items()}
    left_out: list[LeftOut] = []
    objects: list[tuple[str, Pairs]] = []
    own = [x for x in rows.get("queue_managers", ()) if x.get(c.OBSERVER) == EVERYBODY]
    objects += _cluster_queue_managers(qmgr, seen, own[0] if own else {}, left_out)
    for table in ("queues", "topics"):
        for row in seen.get(table, []):
            unnamed = row.get(c.QTYPE) == "QREMOTE" and row.get(c.RNAME) is None
            if unnamed and row[c.CLUSTER]:
                why = "read back as the queue's name: DISPLAY does not show it"
                left_out.append(left_out_of(table, row, c.RNAME, why))
            if row[c.CLUSTER]:
                objects.append((table, _cluster_object(table, row)))
            else:
                left_out.append(
                    left_out_of(table, row, "", "DISPLAY shows only what is in a cluster")
                )

    objects += [("channel_status", _status(row)) for row in seen.get("channel_status", [])]
    objects += [("queue_status", _queue_status(row)) for row in seen.get("queue_status", [])]
    objects += [("subscriptions", _subscription(row)) for row in seen.get("subscriptions", [])]
    commands = _commands(seen.get("views", []), {table for table, _ in objects}, left_out)
    lines: list[str] = []
    for table, pairs in objects:
        lines += [commands.pop(table, ""), f"{_HEADS[table]}\n{_columns(pairs)}"]
    return "".join(lines), left_out


def _commands(
    views: Sequence[Row], there: AbstractSet[str], left_out: list[LeftOut]
) -> dict[str, str]:
    """The commands that show a view to be whole, by table; they stand before its first object."""
    commands: dict[str, str] = {}
    for row in views:
        table = row[c.TABLE]
        if row.get(c.WHOLE) and table in _COMMANDS and table in there:
            commands[table] = _COMMANDS[table]
        else:
            why = "only a view with objects of the cluster can be shown to be whole"
            left_out.append(left_out_of("views", row, "", why))
    return commands


def _seen(table: str, rows: Sequence[Row], qmgr: str) -> list[Row]:
    """The rows that no definition says, in the order of their keys."""
    whole = table in _OF_VIEWER
    found = [row for row in rows if whole or row.get(c.OBSERVER) == qmgr]
    if not whole and table in KEYS:
        defined = {_object(table, x): x for x in rows if x.get(c.OBSERVER) == EVERYBODY}
        found = [_said(table, row, defined.get(_object(table, row), {})) for row in found]
    return sorted(found, key=lambda row: key_of(table, row))


def _object(table: str, row: Row) -> tuple[object, ...]:
    """What a row is about, whoever sees it."""
    return tuple(row.get(x) for x in KEYS[table] if x != c.OBSERVER)


def _said(table: str, row: Row, defined: Row) -> Row:
    """A row with MQ's defaults said, where what is left open would be read as it is defined."""
    return {
        x: default_of(table, x) if value is None and defined.get(x) is not None else value
        for x, value in row.items()
    }


def _cluster_queue_managers(
    qmgr: str, seen: Mapping[str, Sequence[Row]], own: Row, left_out: list[LeftOut]
) -> list[tuple[str, Pairs]]:
    """DISPLAY CLUSQMGR: the channels that a queue manager sees, and the identities it knows.

    What it does not show is read as the queue manager's own definition has it, or as MQ's default.
    """
    table = "cluster_channels"
    shown_as: list[tuple[str, Pairs]] = []
    for row in seen.get(table, []):
        deftype = "CLUSRCVR" if row[c.QMGR] == qmgr else "CLUSSDRA"
        head = _clusqmgr(row[c.QMGR], row[c.CHANNEL], row[c.CLUSTER], deftype)
        pairs = [*head, *_attributes(row, values.CHANNEL), *stamp_pairs(row, "CLUS")]
        shown_as.append((table, pairs))
    for row in seen.get("queue_managers", []):
        if not row.get(c.QMID):
            left_out.append(
                left_out_of("queue_managers", row, "", "DISPLAY CLUSQMGR shows the QMID")
            )
            continue
        read = own if row[c.QMGR] == qmgr else {}
        left_out += [
            left_out_of("queue_managers", row, name, "DISPLAY CLUSQMGR does not show it")
            for name in values.QUEUE_MANAGER
            if name != c.QMID and _plain(row, name) != _plain(read, name)
        ]
        # Shown as a manually defined CLUSSDR, since such a one gives no other row.
        head = _clusqmgr(row[c.QMGR], "TO.IT", "CLUSTER", "CLUSSDR")
        pairs = [*head, ("QMID", row[c.QMID]), *stamp_pairs(row, "CLUS")]
        shown_as.append((table, pairs))
    return shown_as


def _plain(row: Row, column: str) -> object:
    """An attribute of a queue manager; null is MQ's default."""
    value = row.get(column)
    return default_of("queue_managers", column) if value is None else value


def _clusqmgr(qmgr: str, channel: str, cluster: str, deftype: str) -> Pairs:
    return [("CLUSQMGR", qmgr), ("CHANNEL", channel), ("CLUSTER", cluster), ("DEFTYPE", deftype)]


def _cluster_object(table: str, row: Row) -> Pairs:
    """A cluster queue or topic."""
    if table == "topics":
        head = [("TOPIC", row[c.TOPIC]), ("TYPE", "CLUSTER")]
        mapping = values.TOPIC
    else:
        head = [("QUEUE", row[c.QUEUE]), *_cluster_type(row)]
        mapping = values.QUEUE
    place = [("CLUSQMGR", row[c.QMGR]), ("CLUSTER", row[c.CLUSTER])]
    return [*head, *place, *_attributes(row, mapping), *stamp_pairs(row, "CLUS")]


def _cluster_type(row: Row) -> Pairs:
    """CLUSQT; a QREMOTE without RNAME is shown as a queue manager alias."""
    qtype = row.get(c.QTYPE)
    if qtype is None:
        return []
    is_alias = qtype == "QREMOTE" and row.get(c.RNAME) == ""
    return [("TYPE", "QCLUSTER"), ("CLUSQT", "QMGR" if is_alias else qtype)]


def _status(row: Row) -> Pairs:
    head = [("CHANNEL", row[c.CHANNEL]), ("CHLTYPE", row[c.CHLTYPE])]
    return [*head, ("RQMNAME", row[c.REMOTE_QMGR]), *_attributes(row, values.STATUS)]


def _queue_status(row: Row) -> Pairs:
    return [("QUEUE", row[c.QUEUE]), ("TYPE", "QUEUE"), *_attributes(row, values.QUEUE_STATUS)]


def _subscription(row: Row) -> Pairs:
    pairs = [("SUB", row[c.SUB_NAME]), *_attributes(row, values.SUBSCRIPTION)]
    return [*pairs, *stamp_pairs(row, "ALT")]


def _attributes(row: Row, mapping: Mapping[str, str]) -> Pairs:
    """The attributes that are known."""
    return [
        (keyword, shown(column, row[column]))
        for column, keyword in mapping.items()
        if row.get(column) is not None
    ]


def _columns(pairs: Sequence[tuple[str, str]]) -> str:
    """Attributes in two columns, as runmqsc prints them; a long one has a line of its own."""
    lines: list[str] = []
    waiting = ""
    for keyword, value in pairs:
        text = f"{keyword}({value or ' '})"
        if waiting and len(text) < SECOND_COLUMN:
            lines.append(f"{_MARGIN}{waiting:<{SECOND_COLUMN}}{text}")
            waiting = ""
            continue
        if waiting:
            lines.append(f"{_MARGIN}{waiting}")
        waiting = text
        if len(text) >= SECOND_COLUMN:
            lines.append(f"{_MARGIN}{text}")
            waiting = ""
    return "".join(f"{line}\n" for line in [*lines, *([f"{_MARGIN}{waiting}"] if waiting else [])])
