"""The members of a queue-sharing group, from the topology tables."""

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.studies.shared_queue.group import SharingGroupError
from clwl_spark.tables import QUEUE_MANAGERS, QUEUES
from clwl_spark.tables import columns as c

SHARED = "SHARED"


def members_of(lake: Lake, group: str, queue: str, snapshot: str | None = None) -> list[str]:
    """The queue managers of a group, in order of name, after a look whether the queue is shared.

    Args:
        lake: with topology.
        group: QSGNAME.
        queue: a queue that one of them defines with QSGDISP(SHARED).
        snapshot: which; default the last valid one.

    Raises:
        SharingGroupError: no queue manager of that group, or no such shared queue.
        MissingSnapshotError: no such snapshot, or no valid one.
    """
    chosen = chosen_snapshot(lake, snapshot)
    of_snapshot = F.col(c.SNAPSHOT_ID) == chosen
    found = lake.read_or_empty(QUEUE_MANAGERS.name).where(of_snapshot & (F.col(c.QSGNAME) != ""))
    groups = found.select(c.QSGNAME, c.QMGR).distinct().orderBy(c.QSGNAME, c.QMGR).collect()
    members = [str(row[1]) for row in groups if row[0] == group]
    if not members:
        others = ", ".join(sorted({str(row[0]) for row in groups})) or "none"
        raise SharingGroupError(
            f"no queue manager of queue-sharing group {group} in snapshot {chosen}: "
            f"name one of its groups with --group ({others})"
        )
    _check_queue(lake, chosen, members, queue)
    return members


def _check_queue(lake: Lake, snapshot: str, members: list[str], queue: str) -> None:
    """Refuse a queue that no member defines as shared, and say how it is defined."""
    defined = (
        lake.read_or_empty(QUEUES.name)
        .where(F.col(c.SNAPSHOT_ID) == snapshot)
        .where((F.col(c.QUEUE) == queue) & F.col(c.QMGR).isin(members))
        .select(c.QSGDISP)
        .distinct()
        .collect()
    )
    found = {str(row[0] or "QMGR") for row in defined}
    if SHARED not in found:
        how = f"is {', '.join(sorted(found))}" if found else "does not exist"
        raise SharingGroupError(
            f"queue {queue} {how} on {', '.join(members)} in snapshot {snapshot}: "
            "name a queue with QSGDISP(SHARED) with --queue"
        )
