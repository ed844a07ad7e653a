"""What judging asks, and what whoever answers has to give back.

An engine has two methods. `network` lists what there is, for names that are checked and for sweeps
(`any channel down`). `answer` is called once, with every distinct question of every assertion, so
that one Spark job can answer them all.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol

from pydantic import Field

from clwl_spark.checks.assertions.model import Case, Request, Value

Part = Annotated[float, Field(ge=0, le=1 + 1e-9)]
"""A share of the messages of a put, from 0 to 1."""


class KnownChannel(Value):
    """A CLUSRCVR in one of its clusters: a row of `cluster_channels`."""

    channel: str
    qmgr: str
    cluster: str


class Network(Value):
    """What there is in the snapshot.

    Attributes:
        qmgrs: every queue manager, also those that are only at the other end of a transmission
            queue.
        objects: names of local, alias and remote queues, whoever defines them; so queue manager
            aliases too.
        channels: the cluster channels.
    """

    qmgrs: frozenset[str]
    objects: frozenset[str]
    channels: frozenset[KnownChannel]

    @property
    def clusters(self) -> frozenset[str]:
        """Clusters that have a channel."""
        return frozenset(x.cluster for x in self.channels)

    def clusters_of(self, qmgr: str) -> frozenset[str]:
        """Clusters that a queue manager is in: it has a CLUSRCVR there."""
        return frozenset(x.cluster for x in self.channels if x.qmgr == qmgr)


class Question(Value):
    """One put in one case.

    Attributes:
        case: what is down, all at once. A queue manager that is down has no running channel, to it
            or from it; of a channel `to` is always given, and `on` None means its CLUSSDRs on all
            queue managers; a cluster that is down has no running channel.
        request: the put.
        is_whole_way: `Answer.way` is needed too.
        is_lines: `Answer.lines` are needed too.
    """

    case: Case
    request: Request
    is_whole_way: bool = False
    is_lines: bool = False


class Route(Value):
    """A route that the sender chooses among; as in `clwl explain`, shares in the long run.

    Attributes:
        dest_qmgr: queue manager it leads to.
        channel: None = local, or a transmission queue named by definition.
        cluster: of the channel; None where there is none.
        share: of the sender's messages, 0 to 1; all routes of a put sum to 1.
    """

    dest_qmgr: str
    channel: str | None = None
    cluster: str | None = None
    share: Part


class End(Value):
    """Where messages end.

    Attributes:
        qmgr: the queue manager.
        share: of the sender's messages, 0 to 1.
        missed: blank = they come to a queue or to subscriptions; else what becomes of them, like
            `2085 MQRC_UNKNOWN_OBJECT_NAME`.
    """

    qmgr: str
    share: Part
    missed: str = ""


class Way(Value):
    """The whole way of a put over all queue managers; as in `clwl trace`.

    Attributes:
        ends: shares sum to 1, or to less where messages go round for ever.
        hops: most steps from one queue manager to another; 0 = it stays where it is put. Not
            looked at where there is a loop.
        clusters: clusters of all channels on the way.
        qmgrs: queue managers that messages come to, the sender only if they come back to it or
            stay there.
        loop: queue managers of one round of a loop on the way; empty = none.
    """

    ends: tuple[End, ...] = ()
    hops: Annotated[int, Field(ge=0)] = 0
    clusters: frozenset[str] = frozenset()
    qmgrs: frozenset[str] = frozenset()
    loop: tuple[str, ...] = ()


class Line(Value):
    """A transmission queue and a channel that messages can take, in some state of the channels.

    Attributes:
        qmgr: whose transmission queue it is.
        xmitq: the transmission queue, as it is now or as the channel's next start makes it.
        channel: of the queue manager; None where a definition names the transmission queue.
        dest_qmgr: queue manager at its end.
        is_lasting: the channel has the transmission queue after its next start, too.
    """

    qmgr: str
    xmitq: str
    channel: str | None = None
    dest_qmgr: str
    is_lasting: bool = True


class Answer(Value):
    """What becomes of a put.

    Attributes:
        routes: one per destination queue manager and channel; none where `reason` is not 0.
        reason: 0, or the MQRC that the put ends with.
        way: where it was asked for and `reason` is 0.
        lines: as `way`; of all queue managers that messages can come to.
        error: why there is no answer; blank = there is one.
    """

    routes: tuple[Route, ...] = ()
    reason: int = 0
    way: Way | None = None
    lines: frozenset[Line] | None = None
    error: str = ""


class Answers(Protocol):
    """Who answers."""

    def network(self) -> Network:
        """What there is."""
        ...

    def answer(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        """Answer each question.

        Args:
            questions: distinct, no two with the same case and request.
        """
        ...
