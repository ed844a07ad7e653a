"""All that waits meets events: queue managers side by side, each in one task, in order.

Rows come out in blocks, Arrow streams of many rows, so that a hot queue manager's rows are spread
over all cores again before they are written.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.planning.facts import FACTS
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.intake.blocks import from_ipc
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.spark.parallel import cores
from clwl_spark.studies.reallocate.events import Event
from clwl_spark.studies.reallocate.memories import Past, pasts
from clwl_spark.studies.reallocate.named_qmgr import plans_for_one
from clwl_spark.studies.reallocate.redrive import Redrive
from clwl_spark.studies.reallocate.situations import (
    ASKED,
    SITUATIONS,
    direct_plans,
    judge,
    situation_facts,
    situations,
)
from clwl_spark.studies.reallocate.waiting import SYSTEM_PREFIX, sorted_by, waiting_messages
from clwl_spark.tables import OUTCOMES, REALLOCATIONS, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

EVENTS: Final = "events"
PAST: Final = "past"
DATA: Final = "data"
FIGURES: Final = "figures"
_DOCUMENTS: Final = (FACTS, SITUATIONS, EVENTS, PAST)
_ORDER: Final = (c.PUT_SEQ, c.MESSAGE_ID, w.MESSAGE_KEY, w.DUPLICATE)
_BLOCK_SCHEMA: Final = "qmgr string, data binary, figures string"
_BLOCK_ARROW: Final = pa.schema(
    [(c.QMGR, pa.string()), (DATA, pa.binary()), (FIGURES, pa.string())]
)
_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")


def redriven(lake: Lake, events: Sequence[Event], ladder: Ladder) -> DataFrame:
    """Let all that waits meet the events; nothing is written.

    Grain: one row per block of at most 100,000 reallocations: (qmgr, data, figures).
    """
    spark = lake.spark
    channels = _channels(spark, events)
    plans = _plans_of_waiting(lake, channels)
    met = situations(lake, events)
    published = plans.where(F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value)
    ids = {event.snapshot_id for event in events}
    ids |= {row[0] for row in published.select(c.SNAPSHOT_ID).distinct().collect()}
    topology = consistent_topology(lake, sorted(ids), checkpoint)
    direct = direct_plans(published, topology, ladder)
    named = checkpoint(direct.union(plans_for_one(lake, plans, ladder.semantics)).distinct())
    is_systems = F.startswith(c.OBJECT_NAME, F.lit(SYSTEM_PREFIX))
    choosing = plans.where(~is_systems).join(F.broadcast(named), c.PLAN_ID, "left_anti")
    asked = choosing.select(*ASKED).distinct()
    judged = judge(lake, asked, met, topology, ladder, checkpoint)
    facts = situation_facts(judged, topology, ladder, checkpoint)
    own = _documents(spark, events, pasts(lake, events, checkpoint))
    documents = own.join(facts, c.QMGR, "left").select(c.QMGR, *_DOCUMENTS)
    messages = waiting_messages(lake, channels, named)
    return _side_by_side(messages, checkpoint(documents))


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per block in, one row of `reallocations` per message and event out."""
    for batch in batches:
        for qmgr, data in zip(batch.column(c.QMGR), batch.column(DATA), strict=True):
            rows = from_ipc(data.as_buffer())
            at = rows.schema.get_field_index(w.AT)
            rows = rows.set_column(at, w.AT, rows[w.AT].cast(_TIMESTAMP))
            rows = rows.append_column(c.QMGR, pa.repeat(qmgr, rows.num_rows))
            yield from rows.select(REALLOCATIONS.names).to_batches()


def reallocation_rows(blocks: DataFrame) -> DataFrame:
    """The blocks as rows of `reallocations`."""
    spread = blocks.select(c.QMGR, DATA).repartition(cores(blocks.sparkSession))
    return spread.mapInArrow(unpack, REALLOCATIONS.schema)


def _channels(spark: SparkSession, events: Sequence[Event]) -> DataFrame:
    """The channels of the events, (qmgr, channel)."""
    pairs = sorted({(x.what.qmgr, x.what.channel) for x in events})
    return frame_from_rows(spark, pairs, "qmgr string, channel string")


def _plans_of_waiting(lake: Lake, channels: DataFrame) -> DataFrame:
    """The plans of the first puts of all messages that may wait for the channels."""
    pairs = F.broadcast(channels)
    routed = lake.read(OUTCOMES.name).join(pairs, [c.QMGR, c.CHANNEL], "left_semi")
    moved = (
        lake.read(REALLOCATIONS.name)
        .withColumn(c.CHANNEL, F.col(w.TO_CHANNEL))
        .join(pairs, [c.QMGR, c.CHANNEL], "left_semi")
    )
    ids = routed.select(c.PLAN_ID).union(moved.select(c.PLAN_ID)).distinct()
    return checkpoint(lake.read(ROUTE_PLANS.name).join(ids, c.PLAN_ID, "left_semi"))


def _documents(spark: SparkSession, events: Sequence[Event], past: dict[str, Past]) -> DataFrame:
    """(qmgr, events, past): what a worker has to know beside the plans."""
    rows = []
    for qmgr, before in past.items():
        own = [
            {
                w.EVENT_ID: x.event_id,
                "number": x.number,
                c.CHANNEL: x.what.channel,
                c.STATUS: x.what.status,
                w.AT: x.what.at,
                c.SNAPSHOT_ID: x.snapshot_id,
                w.PUT_FROM: x.waits.put_from,
                c.BACKLOG: x.waits.last,
            }
            for x in events
            if x.what.qmgr == qmgr
        ]
        rows.append((qmgr, json.dumps(own), json.dumps(before.to_json())))
    return frame_from_rows(spark, rows, f"qmgr string, {EVENTS} string, {PAST} string")


def _side_by_side(messages: DataFrame, documents: DataFrame) -> DataFrame:
    """Each queue manager's messages and its documents, in one task."""
    documented = messages.withColumns({x: F.lit(None).cast("string") for x in _DOCUMENTS})
    nothing = {
        x.name: F.lit(None).cast(x.dataType)
        for x in messages.schema
        if x.name not in documents.columns
    }
    together = documented.unionByName(documents.withColumns(nothing))
    return together.groupBy(c.QMGR).applyInArrow(_redrive, _BLOCK_SCHEMA)


def _redrive(rows: pa.Table) -> pa.Table:
    """One queue manager's messages, in order, meet its events; runs in `applyInArrow`."""
    is_message = pc.is_null(rows[EVENTS])
    (documents,) = rows.filter(pc.invert(is_message)).select(_DOCUMENTS).to_pylist()
    messages = rows.filter(is_message).drop_columns(list(_DOCUMENTS))
    in_order = sorted_by(messages, *(messages[x] for x in _ORDER))
    qmgr = rows[c.QMGR][0].as_py()
    blocks = Redrive(qmgr, in_order, documents).run()
    cells = ([[qmgr], [block.data], [block.figures]] for block in blocks)
    return pa.Table.from_batches(
        [pa.record_batch(row, schema=_BLOCK_ARROW) for row in cells], _BLOCK_ARROW
    )
