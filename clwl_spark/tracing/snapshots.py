"""Which queue managers are in a snapshot."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import InputError
from clwl_spark.topology.views import EVERYBODY, Topology

_SHOWN = 8


class UnknownQueueManagerError(InputError):
    """The snapshot has no queue manager of that name."""


def defined_qmgrs(topology: Topology) -> DataFrame:
    """The queue managers whose own definitions are known, and not only what others see of them.

    Grain: one row per (snapshot_id, qmgr).
    """
    tables = (topology.queue_managers, topology.cluster_channels, topology.queues)
    own = F.col(c.OBSERVER).isin(EVERYBODY) | (F.col(c.OBSERVER) == F.col(c.QMGR))
    first, *others = (table.where(own).select(c.SNAPSHOT_ID, c.QMGR) for table in tables)
    for other in others:
        first = first.union(other)
    return first.distinct()


def check_qmgr(qmgr: str, known: frozenset[str], snapshot_id: str) -> None:
    """Refuse a queue manager that the snapshot does not define.

    Raises:
        UnknownQueueManagerError: it does not; the message names a few that it does.
    """
    if qmgr in known:
        return
    names = sorted(known)
    near = [name for name in names if name.upper() == qmgr.upper()] or names[:_SHOWN]
    more = ", ..." if len(names) > len(near) else ""
    raise UnknownQueueManagerError(
        f"no queue manager '{qmgr}' in snapshot {snapshot_id} (case counts): "
        f"it has {', '.join(near) or 'none'}{more}"
    )
