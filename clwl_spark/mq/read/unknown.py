"""Lines that are neither a command nor output: noise, or a piece that was meant to be read."""

import re
from collections.abc import Sequence
from typing import Final

from clwl_spark.mq.read.keywords import DEFINED, OTHER_OBJECTS
from clwl_spark.mq.read.mqsc import changes_definitions, is_mqs_command
from clwl_spark.mq.read.records import (
    SHOWN_TEXT,
    Broken,
    Event,
    Hint,
    Other,
    PieceRefusedError,
    Reject,
    Script,
)
from clwl_spark.mq.read.words import OBJECTS

_OBJECTS: Final = OBJECTS.keys() | OTHER_OBJECTS
_KEYWORDS: Final = frozenset().union(*DEFINED.values())
_FIRST_WORDS: Final = re.compile(r"[\s,]*([A-Za-z]\w*)(?:\s+([A-Za-z]\w*))?\s*\(")


def unknown_lines(events: Sequence[Event], source: str) -> list[Reject]:
    """Refuse the lines of a script that no program would take.

    Shell lines, YAML around MQSC and prose are noise; a misspelt command and an attribute that no
    command goes on with are not. A text of nothing but noise is one reject.

    Args:
        events: the events of a text or of a part of it.
        source: the text's name.

    Source: CONTRACT, "What MQ's texts become", 8.
    """
    others = [event for event in events if isinstance(event, Other)]
    if not any(map(_is_mqs, events)):
        alike = [event for event in others if _why(event.text)] or others
        reason = (
            "not an MQSC command; no format of MQ's: neither script, dump, DISPLAY output nor REST"
        )
        return [_reject(source, event, reason) for event in alike[:1]]
    found = ((event, _why(event.text)) for event in others)
    return [_reject(source, event, reason) for event, reason in found if reason]


def _is_mqs(event: Event) -> bool:
    """True where an event is part of something that MQ reads or prints."""
    if isinstance(event, Script):
        return is_mqs_command(event.text)
    return not isinstance(event, Other | Broken | Hint)


def _why(line: str) -> str:
    """Why a line was meant to be read but cannot be; '' = it is noise."""
    words = _FIRST_WORDS.match(line)
    if words is None:
        return ""
    if words[2] and words[2].upper() in _OBJECTS:
        return f"not an MQSC command: MQ has no verb {words[1]}"
    if not words[2] and words[1].upper() in _KEYWORDS:
        return "not an MQSC command: an attribute that no line before goes on with"
    return ""


def _reject(source: str, event: Other | Script, reason: str) -> Reject:
    return Reject(source, event.line, event.text.strip()[:SHOWN_TEXT], reason)


def unknown_types(events: Sequence[Event], source: str) -> list[Reject]:
    """Refuse the commands about objects that MQ does not have, of a text that has no others."""
    rejects: list[Reject] = []
    for event in events:
        if isinstance(event, Script):
            try:
                changes_definitions(event.text)
            except PieceRefusedError as error:
                rejects.append(_reject(source, event, str(error)))
    return rejects
