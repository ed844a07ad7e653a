"""What time does to a cluster: owners publish again, subscribers ask again, old news expire.

Source: Hughson's deck, "Considerations for Full Repositories" (30 days), "Cluster Topic Hosts" (27
and 30 days), "Incorrectly deleted queue managers" (90 days); `words.Periods`.
"""

import heapq
from dataclasses import replace
from datetime import datetime

from clwl_spark.studies.repository.delivery import deliver, forget, publish, subscribe
from clwl_spark.studies.repository.state import Cluster, Node, arm
from clwl_spark.studies.repository.words import Key, Record, Want, Why


def let_pass(cluster: Cluster, until: datetime) -> None:
    """Let time pass: owners publish and subscribers subscribe again, what is too old expires."""
    while cluster.timers and cluster.timers[0][0] <= until:
        due, _, qmid, what = heapq.heappop(cluster.timers)
        cluster.now = due
        cluster.armed.discard((qmid, what))
        node = cluster.nodes[qmid]
        if node.ended is None:
            look_at(cluster, node, what)
        deliver(cluster)
    cluster.now = until


def look_at(cluster: Cluster, node: Node, what: Key | Want) -> None:
    """A timer went off: renew or expire what it is for, or look again later."""
    if isinstance(what, Want):
        _renew_subscription(cluster, node, what)
    elif what in node.own:
        _renew_publication(cluster, node, what)
    elif what in node.cache:
        expires = node.cache[what].expires(cluster.periods)
        if expires <= cluster.now:
            forget(node, what, Why.EXPIRED, cluster)
        else:
            arm(cluster, node, what, expires)


def _renew_subscription(cluster: Cluster, node: Node, want: Want) -> None:
    """Subscribe again when it is time; a stopped queue manager does so when it starts."""
    if want not in node.wants or node.full:
        return
    due = node.wants[want] + cluster.periods.resubscribe
    if due > cluster.now:
        arm(cluster, node, want, due)
    elif node.up:
        subscribe(cluster, node, want)


def _renew_publication(cluster: Cluster, node: Node, key: Key) -> None:
    """Publish an unchanged object again when it is time; a stopped one does so when it starts."""
    due = node.own[key].published + cluster.periods.republish
    if due > cluster.now:
        arm(cluster, node, key, due)
    elif node.up:
        say(cluster, node, node.own[key])


def say(cluster: Cluster, node: Node, record: Record) -> None:
    """Publish an own object as of now; a stopped queue manager will when it starts."""
    if not record.deleted:
        said = replace(record, published=cluster.now, incarnation=node.incarnation)
        node.own[record.key] = said
        arm(cluster, node, record.key, cluster.now + cluster.periods.republish)
    else:
        said = replace(record, published=cluster.now)
    publish(cluster, node, said)
