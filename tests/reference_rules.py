"""The candidate rows of a cluster choice and the rules that eliminate them: SEMANTICS 3 and 4."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from reference_names import Row, View, is_queue_manager_alias

EXIT_NUMBER: Final = 100
CLUSTER_PUT_INHIBITED: Final = 2268
CLUSTER_RESOLUTION_ERROR: Final = 2270


@dataclass(slots=True, eq=False)
class Candidate:
    """One (instance, channel, instance cluster, channel cluster).

    `rank` and `priority` are the channel's, or the queue manager alias's in an alias row;
    `queue_rank`, `queue_priority` and `clwluseq` are the instance's.
    """

    dest_qmgr: str
    dest_object: str
    channel: str
    instance_cluster: str
    channel_cluster: str
    is_local: bool
    is_alias: bool
    rank: int
    priority: int
    queue_rank: int
    queue_priority: int
    clwluseq: str
    put_enabled: bool
    suspended: bool
    status_tier: int
    netprty: int
    clwlwght: int
    eliminated_by: int | None = None


Rows = list[Candidate]
ExitFunction = Callable[[Rows], Iterable[Candidate]]


@dataclass(slots=True)
class Choice:
    """One cluster choice, ready to be made.

    Attributes:
        candidates: every row, the losing ones with the number of their rule.
        routes: the survivors in route order; empty where `reason` is not 0.
        reason: 0, 2268 or 2270.
    """

    candidates: Rows
    routes: Rows
    reason: int


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the rules look at besides the rows.

    Attributes:
        kind: `QUEUE`, `QMGR` or `TOPIC`.
        view: what L sees.
        via_cluster: the message came over a cluster channel.
        algorithm: `v9` or `v7`.
        exit_function: takes the rows left after rule 2, gives back those it keeps.
    """

    kind: str
    view: View
    via_cluster: bool
    algorithm: str
    exit_function: ExitFunction | None


# ---- candidate rows (section 3) ------------------------------------------------------------------


def queue_candidates(view: View, name: str) -> Rows:
    """Instances of a queue with their queue managers' channels."""
    own = [row for row in view.own_shared("queues") if row["qtype"] == "QLOCAL"]
    others = [row for row in view.others_shared("queues") if not is_queue_manager_alias(row)]
    rows = [row for row in own + others if row["queue"] == name]
    return [
        _candidate(view, name, channel, instance["cluster"], instance)
        for instance in rows
        for channel in view.channels_of(instance["qmgr"])
    ]


def queue_manager_candidates(view: View, object_name: str, qmgr: str) -> Rows:
    """The queue manager itself and the clustered aliases of its name on others."""
    rows = [
        _candidate(view, object_name, channel, channel["cluster"], None)
        for channel in view.channels_of(qmgr)
    ]
    for alias in view.others_shared("queues"):
        if alias["queue"] == qmgr and is_queue_manager_alias(alias):
            for channel in view.channels_of(alias["qmgr"]):
                row = _candidate(view, object_name, channel, alias["cluster"], alias)
                row.is_alias = True
                row.rank, row.priority = alias["clwlrank"], alias["clwlprty"]
                rows.append(row)
    return rows


def topic_host_candidates(view: View, topic: str, topic_string: str) -> Rows:
    """The hosts of a TOPICHOST topic on other queue managers."""
    rows = [row for row in view.others_shared("topics") if row["topic"] == topic]
    rows = [row for row in rows if row["topicstr"] == topic_string]
    rows = [row for row in rows if row["clroute"] == "TOPICHOST"]
    return [
        _candidate(view, topic, channel, host["cluster"], host)
        for host in rows
        for channel in view.channels_of(host["qmgr"])
    ]


def direct_candidates(view: View, topic: str, clusters: set[str], qmgr: str) -> Rows:
    """One subscribing queue manager's channels, for its copy of a publication (P18)."""
    channels = view.channels_of(qmgr)
    there = clusters & {channel["cluster"] for channel in channels}
    return [
        _candidate(view, topic, channel, cluster, None)
        for cluster in sorted(there)
        for channel in channels
    ]


def _candidate(
    view: View, dest_object: str, channel: Row, cluster: str, instance: Row | None
) -> Candidate:
    """One row; without an instance's row there is nothing but the channel to look at."""
    instance = instance or {}
    qmgr = channel["qmgr"]
    return Candidate(
        dest_qmgr=qmgr,
        dest_object=dest_object,
        channel=channel["channel"],
        instance_cluster=cluster,
        channel_cluster=channel["cluster"],
        is_local=qmgr == view.qmgr,
        is_alias=False,
        rank=channel["clwlrank"],
        priority=channel["clwlprty"],
        queue_rank=instance.get("clwlrank", 0),
        queue_priority=instance.get("clwlprty", 0),
        clwluseq=instance.get("clwluseq", "QMGR"),
        put_enabled=bool(instance.get("put_enabled", instance.get("pub_enabled", True))),
        suspended=view.is_suspended(qmgr, channel["cluster"]),
        status_tier=view.status_tier(qmgr, channel["channel"]),
        netprty=channel["netprty"],
        clwlwght=channel["clwlwght"],
    )


# ---- the rules (section 4) -----------------------------------------------------------------------
# Each takes the rows still there and gives back the losing ones.


def foreign_cluster(rows: Rows, around: Circumstances) -> Rows:
    """Rule 1."""
    mine = around.view.clusters
    return [r for r in rows if r.instance_cluster not in mine or r.channel_cluster not in mine]


def other_cluster(rows: Rows, _: Circumstances) -> Rows:
    """Rule 2."""
    return [r for r in rows if r.channel_cluster != r.instance_cluster]


def taken_by_exit(rows: Rows, around: Circumstances) -> Rows:
    """The exit."""
    if around.exit_function is None:
        return []
    kept = list(around.exit_function(list(rows)))
    return [r for r in rows if not any(r is k for k in kept)]


def low_channel_rank(rows: Rows, _: Circumstances) -> Rows:
    """Rule 3."""
    best = max(r.rank for r in rows)
    return [r for r in rows if r.rank < best]


def low_queue_rank(rows: Rows, around: Circumstances) -> Rows:
    """Rule 4."""
    if around.kind != "QUEUE":
        return []
    best = max(r.queue_rank for r in rows)
    return [r for r in rows if r.queue_rank < best]


def put_disabled(rows: Rows, _: Circumstances) -> Rows:
    """Rules 5 and 5*: all of them where no enabled one is there."""
    return [r for r in rows if not r.put_enabled]


def remote_when_local_is_wanted(rows: Rows, around: Circumstances) -> Rows:
    """Rule 6 (P7)."""
    if around.kind != "QUEUE":
        return []
    local = [r for r in rows if r.is_local]
    uses = {r.clwluseq for r in local}
    by_queue_manager = "QMGR" in uses and around.view.settings["clwluseq"] == "LOCAL"
    if local and ("LOCAL" in uses or by_queue_manager or around.via_cluster):
        return [r for r in rows if not r.is_local]
    return []


def suspended(rows: Rows, around: Circumstances) -> Rows:
    """Rule 7."""
    if around.algorithm == "v7" and any(r.is_local for r in rows):
        return []
    if len({r.dest_qmgr for r in rows}) > 1 and not all(r.suspended for r in rows):
        return [r for r in rows if r.suspended]
    return []


def bad_channel_status(rows: Rows, _: Circumstances) -> Rows:
    """Rules 8-11."""
    best = min(r.status_tier for r in rows)
    return [r for r in rows if r.status_tier > best]


def low_network_priority(rows: Rows, _: Circumstances) -> Rows:
    """Rule 12."""
    losing = []
    for row in rows:
        same = [r.netprty for r in rows if r.dest_qmgr == row.dest_qmgr]
        if not row.is_local and row.netprty < max(same):
            losing.append(row)
    return losing


def low_channel_priority(rows: Rows, around: Circumstances) -> Rows:
    """Rules 13 and 13*."""
    if around.algorithm == "v7" and around.kind != "QMGR":
        return []
    best = max(r.priority for r in rows)
    return [r for r in rows if r.priority < best]


def low_queue_priority(rows: Rows, around: Circumstances) -> Rows:
    """Rule 14."""
    if around.kind != "QUEUE":
        return []
    best = max(r.queue_priority for r in rows)
    return [r for r in rows if r.queue_priority < best]


Rule = Callable[[Rows, Circumstances], Rows]
NUMBERS: Final[dict[Rule, int]] = {
    foreign_cluster: 1,
    other_cluster: 2,
    taken_by_exit: EXIT_NUMBER,
    low_channel_rank: 3,
    low_queue_rank: 4,
    put_disabled: 5,
    remote_when_local_is_wanted: 6,
    suspended: 7,
    bad_channel_status: 7,  # and the tier that is kept
    low_network_priority: 12,
    low_channel_priority: 13,
    low_queue_priority: 14,
}
ORDER: Final[dict[str, tuple[Rule, ...]]] = {
    "v9": (
        foreign_cluster, other_cluster, taken_by_exit,
        low_channel_rank, low_queue_rank, put_disabled, remote_when_local_is_wanted, suspended,
        bad_channel_status, low_network_priority, low_channel_priority, low_queue_priority,
    ),
    "v7": (
        put_disabled, foreign_cluster, other_cluster, taken_by_exit,
        remote_when_local_is_wanted, low_channel_rank, low_queue_rank, suspended,
        bad_channel_status, low_network_priority, low_channel_priority, low_queue_priority,
    ),
}  # fmt: skip


def choose_among(candidates: Rows, around: Circumstances) -> Choice:
    """Let the rules act one after the other; what is left are the routes."""
    rows = list(candidates)
    if not rows:
        return Choice(candidates, [], CLUSTER_RESOLUTION_ERROR)
    for rule in ORDER[around.algorithm]:
        losing = rule(rows, around)
        rows = [row for row in rows if not any(row is lost for lost in losing)]
        number = NUMBERS[rule]
        if rule is bad_channel_status:
            number += rows[0].status_tier
        for row in losing:
            row.eliminated_by = number
        if not rows:
            reason = CLUSTER_PUT_INHIBITED if rule is put_disabled else CLUSTER_RESOLUTION_ERROR
            return Choice(candidates, [], reason)
    return Choice(candidates, _routes(rows), 0)


def _routes(rows: Rows) -> Rows:
    """One row per (D, instance, channel), that of the lowest cluster, in route order (R1)."""
    routes: dict[tuple[str, str, str, bool], Candidate] = {}
    for row in sorted(rows, key=lambda r: r.instance_cluster):
        key = (row.dest_qmgr, row.dest_object, row.channel, row.is_alias)
        if key in routes:
            row.eliminated_by = 0
        else:
            routes[key] = row
    return [routes[key] for key in sorted(routes)]
