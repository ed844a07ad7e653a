"""How queue managers come, stop, change their part in a cluster, and go. No Spark.

Source: Hughson's deck. Choices where it is silent:
- RESET CLUSTER removes what the owner has published so far; only its REFRESH CLUSTER (or joining
  anew) brings it back, which is why the seed names a mistaken RESET as a reason for REFRESH.
- A queue manager that goes back to a backup goes on with the versions of that time, so its news
  are older than what others hold, until REFRESH CLUSTER.
- REFRESH CLUSTER on a full repository asks another running one for everything; alone it starts
  empty, and hears of the others again as they publish.
"""

from copy import deepcopy

from clwl_spark.studies.repository.connections import find_strangers
from clwl_spark.studies.repository.definitions import delete_key, running, write
from clwl_spark.studies.repository.delivery import deliver, forget, remove_owner, subscribe
from clwl_spark.studies.repository.events import Do, Event
from clwl_spark.studies.repository.renewal import look_at, say
from clwl_spark.studies.repository.state import Cluster, Node, RepositoryError, send
from clwl_spark.studies.repository.words import Key, Kind, Sent, Why


def join(cluster: Cluster, event: Event) -> None:
    """A queue manager joins: its CLUSRCVR is published, and it hears of the full repositories."""
    name = str(event.qmgr)
    if any(node.name == name for node in cluster.alive()):
        raise RepositoryError(f"join of {name}: it is in cluster {cluster.name} already")
    if not event.full and not cluster.full_repositories():
        raise RepositoryError(
            f"join of {name}: cluster {cluster.name} has no full repository; "
            "let one join first, with full = true"
        )
    made = sum(node.name == name for node in cluster.nodes.values())
    qmid = event.qmid or f"{name}_{cluster.now:%Y-%m-%d_%H.%M.%S}" + (f".{made}" if made else "")
    if qmid in cluster.nodes:
        raise RepositoryError(f"join of {name}: QMID {qmid} was there before; give another one")
    node = Node(name, qmid, event.full, event.prefers)
    cluster.nodes[qmid] = node
    if node.full:
        _fetch_all(cluster, node)
    words = {"suspended": False, **event.attributes, "qmtype": _qmtype(node)}
    write(cluster, node, Key(Kind.QMGR, name, qmid), words)


def leave(cluster: Cluster, event: Event) -> None:
    """It leaves in good order: every object of its is deleted, itself last."""
    node = running(cluster, event)
    for key in sorted(node.own, reverse=True):
        delete_key(cluster, node, key)
    deliver(cluster)
    node.ended = cluster.now


def lose(cluster: Cluster, event: Event) -> None:
    """It is deleted without leaving; nobody is told."""
    cluster.node(str(event.qmgr)).ended = cluster.now


def recreate(cluster: Cluster, event: Event) -> None:
    """It is made anew under the same name: another QMID, so another queue manager."""
    if any(node.name == event.qmgr for node in cluster.alive()):
        lose(cluster, event)
    join(cluster, event)


def stop(cluster: Cluster, event: Event) -> None:
    """It ends; what is sent to it waits."""
    running(cluster, event).up = False


def start(cluster: Cluster, event: Event) -> None:
    """It runs again: what waited for it arrives, and what is due is renewed."""
    node = cluster.node(str(event.qmgr))
    if node.up:
        raise RepositoryError(f"start of {node.name}: it runs already")
    node.up = True
    cluster.wire.extend(node.inbox)
    node.inbox.clear()
    deliver(cluster)
    if node.remake:
        _turn_elsewhere(cluster, node)
    for key in list(node.own):
        look_at(cluster, node, key)
    for want in list(node.wants):
        look_at(cluster, node, want)


def suspend(cluster: Cluster, event: Event) -> None:
    """SUSPEND or RESUME QMGR: its own record says so from now on."""
    node = running(cluster, event)
    own = node.own[Key(Kind.QMGR, node.name, node.qmid)]
    write(cluster, node, own.key, {**own.attributes, "suspended": event.do is Do.SUSPEND})


def change_role(cluster: Cluster, event: Event) -> None:
    """ALTER QMGR REPOS: a full repository from now on, or a partial one."""
    node = running(cluster, event)
    full = event.do is Do.PROMOTE
    if node.full == full:
        raise RepositoryError(f"{event.do.value} of {node.name}: it is that already")
    if not full and not cluster.full_repositories(but=node):
        raise RepositoryError(
            f"demote of {node.name}: it is the last full repository of {cluster.name}; "
            "promote another one first"
        )
    own = node.own[Key(Kind.QMGR, node.name, node.qmid)]
    node.full = full
    if full:
        node.wants.clear()
        _fetch_all(cluster, node)
    write(cluster, node, own.key, {**own.attributes, "qmtype": _qmtype(node)})
    if not full:
        _release(cluster, node)


def refresh(cluster: Cluster, event: Event) -> None:
    """REFRESH CLUSTER: forget what others own, tell of the own objects anew.

    Source: Hughson's deck, "Refreshing repository information".
    """
    node = running(cluster, event)
    for key in list(node.cache):
        forget(node, key, Why.REFRESHED, cluster)
    if not node.full:
        # It no longer asks for what it lacked before, whatever that was for.
        node.forgotten = dict.fromkeys(node.forgotten, (Why.REFRESHED, cluster.now))
    node.wants.clear()
    node.subscribers.clear()
    node.members.clear()
    node.removed.clear()
    node.deleted.clear()
    node.incarnation += 1
    find_strangers(cluster, node)
    if node.full:
        _fetch_all(cluster, node)
    for key in sorted(node.own):
        say(cluster, node, node.own[key])


def reset(cluster: Cluster, event: Event) -> None:
    """RESET CLUSTER ACTION(FORCEREMOVE) QMID on a full repository, which tells everybody.

    Source: Hughson's deck, "Incorrectly deleted queue managers".
    """
    node = running(cluster, event)
    if not node.full:
        raise RepositoryError(
            f"reset on {node.name}: it is no full repository of {cluster.name}; "
            "run it on " + " or ".join(full.name for full in cluster.full_repositories())
        )
    qmid = str(event.qmid)
    owner = cluster.nodes.get(qmid)
    if owner is None or owner is node:
        others = ", ".join(sorted(x for x in cluster.nodes if x != node.qmid))
        raise RepositoryError(f"reset of QMID {qmid}: give another queue manager's ({others})")
    body = (qmid, owner.incarnation)
    remove_owner(cluster, node, *body)
    for other in cluster.alive():
        if other is not node and other is not owner:
            send(cluster, Sent.REMOVAL, (node, other), body)


def backup(cluster: Cluster, event: Event) -> None:
    """What it is now can be restored later."""
    node = running(cluster, event)
    cluster.backups[node.qmid] = deepcopy(node)


def restore(cluster: Cluster, event: Event) -> None:
    """It goes back to its last backup, and runs; its REFRESH CLUSTERs stay counted.

    Source: Hughson's deck, "Refreshing repository information".
    """
    now = cluster.node(str(event.qmgr))
    backup = cluster.backups.get(now.qmid)
    if backup is None:
        raise RepositoryError(f"restore of {now.name}: it has no backup; let one be made first")
    node = deepcopy(backup)
    node.incarnation, node.inbox, node.restored = now.incarnation, now.inbox, cluster.now
    node.up = False
    cluster.nodes[node.qmid] = node
    start(cluster, event)
    for key in list(node.cache):
        look_at(cluster, node, key)


def _release(cluster: Cluster, node: Node) -> None:
    """Those who turned to what was a full repository turn to others."""
    turned = {*node.members, *(x for wanted in node.subscribers.values() for x in wanted)}
    node.members.clear()
    node.subscribers.clear()
    deliver(cluster)
    for qmid in sorted(turned):
        other = cluster.nodes[qmid]
        other.remake = not other.up
        if other.up and other.ended is None:
            _turn_elsewhere(cluster, other)


def _turn_elsewhere(cluster: Cluster, node: Node) -> None:
    """Publish everything and subscribe to everything again, with whom it turns to now."""
    node.remake = False
    for record in list(node.own.values()):
        say(cluster, node, record)
    for want in list(node.wants):
        subscribe(cluster, node, want)


def _fetch_all(cluster: Cluster, node: Node) -> None:
    """A full repository that has to learn everything asks the first other one that runs."""
    others = [full for full in cluster.full_repositories(but=node) if full.up]
    for record in [] if not others else list(others[0].all_known()):
        send(cluster, Sent.BETWEEN_FULL, (others[0], node), record)
    deliver(cluster)


def _qmtype(node: Node) -> str:
    return "REPOS" if node.full else "NORMAL"
