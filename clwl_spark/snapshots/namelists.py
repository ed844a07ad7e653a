"""Name lists that a later text changes: a snapshot has the clusters of objects, and no name lists.

Source: CONTRACT, "What MQ's texts become", 8.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from clwl_spark.mq.read.mqsc import cook_list, parse
from clwl_spark.mq.read.records import Definition, PieceRefusedError, Reject, Script, TextState

_LISTS: Final = ("CLUSNL", "REPOSNL")
_SHARED: Final = ("CLUSTER", "REPOS", *_LISTS)


def without_use(base: TextState, states: Sequence[TextState]) -> Iterator[Reject]:
    """Name lists that a text defines while objects that only the snapshot has may hang on them.

    Which of them do is not known, so that such a definition moves nothing: it is a reject, like
    an ALTER of it.

    Args:
        base: what the snapshot has of the queue manager.
        states: the texts.
    """
    anew = {key for state in states for key, x in state.objects.items() if not x.implied}
    clusters = [set(_clusters(x, base)) for key, x in base.objects.items() if key not in anew]
    used = {x for state in states for x in _used(state)}
    used |= {x for state in states for script in state.open for x in _named(script)}
    for state in states:
        for of in state.objects.values():
            names = _names(of)
            if names and of.name not in used and any(x and x != names for x in clusters):
                reason = (
                    f"a snapshot keeps no name lists, so nothing follows {of.name}: say "
                    f"CLUSNL({of.name}) or REPOSNL({of.name}) again for what is to hang on it"
                )
                yield Reject(state.source, of.line, f"NAMELIST({of.name})", reason)


def _names(of: Definition) -> set[str]:
    """What a name list says that is defined, and not only shown."""
    if of.kind != "namelist" or of.shown:
        return set()
    return set(cook_list(of.attributes.get("NAMES", ""))) - {""}


def _clusters(of: Definition, base: TextState) -> list[str]:
    """The clusters of an object of the snapshot."""
    found: list[str] = []
    for keyword in _SHARED:
        value = of.attributes.get(keyword, "")
        listed = base.objects.get(("namelist", value)) if keyword in _LISTS else None
        found += cook_list(listed.attributes["NAMES"]) if listed else [value] if value else []
    return found


def _used(state: TextState) -> Iterator[str]:
    """The name lists that a text's definitions, and its SUSPEND and RESUME, name."""
    for of in state.objects.values():
        yield from (of.attributes[x] for x in _LISTS if x in of.attributes)
    yield from (name for keyword, name in state.suspensions if keyword in _LISTS)


def _named(script: Script) -> Iterator[str]:
    """The name lists that a command about an object of another text names."""
    try:
        attributes = parse(script.text).attributes
    except PieceRefusedError:
        return
    yield from (attributes[x] for x in _LISTS if x in attributes)
