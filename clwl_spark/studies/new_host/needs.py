"""The definitions that a new host of a queue needs, by the design that is in use. No Spark.

A way's names are known from a trace. What the hosts themselves have of these names, the new one
needs as well; what another queue manager on the way has that names one host alone keeps messages
from the new one; all else stays as it is, as full repositories tell of what is shared.

Source: Hughson's deck, "Routing Into and Out of clusters", scenarios 1 to 5.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from clwl_spark.mq.vocabulary import QueueType
from clwl_spark.tables import columns as c

Row = Mapping[str, Any]


class Design(StrEnum):
    """How messages find a host."""

    SHARED_QUEUE = "SHARED_QUEUE"
    ALIAS_ON_EACH_HOST = "ALIAS_ON_EACH_HOST"
    ALIAS_ON_A_GATEWAY = "ALIAS_ON_A_GATEWAY"
    ONE_HOST_NAMED = "ONE_HOST_NAMED"


DESIGN_TEXTS: Final = {
    Design.SHARED_QUEUE: "the queue is shared in the cluster, so whoever puts to it learns of a "
    "new host from the full repositories",
    Design.ALIAS_ON_EACH_HOST: "each host has an alias of its own that is shared, so a new host "
    "brings one more and nobody else changes",
    Design.ALIAS_ON_A_GATEWAY: "an alias on a gateway leads to a queue that is shared, so neither "
    "it nor those who put change",
    Design.ONE_HOST_NAMED: "a definition, or the put, names one host alone, so a new host gets "
    "nothing until that changes",
}


@dataclass(frozen=True, slots=True)
class Need:
    """Something to be done.

    Attributes:
        qmgr: on which queue manager.
        command: MQSC; "" = it is not a matter of a command.
        why: in words.
    """

    qmgr: str
    command: str
    why: str


@dataclass(frozen=True, slots=True)
class Way:
    """How messages come to the queue now.

    Attributes:
        hosts: queue managers whose queue they end on.
        names: names of queues and queue managers that were looked for on the way.
        others: the other queue managers on the way.
        asked_qmgr: the queue manager that the put names; "" = none.
    """

    hosts: frozenset[str]
    names: frozenset[str]
    others: frozenset[str]
    asked_qmgr: str = ""


def design_of(way: Way, rows: Sequence[Row]) -> Design:
    """How messages find a host.

    Args:
        way: how they come there.
        rows: definitions of queues, by everybody's view.
    """
    if way.asked_qmgr in way.hosts or _naming_one(way, rows):
        return Design.ONE_HOST_NAMED
    own = [row for row in rows if row[c.QMGR] in way.hosts and row[c.QUEUE] in way.names]
    if any(row[c.QTYPE] != QueueType.QLOCAL and row[c.CLUSTER] for row in own):
        return Design.ALIAS_ON_EACH_HOST
    passed = (row for row in rows if row[c.QMGR] in way.others and row[c.QUEUE] in way.names)
    if any(row[c.QTYPE] != QueueType.QLOCAL for row in passed):
        return Design.ALIAS_ON_A_GATEWAY
    return Design.SHARED_QUEUE


def copies(way: Way, rows: Sequence[Row], new: str) -> list[Need]:
    """What the hosts have of the names on the way, for the new host.

    Grain: one need per (queue, type, cluster) that is on a host and not on the new one.
    """
    there = {(row[c.QUEUE], row[c.CLUSTER]) for row in rows if row[c.QMGR] == new}
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row[c.QMGR] in way.hosts and row[c.QUEUE] in way.names:
            found.setdefault((row[c.QUEUE], row[c.QTYPE], row[c.CLUSTER]), []).append(row)
    return [
        Need(new, _define(key, of, new), _like(of, way.hosts))
        for key, of in sorted(found.items())
        if (key[0], key[2]) not in there
    ]


def changes(way: Way, rows: Sequence[Row]) -> list[Need]:
    """What others have, or the put says, that leads to one host alone."""
    needs = [
        Need(
            row[c.QMGR],
            f"ALTER QREMOTE({row[c.QUEUE]}) RQMNAME(...)",
            f"it names {row[c.RQMNAME]} alone: name an alias that all hosts share, or a gateway "
            "with one that leads to a blank name",
        )
        for row in _naming_one(way, rows)
    ]
    if way.asked_qmgr in way.hosts:
        why = f"the put names queue manager {way.asked_qmgr}: put to the queue's name alone"
        needs.append(Need("the application", "", why))
    return needs


def membership(new: str, clusters: Collection[str], channels: Sequence[Row]) -> list[Need]:
    """The channels that make the new host a member of the clusters that it is not in.

    Args:
        new: the queue manager.
        clusters: that it has to be in.
        channels: cluster, qmgr, channel, qmtype of CLUSRCVRs, by everybody's view.
    """
    needs = []
    own = {row[c.CLUSTER]: row[c.CHANNEL] for row in channels if row[c.QMGR] == new}
    for cluster in sorted(clusters):
        if cluster in own:
            continue
        receiver = f"{cluster}.{new}"[:20]
        command = f"DEFINE CHANNEL({receiver}) CHLTYPE(CLUSRCVR) CONNAME('...') CLUSTER({cluster})"
        needs.append(Need(new, command, f"{new} is not in cluster {cluster}"))
        needs += _first_contact(new, cluster, channels)
    return needs


def _first_contact(new: str, cluster: str, channels: Sequence[Row]) -> list[Need]:
    """The CLUSSDR to a full repository of a cluster, if one is known."""
    full = sorted(
        (row[c.QMGR], row[c.CHANNEL], row[c.CONNAME] or "...")
        for row in channels
        if row[c.CLUSTER] == cluster and row[c.QMTYPE] == "REPOS"
    )
    if not full:
        return [Need(new, "", f"a CLUSSDR to a full repository of {cluster}: none is known")]
    qmgr, channel, conname = full[0]
    command = f"DEFINE CHANNEL({channel}) CHLTYPE(CLUSSDR) CONNAME('{conname}') CLUSTER({cluster})"
    return [Need(new, command, f"its first contact, full repository {qmgr}")]


def _naming_one(way: Way, rows: Iterable[Row]) -> list[Row]:
    """QREMOTEs of others on the way that name a host; of the hosts, their own aliases do not."""
    return [
        row
        for row in rows
        if row[c.QMGR] in way.others
        and row[c.QUEUE] in way.names
        and row[c.QTYPE] == QueueType.QREMOTE
        and row[c.RQMNAME] in way.hosts
    ]


def _define(key: tuple[str, str, str], of: Sequence[Row], new: str) -> str:
    """The command that makes the new host's definition, as most hosts have it."""
    queue, qtype, cluster = key
    first = of[0]
    words = [f"DEFINE {qtype}({queue})"]
    if qtype == QueueType.QALIAS:
        words.append(f"TARGET({first[c.TARGET]})")
    if qtype == QueueType.QREMOTE:
        own = first[c.RQMNAME] == first[c.QMGR]
        rname, rqmname = first[c.RNAME] or "' '", new if own else first[c.RQMNAME] or "' '"
        words += [f"RNAME({rname})", f"RQMNAME({rqmname})"]
    words += [f"CLUSTER({cluster})"] if cluster else []
    words += [f"{name}({_common(of, column)})" for name, column in _CARRIED if _differs(of, column)]
    return " ".join(words)


def _common(of: Sequence[Row], column: str) -> object:
    """The value that most hosts have, of equals the lowest."""
    counts = Counter(row[column] for row in of)
    return min(counts, key=lambda value: (-counts[value], str(value)))


def _differs(of: Sequence[Row], column: str) -> bool:
    """Whether it is set otherwise than by MQ's default."""
    return _common(of, column) != _USUAL[column]


def _like(of: Sequence[Row], hosts: Collection[str]) -> str:
    """Whose definitions it is like."""
    names = sorted({str(row[c.QMGR]) for row in of})
    words = f"as on {', '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}"
    unlike = [name for name, column in _CARRIED if len({row[column] for row in of}) > 1]
    if unlike:
        words += f"; {', '.join(unlike)} differ there"
    return words if len(names) == len(hosts) else f"{words}, not on all hosts"


_NAMED: Final = 4
_CARRIED: Final = (
    ("CLWLRANK", c.CLWLRANK),
    ("CLWLPRTY", c.CLWLPRTY),
    ("CLWLUSEQ", c.CLWLUSEQ),
    ("DEFBIND", c.DEFBIND),
)
_USUAL: Final = {c.CLWLRANK: 0, c.CLWLPRTY: 0, c.CLWLUSEQ: "QMGR", c.DEFBIND: "OPEN"}
"""MQ's defaults, which need no word."""
