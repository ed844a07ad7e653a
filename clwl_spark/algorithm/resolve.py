"""Name resolution before any choice: one pure function over what one queue manager knows.

Source: SEMANTICS 2 and P9 to P13. The numbers 1 to 10 are the rows of its table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from clwl_spark.mq.vocabulary import DefBind, PlanKind, QueueType, Reason, Usage

MOST_STEPS: Final = 16


@dataclass(frozen=True, slots=True)
class Definition:
    """A queue definition of the queue manager itself: its row of the lowest cluster name (P3).

    `shared` says that some row of it is in a cluster of the queue manager's (S3).
    """

    qtype: str
    shared: bool = False
    put_enabled: bool = True
    defbind: str = DefBind.OPEN
    target: str = ""
    rname: str = ""
    rqmname: str = ""
    xmitq: str = ""
    usage: str = Usage.NORMAL

    @property
    def is_qmgr_alias(self) -> bool:
        """A QREMOTE with RNAME blank."""
        return self.qtype == QueueType.QREMOTE and not self.rname

    @property
    def is_transmission_queue(self) -> bool:
        """A QLOCAL with USAGE(XMITQ)."""
        return self.qtype == QueueType.QLOCAL and self.usage == Usage.XMITQ


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What one queue manager knows in one snapshot, as far as resolution asks.

    Attributes:
        qmgr: the queue manager.
        definitions: its own queue definitions by name.
        seen_queues: queues that it sees on others, with the DEFBIND of the lowest (qmgr, cluster).
        seen_qmgrs: queue managers, and queue manager aliases on others, that it sees.
        defxmitq: DEFXMITQ, blank where it has none.
    """

    qmgr: str
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    seen_queues: Mapping[str, str] = field(default_factory=dict)
    seen_qmgrs: frozenset[str] = frozenset()
    defxmitq: str = ""


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where name resolution ends.

    Attributes:
        kind: what is left to choose, or LOCAL, or XMITQ.
        reason: 0 or an MQRC.
        resolved_object: the object name at the end.
        resolved_qmgr: the object queue manager at the end; in kind XMITQ the destination.
        path: the places been at, as NAME or NAME@QMGR.
        bind_default: DEFBIND that counts (P9).
        xmitq: transmission queue, kind XMITQ only.
    """

    kind: str
    reason: int
    resolved_object: str
    resolved_qmgr: str
    path: tuple[str, ...]
    bind_default: str
    xmitq: str | None = None


class _Walk:
    """One walk over the rows: where it is, where it has been, and what it has looked at."""

    def __init__(self, knowledge: Knowledge, name: str, qmgr: str) -> None:
        self.know = knowledge
        self.name = name
        self.qmgr = qmgr
        self.steps = 0
        self.been: set[tuple[str, str]] = set()
        self.path: list[str] = []
        self.bind_default: str | None = None
        self.passed_remote = False

    def end(self, kind: str, reason: int = 0, xmitq: str | None = None) -> Resolution:
        """End here."""
        bind_default = self.bind_default
        if bind_default is None:
            chooses_queue = kind == PlanKind.QUEUE and reason == 0
            seen = self.know.seen_queues if chooses_queue else {}
            bind_default = seen.get(self.name, DefBind.OPEN)
        return Resolution(kind, reason, self.name, self.qmgr, tuple(self.path), bind_default, xmitq)

    def fail(self, reason: Reason) -> Resolution:
        """End with a reason; the kind is what was being looked for."""
        return self.end(PlanKind.QMGR if self.qmgr else PlanKind.QUEUE, reason.value)

    def look_at(self, definition: Definition) -> None:
        """The first definition looked at gives DEFBIND (P9)."""
        if self.bind_default is None:
            self.bind_default = definition.defbind

    def note(self) -> None:
        """Note the place as been at."""
        self.been.add((self.name, self.qmgr))
        self.path.append(f"{self.name}@{self.qmgr}" if self.qmgr else self.name)

    def go_to(self, name: str, qmgr: str) -> Resolution | None:
        """Replace (O, R); the 17th replacement ends with 2189 (P10)."""
        if self.steps == MOST_STEPS:
            return self.fail(Reason.CLUSTER_RESOLUTION_ERROR)
        self.steps += 1
        self.name, self.qmgr = name, qmgr
        return None

    def rows_1_to_10(self) -> Resolution | None:
        """Enter the table; None means that (O, R) was replaced and the table is entered again."""
        if (self.name, self.qmgr) in self.been:
            return self.fail(Reason.CLUSTER_RESOLUTION_ERROR)
        self.note()
        return self._qmgr_named() if self.qmgr else self._queue_named()

    def _queue_named(self) -> Resolution | None:
        """Rows 1 to 5: R is blank."""
        own = self.know.definitions.get(self.name)
        if own is not None:
            if own.qtype == QueueType.QALIAS:
                return self._alias(own)
            if own.qtype == QueueType.QREMOTE:
                return self._remote(own)
            return self._local(own)
        if self.name in self.know.seen_queues:
            return self.end(PlanKind.QUEUE)
        return self.fail(Reason.UNKNOWN_OBJECT_NAME)

    def _alias(self, alias: Definition) -> Resolution | None:  # noqa: PLR0911 - one per way out
        """Row 1: a QALIAS, then its target."""
        self.look_at(alias)
        if not alias.put_enabled:
            return self.fail(Reason.PUT_INHIBITED)
        ended = self.go_to(alias.target, "")
        if ended is not None:
            return ended
        self.note()
        target = self.know.definitions.get(self.name)
        if target is not None and target.qtype == QueueType.QREMOTE:
            return self._remote(target)
        if target is not None and target.qtype == QueueType.QLOCAL:
            return self._local(target)
        if self.name in self.know.seen_queues:
            return self.end(PlanKind.QUEUE)
        if target is not None:
            return self.fail(Reason.ALIAS_BASE_Q_TYPE_ERROR)
        return self.fail(Reason.UNKNOWN_ALIAS_BASE_Q)

    def _local(self, queue: Definition) -> Resolution:
        """Row 2: a QLOCAL, shared or not."""
        self.look_at(queue)
        if queue.shared:
            return self.end(PlanKind.QUEUE)
        return self._this_queue(queue)

    def _this_queue(self, queue: Definition) -> Resolution:
        self.look_at(queue)
        if not queue.put_enabled:
            return self.end(PlanKind.LOCAL, Reason.PUT_INHIBITED.value)
        return self.end(PlanKind.LOCAL)

    def _remote(self, remote: Definition) -> Resolution | None:
        """Row 3: a QREMOTE; 2184 goes before put-disabled (P12)."""
        self.look_at(remote)
        if remote.is_qmgr_alias or self.passed_remote:
            return self.fail(Reason.REMOTE_Q_NAME_ERROR)
        if not remote.put_enabled:
            return self.fail(Reason.PUT_INHIBITED)
        self.passed_remote = True
        if remote.xmitq:
            self.name, self.qmgr = remote.rname, remote.rqmname
            return self.end(PlanKind.XMITQ, xmitq=remote.xmitq)
        return self.go_to(remote.rname, remote.rqmname)

    def _qmgr_named(self) -> Resolution | None:  # noqa: PLR0911 - one per row of the table
        """Rows 6 to 10: R is set."""
        if self.qmgr == self.know.qmgr:
            return self._local_definitions_only()
        own = self.know.definitions.get(self.qmgr)
        if own is not None and own.is_transmission_queue:
            return self.end(PlanKind.XMITQ, xmitq=self.qmgr)
        if own is not None and own.is_qmgr_alias:
            if own.xmitq:
                self.qmgr = own.rqmname
                return self.end(PlanKind.XMITQ, xmitq=own.xmitq)
            if own.rqmname != self.qmgr:
                return self.go_to(self.name, own.rqmname)
        if self.qmgr in self.know.seen_qmgrs:
            return self.end(PlanKind.QMGR)
        if self.know.defxmitq:
            return self.end(PlanKind.XMITQ, xmitq=self.know.defxmitq)
        return self.fail(Reason.UNKNOWN_REMOTE_Q_MGR)

    def _local_definitions_only(self) -> Resolution | None:
        """Row 6: R is the queue manager itself."""
        own = self.know.definitions.get(self.name)
        if own is None:
            return self.fail(Reason.UNKNOWN_OBJECT_NAME)
        if own.qtype == QueueType.QALIAS:
            return self._alias(own)
        if own.qtype == QueueType.QREMOTE:
            return self._remote(own)
        return self._this_queue(own)


def resolve(knowledge: Knowledge, name: str, qmgr: str) -> Resolution:
    """Resolve `(O, R)`, an object name and an object queue manager name (blank = none).

    Source: SEMANTICS 2.
    """
    walk = _Walk(knowledge, name, qmgr)
    ended = None
    while ended is None:
        ended = walk.rows_1_to_10()
    return ended
