"""What a queue manager sees, and where names lead: SEMANTICS sections 1, 2, 7 and 9.

The part of the reference router that makes no choice. It knows plain rows only; `reference_rules`
holds the ladder of rules and `reference` the router, and the choices made where the text is open.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Row = dict[str, Any]
Tables = Mapping[str, Iterable[Mapping[str, Any]]]

DEFAULTS: Final[dict[str, Row]] = {
    "snapshots": {},
    "queue_managers": {
        "clwluseq": "LOCAL", "clwlmruc": 999_999_999, "defclxq": "SCTQ", "defxmitq": "",
    },
    "cluster_channels": {
        "cluster": "", "clwlrank": 0, "clwlprty": 0, "clwlwght": 50, "netprty": 0,
        "suspended": False,
    },
    "channel_status": {"remote_qmgr": "", "status": "INACTIVE", "xmitq": ""},
    "queues": {
        "cluster": "", "put_enabled": True, "clwlrank": 0, "clwlprty": 0, "clwluseq": "QMGR",
        "defbind": "OPEN", "target": "", "rname": "", "rqmname": "", "xmitq": "",
        "usage": "NORMAL", "clchname": "",
    },
    "topics": {
        "cluster": "", "topicstr": "", "clroute": "DIRECT", "pub_enabled": True,
        "proxysub": "FIRSTUSE",
    },
    "subscriptions": {"topicstr": "", "subtype": "USER", "dest_qmgr": "", "wschema": "TOPIC"},
    "views": {"whole": False},
}  # fmt: skip
OWN_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "queue_managers": ("qmgr",),
    "cluster_channels": ("channel", "cluster"),
    "queues": ("queue", "cluster"),
    "topics": ("topic", "cluster"),
}
STATUS_TIERS: Final[dict[str, int]] = {
    "INACTIVE": 1, "RUNNING": 1,
    "BINDING": 2, "INITIALIZING": 2, "STARTING": 2, "STOPPING": 2,
    "RETRYING": 3,
    "REQUESTING": 4, "PAUSED": 4, "STOPPED": 4, "SWITCHING": 4,
}  # fmt: skip
MAX_STEPS: Final = 16


def with_defaults(table: str, row: Mapping[str, Any]) -> Row:
    """The row with MQ's default in place of every null or missing attribute."""
    filled = dict(row)
    for column, default in DEFAULTS[table].items():
        if filled.get(column) is None:
            filled[column] = default
    return filled


def is_queue_manager_alias(queue: Row) -> bool:
    """True for a QREMOTE without a remote queue name (P5)."""
    return bool(queue["qtype"] == "QREMOTE" and queue["rname"] == "")


class View:
    """One snapshot as one queue manager sees it (S2, S3, P2-P4, P8).

    Attributes:
        qmgr: the queue manager, called L in the text.
        clusters: the clusters L is in.
        settings: L's own queue manager attributes.
    """

    def __init__(self, tables: Mapping[str, list[Row]], qmgr: str) -> None:
        """`tables` holds the rows of one snapshot, with their defaults."""
        self.qmgr = qmgr
        self._tables = tables
        self._own = {table: self._own_rows(table) for table in OWN_KEYS}
        self._others = {table: self._other_rows(table) for table in OWN_KEYS}
        channels = self._own["cluster_channels"]
        self.clusters = {row["cluster"] for row in channels if row["cluster"] != ""}
        settings = self._own["queue_managers"]
        self.settings = settings[0] if settings else with_defaults("queue_managers", {})

    def _own_rows(self, table: str) -> list[Row]:
        """L's rows about itself; its own observation replaces the full repositories'."""
        rows: dict[tuple[str, ...], Row] = {}
        for observer in ("*", self.qmgr):
            for row in self._tables[table]:
                if row["qmgr"] == self.qmgr and row["observer"] == observer:
                    rows[tuple(row[column] for column in OWN_KEYS[table])] = row
        return list(rows.values())

    def _other_rows(self, table: str) -> list[Row]:
        """Rows of other queue managers: L's observation of them if there is any, else `*`'s."""
        others = [row for row in self._tables[table] if row["qmgr"] != self.qmgr]
        mine = [row for row in others if row["observer"] == self.qmgr]
        return mine or [row for row in others if row["observer"] == "*"]

    def own_shared(self, table: str) -> list[Row]:
        """L's own rows that are shared in a cluster L is in."""
        return [row for row in self._own[table] if row["cluster"] in self.clusters]

    def others_shared(self, table: str) -> list[Row]:
        """Rows of others that are shared in any cluster, L's or not (P4)."""
        return [row for row in self._others[table] if row["cluster"] != ""]

    def others_seen(self, table: str) -> list[Row]:
        """Rows of others in a cluster L is in: what L sees."""
        return [row for row in self._others[table] if row["cluster"] in self.clusters]

    def own_queue(self, name: str) -> Row | None:
        """L's definition of this name; of several rows that of the lowest cluster (P3)."""
        rows = [row for row in self._own["queues"] if row["queue"] == name]
        return min(rows, key=lambda row: row["cluster"], default=None)

    def is_shared(self, name: str) -> bool:
        """True where L's queue of this name is shared in a cluster L is in (S3)."""
        return any(row["queue"] == name for row in self.own_shared("queues"))

    def seen_queues(self, name: str) -> list[Row]:
        """Queues of this name that L sees on others (row 4, P5)."""
        rows = [row for row in self.others_seen("queues") if row["queue"] == name]
        return [row for row in rows if not is_queue_manager_alias(row)]

    def sees_queue_manager(self, name: str) -> bool:
        """True where L sees a queue manager or an alias of one by this name (row 9, P6)."""
        if any(row["qmgr"] == name for row in self.others_seen("cluster_channels")):
            return True
        queues = self.others_seen("queues")
        return any(row["queue"] == name and is_queue_manager_alias(row) for row in queues)

    def channels_of(self, qmgr: str) -> list[Row]:
        """Every CLUSRCVR row of a queue manager, L itself included."""
        if qmgr == self.qmgr:
            return self.own_shared("cluster_channels")
        return [row for row in self.others_shared("cluster_channels") if row["qmgr"] == qmgr]

    def seen_channels(self) -> list[Row]:
        """The channels whose changes may reset L's history (C1, P20)."""
        return self.own_shared("cluster_channels") + self.others_seen("cluster_channels")

    def is_suspended(self, qmgr: str, cluster: str) -> bool:
        """True where any CLUSRCVR row of the queue manager in the cluster is suspended (P8)."""
        rows = self.channels_of(qmgr)
        return any(row["suspended"] for row in rows if row["cluster"] == cluster)

    def status_rows(self, qmgr: str, channel: str) -> list[Row]:
        """L's CLUSSDR of this name to another queue manager, or L's own CLUSRCVR instances."""
        rows = [row for row in self._tables["channel_status"] if row["qmgr"] == self.qmgr]
        rows = [row for row in rows if row["channel"] == channel]
        if qmgr == self.qmgr:
            return [row for row in rows if row["chltype"] == "CLUSRCVR"]
        rows = [row for row in rows if row["chltype"] == "CLUSSDR"]
        return [row for row in rows if row["remote_qmgr"] == qmgr]

    def status_tier(self, qmgr: str, channel: str) -> int:
        """The best tier among the channel's instances; INACTIVE where there is none."""
        tiers = [STATUS_TIERS[row["status"]] for row in self.status_rows(qmgr, channel)]
        return min(tiers, default=1)

    def transmission_queue(self, qmgr: str, channel: str) -> str:
        """The transmission queue of a remote route (section 7, P16)."""
        for row in self.status_rows(qmgr, channel):
            if row["xmitq"] != "":
                return str(row["xmitq"])
        names = {row["queue"] for row in self._own["queues"]}
        queues = [queue for queue in map(self.own_queue, names) if queue is not None]
        queues = [queue for queue in queues if queue["usage"] == "XMITQ"]
        queues = [queue for queue in queues if matches_channel(queue["clchname"], channel)]
        if queues:
            return str(min(queues, key=_precedence)["queue"])
        if self.settings["defclxq"] == "CHANNEL":
            return f"SYSTEM.CLUSTER.TRANSMIT.{channel}"
        return "SYSTEM.CLUSTER.TRANSMIT.QUEUE"

    def proxy_subscribers(self, topic_string: str) -> set[str]:
        """Queue managers with a proxy subscription on L that matches the publication."""
        rows = [row for row in self._tables["subscriptions"] if row["qmgr"] == self.qmgr]
        rows = [row for row in rows if row["subtype"] == "PROXY"]
        return {row["dest_qmgr"] for row in rows if matches_topic(row, topic_string)}


def matches_channel(pattern: str, channel: str) -> bool:
    """True where CLCHNAME names the channel; `*` is any run of characters, also none."""
    literals = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(literals), channel, re.DOTALL) is not None


def _precedence(queue: Row) -> tuple[int, int, str]:
    """Exact, one trailing `*`, anything else; longer literal text; lower queue name."""
    pattern = queue["clchname"]
    stars = pattern.count("*")
    if stars == 0:
        form = 0
    elif stars == 1 and pattern.endswith("*"):
        form = 1
    else:
        form = 2
    return form, -(len(pattern) - stars), queue["queue"]


def matches_topic(subscription: Row, topic_string: str) -> bool:
    """True where a subscription's string takes the publication (P19)."""
    pattern = subscription["topicstr"]
    if subscription["wschema"] == "CHAR":
        return _matches_characters(pattern, topic_string)
    return _matches_levels(pattern.split("/"), topic_string.split("/"))


def _matches_characters(pattern: str, topic_string: str) -> bool:
    """Match character by character: `*` is any run of them, also none, `?` is one."""
    if not pattern:
        return not topic_string
    if pattern[0] == "*":
        rests = (topic_string[n:] for n in range(len(topic_string) + 1))
        return any(_matches_characters(pattern[1:], rest) for rest in rests)
    if not topic_string or pattern[0] not in ("?", topic_string[0]):
        return False
    return _matches_characters(pattern[1:], topic_string[1:])


def _matches_levels(pattern: list[str], levels: list[str]) -> bool:
    """Match level by level: `+` is one level, `#` any number, also none."""
    if not pattern:
        return not levels
    if pattern[0] == "#":
        return any(_matches_levels(pattern[1:], levels[n:]) for n in range(len(levels) + 1))
    if not levels or pattern[0] not in ("+", levels[0]):
        return False
    return _matches_levels(pattern[1:], levels[1:])


def topic_object(view: View, topic_string: str) -> tuple[str, str] | None:
    """Name and TOPICSTR of the topic object for a topic string (section 9, P17)."""
    rows = view.own_shared("topics") + view.others_seen("topics")
    rows = [row for row in rows if f"{topic_string}/".startswith(f"{row['topicstr']}/")]
    keys = {(row["topic"], row["topicstr"]) for row in rows}
    return min(keys, key=lambda key: (-len(key[1]), key[0]), default=None)


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
        return self._end("LOCAL") if queue["put_enabled"] else self._fail(2051)

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
        return self._end("LOCAL") if own["put_enabled"] else self._fail(2051)

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
