"""From a lake to what a report says of it.

The outcomes are read twice; all else is made of their sums, and only small results are collected.
"""

from collections.abc import Callable
from shlex import quote
from typing import Any, Final

from clwl_spark.delta.lake import Lake
from clwl_spark.present.report import ladder as steps
from clwl_spark.present.report.aggregate import Aggregate, aggregated
from clwl_spark.present.report.data import ClusterMap, Head, ReportData
from clwl_spark.present.report.expecting import expected_ways
from clwl_spark.present.report.publications import publications
from clwl_spark.present.report.traffic import (
    busiest_nodes,
    failures,
    outcome_counts,
    snapshots_used,
    timeline,
)
from clwl_spark.present.report.ways import (
    busiest_objects,
    deviations,
    moves,
    shares,
)
from clwl_spark.routing.ledger.own_opens import own_opens
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import ALL
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.tables import OBSERVED_ROUTES, SNAPSHOTS

MAP_NODES: Final = 40
LOOKED_INTO: Final = 10
"""Queue managers whose first disagreement is explained; clwl conform does more of them."""
_OF_HEAD: Final = ("outcomes", "failed", "waiting", "rejected", "snapshots", "algorithm")
Row = dict[str, Any]
"""Parts of a report by their names in `ReportData` and `Head`; `routed` are messages."""


def read_report(lake: Lake) -> ReportData:
    """Sum up what was routed.

    Args:
        lake: with outcomes; its session is used as it is.

    Raises:
        MissingLakeError: there are neither outcomes nor messages.
        NothingRoutedError: there are no outcomes yet.
    """
    aggregate = aggregated(lake)
    # Each is a row of small questions about few rows: while one is planned, another one runs.
    parts: list[Callable[[], Row]] = [
        lambda: _counted(lake, aggregate),
        lambda: _weighed(lake, aggregate),
        lambda: _gone(lake, aggregate),
        lambda: {"conformity": _recorded(lake)},
        lambda: {"publications": publications(lake, aggregate)},
    ]
    found = run_parallel(lake.spark, lambda part: part(), parts)
    said = {name: value for part in found for name, value in part.items()}
    head = Head(
        lake=lake.root,
        own_opens=own_opens(lake),
        newest=_newest(lake),
        place=f"{'--catalog' if lake.in_catalog else '--lake'} {quote(lake.root)}",
        first=aggregate.first,
        last=aggregate.last,
        messages=said["routed"] + said["rejected"],
        **{name: said[name] for name in _OF_HEAD},
    )
    shown = {name: said[name] for name in said if name not in (*_OF_HEAD, "routed")}
    return ReportData(head, **shown)


def _newest(lake: Lake) -> str:
    """The last valid snapshot; blank where there is none, or none any more."""
    valid = snapshot_catalog(lake).valid if lake.exists(SNAPSHOTS.name) else []
    return valid[-1].snapshot_id if valid else ""


def _recorded(lake: Lake) -> Conformity | None:
    """Predictions beside records of where messages went, where there are any."""
    if lake.read_or_empty(OBSERVED_ROUTES.name).isEmpty():
        return None
    return conform(lake, ALL, LOOKED_INTO)


def _counted(lake: Lake, aggregate: Aggregate) -> Row:
    """What the sums say by themselves."""
    outcomes, failed = outcome_counts(aggregate)
    used, missing = snapshots_used(lake, aggregate), failures(lake, aggregate, failed)
    return {
        "outcomes": outcomes,
        "failed": failed,
        "rejected": sum(missing.rejected.values()),
        "snapshots": used,
        "failures": missing,
        "moves": moves(aggregate, used),
        "timeline": timeline(aggregate),
    }


def _weighed(lake: Lake, aggregate: Aggregate) -> Row:
    """What the plans say of the messages."""
    plans = steps.ladder(lake, aggregate)
    nodes, nodes_in_all = busiest_nodes(lake, aggregate, MAP_NODES)
    edges, edges_in_all = steps.edges_among(plans, nodes)
    held, waiting = steps.holding_channels(lake, aggregate, plans)
    return {
        "routed": steps.messages_routed(plans),
        "algorithm": semantics_of(lake).algorithm,
        "cluster": ClusterMap(nodes, edges, nodes_in_all, edges_in_all),
        "idle": steps.idle_channels(plans),
        "avoided": steps.avoided_channels(plans),
        "held": held,
        "waiting": waiting,
        "funnel": steps.funnel(plans),
    }


def _gone(lake: Lake, aggregate: Aggregate) -> Row:
    """Which way the messages went, against what is expected."""
    found = aggregate.keep(shares(aggregate, expected_ways(lake, aggregate)))
    busiest, pairs, paired = busiest_objects(found)
    return {"shares": busiest, "pairs": pairs, "paired": paired, "deviations": deviations(found)}
