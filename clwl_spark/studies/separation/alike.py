"""What has to be planned so that the ways of all queues from all queue managers are known.

A thousand queue managers that see 100,000 queues each are too many puts. Queues that are alike in
all that a way depends on are planned once, by a stand-in, and so are queue managers. What a queue
manager defines, or sees otherwise than everybody, it asks for itself. The name of a stand-in
begins with `~`, which no name of MQ does.

A way depends on the hosts of a queue, its clusters, PUT, CLWLRANK and CLWLPRTY, and on the clusters
and transmission queues of the queue manager that puts.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST
from clwl_spark.algorithm.transmit import TransmissionQueues, after_next_start
from clwl_spark.mq.vocabulary import Edition, ObjectType, QueueType, Via
from clwl_spark.planning.facts import senders, transmission_queues
from clwl_spark.planning.names import NAME, seen_queues
from clwl_spark.planning.plans import plan_id
from clwl_spark.snapshots.first_opens import with_first_opens
from clwl_spark.snapshots.views import (
    CHANNELS_SEEN_BY,
    CLUSTERS,
    DEFAULTS,
    EVERYBODY,
    QUEUES_SEEN_BY,
    VIEW_KEY,
    VIEWER,
    Topology,
    viewers,
)
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import columns as c
from clwl_spark.tables.arrow import from_arrow_schema

ASKER: Final = "asker"
KIND: Final = "kind_of_queue"
STAND_IN: Final = "~"
_LAYOUT: Final = "layout"
_LAYOUT_SCHEMA: Final = pa.schema([(x, pa.string()) for x in (*VIEW_KEY, _LAYOUT)])


@dataclass(frozen=True, slots=True)
class Asked:
    """What is planned, and for whom.

    Attributes:
        topology: the snapshot, with stand-ins.
        askers: (snapshot_id, viewer, asker): who asks for the kinds of queues in a queue manager's
            place; the queue manager itself where it is alone of its kind of view.
        facts: `facts.senders` of the viewers.
        requests: (plan_id, *REQUEST), distinct.
        kinds: (kind, queue): the queues of each kind.
        known: (viewer, queue), distinct: what a viewer asks for itself, or has for itself alone.
    """

    topology: Topology
    askers: DataFrame
    facts: DataFrame
    requests: DataFrame
    kinds: DataFrame
    known: DataFrame


def asked(of: DataFrame, topology: Topology, edition: Edition) -> Asked:
    """What to plan for these queue managers.

    Args:
        of: (snapshot_id, viewer), distinct, of one snapshot.
        topology: the snapshot.
        edition: of the semantics.
    """
    facts = checkpoint(senders(of, topology))
    found = checkpoint(_with_askers(viewers(of, topology), facts))
    shared = topology.queues.where(
        (F.col(c.OBSERVER) == EVERYBODY) & (F.col(c.CLUSTER) != "") & ~_is_qmgr_alias()
    )
    kinds = checkpoint(_kinds(shared))
    stand_ins = _stand_in_queues(shared, kinds)
    planned_in = replace(
        topology,
        queues=checkpoint(topology.queues.unionByName(stand_ins)),
        cluster_channels=checkpoint(_with_stand_in_channels(found, topology)),
    )
    rows = checkpoint(_known_to(of, topology.queues))
    requests = _of_kinds(found, planned_in, edition).union(_of_own(rows))
    return Asked(
        planned_in,
        checkpoint(found.select(*VIEW_KEY, ASKER)),
        facts,
        checkpoint(_as_requests(requests)),
        kinds,
        checkpoint(rows.select(VIEWER, c.QUEUE).distinct()),
    )


def is_stand_in(name: str) -> Column:
    """True where the column `name` names a stand-in."""
    return F.col(name).startswith(STAND_IN)


def _with_askers(known: DataFrame, facts: DataFrame) -> DataFrame:
    """The viewers, and who asks in the place of each."""
    layouts = facts.mapInArrow(_layouts, from_arrow_schema(_LAYOUT_SCHEMA))
    is_everybodys = (F.col(QUEUES_SEEN_BY) == EVERYBODY) & (F.col(CHANNELS_SEEN_BY) == EVERYBODY)
    clusters = F.concat_ws(" ", F.array_sort(CLUSTERS))
    stand_in = _stand_in(F.concat_ws("|", clusters, _LAYOUT))
    return known.join(layouts, list(VIEW_KEY)).withColumn(
        ASKER, F.when(is_everybodys, stand_in).otherwise(F.col(VIEWER))
    )


def _stand_in(text: Column) -> Column:
    return F.concat(F.lit(STAND_IN), F.xxhash64(text).cast("string"))


def _layouts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What decides on a viewer's transmission queues, as a text: rows of `facts.senders` in."""
    for batch in batches:
        rows = [
            {**{x: row[x] for x in VIEW_KEY}, _LAYOUT: _layout(transmission_queues(row))}
            for row in batch.to_pylist()
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=_LAYOUT_SCHEMA)


def _layout(queues: TransmissionQueues) -> str:
    """DEFCLXQ, CLCHNAMEs, and the associations that are not as the next start makes them."""
    pending = sorted(
        (*key, xmitq)
        for key, xmitq in queues.current.items()
        if xmitq != after_next_start(key[0], queues)
    )
    said: list[Any] = [queues.defclxq, sorted(queues.definitions), pending]
    return json.dumps(said)


def _kinds(shared: DataFrame) -> DataFrame:
    """(kind, queue): what everybody sees of two queues of one kind is the same."""
    row = F.concat_ws("|", c.QMGR, c.CLUSTER, c.PUT_ENABLED, c.CLWLRANK, c.CLWLPRTY)
    rows = F.array_sort(F.collect_list(row))
    grouped = shared.groupBy(c.QUEUE).agg(F.concat_ws(" ", rows).alias("rows"))
    return grouped.select(_stand_in(F.col("rows")).alias(KIND), c.QUEUE)


def _stand_in_queues(shared: DataFrame, kinds: DataFrame) -> DataFrame:
    """The rows of one queue of each kind, by the kind's name."""
    first = kinds.groupBy(KIND).agg(F.min(c.QUEUE).alias(c.QUEUE))
    return (
        shared.join(first, c.QUEUE)
        .withColumn(c.QUEUE, F.col(KIND))
        .drop(KIND)
        .select(*shared.columns)
    )


def _with_stand_in_channels(found: DataFrame, topology: Topology) -> DataFrame:
    """The CLUSRCVRs, and those by which stand-ins are in their clusters."""
    table = topology.cluster_channels
    members = found.where(is_stand_in(ASKER)).select(
        c.SNAPSHOT_ID, ASKER, F.explode(CLUSTERS).alias(c.CLUSTER)
    )
    told = {c.OBSERVER: F.lit(EVERYBODY), c.QMGR: F.col(ASKER), c.CHANNEL: F.col(ASKER)}
    nothing = {x.name: F.lit(None).cast(x.dataType) for x in table.schema}
    given = {x: F.col(x) for x in (c.SNAPSHOT_ID, c.CLUSTER)}
    columns = [(nothing | told | given)[x].alias(x) for x in table.columns]
    rows = members.distinct().select(*columns).fillna(DEFAULTS["cluster_channels"])
    return table.unionByName(rows)


def _known_to(of: DataFrame, queues: DataFrame) -> DataFrame:
    """The rows of what viewers define or see for themselves: (viewer, queue, qtype, cluster)."""
    own = F.col(c.QMGR) == F.col(VIEWER)
    seen = F.col(c.OBSERVER) == F.col(VIEWER)
    everybodys = queues.where(F.col(c.OBSERVER) == EVERYBODY).withColumn(VIEWER, F.col(c.QMGR))
    theirs = queues.where(F.col(c.OBSERVER) != EVERYBODY).withColumn(VIEWER, F.col(c.OBSERVER))
    rows = everybodys.unionByName(theirs).where(own | seen)
    kept = rows.join(of, list(VIEW_KEY), "left_semi")
    return kept.select(*VIEW_KEY, c.QUEUE, c.QTYPE, c.CLUSTER)


def _of_kinds(found: DataFrame, topology: Topology, edition: Edition) -> DataFrame:
    """(snapshot_id, who asks, kind) of the kinds that are seen."""
    askers = found.select(c.SNAPSHOT_ID, F.col(ASKER).alias(VIEWER)).distinct()
    known = with_first_opens(viewers(askers, topology), topology, edition)
    kinds = replace(topology, queues=topology.queues.where(is_stand_in(c.QUEUE)))
    return seen_queues(known, kinds).select(*VIEW_KEY, NAME)


def _of_own(rows: DataFrame) -> DataFrame:
    """(snapshot_id, who asks, queue) of what is asked for by its name; local queues stay there."""
    is_local = (F.col(c.QTYPE) == QueueType.QLOCAL.value) & (F.col(c.CLUSTER) == "")
    return rows.where(~is_local).select(*VIEW_KEY, F.col(c.QUEUE).alias(NAME)).distinct()


def _as_requests(rows: DataFrame) -> DataFrame:
    """Puts of applications to queues."""
    request = rows.select(
        c.SNAPSHOT_ID,
        F.col(VIEWER).alias(c.QMGR),
        F.lit(ObjectType.QUEUE.value).alias(c.OBJECT_TYPE),
        F.col(NAME).alias(c.OBJECT_NAME),
        F.lit("").alias(c.OBJECT_QMGR),
        F.lit(Via.LOCAL.value).alias(c.VIA),
        F.lit(None).cast("string").alias(c.SCOPE),
    )
    return request.select(plan_id().alias(c.PLAN_ID), *REQUEST)


def _is_qmgr_alias() -> Column:
    return (F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.col(c.RNAME) == "")
