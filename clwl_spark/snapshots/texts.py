"""Rows of a snapshot as the texts of one queue manager, which `clwl ingest` reads back.

What observer '*' sees are definitions, in the form of dmpmqcfg; what the queue manager itself sees
of others, its channels' status and its subscriptions are in the form of DISPLAY, since no
definition can say them. The whole is pure Python: rows in, texts out.

Source: CONTRACT, "What MQ's texts become", read backwards.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.keywords import DEFINED
from clwl_spark.snapshots.diff import default_of
from clwl_spark.snapshots.displayed import displayed
from clwl_spark.snapshots.spelling import LeftOut, key_of, left_out_of, spelled, stamp_pairs
from clwl_spark.tables import columns as c

Row = Mapping[str, Any]

_NAME: Final = re.compile(r"[A-Za-z0-9._/%]{1,48}")
_EVERYONE: Final = "*"
_LINE: Final = "*" * 80
_NAMELIST: Final = "CLUSTERS.{}"
_PLACES: Final = frozenset({c.SOURCE, c.SNAPSHOT_ID})
_BETWEEN: Final = " +\n       "


@dataclass(slots=True)
class _Part:
    """One text while it is made: an object can be defined once in it."""

    commands: list[str] = field(default_factory=list)
    defined: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class _Texts:
    """The texts of one queue manager while they are made."""

    qmgr: str
    parts: list[_Part] = field(default_factory=lambda: [_Part()])
    namelists: dict[tuple[str, ...], str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def namelist(self, names: Sequence[str]) -> str:
        """The name list of these names, defined where it is new."""
        key = tuple(names)
        if key not in self.namelists:
            self.namelists[key] = _NAMELIST.format(len(self.namelists) + 1)
            quoted = ",".join(spelled(name) for name in names)
            name = spelled(self.namelists[key])
            self.parts[0].commands.append(f"DEFINE NAMELIST({name}) NAMES({quoted}) REPLACE")
        return self.namelists[key]

    def define(self, kind: str, name: str, command: str) -> None:
        """Add a definition to the first text that does not define the object yet."""
        for part in self.parts:
            if (kind, name) not in part.defined:
                break
        else:
            part = _Part()
            self.parts.append(part)
        part.defined.add((kind, name))
        part.commands.append(command)


def texts_of(qmgr: str, rows: Mapping[str, Sequence[Row]]) -> tuple[list[str], list[LeftOut]]:
    """The texts of one queue manager, and what they cannot say.

    One text is enough where every object has one definition; rows of one object that differ in
    more than the cluster, which MQ cannot have, take another text each.

    Args:
        qmgr: the queue manager.
        rows: by table name, those that it is the `owned.owner` of; null attributes may be absent.

    Returns:
        The texts, and each row or attribute that is not in them.
    """
    if not _NAME.fullmatch(qmgr):
        why = f"'{qmgr}' is no name that a text can give"
        return [], [
            left_out_of(table, row, "", why) for table, found in rows.items() for row in found
        ]
    texts = _Texts(qmgr)
    own = {table: _ordered(table, found) for table, found in rows.items()}
    _queue_manager(texts, own)
    _channels(texts, own.get("cluster_channels", []))
    for row in own.get("cluster_senders", []):
        texts.define("channel", row[c.CHANNEL], _channel("CLUSSDR", row, row[c.CLUSTER], ""))
    for row in own.get("message_channels", []):
        texts.define("channel", row[c.CHANNEL], _message_channel(row))
    _several(texts, "queues", own)
    _several(texts, "topics", own)
    texts.parts[0].commands += [_authority(row) for row in own.get("authorities", [])]
    shown, left_out = displayed(qmgr, rows)
    head = f"{_LINE}\n* Queue manager name: {qmgr}\n{_LINE}\n"
    made = ["".join(f"{x}\n" for x in part.commands) for part in texts.parts]
    made[0] += shown
    return [f"{head}{text}" for text in made if text], [*texts.left_out, *left_out]


def _ordered(table: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of everybody's view, in the order of their keys."""
    own = (row for row in rows if row.get(c.OBSERVER, _EVERYONE) == _EVERYONE)
    return sorted(own, key=lambda row: key_of(table, row))


def _command(start: str, row: Row, mapping: Mapping[str, str], more: Sequence[str] = ()) -> str:
    """A command with a row's attributes, and in comments when it was altered."""
    notes = [f"\n*  {name}({value})" for name, value in stamp_pairs(row, "ALT")]
    if row.get(c.QMID):
        notes.append(f"\n*  QMID({row[c.QMID]})")
    pairs = [
        f"{keyword}({spelled(row[column])})"
        for column, keyword in mapping.items()
        if row.get(column) is not None and column != c.QMID
    ]
    told = [*pairs, *more]
    if not notes:
        return _BETWEEN.join([start, *told])
    # A comment has to be within the command, so something has to follow it.
    return " +".join([start, *notes, "\n       " + (_BETWEEN.join(told) or ";")])


def _queue_manager(texts: _Texts, own: Mapping[str, Sequence[Row]]) -> None:
    """ALTER QMGR with the clusters that it is a full repository of, SUSPEND and RESUME."""
    channels = own.get("cluster_channels", [])
    clusters = sorted({row[c.CLUSTER] for row in channels if row.get(c.QMTYPE) == "REPOS"})
    found = own.get("queue_managers", [])
    more = []
    if len(clusters) > 1:
        more = [f"REPOSNL({spelled(texts.namelist(clusters))})"]
    elif clusters:
        more = [f"REPOS({spelled(clusters[0])})"]
    if clusters and not found:
        row = {c.OBSERVER: _EVERYONE, c.QMGR: texts.qmgr}
        why = f"added by the text, since it has to say REPOS({clusters[0]})"
        texts.left_out.append(left_out_of("queue_managers", row, "", why))
    if found or clusters:
        row_of = found[0] if found else {}
        texts.parts[0].commands.append(_command("ALTER QMGR", row_of, values.QUEUE_MANAGER, more))


def _channels(texts: _Texts, rows: Sequence[Row]) -> None:
    """CLUSRCVRs; what is said of the queue manager in a cluster is the same for all of them."""
    _memberships(texts, rows)
    unlike = _PLACES | {c.CLUSTER, c.SUSPENDED, c.QMTYPE}
    for rows_alike in _alike(rows, c.CHANNEL, unlike):
        row = rows_alike[0]
        clusters = [x[c.CLUSTER] for x in rows_alike]
        if clusters == [""]:
            why = "a CLUSRCVR in no cluster"
            texts.left_out.append(left_out_of("cluster_channels", row, "", why))
            continue
        namelist = texts.namelist(clusters) if len(clusters) > 1 else ""
        command = _channel("CLUSRCVR", row, clusters[0], namelist)
        texts.define("channel", row[c.CHANNEL], command)


def _memberships(texts: _Texts, rows: Sequence[Row]) -> None:
    """SUSPEND and RESUME; what channels of one cluster tell differently is left out."""
    repositories = {row[c.CLUSTER] for row in rows if row.get(c.QMTYPE) == "REPOS"}
    suspended: dict[str, bool | None] = {}
    for row in rows:
        first = suspended.setdefault(row[c.CLUSTER], row.get(c.SUSPENDED))
        kind = "REPOS" if row[c.CLUSTER] in repositories else "NORMAL"
        columns = {
            c.SUSPENDED: (bool(row.get(c.SUSPENDED)), bool(first)),
            c.QMTYPE: (row.get(c.QMTYPE) or "NORMAL", kind),
        }
        for column, (value, told) in columns.items():
            if value != told:
                why = f"all channels of a cluster have the same: {told}"
                texts.left_out.append(left_out_of("cluster_channels", row, column, why))
    for cluster, value in suspended.items():
        if value is not None:
            verb = "SUSPEND" if value else "RESUME"
            texts.parts[0].commands.append(f"{verb} QMGR CLUSTER({spelled(cluster)})")


def _channel(chltype: str, row: Row, cluster: str, namelist: str) -> str:
    """DEFINE CHANNEL."""
    start = f"DEFINE CHANNEL({spelled(row[c.CHANNEL])}) CHLTYPE({chltype})"
    return _command(start, row, values.SENDER, [_shared(cluster, namelist), "REPLACE"])


def _message_channel(row: Row) -> str:
    """DEFINE CHANNEL of a sender or server channel."""
    start = f"DEFINE CHANNEL({spelled(row[c.CHANNEL])}) CHLTYPE({row[c.CHLTYPE]})"
    return _command(start, row, values.MESSAGE_CHANNEL, ["REPLACE"])


# A topic has no name list, so one of several clusters is as many definitions.
_SEVERAL: Final = {
    "queues": ("queue", c.QUEUE, values.QUEUE, _PLACES | {c.CLUSTER}),
    "topics": ("topic", c.TOPIC, values.TOPIC, _PLACES),
}


def _several(texts: _Texts, table: str, own: Mapping[str, Sequence[Row]]) -> None:
    """Queues or topics, each shared in any number of clusters."""
    kind, name, mapping, unlike = _SEVERAL[table]
    for alike in _alike(own.get(table, []), name, unlike):
        row = alike[0]
        clusters = [x[c.CLUSTER] for x in alike]
        namelist = texts.namelist(clusters) if len(clusters) > 1 else ""
        subtype = _subtype(row)
        more = [_shared(clusters[0], namelist)] if clusters != [""] else []
        start = f"DEFINE {subtype or 'TOPIC'}({spelled(row[name])})"
        told = _columns_of(texts, table, alike, DEFINED[kind, subtype])
        fit = {column: word for column, word in mapping.items() if column in told}
        texts.define(table, row[name], _command(start, row, fit, [*more, "REPLACE"]))


def _authority(row: Row) -> str:
    """SET AUTHREC; a record that gives nothing is there all the same."""
    about = {
        "PROFILE": row[c.PROFILE],
        "OBJTYPE": row[c.OBJTYPE],
        row[c.ENTITY_TYPE]: row[c.ENTITY],
    }
    pairs = [f"{key}({spelled(value)})" for key, value in about.items() if value]
    return _BETWEEN.join(["SET AUTHREC", *pairs, f"AUTHADD({row.get(c.AUTHORITIES) or 'NONE'})"])


def _subtype(row: Row) -> str:
    """Type of a queue; blank for a topic."""
    return row.get(c.QTYPE) or "QLOCAL" if c.QUEUE in row else ""


def _columns_of(
    texts: _Texts, table: str, alike: Sequence[Row], keywords: frozenset[str]
) -> set[str]:
    """The columns that a definition of this kind has; other values than MQ's default are noted."""
    mapping = values.QUEUE if table == "queues" else values.TOPIC
    told = set()
    for column, keyword in mapping.items():
        value = alike[0].get(column)
        if keyword in keywords:
            told.add(column)
        elif value is not None and value != default_of(table, column):
            kind = alike[0].get(c.QTYPE) or "QLOCAL"
            why = f"a {kind} has no {keyword}"
            texts.left_out += [left_out_of(table, x, column, why) for x in alike]
    return told


def _shared(cluster: str, namelist: str) -> str:
    return f"CLUSNL({spelled(namelist)})" if namelist else f"CLUSTER({spelled(cluster)})"


def _alike(rows: Iterable[Row], name: str, unlike: frozenset[str]) -> list[list[Row]]:
    """Rows that one definition gives: of one object, and alike but for these columns."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        attributes = tuple(
            sorted((x, str(y)) for x, y in row.items() if y is not None and x not in unlike)
        )
        # A name list holds clusters; being shared in none is a definition of its own.
        groups.setdefault((row[name], row[c.CLUSTER] == "", attributes), []).append(row)
    return list(groups.values())
