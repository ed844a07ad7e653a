"""A few puts planned at once, and what was found brought to the driver.

Source: SEMANTICS 2 to 5 and 7, P33; CONTRACT, "JSON of a few commands".
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any, Final

from clwl_spark.algorithm.request import REQUEST, Request
from clwl_spark.algorithm.shares import Route, long_run_shares
from clwl_spark.algorithm.transmit import TransmissionQueues, now
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.planning.facts import senders_among, transmission_queues
from clwl_spark.planning.plans import Ladder, Unjudged, judged_by, unjudged
from clwl_spark.routing.intake.splits import spark_hash
from clwl_spark.routing.plans.plan_maker import REQUESTS
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.snapshots.relevant import as_met_by
from clwl_spark.snapshots.views import VIEWER, Topology
from clwl_spark.spark.frames import frame_from_rows, rows_at_hand
from clwl_spark.spark.materialize import FEW, fitting
from clwl_spark.tables import columns as c

Row = dict[str, Any]
EXPECTED_SHARE: Final = "expected_share"
_NAMED: Final = 30
"""Up to so many puts, frames are brought here: planning is twice as fast from rows at hand."""
CANDIDATE_ORDER: Final = (c.CHOICE, *ROUTE_ORDER, c.INSTANCE_CLUSTER, c.CHANNEL_CLUSTER)


@dataclass(frozen=True, slots=True)
class Planned:
    """What one put comes to.

    Attributes:
        plan: its row of `route_plans`, less `reset_epoch`.
        candidates: its rows of `route_candidates`, in route order.
        routes: as in `clwl explain --json`, copies of a publication one after the other; none
            where the plan's reason is not 0.
        clwlmruc: CLWLMRUC of the queue manager that puts; None where there is no candidate.
    """

    plan: Row
    candidates: Sequence[Row]
    routes: Sequence[Row]
    clwlmruc: int | None = None


def planned(
    requests: Collection[Request], topology: Topology, ladder: Ladder
) -> dict[Request, Planned]:
    """Plan puts in one pass.

    Args:
        requests: distinct.
        topology: the snapshots that they name.
        ladder: which rules.
    """
    spark = topology.queues.sparkSession
    asked = frame_from_rows(spark, ((spark_hash(x), *x) for x in requests), REQUESTS)
    met = _as_met(requests, topology)
    types = {request.object_type for request in requests}
    keep = fitting(len(requests))
    found = unjudged(asked, met, ladder, keep, types)
    made = judged_by(ladder, found, keep)
    plans = [row.asDict() for row in made.plans.collect()]
    candidates: dict[int, list[Row]] = defaultdict(list)
    for row in made.candidates.collect():
        candidates[row[c.PLAN_ID]].append(row.asDict())
    known = _senders(found) if candidates else {}
    come_to = {}
    for plan in plans:
        rows = sorted(candidates[plan[c.PLAN_ID]], key=candidate_order)
        sender = known.get((plan[c.SNAPSHOT_ID], plan[c.QMGR]), {})
        routes = _routes(rows, sender) if plan[c.REASON] == 0 else []
        limit = sender.get(c.CLWLMRUC) if rows else None
        come_to[Request(*(plan[name] for name in REQUEST))] = Planned(plan, rows, routes, limit)
    return come_to


def _as_met(requests: Collection[Request], topology: Topology) -> Topology:
    """What these puts can meet; all of the topology where they are many, or it is a few rows."""
    tables = [rows_at_hand(getattr(topology, x.name)) for x in fields(topology)]
    if len(requests) > _NAMED or all(x is not None and x.num_rows <= FEW for x in tables):
        return topology
    names = {name for x in requests for name in (x.object_name, x.object_qmgr)}
    published = any(x.object_type == ObjectType.TOPIC for x in requests)
    return as_met_by({x.qmgr for x in requests}, names, topology, published=published)


def candidate_order(row: Row) -> tuple[Any, ...]:
    """What a plan's candidates are sorted by: route order, copy by copy."""
    return tuple(row[name] for name in CANDIDATE_ORDER)


def _senders(found: Unjudged) -> dict[tuple[str, str], Row]:
    """What the senders have to do with routes beyond the plans, by (snapshot_id, qmgr)."""
    rows = senders_among(found.known, found.topology).collect()
    return {(row[c.SNAPSHOT_ID], row[VIEWER]): row.asDict(recursive=True) for row in rows}


def _routes(candidates: Sequence[Row], sender: Row) -> list[Row]:
    """The survivors among a plan's candidates, with transmission queue and long-run share."""
    surviving = [row for row in candidates if row[c.ELIMINATED_BY] is None]
    copies = [list(copy) for _, copy in groupby(surviving, key=lambda row: row[c.CHOICE])]
    queues = transmission_queues(sender)
    found = []
    for copy in copies:
        seen = [Route(r[c.DEST_QMGR], r[c.CHANNEL], r[c.IS_LOCAL], r[c.CLWLWGHT]) for r in copy]
        shares = long_run_shares(seen, sender[c.CLWLMRUC])
        for row, share in zip(copy, shares, strict=True):
            found.append(_route(row, queues, float(share / len(copies))))
    return found


def _route(row: Row, queues: TransmissionQueues, share: float) -> Row:
    is_local = row[c.IS_LOCAL]
    return {
        **{name: row[name] for name in (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL)},
        c.CLUSTER: row[c.CHANNEL_CLUSTER],
        c.XMITQ: None if is_local else now(row[c.CHANNEL], row[c.DEST_QMGR], queues),
        c.IS_LOCAL: is_local,
        c.CLWLWGHT: row[c.CLWLWGHT],
        EXPECTED_SHARE: share,
    }
