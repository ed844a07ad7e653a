"""MQSC commands applied to the objects of one queue manager."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from clwl_spark.mq import values
from clwl_spark.mq.mqsc import Command, changes_definitions, parse
from clwl_spark.mq.records import (
    Attributes,
    Definition,
    PieceRefusedError,
    Reject,
    Script,
    Shown,
)

Key = tuple[str, str]

DEFAULT_OBJECTS: Final = {
    ("queue", "QLOCAL"): "SYSTEM.DEFAULT.LOCAL.QUEUE",
    ("queue", "QALIAS"): "SYSTEM.DEFAULT.ALIAS.QUEUE",
    ("queue", "QREMOTE"): "SYSTEM.DEFAULT.REMOTE.QUEUE",
    ("queue", "QMODEL"): "SYSTEM.DEFAULT.MODEL.QUEUE",
    ("channel", "CLUSRCVR"): "SYSTEM.DEF.CLUSRCVR",
    ("channel", "CLUSSDR"): "SYSTEM.DEF.CLUSSDR",
    ("topic", ""): "SYSTEM.DEFAULT.TOPIC",
    ("sub", ""): "SYSTEM.DEFAULT.SUB",
    ("namelist", ""): "SYSTEM.DEFAULT.NAMELIST",
}
"""The objects that a DEFINE without LIKE takes its attributes from."""

_TABLES: Final = {
    ("qmgr", ""): ("queue_managers", values.QUEUE_MANAGER),
    ("queue", "QLOCAL"): ("queues", values.QUEUE),
    ("queue", "QALIAS"): ("queues", values.QUEUE),
    ("queue", "QREMOTE"): ("queues", values.QUEUE),
    ("channel", "CLUSRCVR"): ("cluster_channels", values.CHANNEL),
    ("channel", "CLUSSDR"): ("cluster_senders", values.SENDER),
    ("topic", ""): ("topics", values.TOPIC),
    ("sub", ""): ("subscriptions", values.SUBSCRIPTION),
}
"""Kind and subtype -> the table whose ranges a command's values must keep."""

_INSERT: Final = re.compile(r"\+\w+\+")
_DESCRIPTION: Final = re.compile(r"\bDESCR\s*\(\s*'(?:[^']|'')*'\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextState:
    """What one text says of one queue manager.

    Args:
        objects: (kind, name) -> definition, in the order of definition.
        views: objects of the cluster as this queue manager sees them.
        suspensions: ("CLUSTER" or "CLUSNL", name) -> (suspended, line), in order of the commands.
    """

    qmgr: str
    source: str
    objects: dict[Key, Definition] = field(default_factory=dict)
    views: list[Shown] = field(default_factory=list)
    suspensions: dict[Key, tuple[bool, int]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)


def carry_out(state: TextState, script: Script, *, dump: bool) -> None:
    """Apply one command; commands that change no object of ours are left out.

    Args:
        state: what is known so far; its objects and suspensions are changed.
        script: the command.
        dump: in a dump, an attribute left out has MQ's default, not that of a default object.

    Raises:
        PieceRefusedError: it cannot be understood, or MQ would not carry it out.

    Source: CONTRACT, "What MQ's texts become", 6.
    """
    if not changes_definitions(script.text):
        return
    text = script.text.replace("+QMNAME+", state.qmgr)
    insert = _INSERT.search(_DESCRIPTION.sub("", text)) if "+" in text else None
    if insert:
        reason = f"the insert {insert[0]} has no value here"
        raise PieceRefusedError(reason)
    command = parse(text)
    if command.kind == "qmgr":
        _change_qmgr(state, command, script)
    elif command.verb == "DELETE":
        _delete(state, command)
    else:
        _define(state, command, script, dump=dump)


def _change_qmgr(state: TextState, command: Command, script: Script) -> None:
    """ALTER QMGR, SUSPEND QMGR and RESUME QMGR."""
    if command.verb == "ALTER":
        _check("qmgr", "", command.attributes)
        key = ("qmgr", state.qmgr)
        old = state.objects.get(key)
        attributes = {**(old.attributes if old else {}), **command.attributes, **script.notes}
        line = old.line if old else script.line
        shown = old.shown if old else False
        state.objects[key] = Definition("qmgr", "", state.qmgr, attributes, line, shown)
    elif command.verb in ("SUSPEND", "RESUME"):
        for word in ("CLUSTER", "CLUSNL"):
            name = command.attributes.get(word)
            if name:
                state.suspensions.pop((word, name), None)
                state.suspensions[word, name] = (command.verb == "SUSPEND", script.line)


def _delete(state: TextState, command: Command) -> None:
    """DELETE: an object that is not there is not there afterwards either."""
    old = state.objects.get((command.kind, command.name))
    if old and command.subtype in ("", old.subtype):
        del state.objects[command.kind, command.name]


def _define(state: TextState, command: Command, script: Script, *, dump: bool) -> None:
    """DEFINE and ALTER of an object."""
    old = state.objects.get((command.kind, command.name))
    own = {**command.attributes, **script.notes}
    like = own.pop("LIKE", "")
    subtype = _subtype(command, old)
    _check(command.kind, subtype, own)
    new = Definition(command.kind, subtype, command.name, own, script.line)
    if command.verb == "ALTER":
        state.objects[new.kind, new.name] = _altered(old, new)
        return
    if like or not dump:
        template = _template(state, command.kind, subtype, like)
        new = replace(new, attributes={**template, **own})
    if old and not command.replace and not old.implied and not old.shown:
        _expect_same(old, new)
    else:
        state.objects[new.kind, new.name] = new


def _check(kind: str, subtype: str, attributes: Attributes) -> None:
    """Refuse values that MQ would refuse; the object stays as it was before the command."""
    if (kind, subtype) in _TABLES:
        table, mapping = _TABLES[kind, subtype]
        values.convert(table, mapping, attributes)


def _subtype(command: Command, old: Definition | None) -> str:
    """Type of the object that a command names; it cannot change without a DELETE."""
    if old is None or old.implied:
        return command.subtype or command.attributes.get("CHLTYPE", "")
    subtype = command.subtype or command.attributes.get("CHLTYPE", old.subtype)
    if old.subtype != subtype:
        reason = f"{command.name} is a {old.subtype} since line {old.line}"
        raise PieceRefusedError(reason)
    return subtype


def _altered(old: Definition | None, new: Definition) -> Definition:
    """The object after an ALTER; MQ's own objects are there without a DEFINE."""
    if old:
        return replace(old, subtype=new.subtype, attributes={**old.attributes, **new.attributes})
    if not new.name.startswith("SYSTEM."):
        reason = f"ALTER of {new.name}, which this text does not define"
        raise PieceRefusedError(reason)
    return replace(new, implied=True)


def _expect_same(old: Definition, new: Definition) -> None:
    """A second DEFINE without REPLACE changes nothing, so it must say nothing new."""
    if old.attributes != new.attributes:
        reason = f"{new.name} is defined at line {old.line} already; say REPLACE"
        raise PieceRefusedError(reason)


def _template(state: TextState, kind: str, subtype: str, like: str) -> Attributes:
    """The attributes that a new object starts with."""
    name = like or DEFAULT_OBJECTS.get((kind, subtype), "")
    found = state.objects.get((kind, name))
    if found is None:
        if like and not like.startswith("SYSTEM."):
            reason = f"LIKE({like}) names an object that is not defined before"
            raise PieceRefusedError(reason)
        return {}
    return {key: value for key, value in found.attributes.items() if not key.startswith("ALT")}
