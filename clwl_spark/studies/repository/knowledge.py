"""What a queue manager knows at a moment, what it does not and why, what of it is out of date."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clwl_spark.studies.repository.overdue import overdue_row
from clwl_spark.studies.repository.path import where_stopped
from clwl_spark.studies.repository.state import Cluster, Node
from clwl_spark.studies.repository.words import How, Key, Kind, Record, Sent, Why
from clwl_spark.tables.moments import moment_text

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a queue manager knows at a moment.

    Attributes:
        qmgr: the queue manager.
        full: whether it is a full repository.
        at: the moment.
        known: kind, name, qmgr, qmid, how, learned, published, expires, attributes.
        missing: kind, name, qmgr, qmid, why and since when, as far as there was a time before, the
            `path` (full repositories, and whether each knows it) and where it `stopped`.
        stale: kind, name, qmgr, qmid, seen, defined, since and age_seconds.
        overdue: kind, name, qmgr, qmid, expected (since when news of it is), expires, text: the
            message of the queue manager's log.
    """

    qmgr: str
    full: bool
    at: datetime
    known: Sequence[Row]
    missing: Sequence[Row]
    stale: Sequence[Row]
    overdue: Sequence[Row] = ()


def knowledge_of(cluster: Cluster, name: str, object_name: str | None = None) -> Knowledge:
    """What a queue manager knows now; rows in order of kind, name and owner.

    Args:
        cluster: the cluster.
        name: the queue manager.
        object_name: only objects of that name, or of the queue manager of that name.

    Raises:
        RepositoryError: there is no queue manager of that name.
    """
    node = cluster.node(name)
    known = sorted(node.all_known(), key=lambda record: record.key)
    unknown = _unknown(cluster, node)
    if object_name is not None:
        known = [x for x in known if object_name in {x.key.name, x.qmgr}]
        unknown = [x for x in unknown if object_name in {x.key.name, x.qmgr}]
    return Knowledge(
        qmgr=node.name,
        full=node.full,
        at=cluster.now,
        known=[_known(cluster, node, record) for record in known],
        missing=[_missing(cluster, node, record) for record in unknown],
        stale=[row for record in known if (row := _stale(cluster, record)) is not None],
        overdue=[row for record in known if (row := overdue_row(cluster, node, record))],
    )


def story_json(cluster: Cluster, found: Sequence[Knowledge]) -> Row:
    """The document of `clwl repository --events --json`."""
    return {
        "cluster": cluster.name,
        "at": moment_text(cluster.now, "seconds"),
        "messages": {kind.name.lower(): cluster.sent[kind] for kind in Sent},
        "queue_managers": [
            {
                "qmgr": knowledge.qmgr,
                "repository": "FULL" if knowledge.full else "PARTIAL",
                "known": list(knowledge.known),
                "missing": list(knowledge.missing),
                "stale": list(knowledge.stale),
                "overdue": list(knowledge.overdue),
            }
            for knowledge in found
        ],
    }


def _unknown(cluster: Cluster, node: Node) -> list[Record]:
    """Objects that others define and this queue manager does not know."""
    others = (other for other in cluster.alive() if other is not node)
    found = (record for other in others for record in other.own.values())
    unknown = (record for record in found if record.key not in node.cache)
    return sorted(unknown, key=lambda record: record.key)


def _named(record: Record) -> Row:
    """The columns that say which object it is."""
    return {
        "kind": record.key.kind.value,
        "name": record.key.name,
        "qmgr": record.qmgr,
        "qmid": record.key.owner,
    }


def _known(cluster: Cluster, node: Node, record: Record) -> Row:
    own = record.key in node.own
    since = cluster.changed[record.key][0][1] if own else node.learned[record.key]
    return _named(record) | {
        "how": _how(node, record).value,
        "learned": moment_text(since, "seconds"),
        "published": moment_text(record.published, "seconds"),
        "expires": None if own else moment_text(record.expires(cluster.periods), "seconds"),
        "attributes": dict(record.attributes),
    }


def _how(node: Node, record: Record) -> How:
    """Why it is known."""
    if record.key in node.own:
        return How.OWN
    if node.full:
        return How.FULL_REPOSITORY
    return How.SUBSCRIBED if record.wanted_by() in node.wants else How.PUSHED


def _missing(cluster: Cluster, node: Node, record: Record) -> Row:
    why, since = _why(cluster, node, record)
    path = {x.name: record.key in x.cache or record.key in x.own for x in _between(cluster, node)}
    return _named(record) | {
        "why": why.value,
        "since": None if since is None else moment_text(since, "seconds"),
        "text": WHY_TEXTS[why],
        "path": [{"qmgr": name, "knows": knows} for name, knows in path.items()],
        "stopped": where_stopped(record.qmgr, path, node.name),
    }


def _between(cluster: Cluster, node: Node) -> list[Node]:
    """The full repositories that definitions come by; its own place, for one of them."""
    return cluster.full_repositories(but=node if node.full else None)


def _why(cluster: Cluster, node: Node, record: Record) -> tuple[Why, datetime | None]:
    """Why it is not known: the last thing that would have to be otherwise."""
    why, since = node.forgotten.get(record.key, (None, None))
    knowing = (node, *cluster.full_repositories())
    if any(record.incarnation <= x.removed.get(record.key.owner, 0) for x in knowing):
        return Why.RESET, since
    wanted = node.full or record.wanted_by() in node.wants or record.key.kind is Kind.TOPIC
    if why is Why.REFRESHED and wanted:
        return Why.NOT_RECEIVED, since
    if why is not None:
        return why, since
    return (Why.NOT_RECEIVED if wanted else Why.NEVER_OPENED), None


def _stale(cluster: Cluster, record: Record) -> Row | None:
    """How a known record differs from what its owner has now; None if it does not."""
    owner = cluster.nodes[record.key.owner]
    current = owner.own.get(record.key)
    if owner.ended is not None:
        since, defined = owner.ended, None
    elif current is not None and _same(current, record):
        return None
    else:
        since = _changed_after(cluster, record.key, record.version) or owner.restored or cluster.now
        defined = None if current is None else dict(current.attributes)
    return _named(record) | {
        "seen": dict(record.attributes),
        "defined": defined,
        "since": moment_text(since, "seconds"),
        "age_seconds": int((cluster.now - since).total_seconds()),
    }


def _same(one: Record, other: Record) -> bool:
    """Whether two records say the same; after a restore, one version may have been made twice."""
    return (one.version, dict(one.attributes)) == (other.version, dict(other.attributes))


def _changed_after(cluster: Cluster, key: Key, version: int) -> datetime | None:
    """When the owner made the version after this one; None = it went back to one before it."""
    return next((at for number, at in cluster.changed[key] if number > version), None)


WHY_TEXTS: dict[Why, str] = {
    Why.NEVER_OPENED: "never opened there, so a partial repository has not asked for it",
    Why.REFRESHED: "forgotten by REFRESH CLUSTER and not opened there since",
    Why.EXPIRED: "its owner did not publish it again in time",
    Why.RESET: "its owner was removed by RESET CLUSTER; REFRESH CLUSTER there brings it back",
    Why.NOT_RECEIVED: "asked for, but nothing has come: look at the channels by way of the full "
    "repositories",
}
