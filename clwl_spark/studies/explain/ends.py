"""Puts that end alike: name resolution tells what is chosen from, before anything is planned.

Whatever was put to, the candidates of a choice and what the rules say of them depend only on the
queue manager that puts and on the end of the put's resolution. So one plan answers for all puts
with that end. Pure Python, no Spark.

Source: SEMANTICS 2, 3, S2a, 9 (P17 to P19), P36.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from clwl_spark.algorithm.request import Request
from clwl_spark.algorithm.resolve import Knowledge, Resolution, resolve
from clwl_spark.mq.vocabulary import DefBind, Edition, ObjectType, PlanKind, Via, WildcardSchema
from clwl_spark.planning.topic_strings import topic_matches
from clwl_spark.tables import columns as c

Row = dict[str, Any]
End = tuple[str | frozenset[str] | frozenset[tuple[str, str]] | None, ...]
"""What a put of a queue manager chooses from; equal ends have equal candidates, whatever is put to.

Of a queue its name, and `via` where it counts; of a queue manager its name; of a topic string what
it meets; of a name that leads nowhere, but may be asked for, name and reason.
"""

_LEVEL: Final = "-"
"""Stands for any level of a topic string."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a snapshot, whoever sees them.

    Attributes:
        topics: of topic objects.
        strings: their topic strings.
        chosen: (kind, name) of queues, and of queue managers and their aliases.
    """

    topics: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    chosen: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """All that a queue manager knows in one snapshot.

    Attributes:
        knowledge: for name resolution, of every name.
        names: of the snapshot, whether it sees them or not; none if it is in no cluster.
        patterns: topic string and WSCHEMA of its proxy subscriptions; of the second edition those
            of all user subscriptions where it has none.
        edition: of SEMANTICS.
        asks: it may ask for names that its own view lacks (S2a).
    """

    knowledge: Knowledge
    names: Names = field(default_factory=Names)
    patterns: frozenset[tuple[str, str]] = frozenset()
    edition: Edition = Edition.FIRST
    asks: bool = False


def resolution_of(request: Request, viewpoint: Viewpoint) -> Resolution:
    """Where the resolution of a put to a queue ends."""
    return resolve(viewpoint.knowledge, request.object_name, request.object_qmgr)


def end_of(request: Request, viewpoint: Viewpoint) -> End | None:
    """What a put chooses from; None = nothing: it stays, has a transmission queue, or fails.

    Args:
        request: of the queue manager whose viewpoint it is.
        viewpoint: what it knows.
    """
    if request.object_type == ObjectType.TOPIC:
        return _topic_end(request, viewpoint)
    found = resolution_of(request, viewpoint)
    if found.reason:
        # Whether it asks for the name in vain is told by what there is of that name (P36).
        name = found.resolved_qmgr if found.kind == PlanKind.QMGR else found.resolved_object
        if viewpoint.asks and (found.kind, name) in viewpoint.names.chosen:
            return (found.kind, name, str(found.reason))
        return None
    if found.kind == PlanKind.QUEUE:
        # Only an instance of its own may win because of the way that a message came.
        has_own = found.resolved_object in viewpoint.knowledge.definitions
        return (found.kind, found.resolved_object, request.via if has_own else "")
    return (found.kind, found.resolved_qmgr) if found.kind == PlanKind.QMGR else None


def _topic_end(request: Request, viewpoint: Viewpoint) -> End | None:
    """What a publication meets: defined topic strings on its way down, and subscriptions."""
    topic = request.object_name
    levels = topic.split("/")
    way = ("/".join(levels[:n]) for n in range(1, len(levels) + 1))
    defined = viewpoint.names.strings.intersection(way)
    if not defined:
        return None
    matching = (x for x in viewpoint.patterns if topic_matches(*x, topic))
    # Where no object is met the plan has the string instead: that must not look like an object.
    alone = topic if topic in viewpoint.names.topics else ""
    return (ObjectType.TOPIC.value, defined, frozenset(matching), alone, request.scope)


def as_asked(plan: Row, standing: Request, request: Request, viewpoint: Viewpoint) -> Row:
    """The row of `route_plans` of a put, less its id, from that of another put with the same end.

    Args:
        plan: the other's row.
        standing: the other put.
        request: the put.
        viewpoint: what its queue manager knows.
    """
    asked = request._asdict()
    if request.object_type != ObjectType.TOPIC:
        return {**plan, **asked, **_resolved(resolution_of(request, viewpoint)), **_judged(plan)}
    name = request.object_name
    meets_none = (
        plan[c.RESOLVED_OBJECT] == standing.object_name and name not in viewpoint.names.topics
    )
    resolved = name if meets_none else plan[c.RESOLVED_OBJECT]
    return {**plan, **asked, c.RESOLVED_OBJECT: resolved, c.RESOLUTION_PATH: [name]}


def without_choice(request: Request, viewpoint: Viewpoint) -> Row:
    """The row of `route_plans`, less its id, of a put that chooses from nothing."""
    asked = request._asdict()
    name = request.object_name
    if request.object_type == ObjectType.TOPIC:
        found = Resolution(PlanKind.LOCAL, 0, name, "", (name,), DefBind.OPEN)
    else:
        found = resolution_of(request, viewpoint)
    first_open = None if viewpoint.edition == Edition.FIRST else False
    return {**asked, **_resolved(found), "choices": 1, c.FIRST_OPEN: first_open, c.CLROUTE: None}


def _judged(plan: Row) -> Row:
    """The part of a plan that the rules say."""
    return {c.REASON: plan[c.REASON], "choices": plan["choices"]}


def _resolved(found: Resolution) -> Row:
    return {
        c.KIND: str(found.kind),
        c.REASON: found.reason,
        c.RESOLVED_OBJECT: found.resolved_object,
        c.RESOLVED_QMGR: found.resolved_qmgr,
        c.RESOLUTION_PATH: list(found.path),
        c.BIND_DEFAULT: str(found.bind_default),
        c.XMITQ: found.xmitq,
    }


def puts_of(snapshot_id: str, viewpoint: Viewpoint) -> Iterator[Request]:
    """Puts of a queue manager that have all the ends there are, those of topic strings in part.

    A topic string may match any set of subscriptions: these are the strings that are defined or
    subscribed to, and one level below them.
    """
    know = viewpoint.knowledge
    own = (snapshot_id, know.qmgr)
    for name in sorted({*know.definitions, *know.seen_queues}):
        for via in Via:
            yield Request(*own, ObjectType.QUEUE.value, name, via=via.value)
    for name in sorted(know.seen_qmgrs):
        yield Request(*own, ObjectType.QUEUE.value, name, name)
    for name in sorted(_topic_strings(viewpoint)):
        yield Request(*own, ObjectType.TOPIC.value, name)


def _topic_strings(viewpoint: Viewpoint) -> Iterator[str]:
    """Topic strings that meet what is defined and what is subscribed to."""
    for topic in viewpoint.names.strings:
        yield from (topic, f"{topic}/{_LEVEL}")
    for pattern, wschema in viewpoint.patterns:
        if wschema == WildcardSchema.CHAR.value:
            yield from (pattern.replace("?", _LEVEL).replace("*", x) for x in ("", _LEVEL))
            continue
        levels = [_LEVEL if x == "+" else x for x in pattern.split("/")]
        yield "/".join(x for x in levels if x != "#")
        yield "/".join(_LEVEL if x == "#" else x for x in levels)
