"""The part of a topology that a few puts can meet, worked out."""

from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import functions as F

from clwl_spark.snapshots.views import EVERYBODY, Topology
from clwl_spark.spark.materialize import inline
from clwl_spark.tables import columns as c


def as_met_by(
    qmgrs: Collection[str], names: Collection[str], topology: Topology, *, published: bool
) -> Topology:
    """What puts on these queue managers to these names can meet: a few rows of a few definitions.

    Own definitions, those of the names and of what own definitions lead to. Rows of own views stay
    all of them, since whether there are any decides what is seen (SEMANTICS S2).

    Args:
        qmgrs: where is put.
        names: objects and object queue managers that are named.
        topology: of the snapshot.
        published: some are publications: how far subscriptions go is told by what others see.
    """
    own = F.col(c.QMGR).isin(*qmgrs)
    in_own_view = F.col(c.OBSERVER).isin(*qmgrs)
    seen = F.col(c.OBSERVER).isin(EVERYBODY, *qmgrs)
    named = F.array(c.TARGET, c.RNAME, c.RQMNAME)
    leads_to = topology.queues.where(seen & own).select(F.explode(named)).distinct().collect()
    met = own | in_own_view | F.col(c.QUEUE).isin(sorted({*names, *(row[0] for row in leads_to)}))
    everything = F.lit(published)
    return replace(
        topology,
        queue_managers=inline(topology.queue_managers.where(seen)),
        cluster_channels=inline(topology.cluster_channels.where(seen | everything)),
        channel_status=inline(topology.channel_status.where(own)),
        queues=inline(topology.queues.where(seen & met)),
        topics=inline(topology.topics.where(seen | everything)),
        subscriptions=inline(topology.subscriptions.where(own | everything)),
        views=inline(topology.views.where(in_own_view)),
    )
