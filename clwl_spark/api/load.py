"""Questions of the Python API about load: shares of puts, of a lake's traffic, and of failures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.api.answers import ROUTE
from clwl_spark.api.shown import frame_of
from clwl_spark.cli.commands.what_if import Swept
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError, did_you_mean
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.explain.planned import EXPECTED_SHARE
from clwl_spark.studies.shares.balance import balance
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.shares.traffic import MESSAGES_OF, Puts, traffic_from, traffic_of_lake
from clwl_spark.studies.sweep.outages import Part
from clwl_spark.studies.sweep.survival import Survival, copies_of, survivals
from clwl_spark.studies.sweep.sweep import base_of
from clwl_spark.tables import columns as c

EXPECTED: Final = "expected"
_OBJECT: Final = (c.OBJECT_NAME, MESSAGES_OF, c.KIND, c.REASON)
_ROUTE: Final = (*ROUTE[:-1], "step", SHARE, EXPECTED_SHARE)
_REQUEST: Final = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR, c.REASON, c.DEST_QMGR, c.CHANNEL)
_PARTS: Final = {
    Swept.CHANNELS: (Part.CHANNEL,),
    Swept.QUEUE_MANAGERS: (Part.QMGR,),
    Swept.CLUSTERS: (Part.CLUSTER,),
    Swept.ALL: tuple(Part),
}
_CASE: Final = (
    "case", "part", "name", "to", "messages_waiting", "messages_not_put", "messages_moved",
    "requests_hit", "requests_stranded", "busiest_channel", "busiest_qmgr", "busiest_before",
    "busiest_after",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrafficShares:
    """Expected load of a lake's messages, each object by itself.

    Attributes:
        messages: of the lake, those left out that routing would reject.
        by_queue_manager: (dest_qmgr, expected, share), most first; `expected` is in messages, the
            shares are of those that get a destination.
        by_channel: (dest_qmgr, channel, expected, share) of remote channels; of what leaves.
        by_request: (qmgr, object_name, object_qmgr, reason, dest_qmgr, channel, expected, share).
    """

    messages: float
    by_queue_manager: pd.DataFrame
    by_channel: pd.DataFrame
    by_request: pd.DataFrame


def shares_of(
    lake: Lake, snapshot_id: str, qmgr: str, puts: str | Mapping[str, int], ladder: Ladder
) -> pd.DataFrame:
    """Long-run shares of puts of one queue manager: one row per object and route.

    Args:
        lake: with topology.
        snapshot_id: one of its own.
        qmgr: where is put.
        puts: a queue name, or names with how many messages are put at a time.
        ladder: the rules.

    Raises:
        UnknownQueueManagerError: the snapshot does not define the queue manager.
        UsageError: no object, or a number of messages that is not whole and above 0.
    """
    counts = {puts: 1} if isinstance(puts, str) else dict(puts)
    asked = [_put(qmgr, name, count) for name, count in counts.items()]
    if not asked:
        raise UsageError("name what is put to, as in 'ORDERS' or {'ORDERS': 3, 'INVOICES': 1}")
    topology = consistent_topology(lake, [snapshot_id])
    known = names_defined(topology)
    check_qmgr(qmgr, known, snapshot_id)
    found = balance(asked, snapshot_id, topology, ladder)
    rows = [
        {**{x: request[x] for x in _OBJECT}, **route}
        for request in found.requests
        for route in request["routes"] or [dict.fromkeys(_ROUTE)]
    ]
    return frame_of(rows, (*_OBJECT, *_ROUTE))


def traffic_shares_of(lake: Lake, snapshot_id: str, ladder: Ladder) -> TrafficShares:
    """Expected load of the lake's messages as if all were put while a snapshot is in force.

    Raises:
        MissingLakeError: there are no messages.
    """
    topology = consistent_topology(lake, [snapshot_id], checkpoint)
    base = base_of(traffic_of_lake(lake, snapshot_id), topology, ladder)
    ends = base.ends.withColumn(EXPECTED, F.col(MESSAGES_OF) * F.col(SHARE))
    goes = ends.where(F.col(c.REASON) == 0)
    remote = goes.where(~F.col(c.IS_LOCAL) & F.col(c.CHANNEL).isNotNull())
    return TrafficShares(
        _messages(base.plans),
        _expected(goes, (c.DEST_QMGR,)),
        _expected(remote, (c.DEST_QMGR, c.CHANNEL)),
        _expected(ends, _REQUEST),
    )


def sweep_of(
    lake: Lake,
    snapshot_id: str,
    swept: Sequence[str],
    puts: Mapping[tuple[str, str], int],
    ladder: Ladder,
) -> pd.DataFrame:
    """What each single failure costs: one row per case, the worst first; messages are expected.

    Args:
        lake: with topology, and messages if no puts are told.
        snapshot_id: one of its own.
        swept: words of `Swept`.
        puts: (queue manager, object) and its messages; none = the messages of the lake.
        ladder: the rules.

    Raises:
        UnknownQueueManagerError: puts of a queue manager that the snapshot does not define.
        UsageError: a word that is none of `Swept`, or a number of messages that is none.
        MissingLakeError: there are no messages.
    """
    parts = dict.fromkeys(part for word in swept for part in _PARTS[_swept(word)])
    told = [_put(qmgr, name, count) for (qmgr, name), count in puts.items()]
    topology = consistent_topology(lake, [snapshot_id])
    known = names_defined(topology) if told else frozenset()
    for put in told:
        check_qmgr(put.qmgr, known, snapshot_id)
    if told:
        traffic = traffic_from(lake.spark, snapshot_id, told)
    else:
        traffic = traffic_of_lake(lake, snapshot_id)
    base = base_of(traffic, topology, ladder)
    found = survivals(base, [(outage,) for outage in base.channels.outages(parts)])
    frame = frame_of(map(_case, sorted(found, key=lambda x: x.cost)), _CASE)
    frame.attrs |= {"messages": _messages(base.plans), "copies": copies_of(base)}
    return frame


def _put(qmgr: str, name: str, count: object) -> Puts:
    if not name or type(count) is not int or count < 1:
        raise UsageError(f"{name!r}: {count!r}: give a name and a whole number of messages from 1")
    return Puts(qmgr, name, messages=float(count))


def _swept(word: str) -> Swept:
    if word not in tuple(Swept):
        raise UsageError(f"sweep {word!r}: {did_you_mean(word, [x.value for x in Swept])}")
    return Swept(word)


def _messages(plans: DataFrame) -> float:
    return float(plans.groupBy().sum(MESSAGES_OF).collect()[0][0] or 0.0)


def _expected(ends: DataFrame, keys: tuple[str, ...]) -> pd.DataFrame:
    """Expected messages by some columns, most first, with their share."""
    summed = ends.groupBy(*keys).agg(F.sum(EXPECTED).alias(EXPECTED)).where(F.col(EXPECTED) > 0)
    rows = [row.asDict() for row in summed.orderBy(F.desc(EXPECTED), *keys).collect()]
    whole = sum(row[EXPECTED] for row in rows) or 1.0
    return frame_of([{**x, SHARE: x[EXPECTED] / whole} for x in rows], (*keys, EXPECTED, SHARE))


def _case(found: Survival) -> dict[str, Any]:
    outage = found.case[0]
    own = {"case": str(outage), "part": str(outage.part), "name": outage.name, "to": outage.to}
    return {**asdict(found), **own}
