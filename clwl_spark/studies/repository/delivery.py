"""What repositories do with what they are sent. No Spark.

Source: Hughson's deck, "WMQ Cluster Architecture" (steps 1 to 11), "First MQOPEN of a Queue",
"Cluster Topics". Choices where it is silent:
- Of the two full repositories that an owner publishes to, the first passes the record on to all
  others (step 9); a full repository that owns the object tells all others itself.
- Each of the two full repositories that a queue manager subscribed with tells it of a change.
- One message carries one record. A subscription that nothing matches gets no answer, and stays.
- A partial repository passes over what it has not asked for and what nobody tells to all.
- A queue manager that joins or refreshes is told of all full repositories by each of its two, and
  in a publish/subscribe cluster of every queue manager and topic. So is one that publishes to a
  full repository which forgot it by its own REFRESH CLUSTER, and could tell it nothing until then.
"""

from collections.abc import Iterator

from clwl_spark.studies.repository.state import Cluster, Message, Node, arm, send, targets
from clwl_spark.studies.repository.words import Key, Kind, Record, Sent, Want, Why


def deliver(cluster: Cluster) -> None:
    """Deliver what is on the wire, and what comes of it; what is for a stopped one waits there.

    What has no channel that runs waits where it is.
    """
    while cluster.wire:
        message = cluster.wire.popleft()
        node = cluster.nodes[message.to]
        if node.ended is not None:
            continue
        if is_cut(cluster, message.sender, message.to):
            cluster.held.append(message)
        elif node.up:
            _receive(cluster, node, message)
        else:
            node.inbox.append(message)


def is_cut(cluster: Cluster, one: str, other: str) -> bool:
    """Whether no channel runs between two queue managers, given by QMID."""
    pair = frozenset((one, other))
    return pair in cluster.cut or pair in cluster.strangers


def publish(cluster: Cluster, owner: Node, record: Record) -> None:
    """An owner tells of one of its objects: two full repositories, or as one all the others."""
    if owner.full:
        for other in cluster.full_repositories(but=owner):
            send(cluster, Sent.BETWEEN_FULL, (owner, other), record)
        _notify(cluster, owner, record)
        return
    for position, full in enumerate(targets(cluster, owner)):
        cluster.sent[Sent.PUBLICATION] += 1
        message = Message(Sent.PUBLICATION, owner.qmid, full.qmid, record, pass_on=position == 0)
        cluster.wire.append(message)


def subscribe(cluster: Cluster, node: Node, want: Want) -> None:
    """Ask the two full repositories for an object, now and whenever it changes."""
    node.wants[want] = cluster.now
    arm(cluster, node, want, cluster.now + cluster.periods.resubscribe)
    for full in targets(cluster, node):
        send(cluster, Sent.SUBSCRIPTION, (node, full), want)


def forget(node: Node, key: Key, why: Why, cluster: Cluster) -> None:
    """Take an object out of what a queue manager knows."""
    del node.cache[key]
    del node.learned[key]
    node.forgotten[key] = (why, cluster.now)


def _receive(cluster: Cluster, node: Node, message: Message) -> None:
    """One message at a queue manager that runs."""
    sender = cluster.nodes[message.sender]
    if message.kind is Sent.REMOVAL:
        remove_owner(cluster, node, *message.body)
    elif message.kind is Sent.SUBSCRIPTION:
        _answer(cluster, node, sender, message.body)
    else:
        _learn(cluster, node, sender, message)


def _answer(cluster: Cluster, full: Node, sender: Node, want: Want) -> None:
    """A full repository notes a subscription and answers with what it knows of it.

    That something was deleted is told as well: after its own REFRESH CLUSTER it could tell nobody
    of it, since it had forgotten who had asked.
    """
    if not full.full:
        return
    full.subscribers.setdefault(want, {})[sender.qmid] = cluster.now
    for record in [*full.all_known(), *full.deleted.values()]:
        if record.wanted_by() == want and record.key.owner != sender.qmid:
            send(cluster, Sent.ANSWER, (full, sender), record)


def _learn(cluster: Cluster, node: Node, sender: Node, message: Message) -> None:
    """A record at a queue manager: it keeps news, and as a full repository passes it on."""
    record: Record = message.body
    direct = node.full and message.kind is Sent.PUBLICATION
    is_member = sender.qmid in _members(cluster, node)
    if direct:
        node.members[sender.qmid] = cluster.now
    if _concerns_nobody(node, record) or _is_left_over(node, sender, message):
        return
    held = node.cache.get(record.key) or node.deleted.get(record.key)
    if held is None or record.order > held.order:
        _take_news(cluster, node, message)
    if direct:
        _greet(
            cluster, node, sender, is_known=is_member or sender.full, arrives=_arrives(record, held)
        )


def _greet(cluster: Cluster, node: Node, sender: Node, *, is_known: bool, arrives: bool) -> None:
    """A full repository tells who publishes to it what it is to know."""
    if arrives:
        _welcome(cluster, node, sender)
    elif not is_known:
        _introduce(cluster, node, sender)


def _concerns_nobody(node: Node, record: Record) -> bool:
    """Whether a record is about an own object, or of an owner removed by RESET CLUSTER."""
    owner = record.key.owner
    return owner == node.qmid or record.incarnation <= node.removed.get(owner, 0)


def _is_left_over(node: Node, sender: Node, message: Message) -> bool:
    """Whether a partial repository is told what it asked for before its REFRESH CLUSTER.

    What waited for a full repository that was stopped is answered late. Kept, such a record would
    be told of no more: its subscription went with the REFRESH.
    """
    record: Record = message.body
    if node.full or record.wanted_by() in node.wants or record.key in node.cache:
        return False
    if record.key.kind is Kind.QUEUE:
        return True
    told_to_all = record.key.kind is Kind.TOPIC or is_full_repository(record)
    return not told_to_all and not sender.knows_topics()


def _take_news(cluster: Cluster, node: Node, message: Message) -> None:
    """News at a queue manager, kept and passed on, or followed up with a question."""
    record: Record = message.body
    had_topics, held = node.knows_topics(), node.cache.get(record.key)
    _keep(cluster, node, record)
    if not node.full:
        _find_owner(cluster, node, record)
        return
    _pass_on(cluster, node, message)
    if not had_topics and node.knows_topics():
        introduce_all(cluster, node)
    # Those who were told of a full repository are told that it is none any more.
    _notify(cluster, node, record, to_all=held is not None and is_full_repository(held))


def _keep(cluster: Cluster, node: Node, record: Record) -> None:
    """Hold the news; a deletion is held as such, so that older news do not bring it back."""
    if record.deleted:
        node.deleted[record.key] = record
        node.cache.pop(record.key, None)
        node.learned.pop(record.key, None)
        node.forgotten.pop(record.key, None)
        return
    node.deleted.pop(record.key, None)
    node.forgotten.pop(record.key, None)
    node.cache[record.key] = record
    node.had_topics |= record.key.kind is Kind.TOPIC
    node.learned.setdefault(record.key, cluster.now)
    arm(cluster, node, record.key, record.expires(cluster.periods))


def _pass_on(cluster: Cluster, full: Node, message: Message) -> None:
    """What an owner published goes to the other full repositories."""
    if not message.pass_on:
        return
    for other in cluster.full_repositories(but=full):
        send(cluster, Sent.BETWEEN_FULL, (full, other), message.body)


def _notify(cluster: Cluster, full: Node, record: Record, *, to_all: bool = False) -> None:
    """Tell those who turn to this full repository and care for the object, or all of them."""
    for node in list(_interested(cluster, full, record, to_all=to_all)):
        if node.qmid != record.key.owner and not node.full and node.ended is None:
            send(cluster, Sent.NOTICE, (full, node), record)


def _interested(cluster: Cluster, full: Node, record: Record, *, to_all: bool) -> Iterator[Node]:
    """Subscribers; for topics, full repositories and in pub/sub clusters all its members.

    Those who were told of a queue manager by reason of a topic are told of it when that is gone,
    too: that it has left, above all. A partial repository passes over what it does not hold.
    Those who have not renewed for too long are not among them.
    """
    oldest = cluster.now - cluster.periods.expiry
    asked = full.subscribers.get(record.wanted_by(), {})
    renewed = [qmid for qmid, at in asked.items() if at > oldest]
    is_qmgr = record.key.kind is Kind.QMGR
    if (
        to_all
        or record.key.kind is Kind.TOPIC
        or is_full_repository(record)
        or (is_qmgr and full.had_topics)
    ):
        renewed += _members(cluster, full)
    return (cluster.nodes[qmid] for qmid in dict.fromkeys(renewed))


def _members(cluster: Cluster, full: Node) -> list[str]:
    """QMIDs of those who published to a full repository, not too long ago."""
    oldest = cluster.now - cluster.periods.expiry
    return [qmid for qmid, at in full.members.items() if at > oldest]


def _find_owner(cluster: Cluster, node: Node, record: Record) -> None:
    """A partial repository that knows an object needs a channel to its owner, if necessary.

    Of an owner that is no full repository any more it was told as one; now it has to ask.
    """
    if record.deleted:
        return
    if record.key.kind is Kind.QMGR:
        known = is_full_repository(record) or node.knows_topics() or not _uses(node, record)
    else:
        known = any(
            x.kind is Kind.QMGR and x.owner == record.key.owner for x in (*node.cache, *node.own)
        )
    want = Want(Kind.QMGR, record.qmgr)
    if not known and want not in node.wants:
        subscribe(cluster, node, want)


def _uses(node: Node, owner: Record) -> bool:
    """Whether a queue manager has asked for an object of another one."""
    own = (x for x in node.cache if x.owner == owner.key.owner and x.kind is not Kind.QMGR)
    return any(Want(x.kind, x.name) in node.wants for x in own)


def _arrives(record: Record, held: Record | None) -> bool:
    """Whether a publication is that of a queue manager that joins or has refreshed."""
    if record.key.kind is not Kind.QMGR or record.deleted:
        return False
    return record.version == 1 if held is None else record.incarnation > held.incarnation


def _welcome(cluster: Cluster, full: Node, newcomer: Node) -> None:
    """Tell a queue manager that joins or has refreshed what it needs from the start.

    Queue managers (QMGR) sort before topics, so that nobody has to ask for a topic's owner.
    """
    for wanted in full.subscribers.values():
        wanted.pop(newcomer.qmid, None)
    _introduce(cluster, full, newcomer)


def _introduce(cluster: Cluster, full: Node, newcomer: Node) -> None:
    """Tell a queue manager what is told to all."""
    everything = full.knows_topics()
    for record in sorted(full.all_known(), key=lambda record: record.key):
        pushed = everything and record.key.kind is not Kind.QUEUE
        if record.key.owner != newcomer.qmid and (pushed or is_full_repository(record)):
            send(cluster, Sent.WELCOME, (full, newcomer), record)


def is_full_repository(record: Record) -> bool:
    """Whether it is the record of a full repository."""
    return record.key.kind is Kind.QMGR and record.attributes.get("qmtype") == "REPOS"


def introduce_all(cluster: Cluster, full: Node) -> None:
    """The first topic: from now on every queue manager knows every other one."""
    qmgrs = [x for x in full.all_known() if x.key.kind is Kind.QMGR and not is_full_repository(x)]
    for qmid in full.members:
        for record in qmgrs:
            member = cluster.nodes[qmid]
            if record.key.owner != qmid and member.ended is None and not member.full:
                send(cluster, Sent.NOTICE, (full, member), record)


def remove_owner(cluster: Cluster, node: Node, owner: str, incarnation: int) -> None:
    """Forget everything that an owner has up to an incarnation, and what it subscribed to."""
    node.removed[owner] = max(incarnation, node.removed.get(owner, 0))
    for key in [key for key in node.cache if key.owner == owner]:
        if node.cache[key].incarnation <= incarnation:
            forget(node, key, Why.RESET, cluster)
    node.members.pop(owner, None)
    for wanted in node.subscribers.values():
        wanted.pop(owner, None)
