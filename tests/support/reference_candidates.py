"""The candidate rows of a cluster choice: SEMANTICS section 3."""

from dataclasses import dataclass

from reference_rows import Row, is_queue_manager_alias
from reference_views import View


@dataclass(slots=True, eq=False)
class Candidate:
    """One (instance, channel, instance cluster, channel cluster).

    `rank` and `priority` are the channel's, or the queue manager alias's in an alias row;
    `queue_rank`, `queue_priority` and `clwluseq` are the instance's.
    """

    dest_qmgr: str
    dest_object: str
    channel: str
    instance_cluster: str
    channel_cluster: str
    is_local: bool
    is_alias: bool
    rank: int
    priority: int
    queue_rank: int
    queue_priority: int
    clwluseq: str
    put_enabled: bool
    suspended: bool
    status_tier: int
    netprty: int
    clwlwght: int
    eliminated_by: int | None = None


Rows = list[Candidate]


def as_row(candidate: Candidate) -> Row:
    """The candidate's attributes by their names."""
    return {name: getattr(candidate, name) for name in Candidate.__dataclass_fields__}


def instances(view: View, name: str) -> list[Row]:
    """The queues of a name, L's own and those of others (P4, P5)."""
    own = [row for row in view.own_shared("queues") if row["queue"] == name]
    own = [row for row in own if row["qtype"] == "QLOCAL"]
    return own + [r for r in view.others_of("queues", name) if not is_queue_manager_alias(r)]


def aliases(view: View, qmgr: str) -> list[Row]:
    """The clustered queue manager aliases of a name on others."""
    return [row for row in view.others_of("queues", qmgr) if is_queue_manager_alias(row)]


def hosts(view: View, topic: str, topicstr: str) -> list[Row]:
    """The rows of others that make them hosts of a topic object."""
    rows = [row for row in view.others_shared("topics") if row["clroute"] == "TOPICHOST"]
    return [row for row in rows if (row["topic"], row["topicstr"]) == (topic, topicstr)]


def queue_candidates(view: View, name: str) -> Rows:
    """Instances of a queue with their queue managers' channels."""
    return [
        _candidate(view, name, channel, instance["cluster"], instance)
        for instance in instances(view, name)
        for channel in view.channels_of(instance["qmgr"])
    ]


def queue_manager_candidates(view: View, object_name: str, qmgr: str) -> Rows:
    """The queue manager itself and the clustered aliases of its name on others."""
    rows = [
        _candidate(view, object_name, channel, channel["cluster"], None)
        for channel in view.channels_of(qmgr)
    ]
    for alias in aliases(view, qmgr):
        for channel in view.channels_of(alias["qmgr"]):
            row = _candidate(view, object_name, channel, alias["cluster"], alias)
            row.is_alias = True
            row.rank, row.priority = alias["clwlrank"], alias["clwlprty"]
            rows.append(row)
    return rows


def topic_host_candidates(view: View, topic: str, topic_string: str) -> Rows:
    """The hosts of a TOPICHOST topic on other queue managers."""
    return [
        _candidate(view, topic, channel, host["cluster"], host)
        for host in hosts(view, topic, topic_string)
        for channel in view.channels_of(host["qmgr"])
    ]


def direct_candidates(view: View, topic: str, clusters: set[str], qmgr: str) -> Rows:
    """One subscribing queue manager's channels, for its copy of a publication (P18)."""
    channels = view.channels_of(qmgr)
    there = clusters & {channel["cluster"] for channel in channels}
    return [
        _candidate(view, topic, channel, cluster, None)
        for cluster in sorted(there)
        for channel in channels
    ]


def _candidate(
    view: View, dest_object: str, channel: Row, cluster: str, instance: Row | None
) -> Candidate:
    """One row; without an instance's row there is nothing but the channel to look at."""
    instance = instance or {}
    qmgr = channel["qmgr"]
    return Candidate(
        dest_qmgr=qmgr,
        dest_object=dest_object,
        channel=channel["channel"],
        instance_cluster=cluster,
        channel_cluster=channel["cluster"],
        is_local=qmgr == view.qmgr,
        is_alias=False,
        rank=channel["clwlrank"],
        priority=channel["clwlprty"],
        queue_rank=instance.get("clwlrank", 0),
        queue_priority=instance.get("clwlprty", 0),
        clwluseq=instance.get("clwluseq", "QMGR"),
        put_enabled=bool(instance.get("put_enabled", instance.get("pub_enabled", True))),
        suspended=view.is_suspended(qmgr, channel["cluster"]),
        status_tier=view.status_tier(qmgr, channel["channel"]),
        netprty=channel["netprty"],
        clwlwght=channel["clwlwght"],
    )


# ---- first opens (S2a, P36) ----------------------------------------------------------------------


def is_first_open(view: View, queues: list[Row], qmgrs: set[str]) -> bool:
    """True where one of these queue rows or a channel of these queue managers is there by one."""
    if any(row in view.first_opened("queues", row["queue"]) for row in queues):
        return True
    return any(view.first_opened("cluster_channels", qmgr) for qmgr in qmgrs)
