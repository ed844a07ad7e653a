"""What a report found that a reader may not expect, as plain records.

A channel of None is no channel: the message stayed where it was put, or waits on a transmission
queue that a definition names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from clwl_spark.mq.vocabulary import ObjectType


@dataclass(frozen=True, slots=True)
class Deviation:
    """An object whose messages went otherwise than expected.

    Attributes:
        qmgr: queue manager where they were put.
        object_name: queue name, or topic string.
        messages: put there.
        misplaced: how many of them would have to go elsewhere for the expected shares.
        dest_qmgr: destination that is farthest from what was expected.
        channel: channel to it.
        share: its share, 0 to 1.
        expected: the share that was expected.
        object_type: QUEUE or TOPIC.
    """

    qmgr: str
    object_name: str
    messages: int
    misplaced: int
    dest_qmgr: str
    channel: str | None
    share: float
    expected: float
    object_type: str = ObjectType.QUEUE.value


@dataclass(frozen=True, slots=True)
class Move:
    """An object whose messages took other ways from one snapshot to the next.

    Attributes:
        snapshot_id: the later snapshot.
        qmgr: queue manager where the messages were put.
        object_name: queue name, or topic string.
        messages: put under the later snapshot.
        moved: how many of them went otherwise than before.
        dest_qmgr: destination whose share changed most.
        channel: channel to it.
        before: its share under the earlier snapshot, 0 to 1.
        after: its share under the later one.
        object_type: QUEUE or TOPIC.
    """

    snapshot_id: str
    qmgr: str
    object_name: str
    messages: int
    moved: int
    dest_qmgr: str
    channel: str | None
    before: float
    after: float
    object_type: str = ObjectType.QUEUE.value


@dataclass(frozen=True, slots=True)
class ChannelStory:
    """A channel that messages did not take.

    Attributes:
        qmgr: queue manager that would send.
        dest_qmgr: queue manager at the other end.
        channel: its name.
        status: as routing last saw it.
        object_name: the object with most of the messages.
        messages: for how many it was a route, or was eliminated by `rule`.
        rule: the rule, if one eliminated it; None = it was a route.
        object_type: QUEUE or TOPIC.
        object_qmgr: object queue manager of these puts; blank = none named.
        snapshot_id: under which most of them were put; blank = not known.
    """

    qmgr: str
    dest_qmgr: str
    channel: str
    status: str | None
    object_name: str
    messages: int
    rule: int | None = None
    object_type: str = ObjectType.QUEUE.value
    object_qmgr: str = ""
    snapshot_id: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Puts to one object that ended with a reason.

    Attributes:
        qmgr: queue manager where they were put.
        object_name: queue name, or topic string.
        object_qmgr: object queue manager; blank = none named.
        reason: the MQRC.
        messages: how many ended so.
        asked: how many were put there, to that object, in all.
        object_type: QUEUE or TOPIC.
        snapshot_id: under which most of them were put; blank = not known.
    """

    qmgr: str
    object_name: str
    object_qmgr: str
    reason: int
    messages: int
    asked: int
    object_type: str = ObjectType.QUEUE.value
    snapshot_id: str = ""


@dataclass(frozen=True, slots=True)
class Failures:
    """What did not arrive.

    Attributes:
        rows: most messages first, at most `reading.TOP_FAILURES`.
        others: failed messages that are in no row.
        rejected: messages set aside, by error.
        out_of_order: messages that came after one with a greater put_seq, by queue manager, the
            most first.
    """

    rows: tuple[Failure, ...] = ()
    others: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    out_of_order: Mapping[str, int] = field(default_factory=dict)
