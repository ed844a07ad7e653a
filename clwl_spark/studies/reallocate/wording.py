"""What happened to a waiting message, in an administrator's words. Pure Python, no Spark.

Source: Dick's article (not eligible; still most favoured; CLWLRANK and CLWLPRTY); SEMANTICS 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.mq.vocabulary import REASON_TEXTS, STATUS_TIERS
from clwl_spark.tables import columns as c
from clwl_spark.tables.waiting import IneligibleReason, Reallocation

_RANKS: Final = {3: "the channel's CLWLRANK", 4: "the queue's CLWLRANK"}
_RULES: Final[dict[int, str]] = {
    0: "no other route leads to the queue in a cluster of this queue manager's, so there is no "
    "other choice",
    3: "rule 3, the channel's CLWLRANK",
    4: "rule 4, the queue's CLWLRANK",
    5: "rule 5, the other instances are put-disabled",
    7: "rule 7, the other queue managers are suspended from the cluster",
    8: "rule 8, no other channel is as available",
    9: "rule 9, the other channels' status is worse",
    10: "rule 10, the other channels' status is worse",
    11: "rule 11, the other channels' status is worse",
    12: "rule 12, NETPRTY",
    13: "rule 13, the channel's CLWLPRTY",
    14: "rule 14, the queue's CLWLPRTY",
    15: "the balancing, which came back to it among several routes",
    100: "the cluster workload exit",
}
_NOT_ELIGIBLE: Final[dict[str, str]] = {
    IneligibleReason.BIND_ON_OPEN: "it was put with bind-on-open, so all messages of that open "
    "go to one instance of the queue",
    IneligibleReason.LOGICAL_GROUP: "it belongs to a group put in logical order with "
    "bind-on-group, which goes to one instance of the queue as a whole",
    IneligibleReason.SYSTEM_MESSAGE: "it is a system message for a system queue",
}


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a message's channel, and what became of the message.

    Attributes:
        outcome: MOVED, STILL_FAVOURED, FAILED or NOT_ELIGIBLE.
        channel: the channel that stopped.
        status: the status that it took.
        to_channel: channel afterwards; None = none.
        to_xmitq: transmission queue afterwards; None = a local queue.
        deciding_rule: where it is still favoured.
        ineligible_reason: where it is left alone.
        reason: MQRC of a choice that failed, else 0.
        object_qmgr: queue manager that its put named; blank = none.
        candidates: rows of `route_candidates` as judged at the event.
    """

    outcome: Reallocation
    channel: str
    status: str
    to_channel: str | None
    to_xmitq: str | None
    deciding_rule: int | None
    ineligible_reason: str | None
    reason: int
    object_qmgr: str
    candidates: Sequence[dict[str, Any]]


def none_waits(where: str, snapshot_id: str, so: str = "nothing was written") -> str:
    """Of a channel that was up until its event: nothing waits, as far as the lake can tell.

    Args:
        where: moment, channel and queue manager.
        snapshot_id: the snapshot in force.
        so: what comes of it.
    """
    return (
        f"{where} was up until then, as snapshot {snapshot_id} has it, so none of its messages "
        f"waits and {so}. If some do wait, say which: --since S (those put after S) or --backlog N "
        "(the last N); in a table of events, columns since and backlog"
    )


def some_are_missing(where: str, missing: int, waiting: int) -> str:
    """Of a backlog greater than what was routed to the channel by then.

    Args:
        where: moment, channel and queue manager.
        missing: messages of the backlog that the lake does not know.
        waiting: messages that wait.
    """
    return (
        f"{where} has a backlog of {missing + waiting:,}, but only {waiting:,} messages were "
        f"routed to it by then, which are taken to wait; {missing:,} are not known here. Load and "
        "route what else was put, or give the backlog without it"
    )


def in_words(happened: Happened) -> list[str]:
    """Sentences on what became of the message."""
    if happened.outcome == Reallocation.NOT_ELIGIBLE:
        return _not_eligible(happened)
    if happened.outcome == Reallocation.FAILED:
        text = REASON_TEXTS.get(happened.reason, "")
        return [
            f"It chose anew, which failed with {happened.reason} {text}; so it stays where it is."
        ]
    if happened.outcome == Reallocation.MOVED:
        return [_moved(happened)]
    return _still_favoured(happened)


def _not_eligible(happened: Happened) -> list[str]:
    reason = happened.ineligible_reason or ""
    why = _NOT_ELIGIBLE.get(reason)
    if why is None:
        named = f"its put named queue manager {happened.object_qmgr}"
        why = named if happened.object_qmgr else "it is a publication's copy for one queue manager"
    return [
        f"It is not eligible and stays ({reason}): {why}.",
        "On the transmission queue such messages have an MQMD.AccountingToken of zeros.",
    ]


def _moved(happened: Happened) -> str:
    if happened.to_channel is not None:
        return f"It now goes by {happened.to_channel}, and waits on {happened.to_xmitq}."
    if happened.to_xmitq is not None:
        return f"It now is on the transmission queue {happened.to_xmitq}, named by definition."
    return "It now is on a local queue."


def _still_favoured(happened: Happened) -> list[str]:
    rule = happened.deciding_rule or 0
    stays = f"It chose anew and stays with {happened.channel} ({happened.status}): {_RULES[0]}."
    if rule:
        stays = (
            f"It chose anew and {happened.channel} ({happened.status}) is still the most "
            f"favoured: decided by {_RULES.get(rule, f'rule {rule}')}."
        )
    put_time = (
        "Its put time became that of the event, which is how such a message is told from one "
        "that is not eligible."
    )
    return [stays, put_time, *(_rank_for_priority(happened, rule) if rule in _RANKS else [])]


def _rank_for_priority(happened: Happened, rule: int) -> list[str]:
    """A common misunderstanding: rank is looked at before the status, priority after it."""
    tier = STATUS_TIERS[happened.status]
    outranked = [x for x in happened.candidates if x[c.ELIMINATED_BY] in _RANKS]
    better = [x for x in outranked if x[c.STATUS_TIER] < tier and x[c.PUT_ENABLED]]
    told = (
        f"{_RANKS[rule]} is looked at before the status of channels (rules 8 to 11), so messages "
        "do not leave a channel of the highest rank because it stops."
    )
    told = told[0].upper() + told[1:]
    if not better:
        return [told, "No outranked channel has a better status, so CLWLPRTY would not help here."]
    best = min(better, key=lambda x: (x[c.STATUS_TIER], x[c.DEST_QMGR], x[c.CHANNEL]))
    instead = (
        f"{best[c.CHANNEL]} to {best[c.DEST_QMGR]} is {best[c.STATUS]}: with CLWLPRTY in place of "
        "CLWLRANK, which is looked at after the status (rules 13 and 14), such messages would go "
        "there while this channel is down, and prefer it again when it is back."
    )
    return [told, instead]
