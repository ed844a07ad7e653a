"""What a queue manager defines, alters, deletes and opens. No Spark.

Source: Hughson's deck, "First MQOPEN of a Queue", "Deleting objects".
"""

from dataclasses import replace
from typing import Any, Final

from clwl_spark.studies.repository.delivery import introduce_all, subscribe
from clwl_spark.studies.repository.events import Event
from clwl_spark.studies.repository.renewal import say
from clwl_spark.studies.repository.state import Cluster, Node, RepositoryError
from clwl_spark.studies.repository.words import Key, Kind, Record

CONNAME: Final = "conname"


def running(cluster: Cluster, event: Event) -> Node:
    """The event's queue manager, which has to run."""
    node = cluster.node(str(event.qmgr))
    if not node.up:
        raise RepositoryError(f"{event.do.value} on {node.name}: it is stopped; start it first")
    return node


def define(cluster: Cluster, event: Event) -> None:
    """DEFINE of a queue or topic; the first topic makes all queue managers known to all."""
    node = running(cluster, event)
    key = Key(*event.want, node.qmid)
    if key in node.own:
        raise RepositoryError(f"define of {key.name} on {node.name}: it is there; alter it")
    first_topic = key.kind is Kind.TOPIC and not node.knows_topics()
    node.had_topics |= key.kind is Kind.TOPIC
    write(cluster, node, key, event.attributes)
    if node.full and first_topic:
        introduce_all(cluster, node)


def alter(cluster: Cluster, event: Event) -> None:
    """ALTER of an own object; what is not named stays."""
    node = running(cluster, event)
    key = _own_key(node, event)
    write(cluster, node, key, {**node.own[key].attributes, **event.attributes})


def delete(cluster: Cluster, event: Event) -> None:
    """DELETE of an own object."""
    node = running(cluster, event)
    delete_key(cluster, node, _own_key(node, event))


def alter_conname(cluster: Cluster, event: Event) -> None:
    """The CONNAME of its CLUSRCVR is another one from now on."""
    node = running(cluster, event)
    own = node.own[Key(Kind.QMGR, node.name, node.qmid)]
    write(cluster, node, own.key, {**own.attributes, CONNAME: f"altered {cluster.now:%Y-%m-%d}"})


def open_object(cluster: Cluster, event: Event) -> None:
    """MQOPEN: a partial repository subscribes the first time.

    Source: Hughson's deck, "First MQOPEN of a Queue".
    """
    node = running(cluster, event)
    defined_here = Key(*event.want, node.qmid) in node.own
    if not node.full and not defined_here and event.want not in node.wants:
        subscribe(cluster, node, event.want)


def write(cluster: Cluster, node: Node, key: Key, attributes: dict[str, Any]) -> None:
    """A new version of an own object."""
    version = _next_version(cluster, node, key)
    cluster.changed.setdefault(key, []).append((version, cluster.now))
    say(cluster, node, Record(key, node.name, node.incarnation, version, cluster.now, attributes))


def delete_key(cluster: Cluster, node: Node, key: Key) -> None:
    """The last version of an own object says that it is no more."""
    version = _next_version(cluster, node, key)
    cluster.changed[key].append((version, cluster.now))
    gone = replace(node.own.pop(key), version=version, deleted=True)
    say(cluster, node, gone)


def _own_key(node: Node, event: Event) -> Key:
    """The own object that the event names."""
    key = Key(*event.want, node.qmid)
    if key not in node.own:
        raise RepositoryError(
            f"{event.do.value} of {key.name}: {node.name} does not define it; define it first"
        )
    return key


def _next_version(cluster: Cluster, node: Node, key: Key) -> int:
    """The version after the owner's, which may be behind what others hold after a restore."""
    own = node.own.get(key)
    return (len(cluster.changed.get(key, [])) if own is None else own.version) + 1
