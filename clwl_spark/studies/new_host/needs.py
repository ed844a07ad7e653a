"""The definitions that a new host of a queue needs, by the design that is in use. No Spark.

A way's names are known from a trace. What the hosts themselves have of these names, the new one
needs as well; what another queue manager on the way has that names one host alone keeps messages
from the new one; all else stays as it is, as full repositories tell of what is shared.

Source: Hughson's deck, "Routing Into and Out of clusters", scenarios 1 to 5.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count
from typing import Any, Final

from clwl_spark.mq.vocabulary import (
    CHANNEL_NAME_LENGTH,
    NAME_LENGTH,
    QmType,
    QueueType,
)
from clwl_spark.snapshots.spelling import named
from clwl_spark.tables import columns as c

Row = Mapping[str, Any]


class Design(StrEnum):
    """How messages find a host."""

    SHARED_QUEUE = "SHARED_QUEUE"
    ALIAS_ON_EACH_HOST = "ALIAS_ON_EACH_HOST"
    ALIAS_ON_A_GATEWAY = "ALIAS_ON_A_GATEWAY"
    ONE_HOST_NAMED = "ONE_HOST_NAMED"
    NOT_SHARED = "NOT_SHARED"


DESIGN_TEXTS: Final = {
    Design.SHARED_QUEUE: "the queue is shared in the cluster, so whoever puts to it learns of a "
    "new host from the full repositories",
    Design.ALIAS_ON_EACH_HOST: "each host has an alias of its own that is shared, so a new host "
    "brings one more and nobody else changes",
    Design.ALIAS_ON_A_GATEWAY: "an alias on a gateway leads to a queue that is shared, so neither "
    "it nor those who put change",
    Design.ONE_HOST_NAMED: "a definition, or the put, names one host alone, so a new host gets "
    "nothing until that changes",
    Design.NOT_SHARED: "the queue is shared in no cluster, so nobody is sent to a new host until "
    "it is",
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
    own = _of_hosts(way, rows)
    if not any(row[c.CLUSTER] for row in own):
        return Design.NOT_SHARED
    if any(row[c.QTYPE] != QueueType.QLOCAL and row[c.CLUSTER] for row in own):
        return Design.ALIAS_ON_EACH_HOST
    passed = (row for row in rows if row[c.QMGR] in way.others and row[c.QUEUE] in way.names)
    if any(row[c.QTYPE] != QueueType.QLOCAL for row in passed):
        return Design.ALIAS_ON_A_GATEWAY
    return Design.SHARED_QUEUE


def copies(way: Way, rows: Sequence[Row], new: str) -> list[Need]:
    """What the hosts have of the names on the way, for the new host.

    Of hosts that have a name as objects of several types, or as aliases of several targets, the new
    one is like most.

    Grain: one need per name that is on a host and not on the new one, or not as there; one before
    it per name list.
    """
    there: dict[str, list[Row]] = {}
    for row in rows:
        if row[c.QMGR] == new:
            there.setdefault(row[c.QUEUE], []).append(row)
    found: dict[str, list[Row]] = {}
    for row in _of_hosts(way, rows):
        found.setdefault(row[c.QUEUE], []).append(row)
    chosen = {queue: _like_most(of) for queue, of in sorted(found.items())}
    aims = {row[c.TARGET] for row in _of_hosts(way, rows) if row[c.QTYPE] == QueueType.QALIAS}
    unused = aims - {of[0][c.TARGET] for of in chosen.values()}
    needs: list[Need] = []
    for queue, of in chosen.items():
        is_shared = any(row[c.CLUSTER] for row in of)
        if is_shared or queue not in unused:
            needs += _copy(new, there.get(queue, []), of, way.hosts, found[queue])
    return list(dict.fromkeys(needs))


def _copy(
    new: str, own: Sequence[Row], of: Sequence[Row], hosts: Collection[str], every: Sequence[Row]
) -> Iterator[Need]:
    """One name's definition on the new host.

    Args:
        new: the new host.
        own: its rows of the name.
        of: the rows of the hosts that it is to be like.
        hosts: all hosts.
        every: all their rows of the name.
    """
    queue, qtype = of[0][c.QUEUE], of[0][c.QTYPE]
    clusters = sorted({row[c.CLUSTER] for row in of} - {""})
    if own and own[0][c.QTYPE] != qtype:
        why = f"{queue} is a {own[0][c.QTYPE]} there already, and a {qtype} on the hosts"
        yield Need(new, "", why)
        return
    have = {row[c.CLUSTER] for row in own} - {""}
    shared = sorted({*clusters, *have})
    words, lists = _shared(shared)
    if not own:
        yield from (Need(new, x, f"the clusters of {queue}") for x in lists)
        yield Need(new, _define(of, new, words), _told_like(of, hosts, every))
    elif not have.issuperset(clusters):
        yield from (Need(new, x, f"the clusters of {queue}") for x in lists)
        # CLUSTER and CLUSNL exclude each other.
        instead = "CLUSTER(' ') " if have else ""
        command = f"ALTER {qtype}({named(queue)}) {instead}{words}"
        yield Need(new, command, f"it is there, and not shared in {', '.join(clusters)}")
    best = {x: max(row[x] for row in of) for _, x in _DECISIVE}
    below = [f"{x}({best[y]})" for x, y in _DECISIVE if any(row[y] < best[y] for row in own)]
    if below:
        why = "hosts have it, and what has less gets nothing beside them"
        yield Need(new, f"ALTER {qtype}({named(queue)}) {' '.join(below)}", why)
    if any(row[c.PUT_ENABLED] is False for row in own):
        yield Need(new, f"ALTER {qtype}({named(queue)}) PUT(ENABLED)", "puts to it are disabled")


def _shared(clusters: Sequence[str]) -> tuple[str, list[str]]:
    """CLUSTER or CLUSNL, and the name list that goes with it."""
    if len(clusters) < 2:  # noqa: PLR2004  (one is no list)
        return (f"CLUSTER({named(clusters[0])})" if clusters else ""), []
    name = named(".".join(clusters)[:NAME_LENGTH])
    return f"CLUSNL({name})", [f"DEFINE NAMELIST({name}) NAMES({','.join(map(named, clusters))})"]


def _like_most(rows: Sequence[Row]) -> list[Row]:
    """The rows of those hosts that have the type, and the aim, that most have."""
    counts = Counter((row[c.QTYPE], row[c.TARGET]) for row in rows)
    best = min(counts, key=lambda x: (-counts[x], *map(str, x)))
    return [row for row in rows if (row[c.QTYPE], row[c.TARGET]) == best]


def _of_hosts(way: Way, rows: Iterable[Row]) -> list[Row]:
    """What the hosts have of the names on the way."""
    return [row for row in rows if row[c.QMGR] in way.hosts and row[c.QUEUE] in way.names]


def changes(way: Way, rows: Sequence[Row]) -> list[Need]:
    """What others have, or the put says, that leads to one host alone."""
    needs = [
        Need(
            row[c.QMGR],
            f"ALTER QREMOTE({named(row[c.QUEUE])}) RQMNAME(...)",
            f"it names {row[c.RQMNAME]} alone: name an alias that all hosts share, or a gateway "
            "with one that leads to a blank name",
        )
        for row in _naming_one(way, rows)
    ]
    if way.asked_qmgr in way.hosts:
        why = f"the put names queue manager {way.asked_qmgr}: put to the queue's name alone"
        needs.append(Need("the application", "", why))
    if design_of(way, rows) == Design.NOT_SHARED:
        needs += [
            Need(row[c.QMGR], f"ALTER {row[c.QTYPE]}({named(row[c.QUEUE])}) CLUSTER(...)",
                 "it is shared in no cluster: share it on each host, in a cluster of all of them")
            for row in _of_hosts(way, rows)
        ]  # fmt: skip
    return needs


def membership(
    new: str, hosts: Collection[str], clusters: Collection[str], channels: Sequence[Row]
) -> list[Need]:
    """What makes the new host a member of the clusters, to whom as much is sent as to the others.

    Args:
        new: the queue manager.
        hosts: the hosts now.
        clusters: that it has to be in.
        channels: cluster, qmgr, channel, qmtype, suspended and CLWL attributes of CLUSRCVRs, by
            everybody's view.
    """
    needs: list[Need] = []
    own: dict[str, list[Row]] = {}
    for row in channels:
        if row[c.QMGR] == new:
            own.setdefault(row[c.CLUSTER], []).append(row)
    taken = {row[c.CHANNEL] for row in channels}
    absent = [x for x in sorted(clusters) if x not in own]
    for cluster in sorted(clusters):
        of = [row for row in channels if row[c.QMGR] in hosts and row[c.CLUSTER] == cluster]
        if cluster in own:
            needs += _as_good(own[cluster], of)
            continue
        receiver = _channel_name(cluster, new, taken)
        taken.add(receiver)
        words = [f"DEFINE CHANNEL({named(receiver)}) CHLTYPE(CLUSRCVR) CONNAME('...')"]
        words += [f"CLUSTER({named(cluster)})", *_decisive(of, {})]
        needs.append(Need(new, " ".join(words), f"{new} is not in cluster {cluster}"))
    # A channel in several clusters has one need.
    return list(dict.fromkeys([*needs, *_first_contacts(new, absent, channels)]))


def _as_good(own: Sequence[Row], of: Sequence[Row]) -> Iterator[Need]:
    """What keeps messages from a queue manager that has channels in the cluster already.

    One good channel is enough: the one counts that lacks least, of equals the highest. Suspended is
    the queue manager, whichever of its channels shows it.
    """
    best = min(
        own, key=lambda x: (len(_decisive(of, x)), -x[c.CLWLRANK], -x[c.CLWLPRTY], x[c.CHANNEL])
    )
    start = f"ALTER CHANNEL({named(best[c.CHANNEL])}) CHLTYPE(CLUSRCVR)"
    words = _decisive(of, best)
    if words:
        why = "the channels of the hosts have it, and what has less gets nothing beside them"
        yield Need(best[c.QMGR], " ".join([start, *words]), why)
    if any(row[c.SUSPENDED] for row in own):
        command = f"RESUME QMGR CLUSTER({named(best[c.CLUSTER])})"
        yield Need(best[c.QMGR], command, "it is suspended there")


def _decisive(of: Sequence[Row], own: Row) -> list[str]:
    """Attributes in which the hosts' channels are above a channel, or above MQ's default."""
    best = {x: max((row[x] for row in of), default=0) for _, x in _DECISIVE}
    return [f"{name}({best[x]})" for name, x in _DECISIVE if best[x] > own.get(x, 0)]


def _channel_name(cluster: str, new: str, taken: Collection[str]) -> str:
    """A name for the new host's CLUSRCVR that nobody has: at most 20 characters."""
    names = (f"{cluster}.{new}", f"TO.{new}")
    short = new[: CHANNEL_NAME_LENGTH - 4]
    numbered = (f"TO.{short}{number}" for number in count(1))
    fitting = (x for x in names if len(x) <= CHANNEL_NAME_LENGTH)
    return next(x for x in chain(fitting, numbered) if x not in taken)


def _first_contacts(new: str, clusters: Sequence[str], channels: Sequence[Row]) -> Iterator[Need]:
    """The CLUSSDRs to full repositories of clusters, if any are known."""
    to: dict[tuple[str, str, str], list[str]] = {}
    for cluster in clusters:
        full = sorted(
            (row[c.QMGR], row[c.CHANNEL], row[c.CONNAME] or "...")
            for row in channels
            if row[c.CLUSTER] == cluster and row[c.QMTYPE] == QmType.REPOS.value
        )
        if full:
            to.setdefault(full[0], []).append(cluster)
        else:
            why = f"a CLUSSDR to a full repository of {cluster}: none is known"
            yield Need(new, "", why)
    for (qmgr, channel, conname), of in to.items():
        words, lists = _shared(of)
        yield from (Need(new, x, f"the clusters of {channel}") for x in lists)
        command = f"DEFINE CHANNEL({named(channel)}) CHLTYPE(CLUSSDR) CONNAME('{conname}') {words}"
        yield Need(new, command, f"its first contact, full repository {qmgr}")


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


def _define(of: Sequence[Row], new: str, shared: str) -> str:
    """The command that makes the new host's definition, as most hosts have it, and as high."""
    first = of[0]
    words = [f"DEFINE {first[c.QTYPE]}({named(first[c.QUEUE])})"]
    if first[c.QTYPE] == QueueType.QALIAS:
        words.append(f"TARGET({named(first[c.TARGET])})")
    if first[c.QTYPE] == QueueType.QREMOTE:
        own = first[c.RQMNAME] == first[c.QMGR]
        rqmname = new if own else first[c.RQMNAME]
        words += [f"RNAME({named(first[c.RNAME])})", f"RQMNAME({named(rqmname)})"]
    words += [shared] if shared else []
    carried = _carried(first[c.QTYPE])
    words += [f"{name}({_copied(of, column)})" for name, column in carried if _differs(of, column)]
    return " ".join(words)


def _carried(qtype: str) -> list[tuple[str, str]]:
    """The attributes that are copied: CLWLUSEQ is one of local queues alone."""
    return [x for x in _CARRIED if x[1] != c.CLWLUSEQ or qtype == QueueType.QLOCAL]


def _copied(of: Sequence[Row], column: str) -> object:
    """The value that most hosts have, of equals the lowest; of rank and priority the greatest."""
    if column in (c.CLWLRANK, c.CLWLPRTY):
        return max(row[column] for row in of)
    counts = Counter(row[column] for row in of)
    return min(counts, key=lambda value: (-counts[value], str(value)))


def _differs(of: Sequence[Row], column: str) -> bool:
    """Whether it is set otherwise than by MQ's default."""
    return _copied(of, column) != _USUAL[column]


def _told_like(of: Sequence[Row], hosts: Collection[str], every: Sequence[Row]) -> str:
    """Whose definitions it is like."""
    names = sorted({str(row[c.QMGR]) for row in of})
    words = f"as on {', '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}"
    carried = _carried(of[0][c.QTYPE])
    unlike = [name for name, column in carried if len({row[column] for row in of}) > 1]
    if unlike:
        words += f"; {', '.join(unlike)} differ there"
    if len(every) > len(of):
        return f"{words}; on other hosts it is another type, or leads elsewhere"
    return words if len(names) == len(hosts) else f"{words}, not on all hosts"


_NAMED: Final = 4
_DECISIVE: Final = (("CLWLRANK", c.CLWLRANK), ("CLWLPRTY", c.CLWLPRTY))
_CARRIED: Final[tuple[tuple[str, str], ...]] = (
    *_DECISIVE,
    ("CLWLUSEQ", c.CLWLUSEQ),
    ("DEFBIND", c.DEFBIND),
)
_USUAL: Final = {c.CLWLRANK: 0, c.CLWLPRTY: 0, c.CLWLUSEQ: "QMGR", c.DEFBIND: "OPEN"}
"""MQ's defaults, which need no word."""
