"""What messages of two puts share, in words, and what would keep them apart."""

from collections import defaultdict
from collections.abc import Collection

from clwl_spark.checks.assertions.answers import Line
from clwl_spark.checks.assertions.model import Separate
from clwl_spark.errors import first_names


def shared_words(one: Collection[Line], other: Collection[Line]) -> str:
    """What two puts share on each queue manager, and the remedy; blank = nothing.

    Args:
        one: what messages of one put can take.
        other: of the other put.
    """
    xmitqs: dict[str, set[str]] = defaultdict(set)
    channels: dict[str, set[tuple[str, str]]] = defaultdict(set)
    on_both = {(x.qmgr, x.xmitq) for x in one} & {(x.qmgr, x.xmitq) for x in other}
    for qmgr, xmitq in on_both:
        xmitqs[qmgr].add(xmitq)
    for qmgr, channel, dest in _channels(one) & _channels(other):
        channels[qmgr].add((channel, dest))
    by_definition = {x.qmgr for x in one if x.channel is None and (x.qmgr, x.xmitq) in on_both}
    said = [
        f"on {qmgr} they share {_shared(channels[qmgr], names)}: "
        f"{_remedy(qmgr, channels[qmgr], is_defined=qmgr in by_definition)}"
        for qmgr, names in sorted(xmitqs.items())
    ]
    return "; ".join(said)


def apart_words(fact: Separate, one: Collection[Line], other: Collection[Line]) -> str:
    """Where messages of two puts go that share nothing."""
    parts = (
        f"{put.object_name} on {first_names(sorted({x.xmitq for x in lines})) or 'none'}"
        for put, lines in ((fact.request, one), (fact.other, other))
    )
    return f"they share no channel and no transmission queue ({', '.join(parts)})"


def _channels(lines: Collection[Line]) -> set[tuple[str, str, str]]:
    return {(x.qmgr, x.channel, x.dest_qmgr) for x in lines if x.channel is not None}


def _shared(channels: set[tuple[str, str]], xmitqs: set[str]) -> str:
    """The channels, and the transmission queues."""
    words = [f"channel {name} to {dest}" for name, dest in sorted(channels)]
    names = f"transmission queue {first_names(sorted(xmitqs))}"
    return f"{first_names(words)} and {names}" if words else names


def _remedy(qmgr: str, channels: set[tuple[str, str]], *, is_defined: bool) -> str:
    """What to do on a queue manager, and at the ends of its channels."""
    own_queue = f"on {qmgr} a transmission queue with the CLCHNAME of"
    if channels:
        hosts = first_names(sorted({dest for _, dest in channels}))
        return (
            f"give one a cluster of its own, with a CLUSRCVR of its own on {hosts}, and "
            f"{own_queue} that channel"
        )
    if is_defined:
        return f"let a definition on {qmgr} name another XMITQ"
    return f"define {own_queue} the channels of one of them"
