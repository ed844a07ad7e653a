"""What a queue manager sees: SEMANTICS sections 1 and 7.

`View` is edition 1's; `OpeningView`, of edition 2, also has what a first open brings (S2a). Rows
have their defaults.

Choices, where the text can be read in more than one way:
    1. A blank cluster name is no cluster: neither of a queue manager nor of a channel (S3, P4).
    2. L's rows replace `*` rows as a whole, nulls included; they are not merged (S2, P3).
    3. A null QMTYPE is NORMAL. Of several CLUSRCVRs of L in K one with REPOS makes L full there.
    4. Any row that L observed of a name makes it known to L's own view, and no first open: of
       whatever type, in whatever cluster, none included (S2a).
"""

import re
from collections.abc import Mapping
from typing import Final

from reference_rows import STATUS_TIERS, Row, is_queue_manager_alias, with_defaults

OWN_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "queue_managers": ("qmgr",),
    "cluster_channels": ("channel", "cluster"),
    "queues": ("queue", "cluster"),
    "topics": ("topic", "cluster"),
}
ASKED_BY: Final = {"queues": "queue", "cluster_channels": "qmgr"}


class View:
    """One snapshot as one queue manager sees it (S2, S3, P2-P4, P8).

    Attributes:
        qmgr: the queue manager, called L in the text.
        clusters: the clusters L is in.
        settings: L's own queue manager attributes.
        stopped: tiers that go before those of the table, for CLUSSDRs of these names (P22).
    """

    def __init__(self, tables: Mapping[str, list[Row]], qmgr: str) -> None:
        """`tables` holds the rows of one snapshot, with their defaults."""
        self.qmgr = qmgr
        self.tables = tables
        self.stopped: dict[str, int] = {}
        self._own = {table: self._own_rows(table) for table in OWN_KEYS}
        self._others = {table: self._other_rows(table) for table in OWN_KEYS}
        self._views: dict[str, View] = {}
        channels = self._own["cluster_channels"]
        self.clusters = {row["cluster"] for row in channels if row["cluster"] != ""}
        settings = self._own["queue_managers"]
        self.settings = settings[0] if settings else with_defaults("queue_managers", {})

    def _own_rows(self, table: str) -> list[Row]:
        """L's rows about itself; its own observation replaces the full repositories'."""
        rows: dict[tuple[str, ...], Row] = {}
        for observer in ("*", self.qmgr):
            for row in self.tables[table]:
                if row["qmgr"] == self.qmgr and row["observer"] == observer:
                    rows[tuple(row[column] for column in OWN_KEYS[table])] = row
        return list(rows.values())

    def _other_rows(self, table: str) -> list[Row]:
        """Rows of other queue managers: L's observation of them if there is any, else `*`'s."""
        return self._observed(table, self.qmgr) or self._observed(table, "*")

    def _observed(self, table: str, observer: str) -> list[Row]:
        """Rows of other queue managers by one observer."""
        others = [row for row in self.tables[table] if row["qmgr"] != self.qmgr]
        return [row for row in others if row["observer"] == observer]

    def of(self, qmgr: str) -> "View":
        """The same snapshot as another queue manager sees it."""
        if qmgr not in self._views:
            self._views[qmgr] = type(self)(self.tables, qmgr)
        return self._views[qmgr]

    # ---- objects ---------------------------------------------------------------------------------

    def own(self, table: str) -> list[Row]:
        """L's own rows, shared or not."""
        return self._own[table]

    def own_shared(self, table: str) -> list[Row]:
        """L's own rows that are shared in a cluster L is in."""
        return [row for row in self._own[table] if row["cluster"] in self.clusters]

    def others_shared(self, table: str) -> list[Row]:
        """Rows of others that are shared in any cluster, L's or not (P4)."""
        return [row for row in self._others[table] if row["cluster"] != ""]

    def others_seen(self, table: str) -> list[Row]:
        """Rows of others in a cluster L is in: what L sees."""
        return [row for row in self._others[table] if row["cluster"] in self.clusters]

    def first_opened(self, table: str, name: str) -> list[Row]:  # noqa: ARG002
        """Rows of others of this name that are there by a first open only, in any cluster."""
        return []

    def others_of(self, table: str, name: str) -> list[Row]:
        """Rows of others that a put finds when it asks for a name (a queue's or their own)."""
        known = [row for row in self.others_shared(table) if row[ASKED_BY[table]] == name]
        return known + self.first_opened(table, name)

    def own_queue(self, name: str) -> Row | None:
        """L's definition of this name; of several rows that of the lowest cluster (P3)."""
        rows = [row for row in self._own["queues"] if row["queue"] == name]
        return min(rows, key=lambda row: row["cluster"], default=None)

    def is_shared(self, name: str) -> bool:
        """True where L's queue of this name is shared in a cluster L is in (S3)."""
        return any(row["queue"] == name for row in self.own_shared("queues"))

    def seen_queues(self, name: str) -> list[Row]:
        """Queues of this name that L sees on others (row 4, P5)."""
        rows = [row for row in self.others_of("queues", name) if row["cluster"] in self.clusters]
        return [row for row in rows if not is_queue_manager_alias(row)]

    def sees_queue_manager(self, name: str) -> bool:
        """True where L sees a queue manager or an alias of one by this name (row 9, P6)."""
        rows = self.others_of("cluster_channels", name)
        rows += filter(is_queue_manager_alias, self.others_of("queues", name))
        return any(row["cluster"] in self.clusters for row in rows)

    def channels_of(self, qmgr: str) -> list[Row]:
        """Every CLUSRCVR row of a queue manager, L itself included."""
        if qmgr == self.qmgr:
            return self.own_shared("cluster_channels")
        return self.others_of("cluster_channels", qmgr)

    def seen_channels(self) -> list[Row]:
        """The channels whose changes may reset L's history (C1, P20)."""
        return self.own_shared("cluster_channels") + self.others_seen("cluster_channels")

    def is_suspended(self, qmgr: str, cluster: str) -> bool:
        """True where any CLUSRCVR row of the queue manager in the cluster is suspended (P8)."""
        rows = self.channels_of(qmgr)
        return any(row["suspended"] for row in rows if row["cluster"] == cluster)

    # ---- channel status and transmission queues --------------------------------------------------

    def senders(self, channel: str) -> list[Row]:
        """The status rows of L's CLUSSDRs of this name, to whomever they lead."""
        rows = [row for row in self.tables["channel_status"] if row["qmgr"] == self.qmgr]
        return [r for r in rows if (r["channel"], r["chltype"]) == (channel, "CLUSSDR")]

    def status_rows(self, qmgr: str, channel: str) -> list[Row]:
        """L's CLUSSDR of this name to another queue manager, or L's own CLUSRCVR instances."""
        if qmgr != self.qmgr:
            return [row for row in self.senders(channel) if row["remote_qmgr"] == qmgr]
        rows = [row for row in self.tables["channel_status"] if row["qmgr"] == qmgr]
        return [r for r in rows if (r["channel"], r["chltype"]) == (channel, "CLUSRCVR")]

    def status_tier(self, qmgr: str, channel: str) -> int:
        """The best tier among the channel's instances; INACTIVE where there is none."""
        if qmgr != self.qmgr and channel in self.stopped:
            return self.stopped[channel]
        return best_tier(self.status_rows(qmgr, channel))

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


class OpeningView(View):
    """A view of edition 2: names that L's own view lacks are asked for (S2a, P35-P37)."""

    def first_opened(self, table: str, name: str) -> list[Row]:
        mine = self._observed(table, self.qmgr)
        if not mine or name in {row[ASKED_BY[table]] for row in mine}:
            return []
        rows = [row for row in self._observed(table, "*") if row[ASKED_BY[table]] == name]
        return [r for r in rows if r["cluster"] != "" and not self.is_full(table, r["cluster"])]

    def is_full(self, table: str, cluster: str) -> bool:
        """True where L, a full repository, is known to know all rows of a table in a cluster."""
        channels = [row for row in self.own("cluster_channels") if row["cluster"] == cluster]
        views = [row for row in self.tables["views"] if row["observer"] == self.qmgr]
        whole = any(row["whole"] for row in views if row["table"] == table)
        return whole and any(row["qmtype"] == "REPOS" for row in channels)


VIEWS: Final[dict[int, type[View]]] = {1: View, 2: OpeningView}
"""The view of each edition."""


def best_tier(status_rows: list[Row]) -> int:
    """The best tier among rows of `channel_status`; 1 where there is none."""
    return min((STATUS_TIERS[row["status"]] for row in status_rows), default=1)


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
