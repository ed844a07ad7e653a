"""A CLWLWGHT that was altered between two messages: of which channel, where, and from or to what.

An alteration of a channel whose status tier is 1 sets all factors to 0 (C1), so that the messages
behind it tell where it was: those before the first that differs are looked at, one after another.

Source: SEMANTICS 4, 5, C1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.follow import DIFFERS
from clwl_spark.mq.vocabulary import STATUS_TIERS
from clwl_spark.studies.conform.held import Longs, Sender
from clwl_spark.studies.conform.trial import Trial
from clwl_spark.tables import columns as c

_BEFORE: Final = 40
"""Messages before the first that differs, at each of which a weight may have been altered."""
_SIEVES: Final = ((16, 2_000), (60, 100), (2_000, 3))
"""By how many messages from there on alterations are sifted, and how many are left each time."""
_FROM_OTHER: Final = 8
"""Weights before an alteration that are tried: those that most of the first messages fit."""


@dataclass(frozen=True, slots=True)
class OtherWeight:
    """A channel with another CLWLWGHT all of the time.

    Attributes:
        channel: its number.
        weight: the other one.
        known: the one that the lake has.
        verdict: (messages,) of the first messages, under it.
    """

    channel: int
    weight: int
    known: int
    verdict: NDArray[np.int32]


def alterations(
    sender: Sender, asis: NDArray[np.int32], others: Sequence[OtherWeight]
) -> Iterator[tuple[OtherWeight, Trial]]:
    """The alterations that explain most, as trials.

    Args:
        sender: whose choices they are.
        asis: (messages,) verdicts of the weights that are known.
        others: every other weight of every channel.
    """
    of_tier = _resets(sender)
    for resets in (of_tier, ~of_tier):
        found = list(_alterations(sender, asis, others, resets))
        yield from found
        if any(not sender.held(x).wrong for _, x in found):
            return


def _alterations(
    sender: Sender,
    asis: NDArray[np.int32],
    others: Sequence[OtherWeight],
    resets: NDArray[np.bool_],
) -> Iterator[tuple[OtherWeight, Trial]]:
    """As `alterations`, where `resets` says of each channel what it sets to 0."""
    size = len(asis)
    onward = [(x.channel, x.weight, resets[x.channel], x) for x in others]
    for begin, x in _sifted(sender, _first(asis), onward, size, None):
        yield (
            x,
            Trial(span=(begin, size), weight=(x.channel, x.weight), resets=bool(resets[x.channel])),
        )
    for x in sorted(others, key=lambda y: -_first(y.verdict))[:_FROM_OTHER]:
        back = [(x.channel, x.known, resets[x.channel], x)]
        at, before = _first(x.verdict), (x.channel, x.weight)
        if _first(asis) < at < len(x.verdict):
            for end, _ in _sifted(sender, at, back, size, before)[:1]:
                yield x, Trial(span=(0, end), weight=before, resets=bool(resets[x.channel]))


def _first(verdict: NDArray[np.int32]) -> int:
    """The first message that differs; their number where none does."""
    wrong = np.flatnonzero(verdict == DIFFERS)
    return int(wrong[0]) if len(wrong) else len(verdict)


def _sifted(
    sender: Sender,
    at: int,
    changes: Sequence[tuple[int, int, bool, OtherWeight]],
    size: int,
    before: tuple[int, int] | None,
) -> list[tuple[int, OtherWeight]]:
    """Where and which alterations leave least unexplained behind them, the best first.

    Args:
        sender: whose choices they are.
        at: the first message that differs without one.
        changes: channel, weight from then on, and whether that resets the factors; of what.
        size: messages that there are.
        before: the other weight up to it; None = as known.
    """
    start = max(at - _BEFORE, 0)
    places = range(start + 1 if before or start else start, min(at, size - 1) + 1)
    each = [(place, *x[:3]) for place in places for x in changes]
    if not each:
        return []
    rows: Longs = np.array(each, dtype=np.int64)
    left = np.arange(len(rows))
    for length, most in _SIEVES:
        looked_at = slice(start, min(at + length, size))
        wrong = sender.wrong_of(rows[left], looked_at, before)
        # Of those that leave as much unexplained, the one next to the first that differs.
        best = np.lexsort((-rows[left, 0], wrong))[:most]
        left = left[best if most == _SIEVES[-1][1] else np.sort(best)]
    return [(int(rows[x, 0]), changes[x % len(changes)][3]) for x in left.tolist()]


def _resets(sender: Sender) -> NDArray[np.bool_]:
    """(channels,) whether an alteration of it sets all factors to 0: its status tier is 1."""
    rows = sender.evidence.candidates
    names = (c.DEST_QMGR, c.CHANNEL, c.STATUS_TIER)
    best = min(STATUS_TIERS.values())
    up = {
        (dest, channel)
        for dest, channel, tier in zip(*(rows[x].to_pylist() for x in names), strict=True)
        if tier == best
    }
    return np.array([x in up for x in sender.channels], dtype=np.bool_)
