"""Objects that rule 5 took away, as a command names them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import PUT_ENABLED
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.snapshots.spelling import named
from clwl_spark.snapshots.views import Topology
from clwl_spark.studies.explain.planned import Planned
from clwl_spark.tables import columns as c


def disabled_types(
    topology: Topology, snapshot_id: str, planned: Sequence[Planned]
) -> dict[tuple[str, str], str]:
    """The types of queues that rule 5 takes away, by queue manager and name."""
    gone = [(x, y) for x in planned for y in x.candidates if y[c.ELIMINATED_BY] == PUT_ENABLED]
    asked = {(y[c.DEST_QMGR], _name(x, y)) for x, y in gone if y[c.KIND] != PlanKind.TOPIC.value}
    if not asked:
        return {}
    qmgrs, queues = zip(*asked, strict=True)
    there = F.col(c.QMGR).isin(*qmgrs) & F.col(c.QUEUE).isin(*queues)
    rows = topology.queues.where((F.col(c.SNAPSHOT_ID) == snapshot_id) & there)
    found = rows.select(c.QMGR, c.QUEUE, c.QTYPE).distinct().collect()
    return {(x[c.QMGR], x[c.QUEUE]): x[c.QTYPE] for x in found}


def in_mqsc(
    side: Planned, row: Mapping[str, Any] | None, types: Mapping[tuple[str, str], str]
) -> str:
    """The object of a candidate in MQSC; blank where its type is not known."""
    if row is None:
        return ""
    name = _name(side, row)
    is_topic = row[c.KIND] == PlanKind.TOPIC.value
    type_ = "TOPIC" if is_topic else types.get((row[c.DEST_QMGR], name), "")
    return f"{type_}({named(name)})" if type_ else ""


def _name(side: Planned, row: Mapping[str, Any]) -> str:
    """The object of a candidate: of a queue manager alias the alias, not the queue behind it."""
    is_qmgr_alias = row[c.KIND] == PlanKind.QMGR.value and row[c.IS_ALIAS]
    return str(side.plan[c.RESOLVED_QMGR] if is_qmgr_alias else row[c.DEST_OBJECT])
