"""All that routing needs to know of one queue manager, as one row of data that joins the stream.

Source: SEMANTICS 5 (CLWLMRUC, resets), 7 (transmission queues).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.transmit import TransmissionQueues
from clwl_spark.mq.vocabulary import ChannelType, DefaultTransmissionQueue, Usage
from clwl_spark.planning.names import NAME, own_definitions
from clwl_spark.snapshots.views import VIEW_KEY, VIEWER, Topology, viewers
from clwl_spark.tables import columns as c

FACTS: Final = "facts"
PLANS: Final = "plans"
ROUTES: Final = "routes"
SENDERS: Final = "senders"
RESETS: Final = "resets"
DEFINITIONS: Final = "definitions"
CURRENT: Final = "current"
CHOICES: Final = "choices"
BY_FACTOR: Final = "by_factor"
STEPS: Final = "steps"
STEP_COLUMNS: Final = (c.PLAN_ID, "since", "to")
"""Another plan takes a plan's place from a microsecond on, until the next one does."""
PLAN_COLUMNS: Final = (
    c.PLAN_ID,
    c.SNAPSHOT_ID,
    c.OBJECT_TYPE,
    c.OBJECT_NAME,
    c.OBJECT_QMGR,
    c.KIND,
    c.REASON,
    c.RESOLVED_OBJECT,
    c.RESOLVED_QMGR,
    c.BIND_DEFAULT,
    c.XMITQ,
    CHOICES,
)
ROUTE_COLUMNS: Final = (
    c.PLAN_ID,
    c.CHOICE,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.CHANNEL,
    c.IS_ALIAS,
    c.CHANNEL_CLUSTER,
    c.IS_LOCAL,
    c.CLWLWGHT,
)
CURRENT_COLUMNS: Final = (c.CHANNEL, c.REMOTE_QMGR, c.XMITQ)


def used_channels(plans: DataFrame, candidates: DataFrame, history: DataFrame) -> DataFrame:
    """The channels that messages can take: routes of plans, and what was chosen ever (bindings).

    Args:
        plans: rows of route_plans.
        candidates: rows of route_candidates.
        history: rows of balance_history.

    Grain: one row per (qmgr, remote_qmgr, channel).
    """
    key = (c.QMGR, F.col(c.DEST_QMGR).alias(c.REMOTE_QMGR), c.CHANNEL)
    chosen = history.join(plans.select(c.QMGR).distinct(), c.QMGR, "left_semi")
    return _routes(plans, candidates).select(*key).union(chosen.select(*key)).distinct()


def senders(of: DataFrame, topology: Topology, used: DataFrame | None = None) -> DataFrame:
    """What each queue manager has to do with routes beyond the plans.

    Args:
        of: (snapshot_id, viewer), distinct.
        topology: the tables.
        used: `used_channels`, the associations that matter; None = all. 5,000 queue managers
            that all see one another have 9 million.

    Grain: one row per (snapshot_id, viewer): CLWLMRUC, DEFCLXQ, the transmission queues with a
    CLCHNAME, and the transmission queues that channels are associated with now.
    """
    return senders_among(viewers(of, topology), topology, used)


def senders_among(known: DataFrame, topology: Topology, used: DataFrame | None = None) -> DataFrame:
    """As `senders`, of queue managers of which `viewers` is known."""
    queues = own_definitions(known, topology).where(
        (F.col(c.USAGE) == Usage.XMITQ.value) & (F.col(c.CLCHNAME) != "")
    )
    defined = queues.groupBy(*VIEW_KEY).agg(
        F.collect_list(F.struct(NAME, c.CLCHNAME)).alias(DEFINITIONS)
    )
    associated = topology.channel_status.where(
        (F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value) & (F.col(c.XMITQ) != "")
    )
    if used is not None:
        associated = associated.join(used, [c.QMGR, c.REMOTE_QMGR, c.CHANNEL], "left_semi")
    current = associated.groupBy(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).agg(
        F.collect_list(F.struct(*CURRENT_COLUMNS)).alias(CURRENT)
    )
    return (
        known.select(*VIEW_KEY, c.CLWLMRUC, c.DEFCLXQ)
        .join(defined, list(VIEW_KEY), "left")
        .join(current, list(VIEW_KEY), "left")
    )


def transmission_queues(sender: Mapping[str, Any]) -> TransmissionQueues:
    """What a row of `senders` says of transmission queues."""
    return TransmissionQueues(
        defclxq=sender.get(c.DEFCLXQ) or DefaultTransmissionQueue.SCTQ.value,
        definitions=[(x[NAME], x[c.CLCHNAME]) for x in sender.get(DEFINITIONS) or ()],
        current={(x[c.CHANNEL], x[c.REMOTE_QMGR]): x[c.XMITQ] for x in sender.get(CURRENT) or ()},
    )


def facts(
    plans: DataFrame,
    candidates: DataFrame,
    sender_rows: DataFrame,
    resets: DataFrame,
    *,
    by_factor: bool = False,
    steps: DataFrame | None = None,
) -> DataFrame:
    """Gather what the choice needs per queue manager.

    Args:
        plans: rows of route_plans.
        candidates: rows of route_candidates; the survivors are the routes.
        sender_rows: `senders`.
        resets: rows of snapshot_resets that say True.
        by_factor: of the semantics that plans were made by.
        steps: (qmgr, *STEP_COLUMNS); None = there are none.

    Grain: one row per queue manager with plans: (qmgr, facts), facts a JSON document with
    BY_FACTOR, with the lists SENDERS and RESETS, and with PLANS, ROUTES and STEPS, which are a
    list for each column, as is CURRENT in SENDERS.
    """
    associated = F.struct(*(F.col(f"{CURRENT}.{x}").alias(x) for x in CURRENT_COLUMNS))
    by_sender = sender_rows.withColumnRenamed(VIEWER, c.QMGR).withColumn(
        CURRENT, F.when(F.col(CURRENT).isNotNull(), associated)
    )
    about = F.collect_list(F.struct(*(x for x in by_sender.columns if x != c.QMGR)))
    listed = [
        _listed(plans, PLANS, PLAN_COLUMNS),
        _listed(_routes(plans, candidates), ROUTES, ROUTE_COLUMNS),
        by_sender.groupBy(c.QMGR).agg(about.alias(SENDERS)),
        resets.groupBy(c.QMGR).agg(F.collect_set(c.SNAPSHOT_ID).alias(RESETS)),
    ]
    named = [PLANS, ROUTES, SENDERS, RESETS]
    if steps is not None:
        listed.append(_listed(steps, STEPS, STEP_COLUMNS))
        named.append(STEPS)
    gathered = listed[0]
    for frame in listed[1:]:
        gathered = gathered.join(frame, c.QMGR, "left")
    document = F.to_json(F.struct(*named, F.lit(by_factor).alias(BY_FACTOR)))
    return gathered.select(c.QMGR, document.alias(FACTS))


def _routes(plans: DataFrame, candidates: DataFrame) -> DataFrame:
    """The candidates that survive the rules, with the queue manager that routes."""
    owner = plans.select(c.PLAN_ID, c.QMGR)
    return candidates.where(F.col(c.ELIMINATED_BY).isNull()).join(owner, c.PLAN_ID)


def _listed(rows: DataFrame, name: str, columns: Sequence[str]) -> DataFrame:
    """The rows of each queue manager, as a list for each column."""
    listed = rows.groupBy(c.QMGR).agg(F.collect_list(F.struct(*columns)).alias(name))
    by_column = F.struct(*(F.col(f"{name}.{x}").alias(x) for x in columns))
    return listed.select(c.QMGR, by_column.alias(name))


def read_document(document: str | None) -> dict[str, Any]:
    """The lists of a document of `facts`; None = of a queue manager without plans.

    PLANS and ROUTES are there always, with all their columns.
    """
    found: dict[str, Any] = json.loads(document) if document else {}
    columns = {PLANS: PLAN_COLUMNS, ROUTES: ROUTE_COLUMNS}
    return found | {x: found.get(x) or {name: [] for name in of} for x, of in columns.items()}
