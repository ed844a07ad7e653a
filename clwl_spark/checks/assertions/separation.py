"""What messages of two puts share, in words, and what would keep them apart."""

from collections.abc import Collection
from itertools import chain

from clwl_spark.checks.assertions.answers import Line
from clwl_spark.checks.assertions.model import Separate
from clwl_spark.errors import first_names

Lines = Collection[Line]


def shared_words(one: Lines, other: Lines) -> str:
    """What two puts share on each queue manager, and the remedy; blank = nothing.

    Args:
        one: what messages of one put can take.
        other: of the other put.
    """
    qmgrs = sorted({x.qmgr for x in one} & {x.qmgr for x in other})
    told = (_on_qmgr(name, _of(name, one), _of(name, other)) for name in qmgrs)
    return "; ".join(filter(None, told))


def apart_words(fact: Separate, one: Lines, other: Lines) -> str:
    """Where messages of two puts go that share nothing."""
    parts = (
        f"{put.object_name} on {first_names(sorted({x.xmitq for x in lines})) or 'none'}"
        for put, lines in ((fact.request, one), (fact.other, other))
    )
    return f"they share no channel and no transmission queue ({', '.join(parts)})"


def _of(qmgr: str, lines: Lines) -> Lines:
    return [x for x in lines if x.qmgr == qmgr]


def _on_qmgr(qmgr: str, one: Lines, other: Lines) -> str:
    """What is shared on one queue manager; a shared channel has a transmission queue, too."""
    xmitqs = {x.xmitq for x in one} & {x.xmitq for x in other}
    if not xmitqs:
        return ""
    channels = _channels(one) & _channels(other)
    names = f"transmission queue {first_names(sorted(xmitqs))}"
    if channels:
        words = [f"channel {name} to {dest}" for name, dest in sorted(channels)]
        remedy = _own_cluster(qmgr, channels)
        return f"on {qmgr} they share {first_names(words)} and {names}: {remedy}"
    shared = ([x for x in lines if x.xmitq in xmitqs] for lines in (one, other))
    return f"on {qmgr} they share {names}: {_own_queue(qmgr, *shared)}"


def _channels(lines: Lines) -> set[tuple[str, str]]:
    return {(x.channel, x.dest_qmgr) for x in lines if x.channel is not None}


def _own_cluster(qmgr: str, channels: Collection[tuple[str, str]]) -> str:
    """How queues come to have different channels."""
    hosts = first_names(sorted({dest for _, dest in channels}))
    return (
        f"give one a cluster of its own, with a CLUSRCVR of its own on {hosts}, and on {qmgr} a "
        "transmission queue whose CLCHNAME fits that channel"
    )


def _own_queue(qmgr: str, one: Lines, other: Lines) -> str:
    """How different channels come to have different transmission queues."""
    lasting = {x.xmitq for x in one if x.is_lasting} & {x.xmitq for x in other if x.is_lasting}
    if not lasting:
        pending = {x.channel for x in chain(one, other) if x.channel and not x.is_lasting}
        return f"start {first_names(sorted(pending))} anew, as the switch is pending"
    if any(x.channel is None for x in chain(one, other)):
        return f"let a definition on {qmgr} name another XMITQ"
    return f"define on {qmgr} a transmission queue whose CLCHNAME fits the channels of one of them"
