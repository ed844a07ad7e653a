"""A snapshot taken out of the lake, with all its rows."""

from typing import Final

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.snapshots.catalog import require_snapshots
from clwl_spark.snapshots.inspection import WRITABLE
from clwl_spark.snapshots.timeline import refuse_followed
from clwl_spark.snapshots.write import withdraw
from clwl_spark.tables import (
    OUTCOMES,
    ROUTE_PLANS,
    RUNS,
    SNAPSHOT_CHANGES,
    SNAPSHOT_RESETS,
    SNAPSHOTS,
    TOPIC_CONFLICTS,
    TOPIC_COSTS,
)
from clwl_spark.tables import columns as c

_DERIVED: Final = (TOPIC_COSTS.name, TOPIC_CONFLICTS.name)


def drop_snapshot(lake: Lake, snapshot_id: str) -> list[str]:
    """Delete a snapshot that routing has not used; interrupted, it can be done again.

    Args:
        lake: where it is.
        snapshot_id: the snapshot.

    Returns:
        The snapshots that were made of it; they keep their rows.

    Raises:
        MissingSnapshotError: there is no such snapshot.
        LakeStateError: routing has used it, or a run that is not done holds it.
    """
    require_snapshots(lake, snapshot_id)
    refuse_followed(lake, snapshot_id)
    _refuse_needed(lake, snapshot_id)
    withdraw(lake, frozenset({snapshot_id}))
    for name in (*WRITABLE, *_DERIVED, SNAPSHOT_CHANGES.name, SNAPSHOTS.name):
        if lake.exists(name):
            lake.delete(name, c.SNAPSHOT_ID, snapshot_id)
    heads = lake.in_memory(SNAPSHOTS.name).to_pylist()
    return sorted(x[c.SNAPSHOT_ID] for x in heads if x[c.BASE] == snapshot_id)


def _refuse_needed(lake: Lake, snapshot_id: str) -> None:
    """Refuse to drop what outcomes were derived from, or will be."""
    it = F.lit(snapshot_id)
    plans = lake.read_or_empty(ROUTE_PLANS.name).where(F.col(c.SNAPSHOT_ID) == it)
    resets = lake.read_or_empty(SNAPSHOT_RESETS.name)
    between = resets.where((F.col(c.SNAPSHOT_ID) == it) | (F.col(c.PREVIOUS_ID) == it))
    # Messages under a snapshot of a timeline may have the plan of an earlier one.
    is_step = snapshot_id in lake.steps()
    outcomes = lake.read_or_empty(OUTCOMES.name).where((F.col(c.SNAPSHOT_ID) == it) & is_step)
    if not (plans.isEmpty() and between.isEmpty() and outcomes.isEmpty()):
        raise LakeStateError(
            f"snapshot '{snapshot_id}' of {lake.root} has been used by routing: it stays, since "
            "outcomes are explained by it; nothing was deleted"
        )
    runs = lake.read_or_empty(RUNS.name).where(F.col("finished_at").isNull())
    if not runs.where(F.array_contains("snapshots", it)).isEmpty():
        raise LakeStateError(
            f"a run of routing in {lake.root} that is not done holds snapshot '{snapshot_id}': "
            "let `clwl route` end it first; nothing was deleted"
        )
