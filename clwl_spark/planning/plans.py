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
from clwl_spark.algorithm.semantics import NEWEST, Semantics
from clwl_spark.mq.vocabulary import Algorithm, Edition, ObjectType, PlanKind, Reason
from clwl_spark.planning.candidates import candidates
from clwl_spark.planning.instances import qmgr_instances, queue_instances, topic_instances
from clwl_spark.planning.names import resolutions
from clwl_spark.planning.topics import destinations, matching_topics, topic_resolutions
from clwl_spark.rules import eliminate
from clwl_spark.rules.exit import seeing_all
from clwl_spark.rules.marking import CHOICE_KEY, Rule
from clwl_spark.rules.routes import choice_reason
from clwl_spark.snapshots.channels import channels_asked, with_channel_status
from clwl_spark.snapshots.first_opens import with_first_opens
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
from clwl_spark.spark.materialize import Materialize, as_it_is, broadcast_if_small
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

REQUEST: Final = (
    c.SNAPSHOT_ID,
    c.QMGR,
    c.OBJECT_TYPE,
    c.OBJECT_NAME,
    c.OBJECT_QMGR,
    c.VIA,
)
REQUEST_TYPES: Final = ", ".join(f"{name} string" for name in REQUEST)
_RESOLVED: Final = (
    c.PLAN_ID,
    c.KIND,
    c.REASON,
    c.RESOLVED_OBJECT,
    c.RESOLVED_QMGR,
    c.RESOLUTION_PATH,
    c.BIND_DEFAULT,
    c.XMITQ,
)
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
    """Which rules plans meet: the semantics, and the cluster workload exit if there is one."""

    semantics: Semantics = NEWEST
    exit_function: Rule | None = None

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
    edition = ladder.semantics.edition
    return judged_by(ladder, unjudged(requests, topology, edition, keep, object_types), keep)


def unjudged(
    requests: DataFrame,
    topology: Topology,
    edition: Edition,
    keep: Materialize,
    object_types: Collection[str] = tuple(ObjectType),
) -> Unjudged:
    """Resolve requests and gather their candidates, whichever rules they meet then.

    Arguments as of `make_plans`; `edition` is that of the rules.
    """
    asked = requests.withColumnRenamed(c.QMGR, VIEWER)
    senders = viewers(asked.select(*VIEW_KEY).distinct(), topology)
    known = keep(with_first_opens(senders, topology, edition))
    looking = _Looking(known, topology, keep)
    parts = [
        met(asked.where(F.col(c.OBJECT_TYPE) == object_type.value), looking)
        for object_type, met in _MET_BY.items()
        if object_type in object_types
    ]
    plans = requests.join(reduce(DataFrame.unionByName, (x.resolved for x in parts)), c.PLAN_ID)
    opened = reduce(DataFrame.union, (x.opened for x in parts)).distinct()
    plans = _with_first_open(plans, opened, edition)
    found = keep(reduce(DataFrame.unionByName, (x.candidates for x in parts)))
    return Unjudged(plans, found, known, topology)


def judged_by(ladder: Ladder, found: Unjudged, keep: Materialize) -> Plans:
    """Apply the rules to what requests lead to; `keep` as of `make_plans`."""
    exit_function = ladder.exit_function
    if exit_function is not None:
        exit_function = seeing_all(exit_function, found.plans, found.known, found.topology)
    judged = keep(eliminate(found.candidates, ladder.algorithm, exit_function))
    return Plans(
        _with_reasons(found.plans, judged, ladder.algorithm),
        judged.select(*ROUTE_CANDIDATES.names),
    )


@dataclass(frozen=True, slots=True)
class _Looking:
    """What requests of every type are looked up in: the senders and the tables."""

    known: DataFrame
    topology: Topology
    keep: Materialize

    def channels(self, known: DataFrame, ends: DataFrame | None = None) -> DataFrame:
        """`channels_asked` with status."""
        in_view = channels_asked(known, self.topology, ends)
        return self.keep(with_channel_status(in_view, self.topology, ends))


@dataclass(frozen=True, slots=True)
class _Met:
    """What requests of one type come to.

    Attributes:
        resolved: one row per request, as name resolution ends.
        candidates: that they have to choose from.
        opened: (plan_id), those that have something by a first open; some may be there twice.
    """

    resolved: DataFrame
    candidates: DataFrame
    opened: DataFrame


def _queues_met(asked: DataFrame, looking: _Looking) -> _Met:
    """Puts to queues."""
    known, topology, keep = looking.known, looking.topology, looking.keep
    queues = keep(_resolved_queues(asked, known, topology, keep))
    of_kind = {
        kind: queues.where(F.col(c.KIND) == kind).drop(c.KIND)
        for kind in (PlanKind.QUEUE.value, PlanKind.QMGR.value)
    }
    instances = keep(
        queue_instances(of_kind[PlanKind.QUEUE.value], known, topology).unionByName(
            qmgr_instances(of_kind[PlanKind.QMGR.value], known, topology)
        )
    )
    # Of all that a sender sees, only what hosts an instance: a thousand senders of a thousand
    # queue managers see a million channels.
    ends = instances.select(*VIEW_KEY, F.col(c.DEST_QMGR).alias(c.QMGR)).distinct()
    ends = broadcast_if_small(ends, keep)
    channels = looking.channels(known, ends)
    return _Met(
        queues.select(*_RESOLVED), candidates(instances, channels), _opened(instances, channels)
    )


def _topics_met(asked: DataFrame, looking: _Looking) -> _Met:
    """Publications."""
    known = looking.known.join(asked.select(*VIEW_KEY).distinct(), list(VIEW_KEY), "left_semi")
    matched = looking.keep(matching_topics(asked, known, looking.topology))
    channels = looking.channels(known)
    chosen = looking.keep(destinations(matched, channels, looking.topology))
    instances = topic_instances(chosen)
    return _Met(
        topic_resolutions(asked, matched, chosen),
        candidates(instances, channels),
        _opened(instances, channels),
    )


def _opened(instances: DataFrame, channels: DataFrame) -> DataFrame:
    """(plan_id) of those whose instances, or channels to them, are there by a first open (P36)."""
    hosts = channels.where(F.col(c.FIRST_OPEN)).select(*VIEW_KEY, F.col(c.QMGR).alias(c.DEST_QMGR))
    by_host = instances.join(hosts.distinct(), [*VIEW_KEY, c.DEST_QMGR], "left_semi")
    return instances.where(F.col(c.FIRST_OPEN)).select(c.PLAN_ID).union(by_host.select(c.PLAN_ID))


def _with_first_open(plans: DataFrame, opened: DataFrame, edition: Edition) -> DataFrame:
    """Add `first_open`; null in the first edition."""
    if edition == Edition.FIRST:
        return plans.withColumn(c.FIRST_OPEN, F.lit(None).cast("boolean"))
    found = opened.withColumn(c.FIRST_OPEN, F.lit(True))
    return plans.join(found, c.PLAN_ID, "left").fillna({c.FIRST_OPEN: False})


_MET_BY: Final = {ObjectType.QUEUE: _queues_met, ObjectType.TOPIC: _topics_met}


def _resolved_queues(
    asked: DataFrame, known: DataFrame, topology: Topology, keep: Materialize
) -> DataFrame:
    """Requests for queues with their resolution."""
    names = asked.select(*VIEW_KEY, c.OBJECT_NAME, c.OBJECT_QMGR).distinct()
    found = resolutions(names, known, topology, keep)
    return asked.join(found, [*VIEW_KEY, c.OBJECT_NAME, c.OBJECT_QMGR])


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
        .withColumn(c.SCOPE, F.lit(None).cast("string"))
        .select(*kept)
    )
