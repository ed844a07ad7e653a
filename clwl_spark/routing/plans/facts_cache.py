"""What a run leaves to the next one of the same process, so that a small batch costs little.

Most of what comes while a process follows the messages asks for what was planned already. Then
neither the stream that plans nor the facts need to be worked out again: on 10,000 messages that
is most of the time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.versions import Versions, versions_of
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.plans.gather import Gathered
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import (
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOT_CHANGES,
    SNAPSHOT_RESETS,
    SNAPSHOTS,
    TOPOLOGY,
)

_FROM: Final = tuple(
    x.name
    for x in (
        SNAPSHOTS,
        SNAPSHOT_CHANGES,
        *TOPOLOGY,
        ROUTE_PLANS,
        ROUTE_CANDIDATES,
        SNAPSHOT_RESETS,
    )
)
"""Tables that facts are worked out from."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts, the plans that are in them, and what they were worked out from."""

    facts: DataFrame | pa.Table
    plan_ids: frozenset[int]
    pins: tuple[Pin, ...]
    versions: Versions


class FactsCache:
    """Holds the facts of the last run."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._kept: _Facts | None = None

    def plan_ids(self, run: Run) -> frozenset[int]:
        """The plans of the last run, if this one may use them; its facts serve more batches so."""
        kept = self._kept
        return kept.plan_ids if kept is not None and kept.pins == run.pins else frozenset()

    def keep(self, lake: Lake, run: Run, made: Gathered) -> None:
        """Keep a run's facts, where they are few and their tables' versions can be told."""
        self._kept = None
        versions = versions_of(lake, _FROM)
        if made.plan_ids is not None and versions is not None:
            self._kept = _Facts(made.facts, made.plan_ids, run.pins, versions)

    def facts_for(
        self, lake: Lake, run: Run, plan_ids: Iterable[int]
    ) -> DataFrame | pa.Table | None:
        """The facts, if a run needs no others.

        That is so where nothing that they were worked out from has changed, and the messages that
        are new ask for plans in them alone. Messages that come later than this may ask for more:
        routing says so then.

        Args:
            lake: the lake.
            run: which is to route.
            plan_ids: of what its messages ask for.
        """
        kept = self._kept
        if kept is None or kept.pins != run.pins or kept.versions != versions_of(lake, _FROM):
            return None
        return kept.facts if kept.plan_ids.issuperset(plan_ids) else None
