"""What the texts of a queue manager say together, as rows."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Final

from clwl_spark.mq.read.asking import TABLES_OF_VIEWS
from clwl_spark.mq.read.authorities import authority_rows
from clwl_spark.mq.read.changes import settle
from clwl_spark.mq.read.mqsc import cook_list
from clwl_spark.mq.read.needless import action_of
from clwl_spark.mq.read.records import (
    SHOWN_TEXT,
    Definition,
    PieceRefusedError,
    Reject,
    Row,
    Script,
    TextState,
)
from clwl_spark.mq.read.rows import EVERYONE, Surroundings, definition_rows, resolve
from clwl_spark.mq.read.state import refuse
from clwl_spark.mq.read.views import view_rows

_NAMED: Final = re.compile(r"\w+ \w+ ?\( ?'?([^')]*[^') ])", re.ASCII)
"""The object that a command names."""


def rows_of(states: Sequence[TextState]) -> tuple[list[Row], list[Reject]]:
    """Give the rows of texts of one queue manager; name lists and topics count across texts.

    Args:
        states: what each text says of it, in order of the texts; they stay as they are.

    Returns:
        Rows, several per table key where texts repeat each other; and what could not be used.

    Source: CONTRACT, "What MQ's texts become".
    """
    states = [
        replace(state, objects={**state.objects}, rejects=[*state.rejects], open=[*state.open])
        for state in states
    ]
    settle(states)
    around, rejects = surroundings(states)
    rows: list[Row] = []
    for state in states:
        refused: list[Reject] = list(state.rejects)
        rows.extend(_rows(state, around, refused))
        rejects.extend(sorted(refused, key=_line))
    rows.extend(authority_rows(states))
    return rows, rejects


def _line(reject: Reject) -> int:
    return reject.line


def surroundings(states: Sequence[TextState]) -> tuple[Surroundings, list[Reject]]:
    """Collect what definitions of a queue manager refer to, from all its texts."""
    qmgr = states[0].qmgr
    objects = [definition for state in states for definition in state.objects.values()]
    namelists = {
        definition.name: cook_list(definition.attributes.get("NAMES", ""))
        for definition in sorted(objects, key=_changed)
        if definition.kind == "namelist"
    }
    topics = {
        definition.name: definition.attributes["TOPICSTR"]
        for definition in objects
        if definition.kind == "topic" and "TOPICSTR" in definition.attributes
    }
    bare = Surroundings(qmgr, namelists, None, {}, topics)
    rejects: list[Reject] = []
    suspended: dict[str, bool] = {}
    for state in states:
        for (keyword, name), (value, line) in state.suspensions.items():
            names = _resolved(name, keyword, bare, (state.source, line), rejects)
            suspended.update(dict.fromkeys(names, value))
    repositories = _repositories(states, bare, rejects)
    return replace(bare, repositories=repositories, suspended=suspended), rejects


def _repositories(
    states: Sequence[TextState], bare: Surroundings, rejects: list[Reject]
) -> frozenset[str] | None:
    """Clusters that the queue manager is a full repository of; None = no text tells it."""
    found: set[str] = set()
    told = False
    for state in states:
        own = state.objects.get(("qmgr", state.qmgr))
        if own is None:
            continue
        told = told or not own.shown or not own.attributes.keys().isdisjoint(_REPOSITORY_KEYS)
        found.add(own.attributes.get("REPOS", ""))
        place = (state.source, own.line)
        found.update(_resolved(own.attributes.get("REPOSNL", ""), "REPOSNL", bare, place, rejects))
    return frozenset(found - {""}) if told else None


_REPOSITORY_KEYS: Final = frozenset({"REPOS", "REPOSNL"})


def _changed(definition: Definition) -> str:
    """When a definition was changed; the newest of a name list counts."""
    attributes = definition.attributes
    return f"{attributes.get('ALTDATE', '')} {attributes.get('ALTTIME', '')}"


def _resolved(
    name: str, keyword: str, bare: Surroundings, place: tuple[str, int], rejects: list[Reject]
) -> list[str]:
    """Clusters of a CLUSTER or name list attribute; an unknown name list becomes a reject."""
    if keyword == "CLUSTER":
        return [name]
    if not name:
        return []
    try:
        return resolve(name, keyword, bare)
    except PieceRefusedError as error:
        rejects.append(Reject(*place, f"{keyword}({name})", str(error)))
        return []


def _rows(state: TextState, around: Surroundings, rejects: list[Reject]) -> Iterator[Row]:
    """Rows of one text and queue manager; an object that cannot be used gives none."""
    for definition in state.objects.values():
        try:
            yield from list(definition_rows(definition, around, state.source))
        except PieceRefusedError as error:
            text = f"{definition.subtype or definition.kind}({definition.name})"
            place = (state.source, definition.line)
            rejects.append(Reject(*place, text[:SHOWN_TEXT], str(error)))
    unread = {*state.unread}
    for shown in state.views:
        try:
            yield from list(view_rows(shown, state.qmgr, state.source))
        except PieceRefusedError as error:
            rejects.append(refuse(state.source, shown, str(error)))
            unread.add(shown.kind)
    yield from _whole_views(state, unread)
    yield from map(partial(_action, state), state.actions)


def _action(state: TextState, script: Script) -> Row:
    """A command that makes the running queue manager do something."""
    command = " ".join(script.text.split())
    named = _NAMED.match(command)
    values: dict[str, object] = {
        "qmgr": state.qmgr,
        "command": command,
        "action": action_of(command),
        "object": named[1] if named else None,
    }
    return Row("actions", values, state.source, script.line)


def _whole_views(state: TextState, unread: AbstractSet[str]) -> Iterator[Row]:
    """The views that a text shows to be whole, if nothing of them had to be set aside.

    Grain: one row per table. Source: CONTRACT, "What MQ's texts become", 11.
    """
    asked = {x.kind: x.asked for x in reversed(state.views) if x.asked}
    for kind, table in TABLES_OF_VIEWS.items():
        if kind in asked and kind not in unread:
            row: dict[str, object] = {"observer": state.qmgr, "table": table, "whole": True}
            yield Row("views", row, state.source, asked[kind])


def with_remote(rows: Sequence[Row]) -> Iterator[Row]:
    """Name the queue manager of a CLUSSDR whose status leaves RQMNAME blank.

    MQ knows it only after the first contact; the channel's name tells it where just one queue
    manager has a CLUSRCVR of that name.
    """
    owners: dict[tuple[object, object], set[object]] = {}
    for row in rows:
        if row.table == "cluster_channels":
            key = (row.values["observer"], row.values["channel"])
            owners.setdefault(key, set()).add(row.values["qmgr"])
    for row in rows:
        if row.values.get("chltype") != "CLUSSDR" or row.values["remote_qmgr"]:
            yield row
            continue
        channel, viewer = row.values["channel"], row.values["qmgr"]
        known = owners.get((viewer, channel), set()) | owners.get((EVERYONE, channel), set())
        known -= {viewer}
        name = next(iter(known)) if len(known) == 1 else ""
        yield replace(row, values={**row.values, "remote_qmgr": name})
