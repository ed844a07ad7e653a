"""What each event does to a cluster. No Spark.

Source: Hughson's deck. Choices where it is silent:
- What is sent arrives at once, unless the receiver is stopped: then it waits, in order.
- RESET CLUSTER removes what the owner has published so far; only its REFRESH CLUSTER (or joining
  anew) brings it back, which is why the seed names a mistaken RESET as a reason for REFRESH.
- A queue manager that goes back to a backup goes on with the versions of that time, so its news
  are older than what others hold, until REFRESH CLUSTER.
- Two queue managers that both have a new CONNAME and were not connected meanwhile know only each
  other's old one; REFRESH CLUSTER on either, whose manual CLUSSDR has the new one, connects them.
- REFRESH CLUSTER on a full repository asks another running one for everything; alone it starts
  empty, and hears of the others again as they publish.
"""

from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from clwl_spark.studies.repository.delivery import (
    deliver,
    forget,
    introduce_all,
    remove_owner,
    subscribe,
)
from clwl_spark.studies.repository.events import Do, Event, Story
from clwl_spark.studies.repository.renewal import let_pass, look_at, say
from clwl_spark.studies.repository.state import Cluster, Node, RepositoryError, send
from clwl_spark.studies.repository.words import Key, Kind, Periods, Record, Sent, Why


def play(story: Story, until: datetime | None = None, periods: Periods | None = None) -> Cluster:
    """The cluster after the events up to a moment, by default up to the last one.

    Raises:
        RepositoryError: an event that cannot happen, or a moment before the first one.
    """
    events = story.in_order()
    end = events[-1][0] if until is None else until
    if end < events[0][0]:
        raise RepositoryError(
            f"{end.isoformat()} is before the first event, {events[0][0].isoformat()}: "
            "give that moment or a later one"
        )
    cluster = Cluster(story.cluster, events[0][0], periods or Periods())
    for at, event in events:
        if at <= end:
            let_pass(cluster, at)
            happen(cluster, event)
    let_pass(cluster, end)
    return cluster


def happen(cluster: Cluster, event: Event) -> None:
    """Let one event happen now.

    Raises:
        RepositoryError: it cannot happen.
    """
    _EVENTS[event.do](cluster, event)
    deliver(cluster)


def _running(cluster: Cluster, event: Event) -> Node:
    """The event's queue manager, which has to run."""
    node = cluster.node(str(event.qmgr))
    if not node.up:
        raise RepositoryError(f"{event.do.value} on {node.name}: it is stopped; start it first")
    return node


def _join(cluster: Cluster, event: Event) -> None:
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
    _write(cluster, node, Key(Kind.QMGR, name, qmid), words)


def _leave(cluster: Cluster, event: Event) -> None:
    """It leaves in good order: every object of its is deleted, itself last."""
    node = _running(cluster, event)
    for key in sorted(node.own, reverse=True):
        _delete_key(cluster, node, key)
    deliver(cluster)
    node.ended = cluster.now


def _lose(cluster: Cluster, event: Event) -> None:
    """It is deleted without leaving; nobody is told."""
    cluster.node(str(event.qmgr)).ended = cluster.now


def _recreate(cluster: Cluster, event: Event) -> None:
    """It is made anew under the same name: another QMID, so another queue manager."""
    if any(node.name == event.qmgr for node in cluster.alive()):
        _lose(cluster, event)
    _join(cluster, event)


def _stop(cluster: Cluster, event: Event) -> None:
    _running(cluster, event).up = False


def _start(cluster: Cluster, event: Event) -> None:
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


def _suspend(cluster: Cluster, event: Event) -> None:
    """SUSPEND or RESUME QMGR: its own record says so from now on."""
    node = _running(cluster, event)
    own = node.own[Key(Kind.QMGR, node.name, node.qmid)]
    _write(cluster, node, own.key, {**own.attributes, "suspended": event.do is Do.SUSPEND})


def _change_role(cluster: Cluster, event: Event) -> None:
    """ALTER QMGR REPOS: a full repository from now on, or a partial one."""
    node = _running(cluster, event)
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
    _write(cluster, node, own.key, {**own.attributes, "qmtype": _qmtype(node)})
    if not full:
        _release(cluster, node)


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


def _refresh(cluster: Cluster, event: Event) -> None:
    """REFRESH CLUSTER: forget what others own, tell of the own objects anew.

    Source: Hughson's deck, "Refreshing repository information".
    """
    node = _running(cluster, event)
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
    _find_strangers(cluster, node)
    if node.full:
        _fetch_all(cluster, node)
    for key in sorted(node.own):
        say(cluster, node, node.own[key])


def _reset(cluster: Cluster, event: Event) -> None:
    """RESET CLUSTER ACTION(FORCEREMOVE) QMID on a full repository, which tells everybody.

    Source: Hughson's deck, "Incorrectly deleted queue managers".
    """
    node = _running(cluster, event)
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


def _define(cluster: Cluster, event: Event) -> None:
    node = _running(cluster, event)
    key = Key(*event.want, node.qmid)
    if key in node.own:
        raise RepositoryError(f"define of {key.name} on {node.name}: it is there; alter it")
    first_topic = key.kind is Kind.TOPIC and not node.knows_topics()
    _write(cluster, node, key, event.attributes)
    if node.full and first_topic:
        introduce_all(cluster, node)


def _alter(cluster: Cluster, event: Event) -> None:
    node = _running(cluster, event)
    key = _own_key(node, event)
    _write(cluster, node, key, {**node.own[key].attributes, **event.attributes})


def _delete(cluster: Cluster, event: Event) -> None:
    node = _running(cluster, event)
    _delete_key(cluster, node, _own_key(node, event))


def _own_key(node: Node, event: Event) -> Key:
    """The own object that the event names."""
    key = Key(*event.want, node.qmid)
    if key not in node.own:
        raise RepositoryError(
            f"{event.do.value} of {key.name}: {node.name} does not define it; define it first"
        )
    return key


def _write(cluster: Cluster, node: Node, key: Key, attributes: dict[str, Any]) -> None:
    """A new version of an own object."""
    version = _next_version(cluster, node, key)
    cluster.changed.setdefault(key, []).append((version, cluster.now))
    say(cluster, node, Record(key, node.name, node.incarnation, version, cluster.now, attributes))


def _delete_key(cluster: Cluster, node: Node, key: Key) -> None:
    """The last version of an own object says that it is no more."""
    version = _next_version(cluster, node, key)
    cluster.changed[key].append((version, cluster.now))
    gone = replace(node.own.pop(key), version=version, deleted=True)
    say(cluster, node, gone)


def _next_version(cluster: Cluster, node: Node, key: Key) -> int:
    """The version after the owner's, which may be behind what others hold after a restore."""
    own = node.own.get(key)
    return (len(cluster.changed.get(key, [])) if own is None else own.version) + 1


def _backup(cluster: Cluster, event: Event) -> None:
    """What it is now can be restored later."""
    node = _running(cluster, event)
    cluster.backups[node.qmid] = deepcopy(node)


def _restore(cluster: Cluster, event: Event) -> None:
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
    _start(cluster, event)
    for key in list(node.cache):
        look_at(cluster, node, key)


def _purge(cluster: Cluster, event: Event) -> None:
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


def _disconnect(cluster: Cluster, event: Event) -> None:
    """No channel runs between the two."""
    one, other = _pair(cluster, event)
    cluster.cut.add(frozenset((one.qmid, other.qmid)))


def _connect(cluster: Cluster, event: Event) -> None:
    """The channels between the two run again, and what waited for them goes."""
    one, other = _pair(cluster, event)
    pair = frozenset((one.qmid, other.qmid))
    if pair not in cluster.cut:
        raise RepositoryError(f"connect of {one.name} and {other.name}: they are connected")
    cluster.cut.remove(pair)
    if all(_has_old_conname(x, y) for x, y in ((one, other), (other, one))):
        cluster.strangers.add(pair)
    _release_held(cluster)


def _has_old_conname(node: Node, other: Node) -> bool:
    """Whether what a queue manager knows of another one has not its present CONNAME."""
    key = Key(Kind.QMGR, other.name, other.qmid)
    known, own = node.cache.get(key), other.own[key]
    return known is not None and known.attributes.get(_CONNAME) != own.attributes.get(_CONNAME)


def _find_strangers(cluster: Cluster, node: Node) -> None:
    """REFRESH CLUSTER finds those again by the manual CLUSSDRs, which have the new CONNAMEs."""
    cluster.strangers = {pair for pair in cluster.strangers if node.qmid not in pair}
    _release_held(cluster)


def _release_held(cluster: Cluster) -> None:
    """What waited for a channel is on its way; what still has none waits again."""
    cluster.wire.extend(cluster.held)
    cluster.held.clear()


def _alter_conname(cluster: Cluster, event: Event) -> None:
    """The CONNAME of its CLUSRCVR is another one from now on."""
    node = _running(cluster, event)
    own = node.own[Key(Kind.QMGR, node.name, node.qmid)]
    _write(cluster, node, own.key, {**own.attributes, _CONNAME: f"altered {cluster.now:%Y-%m-%d}"})


def _open(cluster: Cluster, event: Event) -> None:
    """MQOPEN: a partial repository subscribes the first time.

    Source: Hughson's deck, "First MQOPEN of a Queue".
    """
    node = _running(cluster, event)
    defined_here = Key(*event.want, node.qmid) in node.own
    if not node.full and not defined_here and event.want not in node.wants:
        subscribe(cluster, node, event.want)


def _wait(_cluster: Cluster, _event: Event) -> None:
    """Nothing but time."""


_CONNAME: Final = "conname"


def _qmtype(node: Node) -> str:
    return "REPOS" if node.full else "NORMAL"


_EVENTS: Final[dict[Do, Callable[[Cluster, Event], None]]] = {
    Do.JOIN: _join,
    Do.LEAVE: _leave,
    Do.LOSE: _lose,
    Do.RECREATE: _recreate,
    Do.STOP: _stop,
    Do.START: _start,
    Do.SUSPEND: _suspend,
    Do.RESUME: _suspend,
    Do.PROMOTE: _change_role,
    Do.DEMOTE: _change_role,
    Do.REFRESH: _refresh,
    Do.RESET: _reset,
    Do.DEFINE: _define,
    Do.ALTER: _alter,
    Do.DELETE: _delete,
    Do.OPEN: _open,
    Do.BACKUP: _backup,
    Do.RESTORE: _restore,
    Do.PURGE: _purge,
    Do.DISCONNECT: _disconnect,
    Do.CONNECT: _connect,
    Do.CONNAME: _alter_conname,
    Do.WAIT: _wait,
}
