"""Whose text a section is: by its own words, its neighbours', or those around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from clwl_spark.errors import IngestError
from clwl_spark.mq.read.mqsc import is_mqs_command
from clwl_spark.mq.read.records import Event, Script, Shown


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive events of one queue manager; origin '' where no line opens it.

    `hint` is what a shell's or prompt's words before it say, for texts that name nobody better.
    """

    qmgr: str
    origin: str
    events: tuple[Event, ...]
    terminator: str = ""
    hint: str = ""


def with_names(sections: Sequence[Section], source: str, observer: str | None) -> list[Section]:
    """Give every section its queue manager: its own, a neighbour's, else the observer.

    Args:
        sections: the sections of one text, in order.
        source: the text's name.
        observer: the queue manager of a text that names none.

    Returns:
        The sections that have commands or objects.

    Raises:
        IngestError: the text says something, but neither it nor `observer` names a queue manager.

    Source: CONTRACT, "What MQ's texts become", 1.
    """
    names = [section.qmgr or _own_receiver(section.events) for section in sections]
    if any(names) or not observer:
        names = [name or part.hint for name, part in zip(names, sections, strict=True)]
    fallback = next(filter(None, names), "") or observer or _hinted(sections)
    if not fallback:
        _refuse_nameless(sections, source)
        return []
    named: list[Section] = []
    for section, name in zip(sections, names, strict=True):
        fallback = name or fallback
        named.append(replace(section, qmgr=fallback))
    return list(filter(_has_content, named))


def _has_content(section: Section) -> bool:
    return any(isinstance(event, Script | Shown) for event in section.events)


def _refuse_nameless(sections: Iterable[Section], source: str) -> None:
    """Refuse a text that says something of a queue manager, but not of which.

    Raises:
        IngestError: it does.
    """
    if any(map(_says_something, sections)):
        message = (
            f"{source}: names no queue manager; say whose text it is with --observer, or add the "
            f"output of DISPLAY QMGR"
        )
        raise IngestError(message)


def _says_something(section: Section) -> bool:
    """True where rows may come of a section, so that it matters whose text it is."""
    return any(
        (isinstance(event, Shown) and event.kind not in ("", "qmstatus", "pubsub"))
        or (isinstance(event, Script) and is_mqs_command(event.text, changing=True))
        for event in section.events
    )


def _own_receiver(events: Iterable[Event]) -> str:
    """The viewer of DISPLAY CLUSQMGR output: the one shown with its own CLUSRCVR."""
    names = {
        event.attributes.get("CLUSQMGR", "")
        for event in events
        if isinstance(event, Shown)
        and event.kind == "clusqmgr"
        and event.attributes.get("DEFTYPE") == "CLUSRCVR"
    }
    return names.pop() if len(names) == 1 else ""


def _hinted(sections: Iterable[Section]) -> str:
    """The last resort: words around the text that all speak of the same queue manager.

    QMSTATUS and PUBSUB; then the command prefix of z/OS messages, by custom the queue manager's
    name.
    """
    events = [event for section in sections for event in section.events]
    hints: set[str] = set()
    systems: set[str] = set()
    for event in events:
        if not isinstance(event, Shown):
            continue
        systems.add(event.system)
        if event.kind == "qmstatus" or event.attributes.get("TYPE") == "LOCAL":
            hints.add(event.attributes.get("QMNAME", ""))
    for names in (hints - {""}, systems - {""}):
        if len(names) == 1:
            return names.pop()
    return ""
