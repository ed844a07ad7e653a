"""Run channel events over all that waits, queue managers side by side, and write what came of it.

An event counts when its row says DONE, which is written last: rows of a run that was killed are
taken away by the next one, which so begins where the killed one began.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.plan.facts import FACTS
from clwl_spark.plan.planning import Ladder
from clwl_spark.reallocation.events import ChannelEvent, Event, as_moment, place_events
from clwl_spark.reallocation.memories import Past, pasts
from clwl_spark.reallocation.redrive import Redrive
from clwl_spark.reallocation.situations import (
    SITUATIONS,
    direct_plans,
    judge,
    situation_facts,
    situations,
)
from clwl_spark.reallocation.waiting import SYSTEM_PREFIX, waiting_messages
from clwl_spark.routing.blocks import from_ipc
from clwl_spark.schemas import (
    OUTCOMES,
    REALLOCATION_CHOICES,
    REALLOCATION_EVENTS,
    REALLOCATIONS,
    ROUTE_PLANS,
)
from clwl_spark.schemas import waiting as w
from clwl_spark.storage import Lake
from clwl_spark.topology.views import read_topology
from clwl_spark.vocabulary import ObjectType

WRITTEN: Final = (REALLOCATIONS, REALLOCATION_EVENTS, REALLOCATION_CHOICES)
EVENTS: Final = "events"
PAST: Final = "past"
DATA: Final = "data"
FIGURES: Final = "figures"
_DOCUMENTS: Final = (FACTS, SITUATIONS, EVENTS, PAST)
_BLOCK_SCHEMA: Final = "qmgr string, data binary, figures string"
_BLOCK_ARROW: Final = pa.schema(
    [(c.QMGR, pa.string()), (DATA, pa.binary()), (FIGURES, pa.string())]
)
_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_COUNTS: Final = (w.WAITING, w.MOVED, w.STILL_FAVOURED, w.FAILED, w.NOT_ELIGIBLE)


@dataclass(frozen=True, slots=True)
class EventSummary:
    """What became of the messages that waited at one event.

    `reasons` counts NOT_ELIGIBLE messages by reason, `rules` STILL_FAVOURED ones by deciding rule.
    """

    event: Event
    counts: dict[str, int]
    choices_made: int
    reasons: dict[str, int]
    rules: dict[str, int]
    choices: list[list[Any]]

    def to_json(self) -> dict[str, Any]:
        """An element of `events` in the document of `clwl reallocate --json`."""
        what = self.event.what
        return {
            w.EVENT_ID: self.event.event_id,
            c.QMGR: what.qmgr,
            c.CHANNEL: what.channel,
            c.STATUS: what.status,
            w.AT: as_moment(what.at).isoformat(),
            c.SNAPSHOT_ID: self.event.snapshot_id,
            **self.counts,
            "not_eligible_by_reason": self.reasons,
            "still_favoured_by_rule": self.rules,
        }


@dataclass(frozen=True, slots=True)
class ReallocationSummary:
    """What a run did."""

    events: tuple[EventSummary, ...]
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl reallocate --json`."""
        totals = {name: sum(x.counts[name] for x in self.events) for name in _COUNTS}
        return {
            EVENTS: [x.to_json() for x in self.events],
            **totals,
            "seconds": self.seconds,
        }


def reallocate(lake: Lake, wanted: Sequence[ChannelEvent], ladder: Ladder) -> ReallocationSummary:
    """Run events, in order for each queue manager, and write what became of each waiting message.

    Args:
        lake: routed; its tables `reallocations` and `reallocation_*` are written.
        wanted: the events, in any order.
        ladder: the lake's rules.

    Raises:
        UnknownEventError: no such queue manager or channel, or no snapshot in force yet.
        EarlierEventError: an event before the last one of its queue manager.
        UsageError: a status that channels do not have.
        MissingLakeError: nothing was routed yet.
    """
    started = time.monotonic()
    lake.read(OUTCOMES.name)
    lake.create(WRITTEN)
    _take_back_killed_runs(lake)
    events = place_events(lake, wanted)
    if not events:
        return ReallocationSummary(())
    blocks = redriven(lake, events, ladder).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        summary = ReallocationSummary(tuple(_summaries(blocks, events)))
        _write(lake, blocks, summary)
    finally:
        blocks.unpersist()
    return replace(summary, seconds=round(time.monotonic() - started, 3))


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
    topology = read_topology(lake, sorted(ids), settled)
    direct = settled(direct_plans(published, topology))
    can_choose = (F.col(c.OBJECT_QMGR) == "") & ~F.startswith(c.OBJECT_NAME, F.lit(SYSTEM_PREFIX))
    asked = plans.where(can_choose).select(c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.VIA).distinct()
    judged = judge(lake, asked, met, topology, ladder, settled)
    facts = situation_facts(judged, topology, settled)
    own = _documents(spark, events, pasts(lake, events, settled))
    documents = own.join(facts, c.QMGR, "left").select(c.QMGR, *_DOCUMENTS)
    messages = waiting_messages(lake, channels, direct)
    return _side_by_side(messages, settled(documents))


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
    spread = blocks.select(c.QMGR, DATA).repartition(
        blocks.sparkSession.sparkContext.defaultParallelism
    )
    return spread.mapInArrow(unpack, REALLOCATIONS.schema)


def settled(frame: DataFrame) -> DataFrame:
    """Work the frame out now: several steps read it."""
    return frame.localCheckpoint()


def _channels(spark: SparkSession, events: Sequence[Event]) -> DataFrame:
    """The channels of the events, (qmgr, channel)."""
    pairs = sorted({(x.what.qmgr, x.what.channel) for x in events})
    return spark.createDataFrame(pairs, "qmgr string, channel string")


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
    return settled(lake.read(ROUTE_PLANS.name).join(ids, c.PLAN_ID, "left_semi"))


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
            }
            for x in events
            if x.what.qmgr == qmgr
        ]
        rows.append((qmgr, json.dumps(own), json.dumps(before.to_json())))
    return spark.createDataFrame(rows, f"qmgr string, {EVENTS} string, {PAST} string")


def _side_by_side(messages: DataFrame, documents: DataFrame) -> DataFrame:
    """Each queue manager's messages in order behind its documents, in one task."""
    together = messages.unionByName(documents, allowMissingColumns=True)
    in_order = together.repartition(c.QMGR).sortWithinPartitions(
        c.QMGR, F.col(EVENTS).isNull(), c.PUT_SEQ, c.MESSAGE_ID, w.MESSAGE_KEY, w.DUPLICATE
    )
    return in_order.mapInArrow(_redrive, _BLOCK_SCHEMA)


def _redrive(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Queue manager after queue manager; runs in `mapInArrow`."""
    for table in _by_qmgr(batches):
        first = table.slice(0, 1).to_pylist()[0]
        documents = {name: first[name] for name in _DOCUMENTS}
        messages = table.slice(1).drop_columns(list(_DOCUMENTS))
        for block in Redrive(first[c.QMGR], messages, documents).run():
            row = [[first[c.QMGR]], [block.data], [block.figures]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(x, f.type) for x, f in zip(row, _BLOCK_ARROW, strict=True)],
                schema=_BLOCK_ARROW,
            )


def _by_qmgr(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """One table per queue manager, of batches that are sorted by it."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            name = batch.column(c.QMGR)[start].as_py()
            if waiting and waiting[-1].column(c.QMGR)[0].as_py() != name:
                yield pa.Table.from_batches(waiting)
                waiting = []
            end = start + _run_length(batch.column(c.QMGR).slice(start), name)
            waiting.append(batch.slice(start, end - start))
            start = end
    if waiting:
        yield pa.Table.from_batches(waiting)


def _run_length(names: pa.Array, name: str) -> int:
    """How many of the first names are this one."""
    other = pc.index(pc.equal(names, name), False).as_py()
    return len(names) if other < 0 else int(other)


def _summaries(blocks: DataFrame, events: Sequence[Event]) -> Iterator[EventSummary]:
    """What the blocks say of themselves, by event, in order."""
    said = blocks.where(F.col(FIGURES) != "").select(FIGURES).collect()
    figures = {row[w.EVENT_ID]: row for row in (json.loads(x[0]) for x in said)}
    for event in events:
        found = figures[event.event_id]
        counts = {name: found[name] for name in _COUNTS}
        yield EventSummary(
            event,
            counts,
            found[w.CHOICES_MADE],
            found["reasons"],
            found["rules"],
            found["choices"],
        )


def _write(lake: Lake, blocks: DataFrame, summary: ReallocationSummary) -> None:
    """Write the rows between two rows of each event: RUNNING, and DONE, from which on it counts."""
    spark = lake.spark
    lake.append(REALLOCATION_EVENTS.name, _event_rows(spark, summary, w.Progress.RUNNING))
    lake.append(REALLOCATIONS.name, reallocation_rows(blocks))
    chosen = [(x.event.event_id, *row) for x in summary.events for row in x.choices]
    if chosen:
        rows = spark.createDataFrame(chosen, REALLOCATION_CHOICES.schema)
        lake.append(REALLOCATION_CHOICES.name, rows)
    lake.merge(REALLOCATION_EVENTS.name, _event_rows(spark, summary, w.Progress.DONE))


def _event_rows(
    spark: SparkSession, summary: ReallocationSummary, progress: w.Progress
) -> DataFrame:
    rows = [
        (
            x.event.event_id,
            x.event.number,
            x.event.what.qmgr,
            x.event.what.channel,
            x.event.what.status,
            as_moment(x.event.what.at),
            x.event.snapshot_id,
            progress.value,
            *(x.counts[name] for name in _COUNTS),
            x.choices_made,
        )
        for x in summary.events
    ]
    return spark.createDataFrame(rows, REALLOCATION_EVENTS.schema)


def _take_back_killed_runs(lake: Lake) -> None:
    """Delete what events left that were not DONE; one run at a time works on a lake."""
    events = lake.read(REALLOCATION_EVENTS.name)
    killed = events.where(F.col(w.PROGRESS) != w.Progress.DONE.value).select(w.EVENT_ID).collect()
    if not killed:
        return
    ids = ", ".join(f"'{row[0]}'" for row in killed)
    for table in (REALLOCATIONS, REALLOCATION_CHOICES, REALLOCATION_EVENTS):
        where = f"{w.EVENT_ID} IN ({ids})"
        lake.spark.sql(f"DELETE FROM {lake.sql_name(table.name)} WHERE {where}")  # noqa: S608
