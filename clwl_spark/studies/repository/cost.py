"""What a REFRESH CLUSTER costs, in messages between repositories.

Derivation, for a REFRESH on a partial repository X of a cluster with N queue managers, F of them
full repositories, each object record or subscription one message (Hughson's deck, "WMQ Cluster
Architecture" 1 to 11, "First MQOPEN of a Queue", "Considerations for Full Repositories"):

    T = min(2, F)                       X publishes to and subscribes with so many full ones
    own = 1 + O                         X's CLUSRCVR and its O cluster queues
    publications = own * T
    between      = own * (F - 1)        the first of the two passes each on to the other ones
    notices      = T * (S + O * s)      S partial repositories know X, s each of its queues
    welcome      = T * F                each of the two tells X of the full repositories
    subscriptions = T * (q + d)         X's programs open q queues again, on d partial repositories
    answers      = T * (i + d)          with i instances in all: queues, then their queue managers

With at least one cluster topic, every queue manager has to know every other one and all P topics:
S = N - F - 1, each of the two also tells X of the N - F - 1 partial repositories and P topics, and
d = 0 since nobody has to be asked for. So the cost of one REFRESH grows with the users of X in a
cluster of queues, and with N in a publish/subscribe cluster; that of one on every partial
repository with N times as much.
"""

from dataclasses import dataclass
from typing import Any

from clwl_spark.errors import UsageError
from clwl_spark.studies.repository.words import SUBSCRIBED_AT


@dataclass(frozen=True, slots=True)
class RefreshCase:
    """The cluster and the partial repository where REFRESH CLUSTER is issued.

    Attributes:
        qmgrs: N, queue managers of the cluster.
        full: F, full repositories among them.
        own_queues: O, cluster queues that it hosts.
        users: S, partial repositories that know it, in a cluster without topics.
        users_of_each: s, partial repositories that know each of its queues.
        opened: q, cluster queues that its programs open again.
        instances: i, instances of these on other queue managers, over all of the queues.
        hosts: d, partial repositories among those that host them.
        topics: P, topics of the cluster; 0 = it is no publish/subscribe cluster.
    """

    qmgrs: int
    full: int = 2
    own_queues: int = 0
    users: int = 0
    users_of_each: int = 0
    opened: int = 0
    instances: int = 0
    hosts: int = 0
    topics: int = 0


@dataclass(frozen=True, slots=True)
class RefreshCost:
    """Messages of one REFRESH CLUSTER, by what they are for."""

    publications: int
    between_full: int
    notices: int
    welcome: int
    subscriptions: int
    answers: int

    @property
    def at_once(self) -> int:
        """Messages that the command itself brings about."""
        return self.publications + self.between_full + self.notices + self.welcome

    @property
    def total(self) -> int:
        """These, and those of the opens that build the knowledge up again."""
        return self.at_once + self.subscriptions + self.answers

    def to_json(self) -> dict[str, Any]:
        """Every part, and both sums."""
        parts = {name: getattr(self, name) for name in RefreshCost.__slots__}
        return parts | {"at_once": self.at_once, "total": self.total}


def refresh_cost(case: RefreshCase) -> RefreshCost:
    """The messages of one REFRESH CLUSTER on a partial repository, as derived above.

    Raises:
        UsageError: the cluster has no full repository, or no partial one.
    """
    if not 1 <= case.full < case.qmgrs:
        raise UsageError(
            f"a REFRESH in a cluster of {case.qmgrs} queue managers, {case.full} of them full "
            "repositories: give at least one full and one partial one"
        )
    turned_to = min(SUBSCRIBED_AT, case.full)
    own = 1 + case.own_queues
    other_partials = case.qmgrs - case.full - 1
    pushed = case.topics > 0
    users = other_partials if pushed else case.users
    asked_for = 0 if pushed else case.hosts
    told = case.full + (other_partials + case.topics if pushed else 0)
    return RefreshCost(
        publications=own * turned_to,
        between_full=own * (case.full - 1),
        notices=turned_to * (users + case.own_queues * case.users_of_each),
        welcome=turned_to * told,
        subscriptions=turned_to * (case.opened + asked_for),
        answers=turned_to * (case.instances + asked_for),
    )


def cost_table(sizes: list[int], full: int = 2, queues: int = 10) -> list[dict[str, Any]]:
    """REFRESH in clusters of several sizes, on one partial repository and on all, one by one.

    Each partial repository hosts `queues` queues of its own, and opens as many of others, one
    instance each. In `server` everybody else uses the one that is refreshed, in `client` nobody
    does, and `pubsub` is `client` in a cluster with a topic.

    Args:
        sizes: queue managers, each size one row.
        full: full repositories among them.
        queues: queues of each partial repository.

    Raises:
        UsageError: a size has no partial repository, or queues is negative.
    """
    if queues < 0:
        raise UsageError(f"queues is {queues}: give 0 or more")
    return [_cost_row(size, full, queues) for size in sizes]


def _cost_row(size: int, full: int, queues: int) -> dict[str, Any]:
    """The figures of one size."""
    partials = size - full
    others = max(partials - 1, 0)
    opened = queues if others else 0
    uses = {"opened": opened, "instances": opened, "hosts": min(opened, others)}
    client = RefreshCase(size, full, own_queues=queues, **uses)
    server = RefreshCase(size, full, queues, users=others, users_of_each=others, **uses)
    pubsub = RefreshCase(size, full, queues, topics=1, **uses)
    row: dict[str, Any] = {"qmgrs": size}
    for name, case in (("client", client), ("server", server), ("pubsub", pubsub)):
        total = refresh_cost(case).total
        row |= {name: total, f"{name}_on_all": total * partials}
    return row
