"""What the balancing alone of another release of MQ sends otherwise, over the same routes.

MQ 9 takes turns where all weights are 50; MQ 7 always balances by the factor. The two differ where
requests of one queue manager choose among channels of which they share some and not all.

Source: SEMANTICS 5, R3.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.shares import Route
from clwl_spark.mq.vocabulary import DEFAULT_MRUC, Edition
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.snapshots.views import VIEWER, Topology, own_rows
from clwl_spark.studies.shares.traffic import MESSAGES_OF
from clwl_spark.studies.sweep.sweep import Base
from clwl_spark.tables import columns as c

Row = dict[str, Any]
Request = list[Row]

SENDERS: Final = 20
"""Queue managers whose balancing is compared: those that put most."""
_LEAST: Final = 1e-6
_ASKED: Final = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR)


def balancing_moves(base: Base, topology: Topology, edition: Edition) -> list[Row]:
    """Requests whose messages the other release's balancing sends elsewhere, with how many.

    Args:
        base: the traffic.
        topology: the snapshot.
        edition: of the semantics; in the first one both balance alike.

    Returns:
        (qmgr, object_name, object_qmgr, messages, moved), the most first, of the `SENDERS` queue
        managers that put most.
    """
    if edition < Edition.SECOND:
        return []
    rows = _routes(base).collect()
    limits = _most_recently_used(base, topology)
    found: list[Row] = []
    for qmgr, own in groupby((row.asDict() for row in rows), key=lambda row: row[c.QMGR]):
        requests = [list(x) for _, x in groupby(own, key=lambda row: row[c.PLAN_ID])]
        requests = [x for x in requests if not all(row[c.IS_LOCAL] for row in x)]
        if _overlap(requests):
            found += _moves(requests, limits.get(qmgr, DEFAULT_MRUC))
    return sorted(found, key=lambda row: (-row["moved"], *(row[x] for x in _ASKED)))


def _routes(base: Base) -> DataFrame:
    """The routes of requests that make one choice, in route order within a request.

    Grain: one row per route.
    """
    putting = base.plans.groupBy(c.QMGR).agg(F.sum(MESSAGES_OF).alias("_put"))
    senders = putting.orderBy(F.desc("_put"), c.QMGR).limit(SENDERS).select(c.QMGR)
    routes = base.ends.where(F.col(c.CHANNEL).isNotNull() & (F.col("choices") == 1))
    return (
        routes.join(senders, c.QMGR, "left_semi")
        .select(
            *(c.PLAN_ID, *_ASKED, MESSAGES_OF, *ROUTE_ORDER, c.IS_LOCAL, c.CLWLWGHT),
        )
        .orderBy(c.QMGR, c.PLAN_ID, *ROUTE_ORDER)
    )


def _most_recently_used(base: Base, topology: Topology) -> dict[str, int]:
    """CLWLMRUC of the queue managers that put."""
    senders = base.plans.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    rows = own_rows(senders, topology.queue_managers, ()).select(VIEWER, c.CLWLMRUC).collect()
    return {row[0]: int(row[1]) for row in rows}


def _overlap(requests: Sequence[Request]) -> bool:
    """Whether two requests share a channel, and not all of them."""
    channels = {frozenset((x[c.DEST_QMGR], x[c.CHANNEL]) for x in rows) for rows in requests}
    return any(one & other for one in channels for other in channels if one != other)


def _moves(requests: Sequence[Request], mruc: int) -> Iterable[Row]:
    """The requests of one queue manager that the two ways of balancing share out otherwise."""
    from clwl_spark.studies.shares.mix import Stream, mixed_shares  # noqa: PLC0415  (it has the kernel)

    streams = [Stream(_in_choice(rows), max(round(rows[0][MESSAGES_OF]), 1)) for rows in requests]
    sides = [mixed_shares(streams, mruc, by_factor=x).shares for x in (False, True)]
    for rows, one, other in zip(requests, *sides, strict=True):
        moved = float(sum(max(x, Fraction(0)) for x in _differences(rows, one, other).values()))
        if moved > _LEAST:
            messages = rows[0][MESSAGES_OF]
            named = {name: rows[0][name] for name in (*_ASKED, MESSAGES_OF)}
            yield {**named, "moved": moved * messages}


def _differences(
    rows: Request, one: Sequence[Fraction], other: Sequence[Fraction]
) -> Mapping[tuple[Any, ...], Fraction]:
    """By how much each way's shares differ; what stays on the queue manager is one way."""
    found: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
    for row, x, y in zip(rows, one, other, strict=True):
        way = () if row[c.IS_LOCAL] else tuple(row[name] for name in ROUTE_ORDER)
        found[way] += x - y
    return found


def _in_choice(rows: Request) -> list[Route]:
    """The routes of a request."""
    return [Route(x[c.DEST_QMGR], x[c.CHANNEL], x[c.IS_LOCAL], x[c.CLWLWGHT]) for x in rows]
