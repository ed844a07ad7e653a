"""Which subscriptions a publication is handed to where it comes to.

Source: SEMANTICS 9, P19, P39; Hughson's deck, "Cluster Topic Hosts".
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from operator import itemgetter
from typing import Final

from clwl_spark.planning.proxies import handed_to
from clwl_spark.snapshots.views import Topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize
from clwl_spark.tables import columns as c

_ARRIVED: Final = (
    f"{c.SNAPSHOT_ID} string, {c.QMGR} string, {c.OBJECT_NAME} string, {c.IS_LOCAL} boolean"
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A publication at a queue manager.

    Attributes:
        snapshot_id: the snapshot.
        qmgr: where it has come to.
        topic: its topic string.
        is_local: it was published there.
    """

    snapshot_id: str
    qmgr: str
    topic: str
    is_local: bool


@dataclass(frozen=True, slots=True)
class Subscription:
    """A user subscription that gets a publication.

    Attributes:
        qmgr: queue manager that holds it.
        sub_name: its name.
        topicstr: its topic string, which may have wildcards.
        dest: destination queue; None = not known.
        dest_qmgr: destination queue manager; None or blank = its own.
    """

    qmgr: str
    sub_name: str
    topicstr: str
    dest: str | None
    dest_qmgr: str | None


def subscriptions_at(
    arrivals: Iterable[Arrival], topology: Topology, keep: Materialize
) -> dict[Arrival, list[Subscription]]:
    """The subscriptions by arrival, in order of their names; those without have no key.

    Args:
        arrivals: distinct.
        topology: the tables.
        keep: what to do with frames that several steps read.
    """
    session = topology.subscriptions.sparkSession
    arrived = frame_from_rows(session, map(astuple, arrivals), _ARRIVED)
    rows = handed_to(arrived, topology, keep).toPandas().to_dict("records")
    found: dict[Arrival, list[Subscription]] = {}
    for row in sorted(rows, key=itemgetter(c.SUB_NAME, c.TOPICSTR)):
        at = Arrival(*(row[x] for x in (c.SNAPSHOT_ID, c.QMGR, c.OBJECT_NAME, c.IS_LOCAL)))
        told = (row[x] for x in (c.QMGR, c.SUB_NAME, c.TOPICSTR, c.DEST, c.DEST_QMGR))
        found.setdefault(at, []).append(Subscription(*told))
    return found
