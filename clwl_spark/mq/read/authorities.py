"""SET AUTHREC, DELETE AUTHREC and DISPLAY AUTHREC to rows: who may do what with which objects."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from clwl_spark.mq.read.mqsc import attributes_behind, cook, cook_list
from clwl_spark.mq.read.records import (
    Attributes,
    AuthorityChange,
    AuthorityKey,
    PieceRefusedError,
    Row,
    Script,
    TextState,
)

TABLE: Final = "authorities"
ENTITY_TYPES: Final = ("PRINCIPAL", "GROUP")

_COMMAND: Final = re.compile(r"\s*(SET|DELETE|DEL)\s+AUTHREC\b", re.IGNORECASE)
_MQI: Final = frozenset(
    ["BROWSE", "GET", "INQ", "PASSALL", "PASSID", "PUT", "SET", "SETALL", "SETID"]
)
_ADMIN: Final = frozenset(["CHG", "CLR", "DLT", "DSP"])
_GROUPS: Final = {"ALLMQI": _MQI, "ALLADM": _ADMIN, "ALL": _MQI | _ADMIN, "NONE": frozenset[str]()}
"""Words for several authorities, as they are for queues."""
_WORDS: Final = frozenset(
    ["ALTUSR", "CONNECT", "CRT", "CTRL", "CTRLX", "PUB", "RESUME", "SUB", "SYSTEM"]
).union(_MQI, _ADMIN, _GROUPS)
_OBJECT_TYPES: Final = frozenset(
    ["AUTHINFO", "CHANNEL", "CLNTCONN", "COMMINFO", "LISTENER", "NAMELIST", "PROCESS", "QMGR"]
).union(["QUEUE", "RQMNAME", "SERVICE", "TOPIC"])


def is_authority_command(text: str) -> bool:
    """True for the commands that change authority records."""
    return _COMMAND.match(text) is not None


def commanded(script: Script) -> list[AuthorityChange]:
    """What a SET AUTHREC or DELETE AUTHREC changes.

    Grain: one change per principal and group that it names; a record of nobody gives none.

    Raises:
        PieceRefusedError: it cannot be understood, or names no type of object.
    """
    if script.cut:
        reason = "the text ends, or another command begins, within this command"
        raise PieceRefusedError(reason)
    raw = attributes_behind(script.text)
    profile, objtype = cook(raw.get("PROFILE", "")), cook(raw.get("OBJTYPE", ""))
    named = [(kind, name) for kind in ENTITY_TYPES for name in cook_list(raw.get(kind, ""))]
    if named and not objtype:
        reason = "an authority record without OBJTYPE"
        raise PieceRefusedError(reason)
    _check(objtype, _OBJECT_TYPES, "OBJTYPE")
    gone = not script.verb.startswith("SET")
    added, removed = (_words(objtype, raw.get(x, "")) for x in ("AUTHADD", "AUTHRMV"))
    for word in sorted(added | removed):
        _check(word, _WORDS, "authority")
    return [
        AuthorityChange(
            script.line, AuthorityKey(profile, objtype, kind, name), added, removed, gone=gone
        )
        for kind, name in named
    ]


def _check(word: str, known: frozenset[str], what: str) -> None:
    """Refuse a word that MQ does not have.

    Raises:
        PieceRefusedError: it is none of these.
    """
    if word and word.upper() not in known:
        reason = f"{what} {word} is none of {', '.join(sorted(known))}"
        raise PieceRefusedError(reason)


def displayed(attributes: Attributes, line: int) -> AuthorityChange:
    """What DISPLAY AUTHREC shows of one record: all of it.

    Raises:
        PieceRefusedError: it lacks an attribute of its key.
    """
    key = AuthorityKey(
        attributes.get("PROFILE", ""),
        attributes.get("OBJTYPE", ""),
        attributes.get("ENTTYPE", ""),
        attributes.get("ENTITY", ""),
    )
    if not key.objtype or key.entity_type not in ENTITY_TYPES or not key.entity:
        reason = "an authority record without OBJTYPE, ENTTYPE or ENTITY"
        raise PieceRefusedError(reason)
    words = _words(key.objtype, attributes.get("AUTHLIST", ""))
    return AuthorityChange(line, key, words, whole=True)


def earlier_authorities(rows: Iterable[Mapping[str, object]], qmgr: str) -> list[AuthorityChange]:
    """The records that a queue manager has before a text, as changes at line 0."""
    return [
        AuthorityChange(
            0,
            AuthorityKey(*(str(row[column]) for column in AuthorityKey._fields)),
            frozenset(filter(None, str(row["authorities"] or "").split(","))),
            whole=True,
        )
        for row in rows
        if row["qmgr"] == qmgr
    ]


def authority_rows(states: Sequence[TextState]) -> Iterator[Row]:
    """The authorities of a queue manager after all its texts.

    Grain: one row per record that is there in the end.
    """
    held: dict[AuthorityKey, tuple[frozenset[str], str, int]] = {}
    for state in states:
        for change in state.authorities:
            if change.gone:
                held.pop(change.key, None)
                continue
            before = held.get(change.key)
            kept = before[0] if before and not change.whole else frozenset[str]()
            words = (kept | change.added) - change.removed
            held[change.key] = (words, state.source, change.line)
    for key, (words, source, line) in held.items():
        row: dict[str, object] = {
            "qmgr": states[0].qmgr,
            **key._asdict(),
            "authorities": ",".join(sorted(words)),
        }
        yield Row(TABLE, row, source, line)


def _words(objtype: str, text: str) -> frozenset[str]:
    """A list of authorities; of queues, words for several are written out."""
    words = frozenset(x for part in text.upper().split(",") if (x := part.strip().strip("'")))
    if objtype != "QUEUE":
        return words - {"NONE"}
    return frozenset(x for word in words for x in _GROUPS.get(word, frozenset({word})))
