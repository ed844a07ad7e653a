"""What to generate: sizes, shares, the clock and the seed, checked once."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from clwl_spark.errors import SettingsError
from clwl_spark.mq import vocabulary as v
from clwl_spark.tables.moments import EPOCH

_SHARES: Final = (
    "overlap",
    "non_default",
    "changed",
    "bad_status",
    "put_disabled",
    "suspended",
    "hot_sender",
    "on_open",
    "on_group",
    "publications",
    "aliases",
    "named_qmgr",
    "unknown",
)
_COUNTS: Final = (
    "messages",
    "qmgrs",
    "clusters",
    "queues",
    "instances",
    "channels",
    "snapshots",
    "messages_per_open",
)
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "bind": tuple(v.Bind),
    "defbind": tuple(v.DefBind),
    "clwluseq": (v.UseQueue.LOCAL, v.UseQueue.ANY),
}
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class GenerateSpec:
    """A topology and its traffic; every share is a fraction 0..1, every default is MQ-like.

    Attributes:
        messages: Messages to put.
        qmgrs: Queue managers; number i is at home in cluster i modulo `clusters`.
        clusters: Clusters.
        overlap: Share of queue managers that are in the next cluster too.
        queues: Cluster queues; number q is shared in cluster q modulo `clusters`.
        instances: Queue managers that host each queue (and each TOPICHOST topic).
        channels: CLUSRCVRs of a queue manager in each of its clusters.
        clwluseq: CLWLUSEQ of the queue managers; under ANY every sender in a queue's cluster
            has instances times channels routes, under LOCAL hosts keep their messages.
        non_default: Share of the CLWL attributes that are not MQ's default, of each attribute.
        changed: Share of the channels whose weight differs in a snapshot after the first, and of
            the channel instances whose status is drawn again.
        bad_status: Share of the channels that are neither INACTIVE nor RUNNING.
        put_disabled: Share of the queue instances with PUT(DISABLED).
        suspended: Share of the (queue manager, cluster) pairs that are suspended.
        snapshots: Snapshots of the topology.
        snapshot_interval: Time between two snapshots.
        senders: Queue managers that put, the first ones; None = all.
        hot_sender: Share of the messages that the first sender puts; 0 = its equal part.
        bind: Bind option of the opens that `on_open` and `on_group` leave.
        on_open: Share of the opens with ON_OPEN.
        on_group: Share of the opens with ON_GROUP, each of which puts one group.
        defbind: DEFBIND of the queues.
        messages_per_open: Puts of one open; eight opens of a sender take turns.
        topics: Topic objects, by turns CLROUTE TOPICHOST and DIRECT.
        publications: Share of the opens that publish.
        aliases: Share of the queues that have a QALIAS on every member, which half the opens use.
        named_qmgr: Share of the opens that name the object queue manager.
        unknown: Share of the opens of a queue that nobody has.
        seed: The same seed and spec give the same rows.
        start: Moment of the first snapshot and the first message; with a time zone.
        rate: Messages a second, all senders together; None = spread over the snapshots.
    """

    messages: int = 100_000
    qmgrs: int = 50
    clusters: int = 2
    overlap: float = 0.2
    queues: int = 20
    instances: int = 8
    channels: int = 1
    clwluseq: str = v.UseQueue.ANY
    non_default: float = 0.0
    changed: float = 0.1
    bad_status: float = 0.0
    put_disabled: float = 0.0
    suspended: float = 0.0
    snapshots: int = 1
    snapshot_interval: timedelta = timedelta(hours=1)
    senders: int | None = None
    hot_sender: float = 0.0
    bind: str = v.Bind.AS_Q_DEF
    on_open: float = 0.0
    on_group: float = 0.0
    defbind: str = v.DefBind.NOTFIXED
    messages_per_open: int = 10
    topics: int = 0
    publications: float = 0.0
    aliases: float = 0.0
    named_qmgr: float = 0.0
    unknown: float = 0.0
    seed: int = 1
    start: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    rate: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be generated.

        Raises:
            SettingsError: A value is out of range, or two do not fit together.
        """
        for name in _COUNTS:
            value = getattr(self, name)
            _refuse(f"{name} is {value}: give 1 or more", when=value < 1)
        for name in _SHARES:
            value = getattr(self, name)
            _refuse(f"{name} is {value}: give a share from 0 to 1", when=not 0 <= value <= 1)
        for name, words in _WORDS.items():
            value = getattr(self, name)
            choice = ", ".join(words)
            _refuse(f"{name} is {value!r}: give one of {choice}", when=value not in words)
        _check_sizes(self)
        _check_traffic(self)

    @property
    def sending(self) -> int:
        """Number of queue managers that put."""
        return self.qmgrs if self.senders is None else self.senders

    @property
    def start_micros(self) -> int:
        """Start, in microseconds of the epoch."""
        return (self.start - EPOCH) // _MICROSECOND

    @property
    def interval_micros(self) -> int:
        """Time between two snapshots, in microseconds."""
        return self.snapshot_interval // _MICROSECOND

    @property
    def put_interval_micros(self) -> float:
        """Time between two messages, in microseconds."""
        if self.rate is not None:
            return 1_000_000 / self.rate
        return self.snapshots * self.interval_micros / self.messages


def _refuse(message: str, *, when: bool) -> None:
    """Raise the message where the value is wrong."""
    if when:
        raise SettingsError(f"generate: {message}")


def _check_sizes(spec: GenerateSpec) -> None:
    """Refuse sizes of a topology that do not fit together or exceed MQ's name lengths."""
    smallest = spec.qmgrs // spec.clusters
    _refuse(
        f"instances is {spec.instances}, but the smallest cluster has {smallest} queue managers: "
        f"give fewer instances or clusters, or {spec.instances * spec.clusters} qmgrs",
        when=spec.instances > smallest,
    )
    _refuse(
        f"queues is {spec.queues}: give at least one for each of {spec.clusters} clusters",
        when=spec.queues < spec.clusters,
    )
    _refuse(
        f"topics is {spec.topics}: give 0, or at least one for each of {spec.clusters} clusters",
        when=spec.topics != 0 and spec.topics < spec.clusters,
    )
    longest = f"CLUS{spec.clusters}.QM{spec.qmgrs}.{spec.channels}"
    _refuse(
        f"the channel name {longest} exceeds {v.CHANNEL_NAME_LENGTH} characters: "
        f"give fewer clusters, qmgrs or channels",
        when=len(longest) > v.CHANNEL_NAME_LENGTH,
    )
    _refuse(
        f"snapshot_interval is {spec.snapshot_interval}: give more than 0",
        when=spec.snapshot_interval < _MICROSECOND,
    )


def _check_traffic(spec: GenerateSpec) -> None:
    """Refuse traffic that the topology cannot have."""
    _refuse(
        f"senders is {spec.senders}: give 1 to {spec.qmgrs}, the number of qmgrs",
        when=not 1 <= spec.sending <= spec.qmgrs,
    )
    _refuse(
        f"on_open and on_group add up to {spec.on_open + spec.on_group}: give at most 1 together",
        when=spec.on_open + spec.on_group > 1,
    )
    _refuse(
        f"publications is {spec.publications}, but there are no topics: give topics too",
        when=spec.publications > 0 and spec.topics == 0,
    )
    _refuse(
        f"rate is {spec.rate}: give more than 0 messages a second",
        when=spec.rate is not None and spec.rate <= 0,
    )
    _refuse(
        f"start is {spec.start.isoformat()}: give a time zone, like 2026-01-01T00:00:00Z",
        when=spec.start.tzinfo is None,
    )
