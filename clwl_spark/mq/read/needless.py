"""What of MQ's gives no row, texts and commands in them: said, so that nobody looks for it."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from clwl_spark.mq.read.authorities import is_authority_command
from clwl_spark.mq.read.mqsc import command_words
from clwl_spark.mq.read.records import Event, Passed, Script, Shown
from clwl_spark.mq.read.values import MESSAGE_CHANNEL_TYPES
from clwl_spark.mq.read.words import ENDS, OBJECTS, VERBS

_NEEDLESS: Final = frozenset({"qmstatus", "pubsub", "namelist"})
_QUEUES: Final = frozenset({"queue", "qstatus"})
_OF_TYPES: Final = {"HANDLE": "QSTATUS of handles", "QMODEL": "QMODEL"}
"""Types of queues' rows that give none."""
_CLUSTER_CHANNELS: Final = frozenset({"CLUSSDR", "CLUSRCVR"})
_CHANNELS: Final = {
    "status": _CLUSTER_CHANNELS,
    "channel": _CLUSTER_CHANNELS.union(MESSAGE_CHANNEL_TYPES),
}
"""Kind -> the channel types of which it gives rows."""
_CHLTYPE: Final = re.compile(r"\bCHLTYPE\s*\(\s*'?(\w+)", re.IGNORECASE)
_ACTING: Final = {"REFRESH": "REFRESH", "REF": "REFRESH", "RESET": "RESET"}
_SYNONYMS: Final = {"CHL": "CHANNEL"}
_ASKING: Final = frozenset({"DIS", "DISPLAY", *ENDS})


def needless(events: Iterable[Event]) -> dict[str, int]:
    """Count what a text holds, by kind, if none of it gives a row.

    Args:
        events: the events of one text.

    Returns:
        Words for a kind -> how many; empty where something may give a row, or nothing is MQ's.

    Source: CONTRACT, "What MQ's texts become", 3, 5 and 8.
    """
    counts: Counter[str] = Counter()
    for event in events:
        kind = _kind(event)
        if kind is None:
            return {}
        if kind:
            counts[kind] += 1
    return dict(counts)


def actions(events: Iterable[Event]) -> dict[str, int]:
    """The commands that make a running queue manager do something, and change no definition.

    Args:
        events: the events of one text.

    Returns:
        `REFRESH CLUSTER`, `RESET CHANNEL` and others -> the line of the first.

    Source: CONTRACT, "What MQ's texts become", 8.
    """
    lines: dict[str, int] = {}
    for event in events:
        if isinstance(event, Script):
            action = action_of(event.text)
            if action:
                lines.setdefault(action, event.line)
    return lines


def action_of(text: str) -> str:
    """What a command makes a running queue manager do, as `REFRESH CLUSTER`; '' = nothing."""
    verb, word = command_words(text)
    return f"{_ACTING[verb]} {_SYNONYMS.get(word, word)}" if verb in _ACTING else ""


def _kind(event: Event) -> str | None:
    """What an event is; '' = nothing by itself, None = it may give a row."""
    if isinstance(event, Passed):
        return event.what
    if isinstance(event, Shown):
        return _shown(event)
    return _command(event) if isinstance(event, Script) else ""


def _shown(shown: Shown) -> str | None:
    """What a displayed object is; None = it may give a row."""
    chltype = shown.attributes.get("CHLTYPE", "")
    qtype = shown.attributes.get("TYPE", "")
    if shown.kind == "status" and "SAVED" in shown.attributes:
        return "saved channel status"
    if chltype and chltype not in _CHANNELS.get(shown.kind, {chltype}):
        return f"{chltype} {'channel status' if shown.kind == 'status' else 'channel'}"
    if not shown.kind:
        return next(iter(shown.attributes), "")
    if shown.kind in _NEEDLESS:
        return shown.kind.upper()
    return _OF_TYPES.get(qtype) if shown.kind in _QUEUES else None


def _command(script: Script) -> str | None:
    """What a command is about; None = it may give a row."""
    verb, word = command_words(script.text)
    if not word or verb in _ASKING:
        return ""
    if is_authority_command(script.text):
        return None
    if verb not in VERBS or word not in OBJECTS:
        return f"{verb} {word}"
    kind, subtype = OBJECTS[word]
    if kind == "channel":
        return _other_channel(script)
    return "NAMELIST" if kind == "namelist" else _OF_TYPES.get(subtype)


def _other_channel(script: Script) -> str | None:
    """A channel of a kind that gives no row; None = of another one."""
    found = _CHLTYPE.search(script.text)
    chltype = found[1].upper() if found else ""
    return f"{chltype} channel" if chltype and chltype not in _CHANNELS["channel"] else None
