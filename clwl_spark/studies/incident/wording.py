"""What to do about an incident, in an administrator's words. Pure Python, no Spark."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from clwl_spark.algorithm.ladder import PUT_ENABLED
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.studies.incident.model import Bound, Put, Waiting
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at, moment_text

_SUSPENDED: Final = 7
_STATUS: Final = range(8, 12)
_MOST: Final = 5
_GONE: Final = "its definition, or its channel's, is not seen any more"
_NEW: Final = "its definition, or its channel's, was not seen then"


def remedy(row: Mapping[str, Any] | None, way: tuple[str, str], qmgr: str, object_: str) -> str:
    """What makes a route of a way that is none now.

    Args:
        row: its candidate, which a rule took away; None = there is none any more.
        way: queue manager and channel that it leads over; without a channel it is local.
        qmgr: where is put.
        object_: the candidate's object in MQSC, as in QALIAS(ORDERS); blank where there is none.
    """
    to, channel = way
    if row is None:
        return ""
    rule = row[c.ELIMINATED_BY]
    if rule == PUT_ENABLED and object_:
        enabled = "PUB" if row[c.KIND] == PlanKind.TOPIC.value else "PUT"
        return f"on {to}: ALTER {object_} {enabled}(ENABLED)"
    if rule == _SUSPENDED:
        return f"on {to}: RESUME QMGR CLUSTER({row[c.CHANNEL_CLUSTER]})"
    if rule in _STATUS and channel:
        if row[c.STATUS] == "STOPPED":
            return f"on {qmgr}: START CHANNEL({channel})"
        return f"on {qmgr}: DISPLAY CHSTATUS({channel}), and see that {to} and its listener run"
    return ""


def not_a_candidate(
    plan: Mapping[str, Any], other: Mapping[str, Any], qmgr: str, *, is_now: bool
) -> str:
    """Why a way is not among the candidates of a put.

    Args:
        plan: of the put where it is none (`route_plans`).
        other: of the same put in the other snapshot, where it may be one.
        qmgr: where is put.
        is_now: it is none any more; else it was none before.
    """
    resolved = (c.RESOLVED_OBJECT, c.RESOLVED_QMGR)
    now, then = _GONE, _NEW
    if plan[c.REASON] != 0:
        return now if is_now else then
    if plan[c.KIND] == PlanKind.LOCAL:
        now, then = f"what is put stays on {qmgr}", f"what was put stayed on {qmgr}"
    elif plan[c.KIND] == PlanKind.XMITQ:
        on = f"{plan[c.XMITQ]} by definition"
        now, then = f"what is put goes to {on}", f"what was put went to {on}"
    elif [plan[x] for x in resolved] != [other[x] for x in resolved]:
        to = " at ".join(filter(None, (plan[x] for x in resolved)))
        now, then = f"the name leads to {to}", f"the name led to {to}"
    return now if is_now else then


def advice(
    root: str,
    puts: Sequence[Put],
    bound: Sequence[Bound],
    waiting: Sequence[Waiting],
    until: int,
) -> list[str]:
    """What to do, in order, each once."""
    lost = [way for put in puts for way in put.ways if way.is_lost]
    told = [way.remedy for way in lost if way.remedy]
    if any(way.is_lost and not way.remedy for put in puts for way in put.ways):
        told.append("see what changed: a definition took a route away, not a status")
    at = moment_text(moment_at(until))
    for x in [y for y in waiting if y.is_down][:_MOST]:
        words = ("--lake", root, "--qmgr", x.qmgr, "--channel", x.channel, "--status", x.status)
        command = shlex.join(["clwl", "reallocate", *words, "--at", at])
        told.append(f"see where the {x.messages:,} messages for {x.channel} can go: {command}")
    told += [
        f"close and open {y.object_name} again in the applications on {y.qmgr}: "
        f"{y.messages:,} messages were bound to {y.dest_qmgr} by {y.channel}"
        for y in bound[:_MOST]
    ]
    return list(dict.fromkeys(told))
