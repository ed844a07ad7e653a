"""The end state of one queue manager's objects after a text's commands and displays."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.authorities import displayed
from clwl_spark.mq.read.changes import carry_out
from clwl_spark.mq.read.keywords import EVERY_KEYWORD, OTHER_OBJECTS, SHOWN
from clwl_spark.mq.read.naming import Section
from clwl_spark.mq.read.needless import action_of
from clwl_spark.mq.read.records import (
    IN_PART,
    SHOWN_TEXT,
    Attributes,
    Definition,
    Event,
    Failure,
    PieceRefusedError,
    Reject,
    Script,
    Shown,
    TextState,
)

NAME_KEYS: Final = {
    "queue": ("QUEUE",),
    "channel": ("CHANNEL",),
    "namelist": ("NAMELIST",),
    "topic": ("TOPIC",),
    "sub": ("SUB", "SUBID"),
}
"""Kind -> the attributes that may hold an object's name; the first that is not blank counts."""

_SUBTYPE_KEYS: Final = {"queue": "TYPE", "channel": "CHLTYPE"}
_NAME: Final = re.compile(r"[A-Za-z0-9._/%]{1,48}")


def gather(
    sections: Iterable[Section], source: str, known: Iterable[TextState] = ()
) -> tuple[list[TextState], list[Reject]]:
    """Apply a text's sections in order, each to its queue manager.

    Args:
        sections: sections that name their queue manager.
        source: the text's name.
        known: what is known of some queue managers before the text; it is changed.

    Returns:
        One state per queue manager, in order of appearance, and the sections of which the name
        is none (a shell variable, for one).

    Source: CONTRACT, "What MQ's texts become", 6 (ALTER, DELETE, REPLACE, LIKE in order).
    """
    states = {state.qmgr: state for state in known}
    rejects: list[Reject] = []
    for section in sections:
        if not _NAME.fullmatch(section.qmgr):
            reason = (
                f"'{section.qmgr}' is no queue manager's name; its part of the text is left out"
            )
            rejects.append(Reject(source, section.events[0].line, section.qmgr, reason))
            continue
        state = states.setdefault(section.qmgr, TextState(section.qmgr, source))
        dump = section.origin == "dump"
        for event in _carried_out(section.events):
            try:
                if isinstance(event, Shown):
                    _show(state, event)
                elif action_of(event.text):
                    state.actions.append(event)
                else:
                    carry_out(state, event, dump=dump)
            except PieceRefusedError as error:
                state.rejects.append(refuse(state.source, event, str(error)))
                if isinstance(event, Shown):
                    state.unread.add(event.kind)
    return list(states.values()), rejects


def refuse(source: str, event: Script | Shown, reason: str) -> Reject:
    """Make the reject of a command or a displayed object."""
    if isinstance(event, Script):
        text = event.text
    elif event.unread:
        text = event.unread
    else:
        text = " ".join(f"{key}({value})" for key, value in event.attributes.items())
    return Reject(source, event.line, text[:SHOWN_TEXT], reason)


def _carried_out(events: Iterable[Event]) -> list[Script | Shown]:
    """Leave out the commands that MQ answered with an error, or with several."""
    kept: list[Script | Shown] = []
    last: Event | None = None
    for event in events:
        if isinstance(event, Script | Shown):
            kept.append(event)
            last = event
        elif isinstance(event, Failure) and isinstance(last, Script):
            kept.pop()
            last = None
    return kept


_NOT_READ_ON: Final = (
    "a line among displayed attributes that is not KEYWORD(value): not read from here"
)
_NOTHING_BEHIND: Final = "a message that shows an object, but no object comes behind it"


def _show(state: TextState, shown: Shown) -> None:
    """Take a displayed object in: the queue manager's own into its state, others as a view."""
    if shown.unread:
        is_head = shown.unread.startswith("AMQ")
        raise PieceRefusedError(_NOTHING_BEHIND if is_head else _NOT_READ_ON)
    if shown.kind not in SHOWN:
        _refuse_unknown_type(shown)
        return
    if _is_handle(shown):
        return
    _note_unknown(state, shown)
    if shown.kind == "authrec":
        state.authorities.append(displayed(shown.attributes, shown.line))
        return
    _show_counts(state, shown)
    slim = replace(shown, attributes=_slim(shown.attributes))
    if _is_left_out(slim):
        return
    _drop_bad_count(state, slim)
    if shown.kind in ("clusqmgr", "status") or slim.attributes.get("CLUSQMGR"):
        state.views.append(slim)
    else:
        _show_own(state, slim)


def _slim(shown: Attributes) -> Attributes:
    """The attributes that rows are made of, as a command would write them."""
    attributes = {key: value for key, value in shown.items() if key in values.USED}
    if "TARGQ" in attributes:
        attributes["TARGET"] = attributes.pop("TARGQ")
    if "NAMES" in attributes:
        # Shown names have no quotes, and their case is meant.
        names = [name.strip() for name in attributes["NAMES"].split(",")]
        attributes["NAMES"] = ",".join(f"'{name}'" for name in names)
    return attributes


def _refuse_unknown_type(shown: Shown) -> None:
    """Refuse an object that MQ does not have; those that give no row are left out.

    Raises:
        PieceRefusedError: no object of MQ's has this attribute first.
    """
    first = next(iter(shown.attributes), "")
    if not shown.kind and first not in EVERY_KEYWORD and first not in OTHER_OBJECTS:
        reason = f"MQ has no object type {first}"
        raise PieceRefusedError(reason)


def _note_unknown(state: TextState, shown: Shown) -> None:
    """Refuse the attributes that MQ does not have; the rest of the object is used."""
    unknown = [key for key, value in shown.attributes.items() if value and key not in EVERY_KEYWORD]
    if unknown:
        reason = f"MQ has no attribute {', '.join(unknown)}{IN_PART}"
        state.rejects.append(refuse(state.source, shown, reason))


def _drop_bad_count(state: TextState, shown: Shown) -> None:
    """Refuse a backlog that is no number; the status that it stands beside is used."""
    value = shown.attributes.get(values.BACKLOG, "")
    if not values.is_count(value):
        reason = f"{values.BACKLOG}({value}) is no number{IN_PART}"
        state.rejects.append(refuse(state.source, shown, reason))
        del shown.attributes[values.BACKLOG]


def _show_counts(state: TextState, shown: Shown) -> None:
    """Take in depth and handles, of the status of a queue or of a local queue itself."""
    if shown.kind not in ("queue", "qstatus") or shown.attributes.get("CLUSQMGR"):
        return
    names = ("QUEUE", "QSTATUS", *values.QUEUE_STATUS.values())
    found = {x: shown.attributes[x] for x in names if x in shown.attributes}
    if any(found.get(x) for x in values.QUEUE_STATUS.values()):
        state.views.append(Shown(shown.line, "qstatus", found))


def _is_handle(shown: Shown) -> bool:
    """True where DISPLAY QSTATUS shows who has a queue open: a block each, and no count."""
    return shown.kind in ("queue", "qstatus") and shown.attributes.get("TYPE") == "HANDLE"


def _is_status_of_queue(shown: Shown) -> bool:
    """True where DISPLAY QSTATUS shows it: some texts have it like a queue, of another TYPE."""
    return shown.kind == "qstatus" or (
        shown.kind == "queue" and shown.attributes.get("TYPE") == "QUEUE"
    )


def _is_left_out(shown: Shown) -> bool:
    """True for the status of a queue, and for channels of clients."""
    if _is_status_of_queue(shown):
        return True
    return shown.attributes.get("CHLTYPE") == "CLNTCONN"


def _show_own(state: TextState, shown: Shown) -> None:
    """Add a displayed definition to what is known of it."""
    attributes, kind = shown.attributes, shown.kind
    name = state.qmgr if kind == "qmgr" else _name(kind, attributes)
    subtype = attributes.get(_SUBTYPE_KEYS.get(kind, ""), "")
    old = state.objects.get((kind, name))
    if old and attributes.get("QSGDISP") == "GROUP" != old.attributes.get("QSGDISP"):
        # On z/OS a group definition is the master of copies; the copy is the object.
        return
    base = old.attributes if old and old.subtype == subtype else {}
    complete = old is not None and not old.shown and not old.implied
    state.objects[kind, name] = Definition(
        kind, subtype, name, {**base, **attributes}, shown.line, shown=not complete
    )


def _name(kind: str, attributes: Attributes) -> str:
    """The displayed object's name; a cluster's topic or queue must say whose it is."""
    name = next((attributes[key] for key in NAME_KEYS[kind] if attributes.get(key)), "")
    if not name or attributes.get("TYPE") in ("CLUSTER", "QCLUSTER"):
        reason = f"a {kind} without a name, or one of a cluster without its CLUSQMGR"
        raise PieceRefusedError(reason)
    return name
