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


def remedy(row: Mapping[str, Any] | None, way: tuple[str, str], qmgr: str, object_: str) -> str:
    """What makes a route of a way that is none now.

    Args:
        row: its candidate, which a rule took away; None = there is none any more.
        way: queue manager and channel that it leads over.
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
    if rule in _STATUS:
        if row[c.STATUS] == "STOPPED":
            return f"on {qmgr}: START CHANNEL({channel})"
        return f"on {qmgr}: DISPLAY CHSTATUS({channel}), and see that {to} and its listener run"
    return ""


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
