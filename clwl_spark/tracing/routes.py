"""The routes of many plans at once, each with its share of the messages in the long run.

Source: SEMANTICS 5 and 7, P33; CONTRACT, "JSON of a few commands".
"""

from itertools import groupby
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.analysis.shares import Route, long_run_shares
from clwl_spark.plan.facts import CURRENT, DEFINITIONS, senders
from clwl_spark.plan.names import NAME
from clwl_spark.plan.transmit import TransmissionQueues, now
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.topology.views import VIEWER, Topology

Row = dict[str, Any]
SHARE: Final = "expected_share"


def _route_order(row: Row) -> tuple[Any, ...]:
    return (row[c.PLAN_ID], *(row[x] for x in (c.CHOICE, *ROUTE_ORDER)))


def expected_routes(
    candidates: DataFrame, asked: DataFrame, topology: Topology
) -> dict[int, list[Row]]:
    """The routes of each plan with transmission queue and long-run share.

    Args:
        candidates: rows of `route_candidates`.
        asked: the plans' requests: (plan_id, *REQUEST).
        topology: what the requests meet.

    Returns:
        plan_id -> routes as in `clwl explain --json`, copies of a publication one after the other.
    """
    survivors = candidates.where(F.col(c.ELIMINATED_BY).isNull()).collect()
    rows = sorted((row.asDict() for row in survivors), key=_route_order)
    viewers = asked.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    found = {x[VIEWER]: x.asDict(recursive=True) for x in senders(viewers, topology).collect()}
    sender_of = {row[c.PLAN_ID]: found[row[c.QMGR]] for row in asked.collect()}
    routes: dict[int, list[Row]] = {}
    for plan, of_plan in groupby(rows, key=lambda row: row[c.PLAN_ID]):
        sender = sender_of[plan]
        queues = _transmission_queues(sender)
        copies = [list(copy) for _, copy in groupby(of_plan, key=lambda row: row[c.CHOICE])]
        for copy in copies:
            seen = [Route(r[c.DEST_QMGR], r[c.CHANNEL], r[c.IS_LOCAL], r[c.CLWLWGHT]) for r in copy]
            shares = long_run_shares(seen, sender[c.CLWLMRUC])
            routes.setdefault(plan, []).extend(
                _route(row, queues, float(share / len(copies)))
                for row, share in zip(copy, shares, strict=True)
            )
    return routes


def _transmission_queues(sender: Row) -> TransmissionQueues:
    current = sender[CURRENT] or ()
    return TransmissionQueues(
        defclxq=sender[c.DEFCLXQ],
        definitions=[(x[NAME], x[c.CLCHNAME]) for x in sender[DEFINITIONS] or ()],
        current={(x[c.CHANNEL], x[c.REMOTE_QMGR]): x[c.XMITQ] for x in current},
    )


def _route(row: Row, queues: TransmissionQueues, share: float) -> Row:
    is_local = row[c.IS_LOCAL]
    return {
        **{name: row[name] for name in (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL)},
        c.CLUSTER: row[c.CHANNEL_CLUSTER],
        c.XMITQ: None if is_local else now(row[c.CHANNEL], row[c.DEST_QMGR], queues),
        c.IS_LOCAL: is_local,
        c.CLWLWGHT: row[c.CLWLWGHT],
        SHARE: share,
    }
