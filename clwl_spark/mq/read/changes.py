"""MQSC commands applied to the objects of one queue manager."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from clwl_spark.mq.read import values
from clwl_spark.mq.read.authorities import commanded, is_authority_command
from clwl_spark.mq.read.mqsc import Command, changes_definitions, parse
from clwl_spark.mq.read.records import (
    SHOWN_TEXT,
    Attributes,
    Definition,
    PieceRefusedError,
    Reject,
    Script,
    TextState,
)

DEFAULT_OBJECTS: Final = {
    ("queue", "QLOCAL"): "SYSTEM.DEFAULT.LOCAL.QUEUE",
    ("queue", "QALIAS"): "SYSTEM.DEFAULT.ALIAS.QUEUE",
    ("queue", "QREMOTE"): "SYSTEM.DEFAULT.REMOTE.QUEUE",
    ("queue", "QMODEL"): "SYSTEM.DEFAULT.MODEL.QUEUE",
    ("channel", "CLUSRCVR"): "SYSTEM.DEF.CLUSRCVR",
    ("channel", "CLUSSDR"): "SYSTEM.DEF.CLUSSDR",
    ("channel", "SDR"): "SYSTEM.DEF.SENDER",
    ("channel", "SVR"): "SYSTEM.DEF.SERVER",
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
    ("channel", "SDR"): ("message_channels", values.MESSAGE_CHANNEL),
    ("channel", "SVR"): ("message_channels", values.MESSAGE_CHANNEL),
    ("topic", ""): ("topics", values.TOPIC),
    ("sub", ""): ("subscriptions", values.SUBSCRIPTION),
}
"""Kind and subtype -> the table whose ranges a command's values must keep."""

_CHANNEL_TYPES: Final = frozenset(
    {"AMQP", "CLNTCONN", "CLUSRCVR", "CLUSSDR", "MQTT", "RCVR", "RQSTR", "SDR", "SVR", "SVRCONN"}
)
_INSERT: Final = re.compile(r"\+[A-Z][A-Z0-9_]*\+")
_DESCRIPTION: Final = re.compile(r"\bDESCR\s*\(\s*'(?:[^']|'')*'\s*\)", re.IGNORECASE)


class _NotDefinedError(PieceRefusedError):
    """A command about an object that the text does not define."""


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
    if is_authority_command(script.text):
        state.authorities.extend(commanded(script))
        return
    if not changes_definitions(script.text):
        return
    command = _command(state, script)
    if _waits(state, command):
        _leave_open(state, command, script)
        return
    try:
        _carry_out(state, command, script, dump=dump)
    except _NotDefinedError:
        _leave_open(state, command, script)
    else:
        # What the text defined and deletes again may have been there before.
        if command.verb == "DELETE":
            state.open.append(script)


def _waits(state: TextState, command: Command) -> bool:
    """Whether a command is about, or is like, an object that an open one defines."""
    names = (command.name, command.attributes.get("LIKE", ""))
    return any((command.kind, name) in state.pending for name in names)


def _leave_open(state: TextState, command: Command, script: Script) -> None:
    state.open.append(script)
    if command.verb == "DEFINE":
        state.pending.add((command.kind, command.name))


def settle(states: Sequence[TextState]) -> None:
    """Carry out what texts say of objects that earlier texts of their queue manager define.

    Args:
        states: of one queue manager, in order of the texts; they are changed.
    """
    for index, state in enumerate(states):
        _settle_defaults(state, states[:index])
        for script in state.open:
            try:
                _settle(state, states[:index], script)
            except PieceRefusedError as error:
                text = script.text[:SHOWN_TEXT]
                state.rejects.append(Reject(state.source, script.line, text, str(error)))
        state.open.clear()


def _settle_defaults(state: TextState, before: Sequence[TextState]) -> None:
    """Take from default objects of earlier texts what new objects start with, and alter these."""
    owner_of = {key: other for other in before for key in other.objects}
    for key, made in state.objects.items():
        owner = owner_of.get((made.kind, made.starts_as))
        if made.starts_as and owner is not None:
            template, _ = _template(owner, made.kind, made.subtype, made.starts_as)
            state.objects[key] = replace(made, attributes={**template, **made.attributes})
    for key, altered in list(state.objects.items()):
        owner = owner_of.get(key)
        if altered.implied and owner is not None:
            # Later texts find all of it where it is defined.
            owner.objects[key] = _altered(owner.objects[key], altered)
            del state.objects[key]


def _settle(state: TextState, before: Sequence[TextState], script: Script) -> None:
    """Carry out one command where the object is defined, or with the object that it is like."""
    command = _command(state, script)
    like = command.attributes.get("LIKE", "")
    key = (command.kind, like or command.name)
    owners = [other for other in before if key in other.objects]
    made = [state] if key in state.pending and key in state.objects else []
    if command.verb == "DEFINE":
        _settle_define(state, [*owners, *made], command, script)
        return
    for owner in (*owners, *made):
        _carry_out(owner, command, script, dump=False)
    if not (owners or made or command.verb == "DELETE"):
        raise _nowhere_defined(f"{command.verb} of {command.name}")


def _settle_define(
    state: TextState, owners: Sequence[TextState], command: Command, script: Script
) -> None:
    """Carry out a DEFINE; with LIKE, of the object as the last of its owners has it."""
    like = command.attributes.get("LIKE", "")
    if like and not owners:
        raise _nowhere_defined(f"LIKE({like})")
    if like and owners[-1] is not state:
        _define_like(state, owners[-1], command, script)
    else:
        _carry_out(state, command, script, dump=False)


def _nowhere_defined(what: str) -> PieceRefusedError:
    reason = f"{what}, which this text does not define, nor one before it"
    return PieceRefusedError(reason)


def _define_like(state: TextState, owner: TextState, command: Command, script: Script) -> None:
    """Carry out a DEFINE with LIKE of an object that was another text's when it was said."""
    key = (command.kind, command.attributes["LIKE"])
    anew = state.objects.get(key)
    state.objects[key] = replace(owner.objects[key], implied=True)
    try:
        _carry_out(state, command, script, dump=False)
    finally:
        if anew is not None:
            state.objects[key] = anew


def _command(state: TextState, script: Script) -> Command:
    """Parse a command, with the one insert that has a value here."""
    if script.cut:
        reason = "the text ends, or another command begins, within this command"
        raise PieceRefusedError(reason)
    text = script.text.replace("+QMNAME+", state.qmgr)
    insert = _INSERT.search(_DESCRIPTION.sub("", text)) if "+" in text else None
    if insert:
        reason = f"the insert {insert[0]} has no value here"
        raise PieceRefusedError(reason)
    return parse(text)


def _carry_out(state: TextState, command: Command, script: Script, *, dump: bool) -> None:
    """Apply one parsed command."""
    if "CLNTCONN" in (command.attributes.get("CHLTYPE"), command.attributes.get("CHLTABLE")):
        return
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
    if old is None:
        raise _NotDefinedError(command.name)
    # A queue of which only a display of the cluster is known may be of any type.
    if not command.subtype or old.subtype in ("", command.subtype):
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
        template, starts_as = _template(state, command.kind, subtype, like)
        new = replace(new, attributes={**template, **own}, starts_as=starts_as)
    if old is None or _takes_the_place(new, old, command):
        state.objects[new.kind, new.name] = new
    elif not _is_master(new, old):
        _expect_same(old, new)


def _takes_the_place(new: Definition, old: Definition, command: Command) -> bool:
    """True where a definition replaces the one that is there."""
    if _is_master(new, old):
        return False
    return bool(command.replace or old.implied or old.shown or _is_master(old, new))


def _is_master(one: Definition, other: Definition) -> bool:
    """True where one is the z/OS group definition that the other is a copy of."""
    mine, others = (part.attributes.get("QSGDISP", "QMGR").upper() for part in (one, other))
    return mine == "GROUP" and others != "GROUP"


def _check(kind: str, subtype: str, attributes: Attributes) -> None:
    """Refuse values that MQ would refuse; the object stays as it was before the command."""
    if (kind, subtype) in _TABLES:
        table, mapping = _TABLES[kind, subtype]
        values.convert(table, mapping, attributes)


def _subtype(command: Command, old: Definition | None) -> str:
    """Type of the object that a command names; it cannot change without a DELETE."""
    given = command.subtype or command.attributes.get("CHLTYPE", "").upper()
    if command.kind == "channel" and (given or command.verb == "DEFINE"):
        _check_channel_type(given)
    if old is None or old.implied:
        return given
    subtype = given or old.subtype
    if old.subtype not in ("", subtype):
        reason = f"{command.name} is a {old.subtype} since line {old.line}"
        raise PieceRefusedError(reason)
    return subtype


def _check_channel_type(given: str) -> None:
    """Refuse a channel of no type, or of one that MQ does not have."""
    if given not in _CHANNEL_TYPES:
        reason = f"CHLTYPE({given}): a channel is one of {', '.join(sorted(_CHANNEL_TYPES))}"
        raise PieceRefusedError(reason)


def _altered(old: Definition | None, new: Definition) -> Definition:
    """The object after an ALTER; MQ's own objects are there without a DEFINE."""
    if old:
        return replace(old, subtype=new.subtype, attributes={**old.attributes, **new.attributes})
    if not new.name.startswith("SYSTEM."):
        raise _NotDefinedError(new.name)
    return replace(new, implied=True)


def _expect_same(old: Definition, new: Definition) -> None:
    """A second DEFINE without REPLACE changes nothing, so it must say nothing new."""
    if old.attributes != new.attributes:
        reason = f"{new.name} is defined at line {old.line} already; say REPLACE"
        raise PieceRefusedError(reason)


def _template(state: TextState, kind: str, subtype: str, like: str) -> tuple[Attributes, str]:
    """The attributes that a new object starts with.

    Returns:
        Them, and the object of MQ's that has the others, where the text does not tell all of it.
    """
    name = like or DEFAULT_OBJECTS.get((kind, subtype), "")
    found = state.objects.get((kind, name))
    if found is None:
        if like and not like.startswith("SYSTEM."):
            raise _NotDefinedError(like)
        return {}, name
    told = {key: value for key, value in found.attributes.items() if not key.startswith("ALT")}
    return told, name if found.implied else found.starts_as
