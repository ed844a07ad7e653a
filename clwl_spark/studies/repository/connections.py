"""Whether channels run between two queue managers, and what waits for them. No Spark.

Source: Hughson's deck. A choice where it is silent: two queue managers that both have a new
CONNAME and were not connected meanwhile know only each other's old one; REFRESH CLUSTER on either,
whose manual CLUSSDR has the new one, connects them.
"""

from collections import deque

from clwl_spark.studies.repository.definitions import CONNAME
from clwl_spark.studies.repository.events import Event
from clwl_spark.studies.repository.state import Cluster, Node, RepositoryError
from clwl_spark.studies.repository.words import Key, Kind


def disconnect(cluster: Cluster, event: Event) -> None:
    """No channel runs between the two."""
    one, other = _pair(cluster, event)
    cluster.cut.add(frozenset((one.qmid, other.qmid)))


def connect(cluster: Cluster, event: Event) -> None:
    """The channels between the two run again, and what waited for them goes."""
    one, other = _pair(cluster, event)
    pair = frozenset((one.qmid, other.qmid))
    if pair not in cluster.cut:
        raise RepositoryError(f"connect of {one.name} and {other.name}: they are connected")
    cluster.cut.remove(pair)
    if all(_has_old_conname(x, y) for x, y in ((one, other), (other, one))):
        cluster.strangers.add(pair)
    _release_held(cluster)


def find_strangers(cluster: Cluster, node: Node) -> None:
    """REFRESH CLUSTER finds those again by the manual CLUSSDRs, which have the new CONNAMEs."""
    cluster.strangers = {pair for pair in cluster.strangers if node.qmid not in pair}
    _release_held(cluster)


def purge(cluster: Cluster, event: Event) -> None:
    """What waits for it is removed: on its command queue, and on others' transmission queues."""
    node = cluster.node(str(event.qmgr))
    lost = len(node.inbox) + sum(x.to == node.qmid for x in cluster.held)
    if not lost:
        raise RepositoryError(
            f"purge of {node.name}: no message between repositories waits for it; stop or "
            "disconnect it first"
        )
    node.inbox.clear()
    cluster.held = deque(x for x in cluster.held if x.to != node.qmid)


def _pair(cluster: Cluster, event: Event) -> tuple[Node, Node]:
    """The two queue managers of the event."""
    one, other = cluster.node(str(event.qmgr)), cluster.node(str(event.of))
    if one is other:
        raise RepositoryError(f"{event.do.value} of {one.name}: name another queue manager")
    return one, other


def _has_old_conname(node: Node, other: Node) -> bool:
    """Whether what a queue manager knows of another one has not its present CONNAME."""
    key = Key(Kind.QMGR, other.name, other.qmid)
    known, own = node.cache.get(key), other.own[key]
    return known is not None and known.attributes.get(CONNAME) != own.attributes.get(CONNAME)


def _release_held(cluster: Cluster) -> None:
    """What waited for a channel is on its way; what still has none waits again."""
    cluster.wire.extend(cluster.held)
    cluster.held.clear()
