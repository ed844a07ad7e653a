"""What the hosts that a change adds to a queue need beside it, per design."""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import QueueType
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.studies.new_host.run import NewHost, new_host
from clwl_spark.studies.trace.places import Place
from clwl_spark.studies.what_if.changed import Sides
from clwl_spark.studies.what_if.moves import BEFORE, Row
from clwl_spark.tables import columns as c

_MOST: Final = 3


def hosts_added(
    lake: Lake, snapshot_id: str, sides: Sides, by_object: Sequence[Row], ladder: Ladder
) -> list[NewHost]:
    """What each new instance of a queue that others host needs, for those who put most to it.

    Args:
        lake: with topology.
        snapshot_id: as it is.
        sides: the topology before and after.
        by_object: rows of `Moves.by_object`: who puts.
        ladder: the rules.
    """
    before, after = (_instances(x["queues"]) for x in (sides.before, sides.after))
    added = after.join(before, [c.QUEUE, c.QMGR], "left_anti")
    known = added.join(before.select(c.QUEUE).distinct(), c.QUEUE, "left_semi")
    found = []
    for queue, host in known.orderBy(c.QUEUE, c.QMGR).limit(_MOST).collect():
        place = _busiest(by_object, queue)
        if place is None:
            continue
        try:
            found.append(new_host(lake, place, host, snapshot_id, ladder, tries=False))
        except UsageError:
            continue  # its messages come to no queue as it is: the tables say so
    return found


def _instances(queues: DataFrame) -> DataFrame:
    """(queue, qmgr) of local queues that are shared, as they are defined."""
    is_shared = (F.col(c.CLUSTER) != "") & (F.col(c.OBSERVER) == EVERYBODY)
    is_local = F.coalesce(c.QTYPE, F.lit(QueueType.QLOCAL.value)) == QueueType.QLOCAL.value
    return queues.where(is_shared & is_local).select(c.QUEUE, c.QMGR).distinct()


def _busiest(by_object: Sequence[Row], queue: str) -> Place | None:
    """The put to a queue that most messages take; None = nobody puts to it."""
    rows = [x for x in by_object if x[c.OBJECT_NAME] == queue]
    if not rows:
        return None
    most = max(rows, key=lambda x: (x[BEFORE] or 0, x[c.QMGR]))
    return Place(most[c.QMGR], queue, most[c.OBJECT_QMGR] or "")
