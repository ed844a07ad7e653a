"""The queue managers of one cluster, what each holds, and the messages on their way. No Spark."""

import heapq
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any

from clwl_spark.errors import InputError
from clwl_spark.studies.repository.words import (
    SUBSCRIBED_AT,
    Key,
    Kind,
    Periods,
    Record,
    Sent,
    Want,
    Why,
)

Pair = frozenset[str]
"""The QMIDs of two queue managers."""


class RepositoryError(InputError):
    """Something that cannot happen in a cluster, or that nobody in it knows of."""


@dataclass(slots=True)
class Node:
    """A queue manager; one that is made anew under the same name is another node.

    Attributes:
        name: queue manager name.
        qmid: its identity.
        full: it is a full repository.
        prefers: full repositories to which it has a manually defined CLUSSDR.
        up: it runs; what is sent to it meanwhile waits in `inbox`.
        ended: since when it is no more.
        incarnation: grows with REFRESH CLUSTER.
        own: its own objects.
        cache: other queue managers' objects that it knows.
        learned: since when it knows each of them.
        wants: its subscriptions and when each was last renewed.
        forgotten: objects that it knew once, why and since when it does not.
        subscribers: of a full repository: who wants what, by QMID, renewed when.
        members: of a full repository: who publishes to it, by QMID, renewed when.
        removed: owners removed by RESET CLUSTER, and up to which incarnation.
        deleted: the last news of objects that their owner deleted.
        remake: its two full repositories are no more what they were.
        restored: when it went back to a backup.
        had_topics: it has known a cluster topic, so that all were told of every queue manager.
    """

    name: str
    qmid: str
    full: bool = False
    prefers: tuple[str, ...] = ()
    up: bool = True
    ended: datetime | None = None
    incarnation: int = 1
    own: dict[Key, Record] = field(default_factory=dict)
    cache: dict[Key, Record] = field(default_factory=dict)
    learned: dict[Key, datetime] = field(default_factory=dict)
    wants: dict[Want, datetime] = field(default_factory=dict)
    forgotten: dict[Key, tuple[Why, datetime]] = field(default_factory=dict)
    subscribers: dict[Want, dict[str, datetime]] = field(default_factory=dict)
    members: dict[str, datetime] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    deleted: dict[Key, Record] = field(default_factory=dict)
    inbox: "deque[Message]" = field(default_factory=deque)
    remake: bool = False
    restored: datetime | None = None
    had_topics: bool = False

    def all_known(self) -> Iterator[Record]:
        """Its own objects and the others that it knows."""
        yield from self.own.values()
        yield from self.cache.values()

    def knows_topics(self) -> bool:
        """Whether it knows a cluster topic, which makes the cluster a publish/subscribe one."""
        return any(record.key.kind is Kind.TOPIC for record in self.all_known())


@dataclass(frozen=True, slots=True)
class Message:
    """One message between repositories.

    Attributes:
        kind: what it is for.
        sender: QMID.
        to: QMID.
        body: a Record, a Want, or the QMID and incarnation to remove.
        pass_on: of a publication: the receiver passes it on to the other full repositories.
    """

    kind: Sent
    sender: str
    to: str
    body: Any
    pass_on: bool = False


@dataclass(slots=True)
class Cluster:
    """A cluster at a moment.

    Attributes:
        name: the cluster.
        now: the moment.
        periods: how long things last.
        nodes: every queue manager that was ever in it, by QMID.
        wire: messages on their way at this moment, first in first out.
        sent: messages sent so far, by kind.
        changed: when each version of each object was made; a deletion is the last.
        timers: (due, tick, QMID, object or subscription): something to look at then.
        armed: those of them that are set.
        tick: tells timers of one moment apart.
        cut: pairs of QMIDs between which no channel runs.
        strangers: those of them of which neither has the other's present CONNAME.
        held: messages that wait for the channel between two of them, in order.
        backups: what queue managers were when they were last backed up, by QMID.
    """

    name: str
    now: datetime
    periods: Periods = field(default_factory=Periods)
    nodes: dict[str, Node] = field(default_factory=dict)
    wire: deque[Message] = field(default_factory=deque)
    sent: Counter[Sent] = field(default_factory=Counter)
    changed: dict[Key, list[tuple[int, datetime]]] = field(default_factory=dict)
    timers: list[tuple[datetime, int, str, Key | Want]] = field(default_factory=list)
    armed: set[tuple[str, Key | Want]] = field(default_factory=set)
    tick: Iterator[int] = field(default_factory=count)
    cut: set[Pair] = field(default_factory=set)
    strangers: set[Pair] = field(default_factory=set)
    held: "deque[Message]" = field(default_factory=deque)
    backups: dict[str, Node] = field(default_factory=dict)

    def alive(self) -> list[Node]:
        """The queue managers that are, running or not."""
        return [node for node in self.nodes.values() if node.ended is None]

    def node(self, name: str) -> Node:
        """The queue manager of that name that is now.

        Raises:
            RepositoryError: there is none.
        """
        found = next((x for x in self.alive() if x.name == name), None)
        if found is None:
            names = ", ".join(sorted(x.name for x in self.alive())) or "none yet"
            raise RepositoryError(
                f"no queue manager {name} in cluster {self.name} at that time ({names}): "
                "correct the name, or let it join first"
            )
        return found

    def full_repositories(self, but: Node | None = None) -> list[Node]:
        """Full repositories, in order of name."""
        found = [node for node in self.alive() if node.full and node is not but]
        return sorted(found, key=lambda node: (node.name, node.qmid))


def send(cluster: Cluster, kind: Sent, parties: tuple[Node, Node], body: object) -> None:
    """Put one message on the wire, from the first party to the second."""
    sender, to = parties
    cluster.sent[kind] += 1
    cluster.wire.append(Message(kind, sender.qmid, to.qmid, body))


def targets(cluster: Cluster, node: Node) -> list[Node]:
    """The two full repositories that a queue manager turns to now.

    Those that run go before others, and among them those with a manually defined CLUSSDR.
    Source: Hughson's deck, "Considerations for Full Repositories", third page of notes.
    """
    found = cluster.full_repositories(but=node)
    found.sort(key=lambda full: (not full.up, full.name not in node.prefers))
    return found[:SUBSCRIBED_AT]


def arm(cluster: Cluster, node: Node, what: Key | Want, due: datetime) -> None:
    """Look at something of a node's when it is due; one timer each is enough."""
    if (node.qmid, what) not in cluster.armed:
        cluster.armed.add((node.qmid, what))
        heapq.heappush(cluster.timers, (due, next(cluster.tick), node.qmid, what))
