"""Requests become plans: resolve the name, gather the candidates, apply the rules.

Plans, not messages, meet the rules: distinct requests are few, messages are many.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import later_than_put_enabled
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.algorithm.semantics import NEWEST, Semantics
from clwl_spark.mq.vocabulary import Algorithm, Edition, ObjectType, PlanKind, Reason
from clwl_spark.planning.lookup import MET_BY, Looking
from clwl_spark.rules import eliminate
from clwl_spark.rules.exit import seeing_all
from clwl_spark.rules.marking import CHOICE_KEY, Rule
from clwl_spark.rules.routes import choice_reason
from clwl_spark.snapshots.first_opens import with_first_opens, without_asking
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
from clwl_spark.spark.frames import frame_from_arrow, rows_at_hand
from clwl_spark.spark.materialize import Materialize, as_it_is, select_at_hand
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

_CHOOSING: Final = (PlanKind.QUEUE.value, PlanKind.QMGR.value, PlanKind.TOPIC.value)


@dataclass(frozen=True, slots=True)
class Plans:
    """What requests lead to.

    Attributes:
        plans: one row per request: `schemas.ROUTE_PLANS` less `reset_epoch`.
        candidates: one row per candidate: `schemas.ROUTE_CANDIDATES`.
    """

    plans: DataFrame
    candidates: DataFrame


@dataclass(frozen=True, slots=True)
class Unjudged:
    """What requests lead to before they meet the rules.

    Attributes:
        plans: one row per request: as `Plans` has it, with the reason of the name alone.
        candidates: one row per candidate, without `eliminated_by`.
        known: `viewers` of the senders.
        topology: the snapshots.
    """

    plans: DataFrame
    candidates: DataFrame
    known: DataFrame
    topology: Topology


@dataclass(frozen=True, slots=True)
class Ladder:
    """Which rules plans meet.

    Attributes:
        semantics: the lake's.
        exit_function: the cluster workload exit, if there is one.
        is_onward: puts are messages on their way: a publication that was received over a cluster
            channel came from its `object_qmgr`, and goes on from a topic host (SEMANTICS 9).
    """

    semantics: Semantics = NEWEST
    exit_function: Rule | None = None
    is_onward: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """Which order of the rules."""
        return self.semantics.algorithm


def plan_id() -> Column:
    """The plan's id: a hash of the request, so that it needs no look-up and never changes.

    64 bits: among a million plans two share an id with a chance of 3e-8; `assert_unique` in the
    routing's planning refuses such a pair.
    """
    return F.xxhash64(*REQUEST)


def make_plans(
    requests: DataFrame,
    topology: Topology,
    ladder: Ladder,
    keep: Materialize = as_it_is,
    object_types: Collection[str] = tuple(ObjectType),
) -> Plans:
    """Resolve requests, gather their candidates and apply the rules.

    Args:
        requests: (plan_id, *REQUEST), distinct.
        topology: the snapshots that the requests name.
        ladder: which order of the rules, and the exit.
        keep: what to do with frames that several steps read; without caching them here the
            optimizer meets each step many times over (measured: 116 requests 65 s, cached 9 s).
        object_types: those that the requests have; what other types need is left out.

    Source: SEMANTICS 2, 3, 4, 9.
    """
    return judged_by(ladder, unjudged(requests, topology, ladder, keep, object_types), keep)


def unjudged(
    requests: DataFrame,
    topology: Topology,
    ladder: Ladder,
    keep: Materialize,
    object_types: Collection[str] = tuple(ObjectType),
) -> Unjudged:
    """Resolve requests and gather their candidates, whichever rules they meet then.

    Arguments as of `make_plans`; of the ladder what comes before the rules.
    """
    edition = ladder.semantics.edition
    asked = requests.withColumnRenamed(c.QMGR, VIEWER)
    of = _senders(requests)
    known = without_asking(keep(with_first_opens(viewers(of, topology), topology, edition, of)))
    looking = Looking(known, topology, edition, ladder.is_onward, keep)
    types = [x for x in MET_BY if x in object_types]
    parts = [
        MET_BY[x](asked if [x] == types else asked.where(F.col(c.OBJECT_TYPE) == x.value), looking)
        for x in types
    ]
    plans = requests.join(reduce(DataFrame.unionByName, (x.resolved for x in parts)), c.PLAN_ID)
    opened = reduce(DataFrame.union, (x.opened for x in parts)).distinct()
    plans = _with_first_open(plans, opened, edition)
    found = keep(reduce(DataFrame.unionByName, (x.candidates for x in parts)))
    return Unjudged(plans, found, known, topology)


def _senders(requests: DataFrame) -> DataFrame:
    """The distinct (snapshot_id, viewer) of requests."""
    rows = rows_at_hand(requests)
    if rows is None:
        return requests.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    distinct = rows.group_by([c.SNAPSHOT_ID, c.QMGR]).aggregate([])
    return frame_from_arrow(requests.sparkSession, distinct.rename_columns(VIEW_KEY))


def judged_by(ladder: Ladder, found: Unjudged, keep: Materialize) -> Plans:
    """Apply the rules to what requests lead to; `keep` as of `make_plans`."""
    exit_function = ladder.exit_function
    if exit_function is not None:
        exit_function = seeing_all(exit_function, found.plans, found.known, found.topology)
    judged = keep(eliminate(found.candidates, ladder.algorithm, exit_function))
    return Plans(
        _with_reasons(found.plans, judged, ladder.algorithm),
        select_at_hand(judged, ROUTE_CANDIDATES.names),
    )


def _with_first_open(plans: DataFrame, opened: DataFrame, edition: Edition) -> DataFrame:
    """Add `first_open`; what the first edition does not know is null in it."""
    if edition == Edition.FIRST:
        nothing = {c.FIRST_OPEN: "boolean", c.CLROUTE: "string"}
        return plans.withColumns({x: F.lit(None).cast(of) for x, of in nothing.items()})
    found = opened.withColumn(c.FIRST_OPEN, F.lit(True))
    return plans.join(found, c.PLAN_ID, "left").fillna({c.FIRST_OPEN: False})


def _with_reasons(resolved: DataFrame, judged: DataFrame, algorithm: Algorithm) -> DataFrame:
    """Add the reason that the choice ends with, and how many choices a message makes.

    A publication with several copies fails as a whole only if all its copies fail.
    """
    of_choice = judged.groupBy(*CHOICE_KEY).agg(
        choice_reason(later_than_put_enabled(algorithm)).alias("choice_reason")
    )
    of_plan = of_choice.groupBy(c.PLAN_ID).agg(
        F.min("choice_reason").alias("choice_reason"),
        (F.max(c.CHOICE) + 1).alias("choices"),
    )
    ends = F.when(
        F.col(c.KIND).isin(*_CHOOSING) & (F.col(c.REASON) == 0),
        F.coalesce("choice_reason", F.lit(Reason.NO_DESTINATIONS_AVAILABLE.value)),
    ).otherwise(F.col(c.REASON))
    kept = [x for x in ROUTE_PLANS.names if x != c.RESET_EPOCH]
    return (
        resolved.join(of_plan, c.PLAN_ID, "left")
        .fillna({"choices": 1})
        .withColumn(c.REASON, ends)
        .select(*kept)
    )
