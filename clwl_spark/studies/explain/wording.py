"""Candidates and plans in an administrator's words: which attribute lost, to what, on whom.

Rows are dicts with the columns of `schemas.ROUTE_CANDIDATES`. Pure Python, no Spark.
Source: SEMANTICS 4 (the rules and their order), R1, R3, R4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.algorithm.ladder import EXIT, ORDER, RECENTLY_USED, SAME_ROUTE
from clwl_spark.mq.vocabulary import Algorithm, PlanKind, Via
from clwl_spark.tables import columns as c

Row = dict[str, Any]

_INSTANCES: Final = {
    PlanKind.QUEUE.value: "queue",
    PlanKind.QMGR.value: "queue manager alias",
    PlanKind.TOPIC.value: "topic",
}


_OF_A_ROUTE: Final = (None, RECENTLY_USED)
"""A route is one also where rule 15 cuts it, for the moment."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A losing row, the rows that were in play when it lost, and who asked.

    `rivals` come in route order, those that win in the end first.
    """

    row: Row
    rivals: Sequence[Row]
    qmgr: str
    via: str

    def below(self, attribute: str, words: str, place: Callable[[Row], str]) -> str:
        """`words` with the own value, the best one in play, and who has it."""
        winner = max(self.rivals, key=lambda rival: rival[attribute])
        return f"{words} {self.row[attribute]} < {winner[attribute]} {place(winner)}"

    def channel(self, winner: Row) -> str:
        """The winner's channel; with its queue manager where the name alone does not tell."""
        if winner[c.IS_ALIAS]:
            return f"of the alias on {winner[c.DEST_QMGR]}"
        if winner[c.CHANNEL] == self.row[c.CHANNEL]:
            return f"of {winner[c.CHANNEL]} to {winner[c.DEST_QMGR]}"
        return f"of {winner[c.CHANNEL]}"


def reasons_why(rows: Sequence[Row], qmgr: str, via: str, algorithm: Algorithm) -> list[str]:
    """Why each row is not a route; '' for routes.

    Args:
        rows: all candidates of a plan.
        qmgr: the putting queue manager.
        via: of the request.
        algorithm: the order in which the rules were applied.

    Returns:
        (rows,) the words, such as `NETPRTY 3 < 5 on QM2`.
    """
    place = {number: at for at, numbers in enumerate(ORDER[algorithm]) for number in numbers}
    place_of = [_last(place, row[c.ELIMINATED_BY]) for row in rows]
    words = []
    for row, own in zip(rows, place_of, strict=True):
        if row[c.ELIMINATED_BY] is None:
            words.append("")
            continue
        fellows = [
            (-at, rival)
            for rival, at in zip(rows, place_of, strict=True)
            if at >= own and rival[c.CHOICE] == row[c.CHOICE]
        ]
        fellows.sort(key=lambda pair: pair[0])
        verdict = _Verdict(row, [rival for _, rival in fellows], qmgr, via)
        words.append(_WORDS[row[c.ELIMINATED_BY]](verdict))
    return words


def _last(place: dict[int, int], number: int | None) -> int:
    return len(place) if number is None else place[number]


def _not_shared(verdict: _Verdict) -> str:
    row = verdict.row
    flags = ((c.INSTANCE_CLUSTER, c.INSTANCE_SHARED), (c.CHANNEL_CLUSTER, c.CHANNEL_SHARED))
    foreign = list(dict.fromkeys(row[name] for name, shared in flags if not row[shared]))
    if len(foreign) == 1:
        return f"cluster {foreign[0]} is not one of {verdict.qmgr}'s"
    return f"clusters {' and '.join(foreign)} are not {verdict.qmgr}'s"


def _other_cluster(verdict: _Verdict) -> str:
    row = verdict.row
    instance = _INSTANCES[row[c.KIND]]
    return f"channel is in {row[c.CHANNEL_CLUSTER]}, the {instance} in {row[c.INSTANCE_CLUSTER]}"


def _disabled(verdict: _Verdict) -> str:
    return "PUB(DISABLED)" if verdict.row[c.KIND] == PlanKind.TOPIC else "PUT(DISABLED)"


def _local_preferred(verdict: _Verdict) -> str:
    if verdict.via == Via.CLUSTER:
        return "local queue preferred: it came over a cluster channel"
    return "local queue preferred: CLWLUSEQ(LOCAL)"


def _suspended(verdict: _Verdict) -> str:
    row = verdict.row
    resumed = [rival for rival in verdict.rivals if not rival[c.SUSPENDED]]
    words = f"suspended in cluster {row[c.CHANNEL_CLUSTER]}"
    others = [rival for rival in resumed if rival[c.DEST_QMGR] != row[c.DEST_QMGR]]
    if others:
        return f"{words}, while {others[0][c.DEST_QMGR]} is not"
    return f"{words}, but not in {resumed[0][c.CHANNEL_CLUSTER]}"


def _status(verdict: _Verdict) -> str:
    row = verdict.row
    best = min(verdict.rivals, key=lambda rival: rival[c.STATUS_TIER])
    winner = best[c.CHANNEL]
    if winner == row[c.CHANNEL]:
        winner = f"{winner} to {best[c.DEST_QMGR]}"
    return f"channel {row[c.STATUS]}, while {winner} is {best[c.STATUS]}"


def _netprty(verdict: _Verdict) -> str:
    row = verdict.row
    best = max(x[c.NETPRTY] for x in verdict.rivals if x[c.DEST_QMGR] == row[c.DEST_QMGR])
    return f"NETPRTY {row[c.NETPRTY]} < {best} on {row[c.DEST_QMGR]}"


def _same_route(verdict: _Verdict) -> str:
    row = verdict.row
    key = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)
    clusters = (
        rival[c.CHANNEL_CLUSTER]
        for rival in verdict.rivals
        if rival[c.ELIMINATED_BY] in _OF_A_ROUTE and all(rival[x] == row[x] for x in key)
    )
    return f"same route as by cluster {min(clusters)}"


def _less_recently_used(verdict: _Verdict) -> str:
    kept = sum(x[c.ELIMINATED_BY] is None and not x[c.IS_LOCAL] for x in verdict.rivals)
    others = "another route was" if kept == 1 else f"{kept} other routes were"
    return f"CLWLMRUC({kept}) of {verdict.qmgr}: {others} used more recently, or come first"


def _on_qmgr(winner: Row) -> str:
    return f"on {winner[c.DEST_QMGR]}"


def _attribute_of(verdict: _Verdict, name: str) -> str:
    return f"alias {name}" if verdict.row[c.IS_ALIAS] else name


_WORDS: Final[dict[int, Callable[[_Verdict], str]]] = {
    1: _not_shared,
    2: _other_cluster,
    EXIT: lambda _: "taken away by the exit",
    3: lambda x: x.below(c.CHANNEL_RANK, _attribute_of(x, "CLWLRANK"), x.channel),
    4: lambda x: x.below(c.QUEUE_RANK, "queue CLWLRANK", _on_qmgr),
    5: _disabled,
    6: _local_preferred,
    7: _suspended,
    **dict.fromkeys(range(8, 12), _status),
    12: _netprty,
    13: lambda x: x.below(c.CHANNEL_PRTY, _attribute_of(x, "CLWLPRTY"), x.channel),
    14: lambda x: x.below(c.QUEUE_PRTY, "queue CLWLPRTY", _on_qmgr),
    SAME_ROUTE: _same_route,
    RECENTLY_USED: _less_recently_used,
}


def verdict_text(row: Row, why: str) -> str:
    """A candidate's verdict in one line: `rule 12: NETPRTY 3 < 5 on QM2`, or `route`."""
    if row[c.ELIMINATED_BY] is None:
        return "route"
    if row[c.ELIMINATED_BY] in (SAME_ROUTE, EXIT):
        return why
    return f"rule {row[c.ELIMINATED_BY]}: {why}"
