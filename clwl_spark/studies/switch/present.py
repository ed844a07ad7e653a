"""What is known of the transmission queues that a queue manager's channels have now.

Source: SEMANTICS 7, P16; IBM's page on transmission queues.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.transmit import TransmissionQueues
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import ChannelType
from clwl_spark.planning.facts import senders, transmission_queues
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.views import VIEWER, Topology, own_rows, read_topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.switch.causes import Present, is_default
from clwl_spark.tables import CHANNEL_STATUS
from clwl_spark.tables import columns as c

Pair = tuple[str, str]
"""A cluster-sender channel and the queue manager that it leads to."""


def one_viewer(lake: Lake, qmgr: str, snapshot_id: str) -> DataFrame:
    """The queue manager as one that looks: (snapshot_id, viewer), one row."""
    row = [(snapshot_id, qmgr)]
    return frame_from_rows(lake.spark, row, f"{c.SNAPSHOT_ID} string, {VIEWER} string")


def queues_of(of: DataFrame, topology: Topology) -> TransmissionQueues:
    """What `one_viewer` has to choose transmission queues from."""
    return transmission_queues(senders(of, topology).collect()[0].asDict(recursive=True))


def present_queues(
    lake: Lake, of: DataFrame, topology: Topology, queues: TransmissionQueues
) -> dict[Pair, Present]:
    """What is known of the queues that channels have now, by (channel, remote queue manager).

    Args:
        lake: with topology; the valid snapshot before tells what CLCHNAMEs were.
        of: (snapshot_id, viewer), one row.
        topology: the snapshot.
        queues: the queue manager's transmission queues.
    """
    snapshot_id, qmgr = of.collect()[0]
    used = sorted({x for x in queues.current.values() if x})
    own = own_rows(of, topology.queues, (c.QUEUE, c.CLUSTER))
    there = {row[0] for row in own.where(F.col(c.QUEUE).isin(used)).select(c.QUEUE).collect()}
    backlogs = _backlogs(lake, snapshot_id, qmgr)
    names, before = dict(queues.definitions), _clchnames_before(lake, snapshot_id, qmgr)
    # One whose last queue was deleted has none; its channels still tell that it is defined.
    is_told = not own.isEmpty() or (bool(before) and _is_defined(of, topology))
    return {
        pair: Present(
            queue,
            is_told and not is_default(queue) and queue not in there,
            before.get(queue),
            names.get(queue, ""),
            backlogs.get(pair),
        )
        for pair, queue in queues.current.items()
        if queue
    }


def _is_defined(of: DataFrame, topology: Topology) -> bool:
    """Whether the snapshot has a cluster-receiver that the queue manager defines."""
    return not own_rows(of, topology.cluster_channels, (c.CHANNEL, c.CLUSTER)).isEmpty()


def _backlogs(lake: Lake, snapshot_id: str, qmgr: str) -> dict[Pair, int]:
    """Messages that wait for each CLUSSDR of the queue manager, where its status tells."""
    rows = lake.read_or_empty(CHANNEL_STATUS.name, c.SNAPSHOT_ID, [snapshot_id]).where(
        (F.col(c.QMGR) == qmgr) & (F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value)
    )
    told = rows.where(F.col(c.BACKLOG).isNotNull())
    found = told.groupBy(c.CHANNEL, c.REMOTE_QMGR).agg(F.sum(c.BACKLOG)).collect()
    return {(row[0], row[1]): int(row[2]) for row in found}


def _clchnames_before(lake: Lake, snapshot_id: str, qmgr: str) -> dict[str, str]:
    """CLCHNAME of the queue manager's queues in the valid snapshot before; none = there is none."""
    names = [pin.snapshot_id for pin in snapshot_catalog(lake).pins]
    at = names.index(snapshot_id) if snapshot_id in names else 0
    if at == 0:
        return {}
    earlier = names[at - 1]
    topology = read_topology(lake, [earlier])
    return dict(queues_of(one_viewer(lake, qmgr, earlier), topology).definitions)
