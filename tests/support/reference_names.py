"""Where names lead, before any choice: SEMANTICS section 2.

Choices, where the text can be read in more than one way:
    1. Row 1's replacement is a step even where nothing is found at the target (P10). A step that
       ends at a transmission queue is none.
    2. The kind of an error is judged by R at that moment: L's own name (row 6) counts as set. A
       put-disabled queue of L's own, shared in no cluster, is found: LOCAL.
    3. Row 6 sends a QALIAS's target through row 1's rules, so a shared target is chosen for.
"""

from dataclasses import dataclass
from typing import Final

from reference_rows import Row, is_queue_manager_alias
from reference_views import View

MAX_STEPS: Final = 16


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where the names lead, before any choice.

    Attributes:
        kind: `QUEUE` or `QMGR` (a cluster choice follows), `LOCAL` or `XMITQ` (the end).
        reason: 0, or why there is no way.
        object_name: O at the end.
        object_qmgr: R at the end.
        bind_default: the DEFBIND that counts.
        path: the objects passed.
        xmitq: the transmission queue, in kind XMITQ.
    """

    kind: str
    reason: int
    object_name: str
    object_qmgr: str
    bind_default: str
    path: tuple[str, ...]
    xmitq: str = ""


class NameWalk:
    """Name resolution of one `(O, R)` on one queue manager (section 2, P9-P13)."""

    def __init__(self, view: View, object_name: str, object_qmgr: str) -> None:
        """Start at `(O, R)`, a blank R being `''`."""
        self.view = view
        self.name = object_name
        self.qmgr = object_qmgr
        self.been: set[tuple[str, str]] = set()
        self.path: list[str] = []
        self.steps = 0
        self.passed_remote_queue = False
        self.defbind: str | None = None

    def run(self) -> Resolution:
        """Go on until something ends the walk."""
        end: Resolution | None = None
        while end is None:
            end = self._enter()
        return end

    def _enter(self) -> Resolution | None:
        """The loop test, then rows 1-10; null = go on with the new `(O, R)`."""
        if (self.name, self.qmgr) in self.been:
            return self._fail(2189)
        self.been.add((self.name, self.qmgr))
        if self.qmgr == "":
            return self._rows_1_to_5()
        if self.qmgr == self.view.qmgr:
            return self._row_6()
        return self._rows_7_to_10()

    def _rows_1_to_5(self) -> Resolution | None:
        own = self.view.own_queue(self.name)
        if own is None:
            return self._end("QUEUE") if self.view.seen_queues(self.name) else self._fail(2085)
        self._look_at(own)
        if own["qtype"] == "QALIAS":
            return self._row_1(own)
        return self._row_2(own) if own["qtype"] == "QLOCAL" else self._row_3(own)

    def _row_1(self, alias: Row) -> Resolution | None:
        if not alias["put_enabled"]:
            return self._fail(2051)
        if not self._replace(alias["target"], ""):
            return self._fail(2189)
        self.been.add((self.name, self.qmgr))
        target = self.view.own_queue(self.name)
        if target is not None and target["qtype"] != "QALIAS":
            self._look_at(target)
            return self._row_2(target) if target["qtype"] == "QLOCAL" else self._row_3(target)
        if self.view.seen_queues(self.name):
            return self._end("QUEUE")
        return self._fail(2082 if target is None else 2001)

    def _row_2(self, queue: Row) -> Resolution:
        if self.view.is_shared(self.name):
            return self._end("QUEUE")
        return self._this_queue(queue)

    def _row_3(self, remote: Row) -> Resolution | None:
        if is_queue_manager_alias(remote) or self.passed_remote_queue:
            return self._fail(2184)
        if not remote["put_enabled"]:
            return self._fail(2051)
        self.passed_remote_queue = True
        if remote["xmitq"] != "":
            self.name, self.qmgr = remote["rname"], remote["rqmname"]
            return self._end("XMITQ", remote["xmitq"])
        return None if self._replace(remote["rname"], remote["rqmname"]) else self._fail(2189)

    def _row_6(self) -> Resolution | None:
        own = self.view.own_queue(self.name)
        if own is None:
            return self._fail(2085)
        self._look_at(own)
        if own["qtype"] == "QALIAS":
            return self._row_1(own)
        if own["qtype"] == "QREMOTE":
            return self._row_3(own)
        return self._this_queue(own)

    def _this_queue(self, queue: Row) -> Resolution:
        return self._end("LOCAL", reason=0 if queue["put_enabled"] else 2051)

    def _rows_7_to_10(self) -> Resolution | None:
        own = self.view.own_queue(self.qmgr)
        if own is not None and own["qtype"] == "QLOCAL" and own["usage"] == "XMITQ":
            return self._end("XMITQ", self.qmgr)
        if own is not None and is_queue_manager_alias(own):
            self.path.append(own["queue"])
            if own["xmitq"] != "":
                self.qmgr = own["rqmname"]
                return self._end("XMITQ", own["xmitq"])
            if own["rqmname"] != self.qmgr:
                return None if self._replace(self.name, own["rqmname"]) else self._fail(2189)
        return self._rows_9_and_10()

    def _rows_9_and_10(self) -> Resolution:
        if self.view.sees_queue_manager(self.qmgr):
            return self._end("QMGR")
        default = self.view.settings["defxmitq"]
        return self._end("XMITQ", default) if default != "" else self._fail(2087)

    def _look_at(self, queue: Row) -> None:
        """Note the definition: the first one's DEFBIND is what counts (P9)."""
        self.path.append(queue["queue"])
        if self.defbind is None:
            self.defbind = queue["defbind"]

    def _replace(self, name: str, qmgr: str) -> bool:
        """Take one step; false where it is the 17th (P10)."""
        self.steps += 1
        self.name, self.qmgr = name, qmgr
        return self.steps <= MAX_STEPS

    def _bind_default(self, kind: str, reason: int) -> str:
        """The first definition's DEFBIND, else the seen queue's, else OPEN (P9)."""
        if self.defbind is not None:
            return self.defbind
        if kind != "QUEUE" or reason != 0:
            return "OPEN"
        rows = self.view.seen_queues(self.name)
        return str(min(rows, key=lambda row: (row["qmgr"], row["cluster"]))["defbind"])

    def _end(self, kind: str, xmitq: str = "", reason: int = 0) -> Resolution:
        bind = self._bind_default(kind, reason)
        path = tuple(self.path)
        return Resolution(kind, reason, self.name, self.qmgr, bind, path, xmitq)

    def _fail(self, reason: int) -> Resolution:
        """End with a reason; the kind is what would have been looked for."""
        return self._end("QUEUE" if self.qmgr == "" else "QMGR", reason=reason)
