"""Lines that are neither a command nor output: noise, or a piece that was meant to be read."""

import re
from collections.abc import Sequence
from typing import Final

from clwl_spark.mq.keywords import DEFINED, OTHER_OBJECTS
from clwl_spark.mq.mqsc import OBJECTS, is_mqs_command
from clwl_spark.mq.records import SHOWN_TEXT, Broken, Event, Other, Reject, Script

_OBJECT: Final = "|".join(sorted({*OBJECTS, *OTHER_OBJECTS}, key=len, reverse=True))
_KEYWORD: Final = "|".join(sorted(frozenset().union(*DEFINED.values()), key=len, reverse=True))
_MISSPELT: Final = re.compile(rf"\s*[A-Z]+\s+(?:{_OBJECT})\s*\(", re.IGNORECASE)
_ORPHAN: Final = re.compile(rf"\s*,?\s*(?:{_KEYWORD})\s*\([^)]*\)", re.IGNORECASE)


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
        reason = (
            "not an MQSC command; no format of MQ's: neither script, dump, DISPLAY output nor REST"
        )
        alike = [event for event in others if _why(event.text)] or others
        return [_reject(source, event, reason) for event in alike[:1]]
    found = ((event, _why(event.text)) for event in others)
    return [_reject(source, event, reason) for event, reason in found if reason]


def _is_mqs(event: Event) -> bool:
    """True where an event is part of something that MQ reads or prints."""
    if isinstance(event, Script):
        return is_mqs_command(event.text)
    return not isinstance(event, Other | Broken)


def _why(line: str) -> str:
    """Why a line was meant to be read but cannot be; '' = it is noise."""
    if _MISSPELT.match(line):
        return f"not an MQSC command: MQ has no verb {line.split(maxsplit=1)[0]}"
    if _ORPHAN.match(line):
        return "not an MQSC command: an attribute that no line before goes on with"
    return ""


def _reject(source: str, event: Other, reason: str) -> Reject:
    return Reject(source, event.line, event.text.strip()[:SHOWN_TEXT], reason)
