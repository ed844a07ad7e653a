"""What `clwl conform` tells. Pure Python, no Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The first message of a queue manager that went elsewhere than foretold.

    Attributes:
        qmgr: where it was put.
        put_seq: its number there.
        put_time: ISO 8601; None = not known.
        object_name: what it was put to.
        predicted: reason, dest_qmgr, channel and xmitq of its outcome.
        seen: the same of its record; None = it does not tell.
        cause: the hypothesis that explains the queue manager's messages best.
        why: that in words.
        fits: messages that went where that hypothesis says.
        of: messages that it was held against.
        changes: how many things it takes to be otherwise.
        hypotheses: all that were tried, the best first.
        settle: what would settle it.
        statuses: channel statuses in force, of the candidates' channels.
        status_events: changes of these channels' statuses near the put.
        history: what the queue manager remembers before it: number and factor by channel.
        candidates: what each rule saw.
        start: counters that the history began with, by that hypothesis.
    """

    qmgr: str
    put_seq: int
    put_time: str | None
    object_name: str | None
    predicted: Row
    seen: Row
    cause: str
    why: str
    fits: int = 0
    of: int = 0
    changes: int = 0
    hypotheses: Sequence[Row] = ()
    settle: str = ""
    statuses: Sequence[Row] = ()
    status_events: Sequence[Row] = ()
    history: Sequence[Row] = ()
    candidates: Sequence[Row] = ()
    start: Sequence[Row] = ()

    def to_json(self) -> Document:
        """An element of `first_disagreements`."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Conformity:
    """Predictions beside what was seen.

    Attributes:
        seen: records.
        compared: those that could be compared.
        agree: those of which the prediction says the same.
        by_object: by queue manager and object: compared, agree.
        by_queue_manager: by queue manager: compared, agree.
        by_channel: by queue manager and channel: predicted, seen, agree.
        not_compared: reasons, and how many records each.
        first_disagreements: of each queue manager.
        counts: counts that MQ gave beside those of the outcomes.
    """

    seen: int
    compared: int
    agree: int
    by_object: Sequence[Row]
    by_queue_manager: Sequence[Row]
    by_channel: Sequence[Row]
    not_compared: Sequence[Row]
    first_disagreements: Sequence[Disagreement] = field(default_factory=list)
    counts: Sequence[Row] = ()

    @property
    def start(self) -> list[Document]:
        """Where the history before the first message was estimated."""
        return [
            {"qmgr": x.qmgr, "counters": list(x.start), "fits": x.fits, "of": x.of}
            for x in self.first_disagreements
            if x.start
        ]

    def to_json(self) -> Document:
        """The document of `clwl conform --json`."""
        names = (
            "seen", "compared", "agree", "by_object", "by_queue_manager", "by_channel",
            "not_compared",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "first_disagreements": [x.to_json() for x in self.first_disagreements],
            "counts": list(self.counts),
            "start": self.start,
        }
