"""Changes in the words of MQSC, and of an operator: what is said, on which queue manager.

    ALTER CHANNEL(TO.QM3) CLWLWGHT(80)      where nobody else has the channel, ON QM3 goes without
    DELETE QLOCAL(ORDERS) ON QM1
    SUSPEND QMGR(QM4) CLUSTER(A)            on QM4
    STOP CHANNEL(TO.QM2) ON QM1             QM1's CLUSSDR; without ON everybody's
    ENDMQM QM2                              the queue manager is down

Pure Python, no Spark.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Final

from clwl_spark.errors import InputError
from clwl_spark.mq.read.keywords import DEFINED
from clwl_spark.mq.read.mqsc import Command, changes_definitions, cook, parse
from clwl_spark.mq.read.records import PieceRefusedError
from clwl_spark.mq.read.words import OBJECTS, VERBS

EVERYWHERE: Final = "*"
_NAME: Final = r"(?:'[^']*'|[\w./%]+)"
_ON: Final = re.compile(rf"\s+ON\s+(?:QMGR\s*)?\(?\s*({_NAME}|\*)\s*\)?\s*;?\s*$", re.IGNORECASE)
_CHANNEL: Final = re.compile(
    rf"(STOP|START)\s+(?:CHANNEL|CHL)\s*\(\s*({_NAME})\s*\)((?:\s*\w+(?:\s*\((?:[^()]|\([^()]*\))*\))?)*)\s*;?\s*$",
    re.IGNORECASE,
)
_DOWN: Final = re.compile(
    rf"(?:ENDMQM(?:\s+-\w+)*|STOP\s+QMGR)\s*\(?\s*({_NAME})\s*\)?\s*;?\s*$", re.IGNORECASE
)
_MEMBERSHIP: Final = re.compile(
    rf"(SUSPEND|RESUME)\s+QMGR\s*\(\s*({_NAME})\s*\)\s*(.*)$", re.IGNORECASE | re.DOTALL
)
_STOPPED_AS: Final = re.compile(r"STATUS\s*\(\s*(\w+)\s*\)", re.IGNORECASE)
_TO: Final = re.compile(rf"QMNAME\s*\(\s*({_NAME})\s*\)", re.IGNORECASE)
_CHANNEL_WORDS: Final = frozenset({"STATUS", "QMNAME", "MODE", "CONNAME", "CHLDISP", "CMDSCOPE"})
_HEADS: Final = (
    *(f"{verb} {word}" for verb in ("ALTER", "DEFINE", "DELETE") for word in sorted(OBJECTS)),
    "SUSPEND QMGR",
    "RESUME QMGR",
    "STOP CHANNEL",
    "START CHANNEL",
    "ENDMQM",
)
_EXAMPLES: Final = (
    "say it as runmqsc takes it and where, as in ALTER CHANNEL(TO.QM3) CLWLWGHT(80) ON QM3, "
    "STOP CHANNEL(TO.QM2) ON QM1, SUSPEND QMGR(QM4) CLUSTER(A), ENDMQM QM2"
)


class UnknownChangeError(InputError):
    """A change in words that are not understood."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A command that changes definitions; `on` is its queue manager, '' = its object's owner."""

    words: str
    text: str
    command: Command
    on: str


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel that an operator stops or starts; `on` '' = everywhere, `to` '' = to anybody."""

    words: str
    channel: str
    status: str
    on: str
    to: str


@dataclass(frozen=True, slots=True)
class QmgrDown:
    """A queue manager that ends."""

    words: str
    qmgr: str


Change = Definition | ChannelState | QmgrDown


def understood(words: str) -> Change:
    """What a change says.

    Args:
        words: one change.

    Raises:
        UnknownChangeError: it is not understood; the message has the nearest words that are.
    """
    text, on = _without_place(" ".join(words.splitlines()).strip())
    if found := _DOWN.fullmatch(text):
        qmgr = cook(found[1])
        if on not in ("", qmgr):
            raise UnknownChangeError(f"'{words}': {qmgr} ends where it is, not on {on}")
        return QmgrDown(words, qmgr)
    if found := _CHANNEL.fullmatch(text):
        return _channel_state(words, found, on)
    if found := _MEMBERSHIP.fullmatch(text):
        qmgr = cook(found[2])
        if on not in ("", qmgr):
            raise UnknownChangeError(f"'{words}': is it {qmgr} or {on}? name one of them")
        text, on = f"{found[1]} QMGR {found[3]}", qmgr
    try:
        if not changes_definitions(text):
            raise UnknownChangeError(f"'{words}' is not understood{_nearest(text)}: {_EXAMPLES}")
        return Definition(words, text, parse(text), on)
    except PieceRefusedError as error:
        raise UnknownChangeError(f"'{words}': {error}{_nearest_attribute(text)}") from error


def _without_place(text: str) -> tuple[str, str]:
    """The command, and the queue manager that ON names."""
    found = _ON.search(text)
    if found is None:
        return text, ""
    place = found[1]
    return text[: found.start()], place if place == EVERYWHERE else cook(place)


def _channel_state(words: str, found: re.Match[str], on: str) -> ChannelState:
    verb, rest = found[1].upper(), found[3]
    outside = re.sub(r"\((?:[^()]|\([^()]*\))*\)", " ", rest)
    unknown = {x.upper() for x in re.findall(r"\w+", outside)} - _CHANNEL_WORDS
    if unknown:
        near = _near(min(unknown), sorted(_CHANNEL_WORDS))
        raise UnknownChangeError(f"'{words}': {verb} CHANNEL has no {min(unknown)}{near}")
    status = "RUNNING"
    if verb == "STOP":
        said = _STOPPED_AS.search(rest)
        status = said[1].upper() if said else "STOPPED"
        if status not in ("STOPPED", "INACTIVE"):
            raise UnknownChangeError(f"'{words}': STATUS({status}) is not STOPPED or INACTIVE")
    to = _TO.search(rest)
    place = "" if on == EVERYWHERE else on
    return ChannelState(words, cook(found[2]), status, place, cook(to[1]) if to else "")


def _nearest(text: str) -> str:
    """The known beginning that is nearest to a command's."""
    head = " ".join(re.findall(r"\w+", text.upper())[:2])
    return _near(head, _HEADS)


def _nearest_attribute(text: str) -> str:
    """The attribute that is nearest to one that the object does not have."""
    words = re.findall(r"([A-Za-z]\w*)\s*\(", text)
    head = re.match(r"\s*(\w+)\s+(\w+)", text)
    if head is None or head[1].upper() not in VERBS or head[2].upper() not in OBJECTS:
        return _nearest(text)
    known = sorted(DEFINED[OBJECTS[head[2].upper()]])
    unknown = [x.upper() for x in words[1:] if x.upper() not in known]
    return _near(unknown[0], known) if unknown else ""


def _near(word: str, known: "list[str] | tuple[str, ...]") -> str:
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else ""
