"""A cluster by hand: who answers is a function of a few lines, and remembers what it was asked.

APP1 puts to ORDERS, which QM1, QM2 and QM3 host, all in cluster K; GATE is in K and in PUBLIC,
where GUEST is too; AUDIT is on QM1 alone.
"""

from clwl_spark.checks.assertions.answers import Answer, End, KnownChannel, Network, Route, Way
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.model import Assertion, ChannelStopped, ClusterDown, QmgrDown
from clwl_spark.checks.assertions.parse import parse

MEMBERS = {"K": ("APP1", "QM1", "QM2", "QM3", "GATE"), "PUBLIC": ("GATE", "GUEST")}
HOSTS = {"ORDERS": ("QM1", "QM2", "QM3"), "AUDIT": ("QM1",)}

NETWORK = Network(
    qmgrs=frozenset(x for members in MEMBERS.values() for x in members),
    objects=frozenset((*HOSTS, "AWAY")),
    channels=frozenset(
        KnownChannel(channel=f"TO.{qmgr}", qmgr=qmgr, cluster=cluster)
        for cluster, members in MEMBERS.items()
        for qmgr in members
    ),
)


class HandMade:
    """Equal shares among the hosts that are left; or what `fixed` says, whatever the case."""

    def __init__(self, fixed=None, network=NETWORK):
        self.fixed = fixed
        self.listed = network
        self.calls = []

    def network(self):
        return self.listed

    def answer(self, questions):
        self.calls.append(list(questions))
        return {x: self.fixed or answered(x) for x in questions}

    @property
    def asked(self):
        return [x for call in self.calls for x in call]


def answered(question):
    """The answer to a question about one of `HOSTS`."""
    hosts = HOSTS.get(question.request.object_name, ())
    left = [x for x in hosts if not any(hits(x, hit) for hit in question.case)]
    if not left:
        return Answer(reason=2270 if hosts else 2085)
    routes = [Route(dest_qmgr=x, channel=f"TO.{x}", cluster="K", share=1 / len(left)) for x in left]
    way = Way(
        ends=tuple(End(qmgr=x, share=1 / len(left)) for x in left),
        hops=1,
        clusters=frozenset({"K"}),
        qmgrs=frozenset(left),
    )
    return Answer(routes=tuple(routes), way=way if question.is_whole_way else None)


def hits(qmgr, hit):
    """Whether nothing gets to a queue manager any more."""
    match hit:
        case QmgrDown():
            return hit.qmgr == qmgr
        case ChannelStopped():
            return hit.to == qmgr
        case ClusterDown():
            return qmgr in MEMBERS[hit.cluster]


def assertions(*facts):
    """An assertion per fact, in a file by hand."""
    return [
        Assertion(name=x, statement=parse(x), file="ci/facts.yml", line=at)
        for at, x in enumerate(facts, 2)
    ]


def only(fact, engine=None):
    """The one result of a fact."""
    (result,) = judge(assertions(fact), engine or HandMade()).results
    return result
