"""Which snapshot a question is about, and which queue managers are in it."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.analysis.explain import MissingSnapshotError
from clwl_spark.errors import InputError
from clwl_spark.repository.snapshots import in_force
from clwl_spark.schemas import SNAPSHOTS
from clwl_spark.storage import Lake
from clwl_spark.topology.views import EVERYBODY, Topology

_SHOWN = 8


class UnknownQueueManagerError(InputError):
    """The snapshot has no queue manager of that name."""


def chosen_snapshot(lake: Lake, wanted: str | None) -> str:
    """The snapshot that is asked for, whatever its status; by default the last valid one.

    Raises:
        MissingSnapshotError: there is none.
        MissingLakeError: the lake has no snapshots.
    """
    if wanted is None:
        return in_force(lake)[0]
    if lake.read(SNAPSHOTS.name).where(F.col(c.SNAPSHOT_ID) == wanted).isEmpty():
        raise MissingSnapshotError(f"no snapshot '{wanted}' in {lake.root}: name one that it has")
    return wanted


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
