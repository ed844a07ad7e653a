"""Answers for assertions: shares by the sweep, whole ways by `ways`, of all questions at once."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from clwl_spark.checks.assertions.answers import (
    Answer,
    End,
    KnownChannel,
    Line,
    Question,
    Route,
    Way,
)
from clwl_spark.checks.assertions.answers import Network as Names
from clwl_spark.checks.assertions.model import ChannelStopped, Hit, QmgrDown, Request
from clwl_spark.mq.vocabulary import ObjectType, Via
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import Topology
from clwl_spark.studies.separation.apart import Leg, legs_of
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.sweep.outages import Case, Channels, Outage, Part, channels_of
from clwl_spark.studies.trace.places import Network, Place
from clwl_spark.studies.what_if.ways import AS_IT_IS, CaseWay, Step, Ways
from clwl_spark.tables import columns as c


class SnapshotAnswers:
    """Answers questions of assertions about one snapshot."""

    def __init__(self, network: Network, ladder: Ladder) -> None:
        """Answer about a snapshot, by these rules."""
        self._network = network
        self._ladder = ladder
        self._channels: Channels = channels_of(network.topology)

    def network(self) -> Names:
        """What there is."""
        topology: Topology = self._network.topology
        objects = topology.queues.select(c.QUEUE).distinct().collect()
        qmgrs = {qmgr for qmgr, _, _ in self._channels.rows} | self._network.defined
        return Names(
            qmgrs=frozenset(qmgrs),
            objects=frozenset(str(row[0]) for row in objects),
            channels=frozenset(
                KnownChannel(channel=channel, qmgr=qmgr, cluster=cluster)
                for qmgr, channel, cluster in self._channels.rows
                if cluster
            ),
        )

    def answer(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        """Answer each question; puts are planned together, in all cases."""
        cases = list(dict.fromkeys(_case(x) for x in questions if x.case))
        number = {case: at for at, case in enumerate(cases)} | {(): AS_IT_IS}
        ways = Ways(self._network, cases, self._ladder)
        at = {x: (number[_case(x)], _place(x.request)) for x in questions}
        ways.plan(place for _, place in at.values())
        whole = ways.ways(list(dict.fromkeys(at[x] for x in questions if x.is_whole_way)))
        apart = [x for x in questions if x.is_lines]
        legs = legs_of([at[x][1] for x in apart], self._network, self._ladder)
        return {
            x: _answer(
                ways.step(at[x]),
                whole.get(at[x]) if x.is_whole_way else None,
                legs[at[x][1]] if x.is_lines else None,
            )
            for x in questions
        }


def _case(question: Question) -> Case:
    return tuple(sorted(_outage(hit) for hit in question.case))


def _outage(hit: Hit) -> Outage:
    """What is down, as the sweep has it."""
    if isinstance(hit, QmgrDown):
        return Outage(Part.QMGR, hit.qmgr)
    if isinstance(hit, ChannelStopped):
        return Outage(Part.CHANNEL, hit.channel, hit.to or "", hit.on or "")
    return Outage(Part.CLUSTER, hit.cluster)


def _place(request: Request) -> Place:
    of_type = ObjectType.TOPIC if request.is_topic else ObjectType.QUEUE
    return Place(
        request.sender, request.object_name, request.object_qmgr, Via.LOCAL.value, of_type.value
    )


def _answer(step: Step, way: CaseWay | None, legs: Iterable[Leg] | None) -> Answer:
    """The sender's own choice, and the whole way, and what can be taken, where it is asked for."""
    reason = int(step.hop.plan[c.REASON])
    if reason:
        return Answer(reason=reason)
    routes = [
        Route(
            dest_qmgr=row[c.DEST_QMGR] or "",
            channel=None if row[c.IS_LOCAL] else row[c.CHANNEL],
            cluster=None if row[c.IS_LOCAL] else row[c.CLUSTER],
            share=row[SHARE],
        )
        for row in step.routes
        if row[c.REASON] == 0 and row[SHARE] > 0
    ]
    return Answer(
        routes=tuple(routes),
        way=None if way is None else _way(way),
        lines=None if legs is None else frozenset(Line(**x._asdict()) for x in legs),
    )


def _way(way: CaseWay) -> Way:
    """The whole way in the words of assertions."""
    taken = [row for step in way.steps for row in step.routes if row[SHARE] > 0]
    come_to = chain(
        (to.qmgr for step in way.steps for to, _ in step.hop.onward),
        (ending.qmgr for step in way.steps for ending, _ in step.hop.endings),
    )
    loops = [loop for loop in way.chances.loops if loop.share > 0]
    loop = tuple(way.steps[at].hop.place.qmgr for at in loops[0].places) if loops else ()
    ends = tuple(End(qmgr=x, share=min(share, 1.0), missed=why) for x, share, why in way.ends())
    return Way(
        ends=ends,
        hops=_steps(way),
        clusters=frozenset(
            row[c.CLUSTER] for row in taken if row[c.CLUSTER] and not row[c.IS_LOCAL]
        ),
        qmgrs=frozenset(come_to),
        loop=loop,
    )


def _steps(way: CaseWay) -> int:
    """Most steps from one queue manager to another; a place that is come back to ends the count."""
    step_at = {step.hop.place: step for step in way.steps}
    known: dict[Place, int] = {}

    def longest(place: Place, before: frozenset[Place]) -> int:
        if place in before or place not in step_at:
            return 0
        if place not in known:
            hop = step_at[place].hop
            ends = (int(ending.qmgr != place.qmgr) for ending, _ in hop.endings)
            onward = (1 + longest(to, before | {place}) for to, _ in hop.onward)
            known[place] = max((0, *ends, *onward))
        return known[place]

    return longest(way.steps[0].hop.place, frozenset())
