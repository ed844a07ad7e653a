"""What an answer says about a fact, as a number with words, and whether it is what was wanted."""

import operator
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from clwl_spark.checks.assertions.answers import Answer, Way
from clwl_spark.checks.assertions.model import (
    Comparison,
    Count,
    Crosses,
    Fact,
    GoesTo,
    Reachable,
    ReasonIs,
    Separate,
    Share,
    Statement,
    fraction_of,
)
from clwl_spark.checks.assertions.separation import apart_words, shared_words
from clwl_spark.errors import ClwlError, first_names
from clwl_spark.mq.vocabulary import reason_text

NOISE: Final = 1e-9
"""Shares that differ by less are equal: they are sums of floating-point numbers."""

_LISTED: Final = 8
_HOLDS: Final[dict[Comparison, Callable[[float, float], bool]]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.MORE: operator.gt,
    Comparison.AT_LEAST: operator.ge,
}


class Demand(NamedTuple):
    """What a figure has to be."""

    comparison: Comparison
    wanted: Fraction


class Figure(NamedTuple):
    """What was found: a number, None where there is none to compare; and words."""

    value: float | None
    said: str


class UnansweredError(ClwlError):
    """An engine left out what it was asked for."""

    def __init__(self, what: str) -> None:
        """Name it."""
        super().__init__(f"the engine gave no answer for {what}: report this as a fault")


def demand_of(statement: Statement) -> Demand:
    """What the figure of a fact has to be; the negation is in it.

    `reachable` wants all messages to arrive and `not reachable` none, so that neither holds where
    some of them do.
    """
    fact = statement.fact
    comparison, wanted = Comparison.EQUAL, Fraction(1)
    match fact:
        case Share():
            comparison, wanted = fact.comparison, fraction_of(fact.figure)
        case Count():
            comparison, wanted = fact.comparison, Fraction(fact.count)
        case ReasonIs():
            comparison, wanted = fact.comparison, Fraction(fact.reason)
        case _:
            return Demand(comparison, Fraction(0) if statement.is_negated else wanted)
    return Demand(comparison.negated if statement.is_negated else comparison, wanted)


def is_met(figure: Figure, demand: Demand) -> bool:
    """Whether the figure is what is wanted; what has no number never is."""
    return figure.value is not None and _HOLDS[demand.comparison](_above(figure.value, demand), 0.0)


def excess(figure: Figure, demand: Demand) -> float:
    """How far a figure is on the wrong side of what is wanted; the worst case has the most."""
    if figure.value is None:
        return float("inf")
    above = _above(figure.value, demand)
    match demand.comparison:
        case Comparison.EQUAL:
            return abs(above)
        case Comparison.UNEQUAL:
            return -abs(above)
        case Comparison.LESS | Comparison.AT_MOST:
            return above
        case Comparison.MORE | Comparison.AT_LEAST:
            return -above


def _above(value: float, demand: Demand) -> float:
    """How much greater a value is than the wanted one; 0 if that is but noise."""
    above = value - float(demand.wanted)
    return 0.0 if abs(above) <= NOISE else above


def needs_whole_way(fact: Fact) -> bool:
    """Whether a fact is about more than what the sender chooses."""
    return fact.kind in ("hops", "reachable", "crosses", "goes to")


def figure_of(fact: Fact, answer: Answer, other: Answer | None = None) -> Figure:
    """What an answer says about a fact.

    Args:
        fact: it.
        answer: of its put.
        other: of the second put, where there are two.

    Raises:
        UnansweredError: the whole way is needed and is not there.
    """
    if isinstance(fact, Separate):
        return _separation(fact, answer, other)
    if isinstance(fact, ReasonIs):
        return Figure(answer.reason, f"the put ends with {reason_text(answer.reason)}")
    if answer.reason:
        return _of_failed_put(fact, answer.reason)
    match fact:
        case Share():
            return _share(fact, answer)
        case Count(kind="destinations"):
            return _destinations(answer)
    if answer.way is None:
        raise UnansweredError(f"the whole way of {fact.request}")
    return _of_way(fact, answer.way)


def _of_failed_put(fact: Fact, reason: int) -> Figure:
    """A put that fails sends nothing anywhere: some figures are 0, a share is one of nothing."""
    said = f"the put ends with {reason_text(reason)}"
    has_figure = not isinstance(fact, Share) and fact.kind != "hops"
    return Figure(0.0 if has_figure else None, said)


def _separation(fact: Separate, one: Answer, other: Answer | None) -> Figure:
    """Whether two puts are apart; one that fails sends nothing that could be."""
    if other is None:
        raise UnansweredError(f"the ways of {fact.other}")
    for put, answer in ((fact.request, one), (fact.other, other)):
        if answer.reason:
            return Figure(
                None, f"the put to {put.object_name} ends with {reason_text(answer.reason)}"
            )
    if one.lines is None or other.lines is None:
        raise UnansweredError(f"the ways of {fact.request} and {fact.other}")
    shared = shared_words(one.lines, other.lines)
    return Figure(float(not shared), shared or apart_words(fact, one.lines, other.lines))


def _share(fact: Share, answer: Answer) -> Figure:
    share = sum(
        x.share
        for x in answer.routes
        if fact.to in (None, x.dest_qmgr) and fact.over in (None, x.channel)
    )
    parts = Counter[str]()
    for x in answer.routes:
        parts[(fact.over and x.channel) or x.dest_qmgr] += x.share  # type: ignore[assignment]
    said = first_names([f"{name} {percent(part)}" for name, part in parts.most_common()])
    return Figure(share, f"the share is {percent(share)} ({said})")


def _destinations(answer: Answer) -> Figure:
    names = sorted({x.dest_qmgr for x in answer.routes if x.share > 0})
    return Figure(len(names), f"{_counted(len(names), 'destination')}: {first_names(names)}")


def _of_way(fact: Fact, way: Way) -> Figure:
    match fact:
        case Reachable():
            return _arriving(way)
        case Crosses():
            crossed = first_names(sorted(way.clusters)) or "no cluster"
            return Figure(fact.cluster in way.clusters, f"messages cross {crossed}")
        case GoesTo():
            come = first_names(sorted(way.qmgrs)) or "no other queue manager"
            return Figure(fact.qmgr in way.qmgrs, f"messages come to {come}")
        case _:
            return _hops(way)


def _hops(way: Way) -> Figure:
    if way.loop:
        return Figure(None, f"messages go round: {_round(way)}")
    return Figure(way.hops, _counted(way.hops, "hop"))


def _arriving(way: Way) -> Figure:
    arriving = sum(x.share for x in way.ends if not x.missed)
    said = [f"{percent(arriving)} of the messages come to a queue"]
    missed = [x for x in way.ends if x.missed]
    said += [f"{percent(x.share)} end on {x.qmgr}: {x.missed}" for x in missed[:_LISTED]]
    left = 1 - sum(x.share for x in way.ends)
    if way.loop and left > NOISE:
        said.append(f"{percent(left)} go round for ever: {_round(way)}")
    return Figure(arriving, "; ".join(said))


def percent(share: float) -> str:
    """A share with six digits at most."""
    return f"{100 * share:.6g}%"


def _round(way: Way) -> str:
    return " > ".join((*way.loop, way.loop[0]))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
