"""The rules that eliminate candidate rows: SEMANTICS section 4.

Choices, where the text can be read in more than one way:
    1. A null PUB is enabled: "null means MQ's default" goes before P1's list of booleans.
    2. The exit comes after rule 2 in `v7`, too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from reference_candidates import Candidate, Rows
from reference_views import View

EXIT_NUMBER: Final = 100
CLUSTER_PUT_INHIBITED: Final = 2268
CLUSTER_RESOLUTION_ERROR: Final = 2270

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
