"""Which hypothesis explains best what was seen of a queue manager.

Each is tried by repeating the queue manager's choices under it. What it costs is the length, in
bits, of saying it, and of what it leaves unexplained: which messages went elsewhere, and where.
The shortest wins. So a hypothesis that can be bent to fit anything, as that others put messages in
between, is no better than the number of such messages that it needs, and one that says more than
another has to explain more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lgamma, log, log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.follow import DIFFERS
from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP, MAX_WEIGHT
from clwl_spark.studies.conform.altered import OtherWeight, alterations
from clwl_spark.studies.conform.evidence import SEEN
from clwl_spark.studies.conform.held import Sender
from clwl_spark.studies.conform.start import least_start
from clwl_spark.studies.conform.suppose import Cause, Supposed
from clwl_spark.studies.conform.trial import Held, Trial
from clwl_spark.tables import columns as c

_SIFTED: Final = 2_000
"""Messages by which the best weights are found."""
_TRIED: Final = 3
"""Weights that are held against all messages."""
_MOST_EXTRA: Final = 64
_MOST_LEFT: Final = 10
"""Of so many disagreements, puts that nobody recorded may leave one: they can be put anywhere, so
what they do not explain has another cause."""
_BITS_OF_AN_ERROR: Final = 8.0
"""What each message that went elsewhere costs beyond saying which: MQ does not err."""
_BITS: Final = {
    Cause.STATUS_KNOWN_LATE: 0.0,
    Cause.HISTORY_BEFORE_TRACE: 1.0,
    Cause.ADMINISTRATION: 1.0,
    Cause.PARTIAL_VIEW: 0.0,
    Cause.EXIT: 1.0,
    Cause.WEIGHT: 3.0,
    Cause.OTHER_PUTTERS: 3.0,
    Cause.VERSION: 5.0,
    Cause.UNKNOWN: 5.0,
}
"""What each is thought of before anything is known, as -log2 of how likely it is, about."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One that was tried.

    Attributes:
        cause: what it would be.
        told: in words; '' = none.
        of: (dest_qmgr, channel) that it is about; None = no single one.
        fits: messages that went where it says.
        seen: messages that were compared.
        changes: how many things it takes to be otherwise.
        bits: what it costs to say, and what it leaves unexplained.
        span: (from, up to) put_seq where it holds; None = all of the time.
        trial: how it was tried.
        also: what would fit as well.
    """

    cause: Cause
    told: str
    of: tuple[str, str] | None
    fits: int
    seen: int
    changes: int
    bits: float
    span: tuple[int, int] | None
    trial: Trial
    also: list[str] = field(default_factory=list)


class Trials:
    """All hypotheses on one queue manager."""

    def __init__(self, sender: Sender) -> None:
        """Hold it against the plans as they are first."""
        self._sender = sender
        self._asis = sender.held(Trial())
        self._channels = max(len(sender.channels), 2)

    @property
    def asis(self) -> Held:
        """What the plans as they are come to."""
        return self._asis

    def ranked(self) -> list[Hypothesis]:
        """All of them, the best first; the last resort, that nothing is known, among them."""
        nothing = Supposed(Cause.UNKNOWN, "", None, self._sender.variants[0].routes, 0)
        found = [
            self._made(nothing, Trial(), self._asis, 0.0),
            *self._of_plans(),
            *self._of_start(),
            *self._of_strays(),
            *self._of_others(),
        ]
        least = min(x.bits for x in found)
        if least > _BITS[Cause.WEIGHT] + self._bits_of_weight() + log2(self._asis.compared + 1):
            found += self._of_weights()
        return sorted(found, key=lambda x: x.bits)

    def _bits_of_weight(self) -> float:
        return log2(self._channels) + log2(len(_weights()))

    def _of_plans(self) -> Iterator[Hypothesis]:
        """Those that leave other routes: all of the time, from a moment on, or between two."""
        for at, one in enumerate(self._sender.variants[1:], 1):
            own = log2(self._channels) + 1
            cost = own * one.changes if one.of or one.changes > 1 else 1.0
            whole = self._sender.held(Trial(at))
            yield self._made(one, Trial(at), whole, cost)
            if one.cause != Cause.STATUS_KNOWN_LATE or not whole.wrong:
                continue
            for span in _spans(self._asis.verdict, whole.verdict):
                ends = (span[0] > 0) + (span[1] < len(whole.verdict))
                trial = Trial(at, span)
                held = self._sender.held(trial)
                yield self._made(one, trial, held, cost + ends * log2(len(whole.verdict) + 1))

    def _of_start(self) -> Iterator[Hypothesis]:
        """That the history was not empty before the first message."""
        start = None if self._sender.begin else least_start(self._sender)
        if start is None:
            return
        numbers = int(np.count_nonzero(start.number))
        factors = int(np.count_nonzero(start.factor))
        cost = numbers * log2(self._channels) + factors * log2(LARGEST_STEP)
        told = "channels were used before the first message that is known"
        one = Supposed(
            Cause.HISTORY_BEFORE_TRACE, told, None, self._sender.variants[0].routes, start.counters
        )
        trial = Trial(start=start)
        yield self._made(one, trial, self._sender.held(trial), cost)

    def _of_strays(self) -> Iterator[Hypothesis]:
        """That records of no known message are choices of the same history."""
        strays = self._sender.evidence.strays
        is_system = strays[c.OBJECT_NAME].fillna("").str.startswith("SYSTEM.").to_numpy(dtype=bool)
        for which, cause, whose in (
            (is_system, Cause.ADMINISTRATION, "to SYSTEM objects"),
            (~is_system, Cause.OTHER_PUTTERS, "of other applications"),
        ):
            rows = strays[which].sort_values(c.PUT_TIME, kind="stable")
            if not len(rows):
                continue
            records = zip(*(rows[x] for x in (*SEEN, c.PUT_TIME)), strict=True)
            of = self._sender.pattern_of
            patterns = np.array([of(x, at) for *x, at in records], np.int32)
            trial = Trial(strays=(patterns, rows[c.PUT_TIME].to_numpy(dtype=np.int64)))
            told = f"{len(rows):,} recorded puts {whose}, which messages lack, were chosen for, too"
            one = Supposed(cause, told, None, self._sender.variants[0].routes)
            yield self._made(one, trial, self._sender.held(trial), 0.0)

    def _of_others(self) -> Iterator[Hypothesis]:
        """That others put messages in between."""
        trial = Trial(most=_MOST_EXTRA)
        held = self._sender.held(trial)
        if held.extra.any() and held.wrong * _MOST_LEFT <= self._asis.wrong:
            extra = int(held.extra.sum())
            told = f"{extra:,} choices of puts that nobody recorded, or more, came in between"
            one = Supposed(Cause.OTHER_PUTTERS, told, None, self._sender.variants[0].routes, extra)
            yield self._made(one, trial, held, _bits_of_extra(held))

    def _of_weights(self) -> Iterator[Hypothesis]:
        """That a channel has another CLWLWGHT: all of the time, from a message on, or up to one."""
        others = self._other_weights()
        sifted = sorted(others, key=_by_wrong)
        for other in sifted[:_TRIED]:
            trial = Trial(weight=(other.channel, other.weight))
            cost = self._bits_of_weight() + (1 if other.weight != DEFAULT_WEIGHT else 0)
            yield self._weighted(other, trial, cost)
        for other, trial in alterations(self._sender, self._asis.verdict, others):
            ends = log2(len(self._asis.verdict) + 1)
            yield self._weighted(other, trial, self._bits_of_weight() + ends)

    def _weighted(self, other: OtherWeight, trial: Trial, cost: float) -> Hypothesis:
        """That a channel has another CLWLWGHT, all of the time or from or up to a message."""
        to, name = self._sender.channels[other.channel]
        told = f"CLWLWGHT of {name} to {to} is {other.weight}, not {other.known}"
        if trial.span is not None:
            told = (
                f"CLWLWGHT of {name} to {to} was altered: it is {other.weight}, not {other.known},"
            )
        one = Supposed(Cause.WEIGHT, told, (to, name), self._sender.variants[0].routes)
        return self._made(one, trial, self._sender.held(trial), cost)

    def _other_weights(self) -> list[OtherWeight]:
        """Every other weight of every channel that is chosen among several."""
        sender, choices = self._sender, self._sender.choices
        several = np.diff(choices.route_start) > 1
        used = {
            int(x)
            for at in np.flatnonzero(several)
            for x in choices.channel[choices.route_start[at] : choices.route_start[at + 1]]
        }
        found = []
        for channel in sorted(used):
            known = int(choices.weight[np.flatnonzero(choices.channel == channel)[0]])
            for weight in _weights():
                if LARGEST_STEP // weight != LARGEST_STEP // known:
                    held = sender.held(Trial(weight=(channel, weight)), _SIFTED)
                    found.append(OtherWeight(channel, weight, known, held.verdict))
        return found

    def _made(self, one: Supposed, trial: Trial, held: Held, cost: float) -> Hypothesis:
        size = held.compared
        each = log2(self._channels) + _BITS_OF_AN_ERROR
        left = _log2_ways(size, held.wrong) + held.wrong * each
        span = None
        if trial.span is not None:
            seq, first = self._sender.evidence.puts[c.PUT_SEQ], self._sender.begin
            span = (int(seq[first + trial.span[0]]), int(seq[first + trial.span[1] - 1]))
        return Hypothesis(
            cause=one.cause,
            told=one.told,
            of=one.of,
            fits=size - held.wrong,
            seen=size,
            changes=one.changes,
            bits=_BITS[one.cause] + cost + left,
            span=span,
            trial=trial,
            also=one.also,
        )


def _by_wrong(x: OtherWeight) -> tuple[int, int, int, int]:
    wrong = int(np.count_nonzero(x.verdict == DIFFERS))
    return wrong, abs(x.weight - DEFAULT_WEIGHT), x.channel, x.weight


def _weights() -> list[int]:
    """One weight for each step that there is: the one nearest to 50, MQ's default."""
    nearest = sorted(range(1, MAX_WEIGHT + 1), key=lambda x: -abs(x - DEFAULT_WEIGHT))
    return list({LARGEST_STEP // x: x for x in nearest}.values())


def _log2_ways(of: int, some: int) -> float:
    """Bits that say which some of so many it is, and how many."""
    some = min(some, of)
    return log2(of + 1) + (lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)) / log(2)


def _bits_of_extra(held: Held) -> float:
    """Where choices came in between: each one's place, or the places and how many at each."""
    extra = held.extra[held.extra > 0]
    one_by_one = _log2_ways(held.compared + int(extra.sum()), int(extra.sum()))
    sizes = float(np.sum(2 * np.log2(extra) + 1))
    return min(one_by_one, _log2_ways(held.compared, len(extra)) + sizes)


def _spans(before: NDArray[np.int32], after: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Messages where a supposition gains most: from one on, up to one, and between two."""
    gain = np.concatenate([[0], np.cumsum((before == 2).astype(int) - (after == 2).astype(int))])  # noqa: PLR2004
    size = len(before)
    lowest = np.minimum.accumulate(gain)
    end = int((gain - lowest).argmax())
    begin = int(gain[: end + 1].argmin())
    onward, upward = int(gain.argmin()), int(gain.argmax())
    spans = {(begin, end), (onward, size), (0, upward)}
    return [x for x in sorted(spans) if x[0] < x[1] and x != (0, size)]
