"""Every transmission queue and channel that messages of a few puts can come to, on the whole way.

Followed are all ways that the configuration allows, as `ways` has them, over gateways too.

Source: SEMANTICS 7, P16 (IBM's page on transmission queues); ways over several queue managers are
those of `studies.trace.places`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clwl_spark.algorithm.ladder import CONFIGURED
from clwl_spark.algorithm.request import Request
from clwl_spark.algorithm.transmit import TransmissionQueues, after_next_start, now
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.planning.facts import senders, transmission_queues
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import VIEWER
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.planned import EXPECTED_SHARE, Planned, planned
from clwl_spark.studies.trace.places import MOST_HOPS, Network, Place, hop_of
from clwl_spark.tables import columns as c

Row = dict[str, Any]


class Leg(NamedTuple):
    """A transmission queue of a queue manager, and the channel that takes messages from it.

    Attributes:
        qmgr: whose transmission queue it is.
        xmitq: the transmission queue, now or after the channel's next start.
        channel: None where a definition names the transmission queue.
        dest_qmgr: queue manager at the other end.
        is_lasting: the channel has the transmission queue after its next start, too.
    """

    qmgr: str
    xmitq: str
    channel: str | None
    dest_qmgr: str
    is_lasting: bool = True


@dataclass(frozen=True, slots=True)
class _Stop:
    """A put on the way: what its messages can take there, and the puts that they can come to."""

    legs: frozenset[Leg]
    onward: Sequence[Place]


def legs_of(
    starts: Sequence[Place], network: Network, ladder: Ladder
) -> dict[Place, frozenset[Leg]]:
    """What messages of puts can take, on all queue managers that they can come to.

    Args:
        starts: the puts.
        network: the snapshot.
        ladder: the rules; the exit is not asked.
    """
    known: dict[Place, _Stop] = {}
    frontier: Iterable[Place] = starts
    for _ in range(MOST_HOPS):
        new = [x for x in dict.fromkeys(frontier) if x not in known]
        if not new:
            break
        known |= _stops(new, network, replace(ladder, is_onward=True, exit_function=None))
        frontier = [to for x in new for to in known[x].onward]
    return {
        x: frozenset(leg for at in _reached(x, known) for leg in known[at].legs) for x in starts
    }


def _reached(start: Place, known: Mapping[Place, _Stop]) -> Iterator[Place]:
    """The places that can be come to, each once."""
    been, waiting = {start}, [start]
    while waiting:
        at = waiting.pop()
        yield at
        onward = [x for x in known[at].onward if x in known and x not in been]
        been.update(onward)
        waiting += onward


def _stops(places: Sequence[Place], network: Network, ladder: Ladder) -> dict[Place, _Stop]:
    """Plan the puts of several places in one pass."""
    asked = {
        x: Request(network.snapshot_id, x.qmgr, x.object_type, x.object_name, x.object_qmgr, x.via)
        for x in places
    }
    found = planned(asked.values(), network.topology, ladder)
    queues = _transmission_queues({x.qmgr for x in places}, network)
    return {x: _stop(x, found[request], queues[x.qmgr], network) for x, request in asked.items()}


def _transmission_queues(qmgrs: Iterable[str], network: Network) -> dict[str, TransmissionQueues]:
    """What queue managers choose transmission queues from, by name."""
    rows = [(network.snapshot_id, x) for x in sorted(qmgrs)]
    spark = network.topology.queues.sparkSession
    of = frame_from_rows(spark, rows, f"{c.SNAPSHOT_ID} string, {VIEWER} string")
    found = senders(of, network.topology).collect()
    return {row[VIEWER]: transmission_queues(row.asDict(recursive=True)) for row in found}


def _stop(place: Place, found: Planned, queues: TransmissionQueues, network: Network) -> _Stop:
    plan = found.plan
    if plan[c.REASON] == 0 and plan[c.KIND] == PlanKind.XMITQ:
        to = network.other_end(place.qmgr, plan[c.XMITQ], plan[c.RESOLVED_QMGR])
        leg = Leg(place.qmgr, plan[c.XMITQ], None, to or plan[c.RESOLVED_QMGR])
        return _Stop(frozenset([leg]), [x for x, _ in hop_of(place, plan, [], network).onward])
    rows = [x for x in found.candidates if x[c.ELIMINATED_BY] not in CONFIGURED]
    routes = [_as_route(row, len(rows)) for row in rows]
    onward = [to for to, _ in hop_of(place, plan, routes, network).onward]
    remote = [row for row in rows if not row[c.IS_LOCAL]]
    return _Stop(frozenset(leg for row in remote for leg in _legs(place, row, queues)), onward)


def _as_route(row: Row, count: int) -> Row:
    """A candidate as `studies.trace.places` takes routes; each is as likely as the others."""
    return {**row, c.XMITQ: None, EXPECTED_SHARE: 1 / count}


def _legs(place: Place, row: Row, queues: TransmissionQueues) -> Iterator[Leg]:
    """The transmission queues of a candidate's channel, now and after its next start."""
    channel, to = row[c.CHANNEL], row[c.DEST_QMGR]
    then = after_next_start(channel, queues)
    for xmitq in (now(channel, to, queues), then):
        yield Leg(place.qmgr, xmitq, channel, to, is_lasting=xmitq == then)
