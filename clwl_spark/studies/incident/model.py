"""What an incident's study finds. Pure Python, no Spark."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from clwl_spark.mq.vocabulary import STATUS_TIERS
from clwl_spark.studies.reallocate.who_waits import UP


@dataclass(frozen=True, slots=True)
class Way:
    """One way of a put's messages, before and after.

    Attributes:
        dest_qmgr: the queue manager that it leads to; '' = messages that end with a reason.
        channel: the cluster channel; '' = local, or a transmission queue named by definition.
        expected_before: share in the long run, 0 to 1, in the snapshot before.
        expected_after: in the snapshot after.
        messages_before: messages that went so in the time before.
        messages_after: since then.
        verdict_before: why it was no route; '' = it was one.
        verdict_after: why it is none now.
        remedy: what brings it back; '' = nothing is lost, or nothing simple does.
    """

    dest_qmgr: str
    channel: str
    expected_before: float
    expected_after: float
    messages_before: int
    messages_after: int
    verdict_before: str = ""
    verdict_after: str = ""
    remedy: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether it was a route, and is none now."""
        return not self.verdict_before and bool(self.verdict_after)


@dataclass(frozen=True, slots=True)
class Put:
    """What one queue manager puts to the object by one name.

    Attributes:
        qmgr: where is put.
        object_type: QUEUE or TOPIC.
        object_name: as it is asked for.
        object_qmgr: as it is asked for; blank = none named.
        reason_before: 0, or the MQRC of a put in the snapshot before.
        reason_after: in the snapshot after.
        ways: those that are lost first, then by share; those that nothing went or goes by left out.
    """

    qmgr: str
    object_type: str
    object_name: str
    object_qmgr: str
    reason_before: int
    reason_after: int
    ways: Sequence[Way]


@dataclass(frozen=True, slots=True)
class Bound:
    """Messages since the moment that followed an earlier choice to a way that is lost."""

    qmgr: str
    object_name: str
    dest_qmgr: str
    channel: str
    messages: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a channel that is down, or is still on its way to one that is up.

    Attributes:
        qmgr: where it waits.
        channel: for which channel.
        xmitq: on which transmission queue.
        status: of the channel.
        messages: all that wait for it.
        of_object: of these the ones of the object.
    """

    qmgr: str
    channel: str
    xmitq: str
    status: str
    messages: int
    of_object: int

    @property
    def is_down(self) -> bool:
        """Whether it waits because of the channel's status."""
        return STATUS_TIERS[self.status] != UP


@dataclass(frozen=True, slots=True)
class Incident:
    """All that is found.

    Attributes:
        object_name: the object.
        since: the moment from which on it is looked at, ISO 8601.
        until: the moment up to which.
        before: the snapshot in force just before.
        after: the snapshot in force at the end.
        between: the valid snapshots that came into force meanwhile, `after` included.
        puts: the most put to first.
        changes: attributes that differ and that concern the object's ways, as `clwl diff` has them.
        other_changes: attributes that differ elsewhere.
        bound: by messages.
        waiting: by messages.
        advice: what to do, in order.
    """

    object_name: str
    since: str
    until: str
    before: str
    after: str
    between: Sequence[str]
    puts: Sequence[Put]
    changes: Sequence[dict[str, Any]] = ()
    other_changes: int = 0
    bound: Sequence[Bound] = ()
    waiting: Sequence[Waiting] = ()
    advice: Sequence[str] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl incident --json`."""
        return asdict(self)
