"""From a lake to what a report says of it.

The outcomes are read twice; all else is made of their sums, and only small results are collected.
"""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame

from clwl_spark.report import ladder as steps
from clwl_spark.report.aggregate import Aggregate, aggregated
from clwl_spark.report.data import Change, ClusterMap, Head, ReportData
from clwl_spark.report.expecting import expected_ways
from clwl_spark.report.traffic import (
    busiest_nodes,
    failures,
    outcome_counts,
    snapshots_used,
    timeline,
)
from clwl_spark.report.ways import (
    ExpectedShare,
    busiest_objects,
    deviations,
    moves,
    shares,
    told_ways,
)
from clwl_spark.session import interpreting
from clwl_spark.storage import Lake

MAP_NODES: Final = 40


def read_report(
    lake: Lake, expected: Sequence[ExpectedShare] | None = None, changes: Sequence[Change] = ()
) -> ReportData:
    """Sum up what was routed.

    Args:
        lake: with outcomes; its session is used as it is.
        expected: shares to compare the actual ones with; None = those of the plans.
        changes: differences of a what-if, in the order in which they are to be shown.

    Raises:
        MissingLakeError: there are neither outcomes nor messages.
        NothingRoutedError: there are no outcomes yet.
    """
    with aggregated(lake) as aggregate, interpreting(lake.spark):
        if expected is None:
            awaited = expected_ways(lake, aggregate)
        else:
            awaited = told_ways(lake.spark, expected)
        return _summed_up(lake, aggregate, awaited, tuple(changes))


def _summed_up(
    lake: Lake,
    aggregate: Aggregate,
    expected: DataFrame,
    changes: tuple[Change, ...],
) -> ReportData:
    outcomes, failed = outcome_counts(aggregate)
    used = snapshots_used(lake, aggregate)
    missing = failures(lake, aggregate, failed)
    rejected = sum(missing.rejected.values())
    plans = steps.ladder(lake, aggregate)
    plans.channels.persist()
    found = shares(aggregate, expected).persist()
    try:
        nodes, nodes_in_all = busiest_nodes(aggregate, MAP_NODES)
        edges, edges_in_all = steps.edges_among(plans, nodes)
        pairs = busiest_objects(found)
        return ReportData(
            Head(
                lake=lake.root,
                first=aggregate.first,
                last=aggregate.last,
                messages=steps.messages_routed(plans) + rejected,
                outcomes=outcomes,
                failed=failed,
                rejected=rejected,
                algorithm=steps.algorithm_of(lake),
                snapshots=used,
            ),
            ClusterMap(nodes, edges, nodes_in_all, edges_in_all),
            *pairs,
            deviations=deviations(found),
            moves=moves(aggregate, used),
            idle=steps.idle_channels(plans),
            held=steps.held_channels(plans),
            funnel=steps.funnel(plans),
            timeline=timeline(aggregate),
            failures=missing,
            changes=changes,
        )
    finally:
        plans.channels.unpersist()
        found.unpersist()
