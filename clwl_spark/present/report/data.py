"""All that a report says, as plain records: `reading` makes them, the page is made of them.

Shares and counts are of outcomes. A channel of None is no channel: the message stayed where it was
put, or waits on a transmission queue that a definition names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.present.report.findings import ChannelStory, Deviation, Failures, Move
from clwl_spark.present.report.publications import Publication
from clwl_spark.studies.conform.model import Conformity


@dataclass(frozen=True, slots=True)
class SnapshotUse:
    """A snapshot that routing used.

    Attributes:
        snapshot_id: its name.
        valid_from: in force from this moment, UTC; None = not known.
        outcomes: outcomes of messages put while it was in force.
    """

    snapshot_id: str
    valid_from: datetime | None
    outcomes: int


@dataclass(frozen=True, slots=True)
class Head:
    """What the report is about.

    Attributes:
        lake: where the tables are.
        first: put_time of the first message, UTC; None = no message has one.
        last: of the last one.
        messages: that were routed or rejected; a publication with several copies counts once.
        outcomes: rows of the table.
        failed: outcomes whose reason is not 0.
        place: the option that names the lake to a command; blank = not known.
        waiting: outcomes whose channel was RETRYING or worse when they were put.
        rejected: messages that could not be routed at all.
        own_opens: messages put ON_OPEN that name no open, each taken as one of its own.
        algorithm: the lake's, which says the order of the rules.
        snapshots: those used, in order of validity.
        newest: the lake's last valid snapshot, which commands look at; blank = not known.
    """

    lake: str
    first: datetime | None
    last: datetime | None
    messages: int
    outcomes: int
    failed: int
    rejected: int
    waiting: int = 0
    place: str = ""
    own_opens: int = 0
    algorithm: Algorithm = Algorithm.V9
    snapshots: tuple[SnapshotUse, ...] = ()
    newest: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A queue manager, or a name that a transmission queue leads to.

    Attributes:
        qmgr: its name.
        sent: messages put there that leave it.
        received: messages that come to it from others.
        kept: messages put there that stay.
    """

    qmgr: str
    sent: int
    received: int
    kept: int = 0

    @property
    def messages(self) -> int:
        """All that it has to do with."""
        return self.sent + self.received + self.kept


@dataclass(frozen=True, slots=True)
class Edge:
    """A channel from one queue manager to another, which may have carried nothing.

    Attributes:
        qmgr: queue manager that sends.
        dest_qmgr: queue manager at the other end.
        channel: None = a transmission queue that a definition names.
        status: as routing last saw it; None = it never looked.
        messages: carried.
    """

    qmgr: str
    dest_qmgr: str
    channel: str | None
    status: str | None
    messages: int


@dataclass(frozen=True, slots=True)
class ClusterMap:
    """The busiest queue managers and the channels among them, both busiest first.

    Attributes:
        nodes: at most `reading.MAP_NODES`.
        edges: at most `reading.MAP_EDGES`.
        nodes_in_all: queue managers that messages were put on or went to.
        edges_in_all: channels, to and from those that are left out too.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    nodes_in_all: int = 0
    edges_in_all: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """How much of what is put went one way.

    Attributes:
        dest_qmgr: where to.
        channel: over which channel; None = none.
        messages: that went so.
        expected: the share that was expected, 0 to 1; None = nobody said.
    """

    dest_qmgr: str
    channel: str | None
    messages: int
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class ObjectShares:
    """Where the messages went that one queue manager put to one object.

    Attributes:
        qmgr: queue manager where they were put.
        object_name: queue name, or topic string.
        messages: those of `shares`; failed ones do not count.
        shares: the most used ones, at most `reading.DESTINATIONS`.
        others: messages that went other ways than those.
        ways: how many ways there are in all.
    """

    qmgr: str
    object_name: str
    messages: int
    shares: tuple[Share, ...]
    others: int = 0
    ways: int = 0


@dataclass(frozen=True, slots=True)
class Funnel:
    """What the rules leave of the candidates, each counted once per message that has it.

    Attributes:
        candidates: before the first rule.
        eliminated: by number of the rule, as in route_candidates.eliminated_by.
        messages: that had candidates at all.
    """

    candidates: int = 0
    eliminated: Mapping[int, int] = field(default_factory=dict)
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """Messages per destination and time.

    Attributes:
        width: length of a bucket, microseconds.
        destinations: the queue managers told apart, busiest first.
        counts: messages by (start of the bucket in microseconds since 1970, destination); a
            destination of None is all others, failed messages are not in it.
    """

    width: int = 1
    destinations: tuple[str, ...] = ()
    counts: Mapping[tuple[int, str | None], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportData:
    """All that a report says.

    Attributes:
        head: what it is about.
        cluster: the map.
        shares: the busiest pairs of sender and object, at most `reading.TOP_OBJECTS`.
        pairs: how many such pairs there are.
        paired: messages of all of them.
        deviations: objects far from expected shares, most messages first.
        moves: traffic that snapshots moved, most messages first.
        idle: channels that were routes and carried nothing, most messages first.
        avoided: channels that their state kept messages from, most messages first.
        funnel: the rules.
        timeline: the flows.
        failures: what did not arrive.
        held: channels that were down and had messages put to them, most messages first.
        conformity: predictions beside records of where messages went; None = there are no records.
        publications: those with most outcomes, followed to their subscriptions.
    """

    head: Head
    cluster: ClusterMap = ClusterMap()
    shares: tuple[ObjectShares, ...] = ()
    pairs: int = 0
    paired: int = 0
    deviations: tuple[Deviation, ...] = ()
    moves: tuple[Move, ...] = ()
    idle: tuple[ChannelStory, ...] = ()
    avoided: tuple[ChannelStory, ...] = ()
    funnel: Funnel = field(default_factory=Funnel)
    timeline: Timeline = field(default_factory=Timeline)
    failures: Failures = field(default_factory=Failures)
    held: tuple[ChannelStory, ...] = ()
    conformity: Conformity | None = None
    publications: tuple[Publication, ...] = ()
