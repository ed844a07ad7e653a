"""Texts to rows: the one entrance of this package."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from clwl_spark.mq.changes import TextState
from clwl_spark.mq.merge import KEYS, merge
from clwl_spark.mq.mqsc import cook_list
from clwl_spark.mq.records import (
    SHOWN_TEXT,
    Definition,
    PieceRefusedError,
    Reading,
    Reject,
    Row,
)
from clwl_spark.mq.rows import EVERYONE, Surroundings, definition_rows, resolve
from clwl_spark.mq.scan import scan
from clwl_spark.mq.sections import read_sections
from clwl_spark.mq.state import read_states, refuse
from clwl_spark.mq.views import view_rows

TABLES: Final = tuple(KEYS)
"""Tables of every `Reading`, also where they are empty."""


def read_text(text: str, source: str, observer: str | None = None) -> Reading:
    """Read one text of any of MQ's formats.

    Args:
        text: MQSC commands, a dmpmqcfg dump, output of DISPLAY commands, or several of them.
        source: its name, for `source` and rejects.
        observer: the queue manager of a text that names none.

    Returns:
        Rows with the contract's columns but snapshot_id; an absent attribute is null.

    Raises:
        IngestError: the text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become".
    """
    return read_texts([(source, text)], observer)


def read_texts(sources: Iterable[tuple[str, str]], observer: str | None = None) -> Reading:
    """Read many texts of many queue managers as one; name lists and topics count across texts.

    Args:
        sources: name and text of each.
        observer: the queue manager of texts that name none.

    Returns:
        One row per table key.

    Raises:
        IngestError: a text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become".
    """
    states: list[TextState] = []
    rejects: list[Reject] = []
    for source, text in sources:
        sections, unknown = read_sections(list(scan(text)), source, observer)
        found, nameless = read_states(sections, source)
        states.extend(found)
        rejects.extend([*unknown, *nameless])
    rows: list[Row] = []
    for qmgr in dict.fromkeys(state.qmgr for state in states):
        own = [state for state in states if state.qmgr == qmgr]
        around, unresolved = _surroundings(qmgr, own)
        rejects.extend(unresolved)
        for state in own:
            rejects.extend(state.rejects)
            rows.extend(_rows(state, around, rejects))
    merged, conflicts = merge(_with_remote(rows))
    return Reading(_tables(merged), [*rejects, *conflicts], _names(states))


def _names(states: Iterable[TextState]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(state.qmgr for state in states))


def _surroundings(qmgr: str, states: Sequence[TextState]) -> tuple[Surroundings, list[Reject]]:
    """Collect what definitions of a queue manager refer to, from all its texts."""
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
    bare = Surroundings(qmgr, namelists, frozenset(), {}, topics)
    rejects: list[Reject] = []
    suspended: dict[str, bool] = {}
    repositories: set[str] = set()
    for state in states:
        for (keyword, name), (value, line) in state.suspensions.items():
            names = _resolved(name, keyword, bare, (state.source, line), rejects)
            suspended.update(dict.fromkeys(names, value))
        own = state.objects.get(("qmgr", qmgr))
        if own:
            repositories.add(own.attributes.get("REPOS", ""))
            namelist = own.attributes.get("REPOSNL", "")
            place = (state.source, own.line)
            repositories.update(_resolved(namelist, "REPOSNL", bare, place, rejects))
    around = Surroundings(qmgr, namelists, frozenset(repositories - {""}), suspended, topics)
    return around, rejects


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
    for shown in state.views:
        try:
            yield from list(view_rows(shown, state.qmgr, state.source))
        except PieceRefusedError as error:
            rejects.append(refuse(state.source, shown, str(error)))


def _with_remote(rows: Sequence[Row]) -> Iterator[Row]:
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


def _tables(rows: Iterable[Row]) -> dict[str, list[dict[str, object]]]:
    """Rows by table, each with its source."""
    tables: dict[str, list[dict[str, object]]] = {table: [] for table in TABLES}
    for row in rows:
        tables[row.table].append({**row.values, "source": f"{row.file}:{row.line}"})
    return tables
