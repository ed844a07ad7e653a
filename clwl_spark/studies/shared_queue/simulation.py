"""Runs of a queue-sharing group, and what they say, with confidence intervals. No Spark."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.studies.shared_queue import kernel
from clwl_spark.studies.shared_queue.group import SharingGroup

Floats = NDArray[np.float64]

_SECOND: Final = 1000.0
HOW: Final = ("direct", "local", "notified", "pulled")
"""How a message was got, in the order of the kernel's columns."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs and the interval that holds the true mean with the asked confidence."""

    mean: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Mean and both ends."""
        return {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class MemberResult:
    """What a queue manager did.

    Attributes:
        qmgr: its name.
        getters: applications that get there.
        share: of all messages, those that it got, 0 to 1.
        how: the parts of `share` by how the messages were got, in the order of `HOW`.
        notifications: list transition notifications sent to it per run.
        empty_answers: times per run that it answered one and found the queue empty.
    """

    qmgr: str
    getters: int
    share: Estimate
    how: tuple[Estimate, ...]
    notifications: Estimate
    empty_answers: Estimate


@dataclass(frozen=True, slots=True)
class SharingResult:
    """What the runs of a group say; counts are per run.

    Attributes:
        group: what was simulated.
        members: one per queue manager, in the group's order.
        how: shares of all messages by how they were got, in the order of `HOW`.
        transitions: how often the queue went from empty to non-empty.
        notifications: notifications sent.
        waited_ms: mean time of a message from put to get.
        deepest: greatest number of messages on the queue.
    """

    group: SharingGroup
    members: Sequence[MemberResult]
    how: tuple[Estimate, ...]
    transitions: Estimate
    notifications: Estimate
    waited_ms: Estimate
    deepest: Estimate

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl share-queue --json`."""
        told = self.group
        return {
            "group": told.name,
            "queue": told.queue,
            "messages": told.messages,
            "runs": told.runs,
            "seed": told.seed,
            "confidence": told.confidence,
            "queue_managers": [_member_json(member) for member in self.members],
            "how": _how_json(self.how),
            "transitions": self.transitions.to_json(),
            "notifications": self.notifications.to_json(),
            "waited_ms": self.waited_ms.to_json(),
            "deepest": self.deepest.to_json(),
        }


def simulate_group(group: SharingGroup) -> SharingResult:
    """Simulate the group's runs.

    The same group gives the same result, on any machine and whatever ran before.

    Source: IBM's page on shared queues; `clwl_spark.studies.shared_queue.kernel`.
    """
    counts, totals = kernel.simulate(as_arrays(group), group.messages, seeds_of(group))
    shares = counts[:, :, : len(HOW)] / group.messages

    def estimated(runs: Floats | kernel.Longs) -> Estimate:
        return estimate(runs, group.confidence)

    def by_how(runs: Floats) -> tuple[Estimate, ...]:
        return tuple(estimated(runs[:, at]) for at in range(len(HOW)))

    members = tuple(
        MemberResult(
            qmgr=member.name,
            getters=member.getters,
            share=estimated(shares[:, at].sum(axis=1)),
            how=by_how(shares[:, at]),
            notifications=estimated(counts[:, at, kernel.NOTIFICATIONS]),
            empty_answers=estimated(counts[:, at, kernel.EMPTY_ANSWERS]),
        )
        for at, member in enumerate(group.queue_managers)
    )
    return SharingResult(
        group=group,
        members=members,
        how=by_how(shares.sum(axis=1)),
        transitions=estimated(totals[:, kernel.TRANSITIONS]),
        notifications=estimated(counts[:, :, kernel.NOTIFICATIONS].sum(axis=1)),
        waited_ms=estimated(totals[:, kernel.WAITED] * _SECOND / group.messages),
        deepest=estimated(totals[:, kernel.DEEPEST]),
    )


def as_arrays(group: SharingGroup) -> kernel.Group:
    """The group as the kernel takes it."""
    members = group.queue_managers
    at = {member.name: index for index, member in enumerate(members)}
    return kernel.Group(
        getter_start=np.cumsum([0, *(x.getters for x in members)]).astype(np.int64),
        service=np.array([x.service_ms * x.slower / _SECOND for x in members]),
        fixed=np.array([x.service == "fixed" for x in members]),
        local=np.array([x.local_ms * x.slower / _SECOND for x in members]),
        answer=np.array([x.answer_ms * x.slower / _SECOND for x in members]),
        notification=np.array([group.notification_ms / _SECOND]),
        putter=np.array([at[x.queue_manager] for x in group.putters], dtype=np.int64),
        interval=np.array([1 / x.rate for x in group.putters]),
        even=np.array([x.arrivals == "even" for x in group.putters]),
        direct=np.array([x.direct_share for x in group.putters]),
    )


def seeds_of(group: SharingGroup) -> kernel.Words:
    """(runs,) one seed per run; more runs leave the first ones as they are."""
    sequence = np.random.SeedSequence(group.seed)
    return sequence.generate_state(group.runs, np.uint64).astype(np.uint64)


def estimate(runs: Floats | kernel.Longs, confidence: float) -> Estimate:
    """Mean of independent runs and its confidence interval by Student's distribution.

    Args:
        runs: (runs,) one value per run, at least 10.
        confidence: level, 0.5 to 0.999.
    """
    mean = float(np.mean(runs))
    error = float(np.std(runs, ddof=1)) / len(runs) ** 0.5
    reach = student_quantile((1 + confidence) / 2, len(runs) - 1) * error
    return Estimate(mean, mean - reach, mean + reach)


def student_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's distribution, by its expansion about the normal distribution's.

    Args:
        probability: 0.5 to below 1.
        freedom: degrees of freedom, at least 9; there the error is below 0.1 % up to 0.9995.

    Source: Abramowitz and Stegun, 26.7.5.
    """
    x = NormalDist().inv_cdf(probability)
    terms = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return float(sum(term / freedom**power for power, term in enumerate(terms)))


def _member_json(member: MemberResult) -> dict[str, Any]:
    """A queue manager's part of the document."""
    return {
        "qmgr": member.qmgr,
        "getters": member.getters,
        "share": member.share.to_json(),
        "how": _how_json(member.how),
        "notifications": member.notifications.to_json(),
        "empty_answers": member.empty_answers.to_json(),
    }


def _how_json(how: Sequence[Estimate]) -> dict[str, dict[str, float]]:
    """Shares by how messages were got."""
    return {name: part.to_json() for name, part in zip(HOW, how, strict=True)}
