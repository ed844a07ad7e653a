"""Events grouped by queue manager, and what is no part of any of its texts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from clwl_spark.mq.read.mqsc import is_mqs_command
from clwl_spark.mq.read.naming import Section, with_names
from clwl_spark.mq.read.records import (
    SHOWN_TEXT,
    Broken,
    Ending,
    Event,
    Hint,
    Opening,
    Other,
    Reject,
    Script,
    Shown,
)
from clwl_spark.mq.read.unknown import unknown_lines, unknown_types
from clwl_spark.mq.read.words import ENDS

RUNS: Final = frozenset({"session", "here"})
"""Openings that start another run of runmqsc, where text behind an END counts again."""


def read_sections(
    events: Sequence[Event], source: str, observer: str | None
) -> tuple[list[Section], list[Reject]]:
    """Group a text's events by the queue manager whose text it is.

    Args:
        events: the events of one text.
        source: its name, for rejects.
        observer: the queue manager of a text that names none.

    Returns:
        Sections that all name their queue manager, and the lines that no program would take.

    Raises:
        IngestError: the text says something, but neither it nor `observer` names a queue manager.

    Source: CONTRACT, "What MQ's texts become", 1 and 6.
    """
    broken = [
        Reject(source, event.line, event.text[:SHOWN_TEXT], event.reason)
        for event in events
        if isinstance(event, Broken)
    ]
    sections, rejects = _without_prose(_split(events), source)
    named = with_names(_until_end(sections), source, observer)
    untold = [] if named else unknown_types(events, source)
    return named, [*broken, *rejects, *untold]


def _split(events: Iterable[Event]) -> list[Section]:
    """Start a section at every opening, at a session's end and where runmqsc counts anew."""
    sections: list[Section] = []
    current = Section("", "", ())
    found: list[Event] = []
    number = 0
    for event in events:
        following = _following(current, event, number)
        if following is not None:
            sections.append(replace(current, events=tuple(found)))
            current, found, number = following, [], 0
        if isinstance(event, Script):
            number = event.number or number
        if isinstance(event, Shown) and event.kind == "qmgr" and not current.qmgr:
            current = replace(current, qmgr=event.attributes.get("QMNAME", ""))
        found.append(event)
    sections.append(replace(current, events=tuple(found)))
    return [section for section in sections if section.events]


def _following(current: Section, event: Event, number: int) -> Section | None:
    """The section that this event starts, if it starts one."""
    if isinstance(event, Opening):
        return Section(event.qmgr, event.origin, (), event.terminator)
    if isinstance(event, Script):
        return Section("", "", ()) if 0 < event.number <= number else None
    if isinstance(event, Shown):
        return _of_another(current, event)
    if current.origin in RUNS:
        return Section("", "", ()) if _ends(current, event) else None
    if isinstance(event, Hint) and event.qmgr != current.hint:
        return Section("", "", (), hint=event.qmgr)
    return None


def _of_another(current: Section, shown: Shown) -> Section | None:
    """The section that DISPLAY QMGR starts where it shows another queue manager."""
    name = shown.attributes.get("QMNAME", current.qmgr) if shown.kind == "qmgr" else current.qmgr
    return Section(name, "shown", ()) if current.qmgr and name != current.qmgr else None


def _ends(run: Section, event: Event) -> bool:
    """True where a run of runmqsc ends: by its closing words, or with its here-document."""
    if isinstance(event, Other):
        return bool(run.terminator) and event.text.strip() == run.terminator
    return isinstance(event, Ending)


def _without_prose(sections: list[Section], source: str) -> tuple[list[Section], list[Reject]]:
    """Drop what stands around sessions in logs and documents; refuse unknown lines of scripts."""
    events = [event for section in sections for event in section.events]
    echoed = any(isinstance(event, Script) and event.number for event in events)
    if not (echoed or _is_log(sections, events)):
        return sections, unknown_lines(events, source)
    kept: list[Section] = []
    rejects: list[Reject] = []
    for section in sections:
        # What a terminal shows as typed comes again as runmqsc's echo.
        typed = _typed(section) if echoed else []
        kept.append(replace(section, events=_without(section.events, typed)))
        rejects.extend(_typed_in_prose(section, typed, source))
        if section.origin in ("here", "dump"):
            rejects.extend(unknown_lines(section.events, source))
    return kept, rejects


def _is_log(sections: Iterable[Section], events: Iterable[Event]) -> bool:
    """True where a text shows objects, or runs of runmqsc."""
    runs = any(section.origin in RUNS for section in sections)
    return runs or any(isinstance(event, Shown) for event in events)


def _typed(section: Section) -> list[Script]:
    """Commands without an echo, in a session or among other text."""
    prose = not section.origin and any(isinstance(event, Other | Hint) for event in section.events)
    if section.origin != "session" and not prose:
        return []
    return [event for event in section.events if isinstance(event, Script) and not event.number]


def _without(events: Sequence[Event], dropped: Sequence[Event]) -> tuple[Event, ...]:
    lines = {event.line for event in dropped}
    return tuple(event for event in events if event.line not in lines)


def _typed_in_prose(section: Section, typed: Sequence[Script], source: str) -> list[Reject]:
    """One reject for the commands that stand among other text, outside any session."""
    commands = [script for script in typed if is_mqs_command(script.text)]
    if section.origin or not commands:
        return []
    first = commands[0]
    reason = f"{len(commands)} command(s) among other text, outside a runmqsc session: not read"
    return [Reject(source, first.line, first.text[:SHOWN_TEXT], reason)]


def _until_end(sections: Sequence[Section]) -> list[Section]:
    """Cut off what stands behind an END, up to the next run of runmqsc."""
    kept: list[Section] = []
    ended = False
    for section in sections:
        ended = ended and section.origin not in RUNS
        if ended:
            continue
        events = list(section.events)
        for index, event in enumerate(events):
            if isinstance(event, Script) and event.verb.rstrip(";") in ENDS:
                del events[index:]
                ended = not event.number
                break
        kept.append(replace(section, events=tuple(events)))
    return kept
