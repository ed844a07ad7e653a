"""Which transmission queue each cluster-sender channel uses now, and from its next start on.

Source: SEMANTICS 7, P16, P34 (IBM's page on transmission queues: a changed definition counts when
the channel starts).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import functions as F

from clwl_spark.algorithm.transmit import TransmissionQueues, after_next_start, matches, precedence
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.channels import channels_in_view
from clwl_spark.snapshots.defined import UnknownQueueManagerError, is_defined
from clwl_spark.snapshots.views import in_clusters, read_topology, viewers
from clwl_spark.studies.switch.beside import MessageChannel, message_channels, naming
from clwl_spark.studies.switch.causes import (
    KINDS,
    UNKNOWN,
    Cause,
    Present,
    cause_of,
    cause_told,
    dynamic_told,
    held_told,
    is_dynamic,
)
from clwl_spark.studies.switch.present import Pair, one_viewer, present_queues, queues_of
from clwl_spark.tables import columns as c

Match = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Association:
    """A cluster-sender channel and its transmission queues.

    Attributes:
        channel: name of the channel.
        remote_qmgr: queue manager that it leads to.
        current: the queue that it is associated with; None = not known.
        next: the queue that it uses from its next start on.
        matches: (queue, CLCHNAME) of all definitions that fit, in order of precedence.
        defclxq: DEFCLXQ of the queue manager, which decides where nothing fits.
        present: what else is known of the current queue.
        beside: sender and server channels that name one of its two queues.
    """

    channel: str
    remote_qmgr: str
    current: str | None
    next: str
    matches: Sequence[Match]
    defclxq: str
    present: Present = UNKNOWN
    beside: Sequence[MessageChannel] = ()

    @property
    def pending(self) -> bool:
        """Whether the next start switches the channel to another queue."""
        return self.current is not None and self.current != self.next

    @property
    def overlap(self) -> bool:
        """Whether several definitions fit the channel."""
        return len(self.matches) > 1

    @property
    def why(self) -> str:
        """Why `next` is the queue that it is, in words."""
        if not self.matches:
            words = f"no CLCHNAME fits, and DEFCLXQ is {self.defclxq}"
            made = is_dynamic(self.next, self.channel)
            return f"{words}; {dynamic_told(self.next)}" if made else words
        queue, clchname = self.matches[0]
        words = f"CLCHNAME({clchname}) of {queue} {_form(clchname)}"
        if not self.overlap:
            return words
        return f"{words}, before {self.matches[1][0]}: {_before(*self.matches[:2])}"

    @property
    def cause(self) -> Cause | None:
        """Which change makes a switch pending; None = none is."""
        return cause_of(self.present, self.next, self.matches) if self.pending else None

    @property
    def text(self) -> str | None:
        """What the next start does and why, in sentences; None = it switches nothing."""
        cause = self.cause
        if cause is None:
            return None
        return (
            f"{self.channel} to {self.remote_qmgr}: the next start switches from {self.current} to "
            f"{self.next}, as {cause_told(cause, self.present, self.next, self.defclxq)}. "
            f"{held_told(self.present)}"
        )

    def to_json(self) -> dict[str, Any]:
        """An element of the document of `clwl xmitq --json`."""
        return {
            c.CHANNEL: self.channel,
            c.REMOTE_QMGR: self.remote_qmgr,
            "current": self.current,
            "next": self.next,
            "pending": self.pending,
            "matches": [{c.XMITQ: queue, c.CLCHNAME: name} for queue, name in self.matches],
            "why": self.why,
            "cause": self.cause,
            "kind_of_change": None if self.cause is None else KINDS[self.cause],
            c.BACKLOG: self.present.backlog,
            "current_is_gone": self.present.is_gone,
            "text": self.text,
            "message_channels": [x.to_json(self.channel) for x in self.beside],
        }


def associations(lake: Lake, qmgr: str, snapshot_id: str) -> list[Association]:
    """The channels of a queue manager's clusters, by name and remote queue manager.

    Args:
        lake: with topology.
        qmgr: the queue manager.
        snapshot_id: `chosen_snapshot`.

    Raises:
        UnknownQueueManagerError: the snapshot has nothing of the queue manager.
    """
    topology = read_topology(lake, [snapshot_id])
    if not is_defined(qmgr, snapshot_id, topology):
        raise UnknownQueueManagerError(
            f"no queue manager '{qmgr}' in snapshot {snapshot_id}: check the name (case counts), "
            "or ingest its definitions"
        )
    of = one_viewer(lake, qmgr, snapshot_id)
    queues = queues_of(of, topology)
    seen = channels_in_view(viewers(of, topology), topology)
    remote = seen.where(in_clusters(c.CLUSTER) & (F.col(c.QMGR) != qmgr))
    pairs = sorted({(row[0], row[1]) for row in remote.select(c.CHANNEL, c.QMGR).collect()})
    presents = present_queues(lake, of, topology, queues)
    others = message_channels(lake, qmgr, snapshot_id)
    found = [_association(channel, to, queues, presents) for channel, to in pairs]
    return [replace(x, beside=naming(others, (x.current, x.next))) for x in found]


def _association(
    channel: str, remote_qmgr: str, queues: TransmissionQueues, presents: Mapping[Pair, Present]
) -> Association:
    return Association(
        channel,
        remote_qmgr,
        queues.current.get((channel, remote_qmgr)) or None,
        after_next_start(channel, queues),
        matches(channel, queues.definitions),
        queues.defclxq,
        presents.get((channel, remote_qmgr), UNKNOWN),
    )


def _form(clchname: str) -> str:
    """How specific a CLCHNAME is."""
    stars = clchname.count("*")
    if stars == 0:
        return "names the channel exactly"
    if stars == 1 and clchname.endswith("*"):
        return "fits, with one trailing *"
    return "fits, with * before other text" if stars == 1 else f"fits, with {stars} *"


def _before(first: Match, second: Match) -> str:
    """What puts the first definition before the second."""
    (form, literal, _), (other_form, other_literal, _) = precedence(first), precedence(second)
    if form != other_form:
        return f"{second[1]} is less specific"
    if literal != other_literal:
        return f"{-literal} literal characters, not {-other_literal}"
    return "equally specific, so the lower queue name (MQ takes any of them)"
