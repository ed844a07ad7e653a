"""Plans of a head, made into those of later snapshots of its line: only statuses are others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import functions as F

from clwl_spark.planning.plans import Unjudged
from clwl_spark.routing.plans.lines import Step, tier
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize, broadcast_if_small
from clwl_spark.tables import columns as c

_VARIANT: Final = "variant_id"
_STATUS: Final = "status_then"
_TIER: Final = "tier_then"
_VARIANTS: Final = f"{c.PLAN_ID} bigint, {_VARIANT} bigint, {c.SNAPSHOT_ID} string"
_STATUSES: Final = (
    f"{_VARIANT} bigint, {c.DEST_QMGR} string, {c.CHANNEL} string, {_STATUS} string, {_TIER} int"
)


def varied(found: Unjudged, steps: Sequence[Step], keep: Materialize) -> Unjudged:
    """The plans that take the place of others, before they meet the rules.

    Args:
        found: those of the heads.
        steps: one for each plan that is wanted.
        keep: what to do with frames that several steps read.

    Grain: `plans` one row per step, `candidates` one row per step and candidate of its plan.
    """
    spark = found.plans.sparkSession
    rows = [(x.plan_id, x.to, x.request.snapshot_id) for x in steps]
    variants = broadcast_if_small(frame_from_rows(spark, rows, _VARIANTS), keep)
    told = [(x.to, *end, word, tier(word)) for x in steps for end, word in x.statuses]
    then = broadcast_if_small(frame_from_rows(spark, told, _STATUSES), keep)
    plans, candidates = (
        frame.drop(c.SNAPSHOT_ID)
        .join(variants, c.PLAN_ID)
        .drop(c.PLAN_ID)
        .withColumnRenamed(_VARIANT, c.PLAN_ID)
        for frame in (found.plans, found.candidates)
    )
    then = then.withColumnRenamed(_VARIANT, c.PLAN_ID)
    seen = candidates.join(then, [c.PLAN_ID, c.DEST_QMGR, c.CHANNEL], "left")
    now = seen.withColumns(
        {
            c.STATUS: F.coalesce(_STATUS, c.STATUS),
            c.STATUS_TIER: F.coalesce(_TIER, c.STATUS_TIER),
        }
    ).drop(_STATUS, _TIER)
    return replace(found, plans=plans, candidates=now)
