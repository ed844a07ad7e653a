"""Values as words: what `parse` reads back to the same values."""

import re
from typing import Final

from clwl_spark.checks.assertions.model import (
    AnyDown,
    Case,
    ChannelStopped,
    ClusterDown,
    Condition,
    Count,
    Crosses,
    Fact,
    GoesTo,
    QmgrDown,
    Reachable,
    ReasonIs,
    Request,
    Separate,
    Share,
    Statement,
    requests_of,
)

KEYWORDS: Final = frozenset(
    [
        "not",
        "never",
        "share",
        "destinations",
        "hops",
        "reason",
        "reachable",
        "crosses",
        "separate",
        "goes",
        "topic",
        "at",
        "from",
        "to",
        "over",
        "on",
        "when",
        "and",
        "any",
        "is",
        "down",
        "stopped",
        "queue",
        "manager",
        "qmgr",
        "channel",
        "cluster",
    ]
)
"""Names that are written in quotes, in whatever case."""

_BARE: Final = re.compile(r"[A-Za-z0-9._/%]+")


def statement_words(statement: Statement) -> str:
    """A statement in one line."""
    words = _fact(statement.fact)
    if statement.is_negated:
        is_way = isinstance(statement.fact, Crosses | GoesTo)
        words = f"{'never' if is_way else 'not'} {words}"
    if statement.conditions:
        words += " when " + " and ".join(condition_words(x) for x in statement.conditions)
    return words


def condition_words(condition: Condition) -> str:
    """One condition."""
    match condition:
        case QmgrDown():
            return f"queue manager {_name(condition.qmgr)} down"
        case ClusterDown():
            return f"cluster {_name(condition.cluster)} down"
        case ChannelStopped():
            to = f" to {_name(condition.to)}" if condition.to else ""
            on = f" on {_name(condition.on)}" if condition.on else ""
            return f"channel {_name(condition.channel)}{to}{on} stopped"
        case AnyDown():
            return f"any {condition.kind} down"


def case_words(case: Case) -> str:
    """A case; nothing down is `as it is`."""
    return " and ".join(condition_words(hit) for hit in case) or "as it is"


def _fact(fact: Fact) -> str:
    put = _request(fact.request)
    match fact:
        case Share():
            to = f" to {_name(fact.to)}" if fact.to else ""
            over = f" over {_name(fact.over)}" if fact.over else ""
            return f"share({put}{to}{over}) {fact.comparison} {fact.figure}"
        case Count():
            return f"{fact.kind}({put}) {fact.comparison} {fact.count}"
        case ReasonIs():
            return f"reason({put}) {fact.comparison} {fact.reason}"
        case Reachable() | Separate():
            return f"{fact.kind}({', '.join(map(_request, requests_of(fact)))})"
        case Crosses():
            return f"crosses cluster {_name(fact.cluster)} ({put})"
        case GoesTo():
            return f"goes to queue manager {_name(fact.qmgr)} ({put})"


def _request(request: Request) -> str:
    sender = f"from {_name(request.sender)}"
    if request.is_topic:
        return f"topic {_quoted(request.object_name)} {sender}"
    at = f" at {_name(request.object_qmgr)}" if request.object_qmgr else ""
    return f"{_name(request.object_name)}{at} {sender}"


def _name(name: str) -> str:
    is_bare = _BARE.fullmatch(name) and name.lower() not in KEYWORDS
    return name if is_bare else _quoted(name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
