"""Which queue managers are in a snapshot."""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.errors import InputError, near_names
from clwl_spark.snapshots.views import EVERYBODY, Topology
from clwl_spark.tables import columns as c


class UnknownQueueManagerError(InputError):
    """The snapshot has no queue manager of that name."""


def defined_qmgrs(topology: Topology) -> DataFrame:
    """The queue managers whose own definitions are known, and not only what others see of them.

    Grain: one row per (snapshot_id, qmgr).
    """
    own = F.col(c.OBSERVER).isin(EVERYBODY) | (F.col(c.OBSERVER) == F.col(c.QMGR))
    rows = (table.where(own).select(c.SNAPSHOT_ID, c.QMGR) for table in _owned(topology))
    return reduce(DataFrame.union, rows).distinct()


def names_defined(topology: Topology) -> frozenset[str]:
    """The names of `defined_qmgrs`, of a topology of one snapshot."""
    return frozenset(str(row[c.QMGR]) for row in defined_qmgrs(topology).collect())


def is_defined(qmgr: str, snapshot_id: str, topology: Topology) -> bool:
    """Whether a snapshot has any row that is about the queue manager's own."""
    own = (F.col(c.QMGR) == qmgr) & (F.col(c.SNAPSHOT_ID) == snapshot_id)
    rows = (table.where(own).select(c.QMGR).limit(1) for table in _owned(topology))
    return not reduce(DataFrame.union, rows).isEmpty()


def _owned(topology: Topology) -> tuple[DataFrame, ...]:
    return topology.queue_managers, topology.cluster_channels, topology.queues


def check_qmgr(qmgr: str, known: frozenset[str], snapshot_id: str) -> None:
    """Refuse a queue manager that the snapshot does not define.

    Raises:
        UnknownQueueManagerError: it does not; the message names a few that it does.
    """
    if qmgr in known:
        return
    raise UnknownQueueManagerError(
        f"no queue manager '{qmgr}' in snapshot {snapshot_id} (case counts): "
        f"it has {near_names(qmgr, sorted(known)) or 'none'}"
    )
