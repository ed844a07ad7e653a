"""Which cases an assertion is about, and whether the names in it are names of anything.

A fact about names that nobody has would hold without meaning anything, so it is an error: a share
to a queue manager that was renamed is 0, and 0 is less than every limit.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Final

from clwl_spark.checks.assertions.answers import KnownChannel, Network
from clwl_spark.checks.assertions.model import (
    AnyDown,
    Case,
    ChannelStopped,
    ClusterDown,
    Condition,
    Crosses,
    GoesTo,
    Hit,
    QmgrDown,
    ReasonIs,
    Request,
    Separate,
    Share,
    Statement,
    requests_of,
)
from clwl_spark.checks.assertions.wording import condition_words
from clwl_spark.errors import did_you_mean

MOST_CASES: Final = 10_000
"""Cases of one assertion: 100 channels in pairs."""


def cases_of(statement: Statement, network: Network) -> tuple[list[Case], list[str]]:
    """The cases in which a statement must hold, or what is wrong with its names.

    Returns:
        Cases without repetition, sorted by their words, one where there is no sweep; and the
        problems. One of the two is empty.
    """
    problems = list(dict.fromkeys((*_unknown(statement, network), *_missed(statement, network))))
    if problems:
        return [], problems
    choices = [_alternatives(x, statement, network) for x in statement.conditions]
    count = prod(map(len, choices))
    if count > MOST_CASES:
        said = f"there are {count:,} cases, and {MOST_CASES:,} are tried at most"
        return [], [f"{said}: name what is down instead of one 'any'"]
    together = {frozenset(hit for part in parts for hit in part) for parts in product(*choices)}
    cases = [tuple(sorted(hits, key=condition_words)) for hits in together]
    return sorted(cases, key=lambda case: [condition_words(hit) for hit in case]), []


def _alternatives(
    condition: Condition, statement: Statement, network: Network
) -> list[tuple[Hit, ...]]:
    """What a condition may mean: a sweep one of several, anything else all that it names."""
    match condition:
        case AnyDown(kind="channel"):
            ends = {(x.channel, x.qmgr) for x in network.channels}
            return [(ChannelStopped(channel=channel, to=to),) for channel, to in ends]
        case AnyDown(kind="cluster"):
            return [(ClusterDown(cluster=x),) for x in network.clusters]
        case AnyDown():
            # A program on a queue manager that is down puts nothing.
            others = network.qmgrs - {statement.fact.request.sender}
            return [(QmgrDown(qmgr=x),) for x in others]
        case ChannelStopped():
            to = {x.qmgr for x in _meant(condition, network)}
            return [tuple(condition.model_copy(update={"to": x}) for x in sorted(to))]
        case _:
            return [(condition,)]


def _meant(condition: ChannelStopped, network: Network) -> list[KnownChannel]:
    """The channels that a condition stops."""
    seen_from = network.clusters_of(condition.on) if condition.on else network.clusters
    return [
        x
        for x in network.channels
        if x.channel == condition.channel
        and condition.to in (None, x.qmgr)
        and x.cluster in seen_from
        and x.qmgr != condition.on
    ]


def _unknown(statement: Statement, network: Network) -> Iterator[str]:
    """Names that nobody has."""
    for qmgr in _qmgrs(statement):
        if qmgr not in network.qmgrs:
            yield f"no queue manager {qmgr}: {did_you_mean(qmgr, network.qmgrs)}"
    for channel in _channels(statement):
        known = {x.channel for x in network.channels}
        if channel not in known:
            yield f"no cluster channel {channel}: {did_you_mean(channel, known)}"
    for cluster in _clusters(statement):
        if cluster not in network.clusters:
            yield f"no cluster {cluster}: {did_you_mean(cluster, network.clusters)}"
    if not isinstance(statement.fact, ReasonIs):
        for request in requests_of(statement.fact):
            yield from _unknown_object(request, network)


def _unknown_object(request: Request, network: Network) -> Iterator[str]:
    """A queue that nobody has, or an object queue manager.

    Any topic string has a topic object, if only SYSTEM.BASE.TOPIC; what is put to a named queue
    manager is looked for there, perhaps beyond what the snapshot knows.
    """
    if request.is_topic:
        return
    names = network.objects | network.qmgrs
    if request.object_qmgr and request.object_qmgr not in names:
        yield f"no queue manager, or alias of one, {request.object_qmgr}: " + did_you_mean(
            request.object_qmgr, network.qmgrs
        )
    if not request.object_qmgr and request.object_name not in network.objects:
        yield (
            f"no queue {request.object_name}: {did_you_mean(request.object_name, network.objects)} "
            "(that there is none, reason(...) = 2085 says)"
        )


def _missed(statement: Statement, network: Network) -> Iterator[str]:
    """Names that somebody has, but that do not go together."""
    fact = statement.fact
    if isinstance(fact, Separate):
        yield from _not_two(fact, statement)
    if isinstance(fact, Share) and fact.to and fact.over:
        yield from _not_led(fact.over, fact.to, network)
    for condition in statement.conditions:
        match condition:
            case QmgrDown(qmgr=fact.request.sender):
                yield f"{condition.qmgr} puts the messages, so it cannot be down: leave it out"
            case ChannelStopped():
                yield from _not_stopped(condition, network)
            case AnyDown() if not _alternatives(condition, statement, network):
                yield f"there is no {condition.kind} that might be down: leave the condition out"
            case _:
                pass


def _not_two(fact: Separate, statement: Statement) -> Iterator[str]:
    """That there are no two puts to be apart, or a condition that changes nothing."""
    if fact.request == fact.other:
        yield "a put is not separate from itself: name two"
    if statement.conditions:
        yield "separate(...) is about whatever state of the channels: leave the condition out"


def _not_led(channel: str, qmgr: str, network: Network) -> Iterator[str]:
    """That a channel leads to other queue managers than the one that is named."""
    led = sorted({x.qmgr for x in network.channels if x.channel == channel})
    if led and qmgr not in led:
        yield f"channel {channel} leads to {', '.join(led)}, not to {qmgr}: correct one of them"


def _not_stopped(condition: ChannelStopped, network: Network) -> Iterator[str]:
    if condition.to:
        yield from _not_led(condition.channel, condition.to, network)
    if condition.on in network.qmgrs and not _meant(condition, network):
        clusters = {x.cluster for x in network.channels if x.channel == condition.channel}
        yield (
            f"{condition.on} has no sender of channel {condition.channel}, which is in "
            f"{', '.join(sorted(clusters))}: name a queue manager of there"
        )


def _qmgrs(statement: Statement) -> Iterator[str]:
    """Queue managers that a statement names, but for the object queue manager."""
    fact = statement.fact
    yield from dict.fromkeys(x.sender for x in requests_of(fact))
    if isinstance(fact, Share) and fact.to:
        yield fact.to
    if isinstance(fact, GoesTo):
        yield fact.qmgr
    for condition in statement.conditions:
        if isinstance(condition, QmgrDown):
            yield condition.qmgr
        if isinstance(condition, ChannelStopped):
            yield from filter(None, (condition.to, condition.on))


def _channels(statement: Statement) -> Iterator[str]:
    if isinstance(statement.fact, Share) and statement.fact.over:
        yield statement.fact.over
    yield from (x.channel for x in statement.conditions if isinstance(x, ChannelStopped))


def _clusters(statement: Statement) -> Iterable[str]:
    crossed = [statement.fact.cluster] if isinstance(statement.fact, Crosses) else []
    return crossed + [x.cluster for x in statement.conditions if isinstance(x, ClusterDown)]
