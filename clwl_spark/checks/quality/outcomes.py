"""Gates on outcomes: the tables that their rules name, each made by one pass over the data.

- `outcome_counts`: outcomes by plan, route, reason and day: for eliminated candidates, shares,
  reasons and volumes.
- `message_offences`, `binding_offences`, `accounts`: what became of each message (`accounts`).
- `routes`, `plans`: the plans' surviving candidates, with CLWLMRUC of who puts.
- `message_words`: messages by day, object and words.
- `ordered_words`: those put in logical order, by object and binding.
"""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.checks.quality.accounts import Accounts
from clwl_spark.checks.quality.engines import View
from clwl_spark.checks.quality.ordered import TABLE as ORDERED_WORDS
from clwl_spark.checks.quality.ordered import ordered_words
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.views import with_limit
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import (
    MESSAGES,
    OUTCOMES,
    QUEUE_MANAGERS,
    REJECTED_MESSAGES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOT_RESETS,
)
from clwl_spark.tables import columns as c

_UNKNOWN: Final = ""


def outcome_tables(lake: Lake, found: Accounts) -> dict[str, DataFrame]:
    """The tables that rules on outcomes name.

    Grain: see the module; every table but the offences is as long as there are groups.
    """
    figures = [(name, count) for name, count in sorted(found.figures.items())]
    return {
        "outcome_counts": _outcome_counts(lake),
        "rejected_counts": _rejected_counts(lake),
        "message_words": message_words(lake),
        ORDERED_WORDS: ordered_words(lake),
        "plans": _plans(lake),
        "candidates": _candidates(lake),
        "message_offences": found.offences,
        "binding_offences": found.bindings,
        "accounts": frame_from_rows(lake.spark, figures, "figure string, counted bigint"),
    }


def outcome_views() -> list[View]:
    """Views of those tables, for the rule on shares."""
    return _VIEWS


def message_words(lake: Lake) -> DataFrame:
    """Messages by day, queue manager, object and words; a blank name is null, as it is none."""
    names = {x: F.nullif(F.col(x), F.lit("")) for x in (c.QMGR, c.OBJECT_NAME)}
    return (
        lake.read(MESSAGES.name)
        .withColumns(names)
        .groupBy(
            _day(F.col(c.PUT_TIME)).alias("day"),
            c.QMGR,
            c.OBJECT_TYPE,
            c.OBJECT_NAME,
            c.BIND,
            c.VIA,
        )
        .agg(F.count("*").alias("messages"))
    )


def _outcome_counts(lake: Lake) -> DataFrame:
    """Grain: one row per plan, route, reason, day, and whether bound."""
    return (
        lake.read_or_empty(OUTCOMES.name)
        .groupBy(
            c.PLAN_ID,
            c.SNAPSHOT_ID,
            c.QMGR,
            c.OBJECT_NAME,
            c.REASON,
            *(_text(x) for x in (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER, c.XMITQ)),
            c.IS_LOCAL,
            c.BOUND,
            _day(F.col(c.PUT_TIME)).alias("day"),
        )
        .agg(
            F.count("*").alias("outcomes"),
            F.sum(F.col(c.OUT_OF_ORDER).cast("int")).alias("late"),
        )
    )


def _rejected_counts(lake: Lake) -> DataFrame:
    """Grain: one row per queue manager and error."""
    rejected = lake.read_or_empty(REJECTED_MESSAGES.name)
    return rejected.groupBy(_text(c.QMGR), c.ERROR).agg(F.count("*").alias("rejected"))


def _plans(lake: Lake) -> DataFrame:
    """Grain: one row per plan, with the putting queue manager's CLWLMRUC and its epochs."""
    planned = lake.read_or_empty(ROUTE_PLANS.name)
    plans = with_limit(planned, lake.read_or_empty(QUEUE_MANAGERS.name))
    resets = (
        lake.read_or_empty(SNAPSHOT_RESETS.name)
        .where(F.col("is_reset"))
        .groupBy(c.QMGR)
        .agg(F.count("*").alias("resets"))
    )
    return plans.join(resets, c.QMGR, "left").select(
        c.PLAN_ID,
        c.SNAPSHOT_ID,
        c.QMGR,
        c.OBJECT_NAME,
        _text(c.OBJECT_QMGR),
        c.KIND,
        c.BIND_DEFAULT,
        c.REASON,
        *(_text(x) for x in (c.RESOLVED_OBJECT, c.RESOLVED_QMGR, c.XMITQ)),
        F.greatest(F.coalesce("choices", F.lit(1)), F.lit(1)).alias("choices"),
        c.CLWLMRUC,
        (F.coalesce("resets", F.lit(0)) + 1).cast("int").alias("epochs"),
    )


def _candidates(lake: Lake) -> DataFrame:
    """Grain: one row per candidate of a plan."""
    return lake.read_or_empty(ROUTE_CANDIDATES.name).select(
        c.PLAN_ID,
        c.CHOICE,
        c.DEST_QMGR,
        c.DEST_OBJECT,
        c.CHANNEL,
        F.col(c.CHANNEL_CLUSTER).alias(c.CLUSTER),
        c.IS_LOCAL,
        c.CLWLWGHT,
        c.ELIMINATED_BY,
    )


def _day(moment: Column) -> Column:
    """The day of a moment, UTC where the session is, as text."""
    return F.date_format(moment, "yyyy-MM-dd")


def _text(name: str) -> Column:
    return F.coalesce(F.col(name), F.lit(_UNKNOWN)).alias(name)


OUTCOME_INDEXES: Final[Mapping[str, tuple[str, ...]]] = {
    "routes": ("plan_id, way",),
    "ways": ("plan_id, choice", "plan_id, way"),
    "picks": ("plan_id, way",),
    "picked": ("qmgr, way",),
    "plan_ways": ("plan_id, choice",),
}
_VIEWS: Final = [
    View(
        # Surviving candidates; all local ones are one way, as a local outcome names no channel.
        "routes",
        "SELECT DISTINCT plan_id, choice, dest_qmgr, channel, clwlwght, "
        "CASE WHEN is_local THEN '' ELSE dest_qmgr || ' ' || channel END AS way "
        "FROM candidates WHERE eliminated_by IS NULL",
    ),
    View(
        # A way's pace: how often it is taken against others, by CLWLWGHT.
        "ways",
        "SELECT plan_id, choice, way, COUNT(*) AS channels, MIN(clwlwght) AS lightest, "
        "MAX(clwlwght) AS heaviest, SUM(1.0 / CAST(1000 / clwlwght AS INTEGER)) AS pace "
        "FROM routes GROUP BY plan_id, choice, way",
    ),
    View(
        "plan_ways",
        "SELECT plan_id, choice, "
        "CASE WHEN MIN(lightest) = 50 AND MAX(heaviest) = 50 THEN 0 ELSE 1 END AS is_weighted, "
        "SUM(CASE WHEN way = '' THEN 0 ELSE channels END) AS remote_channels "
        "FROM ways GROUP BY plan_id, choice HAVING COUNT(*) > 1",
    ),
    View(
        # Choices that moved the history: of plans with more than local routes, not bound.
        "picks",
        "SELECT o.plan_id, o.qmgr, "
        "CASE WHEN o.is_local THEN '' ELSE o.dest_qmgr || ' ' || o.channel END AS way, "
        "SUM(o.outcomes) AS picks "
        "FROM outcome_counts o JOIN (SELECT DISTINCT plan_id FROM routes WHERE way <> '') r "
        "ON r.plan_id = o.plan_id WHERE o.reason = 0 AND NOT o.bound "
        "GROUP BY o.plan_id, o.qmgr, CASE WHEN o.is_local THEN '' "
        "ELSE o.dest_qmgr || ' ' || o.channel END",
    ),
    View("picked", "SELECT qmgr, way, SUM(picks) AS picks FROM picks GROUP BY qmgr, way"),
    View(
        # Ways whose weight was another one in another plan: their factors do not compare.
        "reweighted",
        "SELECT p.qmgr, r.way FROM routes r JOIN plans p ON p.plan_id = r.plan_id "
        "GROUP BY p.qmgr, r.way HAVING MIN(r.clwlwght) <> MAX(r.clwlwght)",
    ),
]
