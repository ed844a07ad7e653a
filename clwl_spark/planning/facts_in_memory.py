"""`planning.facts` of rows in memory and of datasets that are passed over; no Spark.

Tables of a folder of this machine are read so in a fraction of the time: 9 million statuses in
1.3 s, which take Spark 7 to 13.

Source: SEMANTICS 1 (S2, S3), 5 (CLWLMRUC, resets), 7 (transmission queues), P1.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset as ds

from clwl_spark.mq.vocabulary import ChannelType, Usage
from clwl_spark.planning.facts import (
    BY_FACTOR,
    CURRENT,
    CURRENT_COLUMNS,
    DEFINITIONS,
    FACTS,
    PLAN_COLUMNS,
    PLANS,
    RESETS,
    ROUTE_COLUMNS,
    ROUTES,
    SENDERS,
    STEP_COLUMNS,
    STEPS,
)
from clwl_spark.planning.names import NAME
from clwl_spark.snapshots.views import DEFAULTS, EVERYBODY
from clwl_spark.tables import columns as c

_DOCUMENTS: Final = pa.schema([(c.QMGR, pa.string()), (FACTS, pa.string())])
_CHANNEL: Final = pa.schema([(x, pa.string()) for x in (c.QMGR, c.REMOTE_QMGR, c.CHANNEL)])
_SENDER: Final = [c.SNAPSHOT_ID, c.QMGR]
_ATTRIBUTES: Final = (c.CLWLMRUC, c.DEFCLXQ)
_OWN: Final = (pc.field(c.OBSERVER) == EVERYBODY) | (pc.field(c.OBSERVER) == pc.field(c.QMGR))
Rows = list[dict[str, Any]]
Columns = dict[str, list[Any]]
BySender = dict[tuple[str, str], Rows]
"""Rows by (snapshot_id, qmgr)."""


def facts_in_memory(
    plans: pa.Table,
    routes: pa.Table,
    senders: Mapping[str, Rows],
    resets: Mapping[str, Sequence[str]],
    *,
    by_factor: bool = False,
    steps: pa.Table | None = None,
) -> pa.Table:
    """As `facts`.

    Args:
        plans: rows of route_plans: PLAN_COLUMNS and `qmgr`.
        routes: `routes_in_memory`.
        senders: `senders_in_memory`.
        resets: by queue manager, the snapshots that reset its history.
        by_factor: as of `facts`.
        steps: as of `facts`.
    """
    steps_of = {} if steps is None else _by_qmgr(steps, STEP_COLUMNS)
    routes_of = _by_qmgr(routes, ROUTE_COLUMNS)
    documents = {
        qmgr: json.dumps(
            {
                PLANS: of_qmgr,
                ROUTES: routes_of.get(qmgr),
                SENDERS: senders[qmgr],
                RESETS: resets.get(qmgr),
                BY_FACTOR: by_factor,
                **({STEPS: steps_of[qmgr]} if qmgr in steps_of else {}),
            }
        )
        for qmgr, of_qmgr in _by_qmgr(plans, PLAN_COLUMNS).items()
    }
    return pa.table({c.QMGR: list(documents), FACTS: list(documents.values())}, schema=_DOCUMENTS)


def routes_in_memory(plans: pa.Table, candidates: pa.Table) -> pa.Table:
    """The candidates that survive the rules, with the queue manager that routes.

    Args:
        plans: rows of route_plans.
        candidates: rows of route_candidates: ROUTE_COLUMNS and `eliminated_by`.
    """
    routes = candidates.filter(pc.is_null(candidates[c.ELIMINATED_BY])).select(ROUTE_COLUMNS)
    return routes.join(plans.select([c.PLAN_ID, c.QMGR]), c.PLAN_ID, join_type="inner")


def senders_in_memory(
    plans: pa.Table, used: Sequence[pa.Table], topology: Mapping[str, ds.Dataset]
) -> dict[str, Rows]:
    """As `planning.facts.senders`, with the associations of channels that messages can take.

    Args:
        plans: whose senders, (snapshot_id, qmgr), are wanted.
        used: rows with (qmgr, dest_qmgr, channel) that can be or ever were chosen.
        topology: queue_managers, queues and channel_status, by name.

    Grain: one row per snapshot and queue manager, by queue manager.
    """
    of = plans.group_by(_SENDER).aggregate([])
    snapshots = pc.field(c.SNAPSHOT_ID).isin(pc.unique(of[c.SNAPSHOT_ID]))
    there = {name: table.filter(snapshots) for name, table in topology.items()}
    qmgrs = _own_qmgrs(of, there["queue_managers"])
    definitions = _definitions(of, there["queues"])
    current = _current(used, there["channel_status"])
    found: dict[str, Rows] = defaultdict(list)
    for sender in zip(*(of[x].to_pylist() for x in _SENDER), strict=True):
        snapshot_id, qmgr = sender
        found[qmgr].append(
            {
                c.SNAPSHOT_ID: snapshot_id,
                **_with_defaults(qmgrs.get(sender, {})),
                DEFINITIONS: definitions.get(sender),
                CURRENT: current.get(sender),
            }
        )
    return found


def _own_qmgrs(of: pa.Table, table: ds.Dataset) -> dict[tuple[str, str], dict[str, Any]]:
    """The senders' rows: everybody's, or their own where there is one (S2)."""
    columns = [*_SENDER, c.OBSERVER, *_ATTRIBUTES]
    rows = _matching(table.filter(_OWN), of).to_table(columns).to_pylist()
    rows.sort(key=lambda row: row[c.OBSERVER] != EVERYBODY)
    return {(row[c.SNAPSHOT_ID], row[c.QMGR]): row for row in rows}


def _with_defaults(row: Mapping[str, Any]) -> dict[str, Any]:
    """A sender's attributes, MQ's defaults in place of nulls (P1)."""
    defaults = DEFAULTS["queue_managers"]
    return {x: defaults[x] if row.get(x) is None else row[x] for x in _ATTRIBUTES}


def _definitions(of: pa.Table, table: ds.Dataset) -> BySender:
    """The senders' transmission queues with a CLCHNAME, by the row of the lowest cluster (P3)."""
    names = [*_SENDER, c.QUEUE]
    own = table.filter(_OWN)
    is_one = (pc.field(c.USAGE) == Usage.XMITQ.value) & (pc.field(c.CLCHNAME) != "")
    named = _matching(own.filter(is_one), of).to_table(names).group_by(names).aggregate([])
    columns = [*names, c.CLUSTER, c.OBSERVER, c.USAGE, c.CLCHNAME]
    rows = _matching(own, named).to_table(columns).to_pylist()
    rows.sort(key=lambda row: (row[c.CLUSTER] or "", row[c.OBSERVER] == EVERYBODY), reverse=True)
    found: BySender = defaultdict(list)
    for row in {tuple(row[x] for x in names): row for row in rows}.values():
        if row[c.USAGE] == Usage.XMITQ and row[c.CLCHNAME]:
            definition = {NAME: row[c.QUEUE], c.CLCHNAME: row[c.CLCHNAME]}
            found[row[c.SNAPSHOT_ID], row[c.QMGR]].append(definition)
    return found


def _current(used: Sequence[pa.Table], table: ds.Dataset) -> dict[tuple[str, ...], Columns]:
    """The transmission queues that channels are associated with now."""
    chosen = [x.select([c.QMGR, c.DEST_QMGR, c.CHANNEL]) for x in used]
    channels = pa.concat_tables([x.rename_columns(_CHANNEL.names).cast(_CHANNEL) for x in chosen])
    distinct = channels.group_by(_CHANNEL.names).aggregate([])
    # Few of thousands of queue managers host what is asked for: the others are not joined.
    is_one = (
        (pc.field(c.CHLTYPE) == ChannelType.CLUSSDR.value)
        & (pc.field(c.XMITQ) != "")
        & pc.field(c.REMOTE_QMGR).isin(pc.unique(distinct[c.REMOTE_QMGR]))
    )
    rows = _matching(table.filter(is_one), distinct).to_table([*_SENDER, *CURRENT_COLUMNS])
    return _grouped(rows, _SENDER, CURRENT_COLUMNS)


def _matching(table: ds.Dataset, keys: pa.Table) -> ds.Dataset:
    """The rows that agree with one of the keys in all its columns."""
    return table.join(ds.dataset(keys), keys=keys.column_names, join_type="left semi")


def _by_qmgr(rows: pa.Table, names: Sequence[str]) -> dict[str, Columns]:
    """The columns of each queue manager's rows."""
    return {qmgr: columns for (qmgr,), columns in _grouped(rows, [c.QMGR], names).items()}


def _grouped(
    rows: pa.Table, by: Sequence[str], names: Sequence[str]
) -> dict[tuple[str, ...], Columns]:
    """The columns of the rows of each key."""
    order = [(name, "ascending") for name in by]
    rows = rows.sort_by(order)
    columns = {name: rows[name].to_pylist() for name in names}
    keys = rows.group_by(by).aggregate([([], "count_all")]).sort_by(order)
    ends = [*accumulate(keys["count_all"].to_pylist(), initial=0)]
    return {
        key: {name: column[start:end] for name, column in columns.items()}
        for key, (start, end) in zip(
            zip(*(keys[x].to_pylist() for x in by), strict=True), pairwise(ends), strict=True
        )
    }
