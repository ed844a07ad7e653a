"""Weights that give wanted shares as nearly as weights can.

A route is chosen in inverse proportion to its step, 1000 div CLWLWGHT, so a share is one of some
sixty numbers beside the others'. Wanted are proportions; what is looked for is one number for each
host such that (got / wanted) differs least from host to host. That is the smallest range that has a
number of every host's list, which a walk over all lists in order finds: exactly, and at once.

Source: SEMANTICS 5 (steps 2 and 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, MAX_WEIGHT

_FULL: Final = 1000


@dataclass(frozen=True, slots=True)
class Weights:
    """What comes nearest.

    Attributes:
        weights: (hosts,) CLWLWGHT, 1-99, of every channel of the host.
        error: by how much the best served host is ahead of the worst served one, as a part of what
            was wanted; 0 = the shares are as wanted.
    """

    weights: tuple[int, ...]
    error: Fraction


def nearest_weights(wanted: Sequence[int], channels: Sequence[int]) -> Weights:
    """The weights whose shares come nearest to what is wanted.

    Args:
        wanted: (hosts,) how often each against the others, 1 or more.
        channels: (hosts,) channels that each has, all of which get its weight.

    Returns:
        The weights; of several that are as near, rather those near 50, MQ's default.
    """
    got = sorted(
        (Fraction(number, (_FULL // weight) * share), abs(weight - DEFAULT_WEIGHT), weight, host)
        for host, (share, number) in enumerate(zip(wanted, channels, strict=True))
        for weight in _weights()
    )
    best: tuple[Fraction, int, tuple[int, ...]] | None = None
    held: list[tuple[Fraction, int, int] | None] = [None] * len(wanted)
    for value, off, weight, host in got:
        held[host] = (value, off, weight)
        there = [x for x in held if x is not None]
        if len(there) < len(held):
            continue
        range_ = value / min(x[0] for x in there)
        found = (range_ - 1, sum(x[1] for x in there), tuple(x[2] for x in there))
        best = found if best is None or found < best else best
    if best is None:
        raise ValueError("nobody is wanted")
    return Weights(best[2], best[0])


def _weights() -> list[int]:
    """One weight for each step that there is: the one nearest to 50."""
    by_step: dict[int, int] = {}
    for weight in range(1, MAX_WEIGHT + 1):
        step = _FULL // weight
        known = by_step.get(step, weight)
        by_step[step] = min(known, weight, key=lambda x: abs(x - DEFAULT_WEIGHT))
    return list(by_step.values())
