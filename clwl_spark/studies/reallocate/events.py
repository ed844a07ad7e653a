"""Stops and failed retries of channels: what makes waiting messages choose anew.

Source: SEMANTICS 8, P22, P30 (Dick's article: a cluster-sender channel stops, and again at every
retry that fails).
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.mq.vocabulary import STATUS_TIERS, ChannelType
from clwl_spark.snapshots.catalog import SnapshotCatalog, snapshot_catalog
from clwl_spark.snapshots.channels import channels_in_view
from clwl_spark.snapshots.defined import is_defined
from clwl_spark.snapshots.views import VIEWER, Topology, in_clusters, read_topology, viewers
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import CHANNEL_EVENTS, OUTCOMES, REALLOCATION_EVENTS, REALLOCATIONS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import moment_at

_SHOWN = 8
OF_EVENT = (c.SNAPSHOT_ID, c.QMGR, c.CHANNEL)


class UnknownEventError(InputError):
    """An event of a queue manager, channel or moment that the lake does not know."""


class EarlierEventError(InputError):
    """An event before one that was run already: events build on one another."""


@dataclass(frozen=True, slots=True)
class ChannelEvent:
    """A channel stops, or a retry of it fails.

    Attributes:
        qmgr: queue manager whose cluster-sender channel it is.
        channel: its name; the event holds for every CLUSSDR of the queue manager with it.
        status: the status that it takes, a word of `vocabulary.STATUS_TIERS`.
        at: microseconds since the epoch.
    """

    qmgr: str
    channel: str
    status: str
    at: int


@dataclass(frozen=True, slots=True)
class Event:
    """A channel event with its place in the lake.

    Attributes:
        event_id: names the rows of `reallocations`.
        number: place among all events of the lake, from 1.
        what: the event itself.
        snapshot_id: snapshot in force at that moment.
    """

    event_id: str
    number: int
    what: ChannelEvent
    snapshot_id: str


def read_events(lake: Lake, table: str) -> list[ChannelEvent]:
    """The events of a table.

    Args:
        lake: where a bare name is looked for.
        table: name of a table of the lake, or folder or URI of a Delta table, with the columns of
            `schemas.CHANNEL_EVENTS`.

    Raises:
        MissingLakeError: there is no such table.
        MissingColumnsError: it lacks columns.
        UnknownEventError: a cell is null.
    """
    place, slash, name = table.rstrip("/").rpartition("/")
    source = Lake(lake.spark, place or slash) if slash else lake
    rows = source.read(name, like=CHANNEL_EVENTS).withColumn(w.AT, F.unix_micros(w.AT)).collect()
    if any(cell is None for row in rows for cell in row):
        raise UnknownEventError(f"table '{table}' has events with null cells: fill or delete them")
    return [ChannelEvent(*row) for row in rows]


def place_events(lake: Lake, wanted: Iterable[ChannelEvent]) -> list[Event]:
    """Give each event its snapshot and number, in the order in which they run.

    Raises:
        UsageError: a status that channels do not have.
        UnknownEventError: no snapshot is in force yet, no such queue manager, no such channel.
        EarlierEventError: an event before the last one of its queue manager.
    """
    ordered = sorted(wanted, key=lambda x: (x.at, x.qmgr, x.channel, x.status))
    for event in ordered:
        if event.status not in STATUS_TIERS:
            known = ", ".join(STATUS_TIERS)
            raise UsageError(f"status '{event.status}' is none that channels have: {known}")
    catalog = snapshot_catalog(lake)
    done = done_events(lake)
    _refuse_earlier(ordered, done)
    number = done.agg(F.max(w.EVENT_NUMBER)).first()
    after = 1 + ((number[0] if number else None) or 0)
    events = [
        Event(uuid.uuid4().hex, after + at, event, _snapshot(event, catalog))
        for at, event in enumerate(ordered)
    ]
    _refuse_unknown(lake, events)
    return events


def done_events(lake: Lake) -> DataFrame:
    """The events that count, one row each (`schemas.REALLOCATION_EVENTS`)."""
    events = lake.read_or_empty(REALLOCATION_EVENTS.name)
    return events.where(F.col(w.PROGRESS) == w.Progress.DONE.value)


def _snapshot(event: ChannelEvent, catalog: SnapshotCatalog) -> str:
    """The snapshot in force at the event's moment."""
    in_force = catalog.in_force(event.at)
    if in_force is None:
        first = next(
            (
                f"the first, {x.snapshot_id}, is valid from {moment_at(x.valid_from).isoformat()}"
                for x in catalog.pins
            ),
            "the lake has no valid one",
        )
        raise UnknownEventError(
            f"no snapshot is in force at {moment_at(event.at).isoformat()}: {first}; give a later "
            "moment, or ingest a snapshot for it"
        )
    return in_force


def _refuse_earlier(ordered: Sequence[ChannelEvent], done: DataFrame) -> None:
    """Events of one queue manager run in order of their moments (P30)."""
    last = done.groupBy(c.QMGR).agg(F.max(F.unix_micros(w.AT)))
    latest: dict[str, int] = {row[0]: row[1] for row in last.collect()}
    for event in ordered:
        if event.at < latest.get(event.qmgr, event.at):
            raise EarlierEventError(
                f"an event of {event.qmgr} at {moment_at(event.at).isoformat()} is before its last "
                f"one, at {moment_at(latest[event.qmgr]).isoformat()}: events build on one "
                "another; give a later moment"
            )


def _refuse_unknown(lake: Lake, events: Sequence[Event]) -> None:
    """Each event's queue manager and channel must be in its snapshot, or have messages waiting."""
    asked = {(x.snapshot_id, x.what.qmgr, x.what.channel): x for x in events}
    if not asked:
        return
    topology = read_topology(lake, sorted({key[0] for key in asked}))
    spark = lake.spark
    frame = frame_from_rows(spark, list(asked), "snapshot_id string, qmgr string, channel string")
    used = _used_channels(lake, frame)
    channels = _channels(frame, topology)
    missing = frame.join(channels, list(OF_EVENT), "left_anti").join(
        used, [c.QMGR, c.CHANNEL], "left_anti"
    )
    for row in missing.orderBy(*OF_EVENT).limit(1).collect():
        raise _unknown(row[c.SNAPSHOT_ID], row[c.QMGR], row[c.CHANNEL], channels, topology)


def _used_channels(lake: Lake, asked: DataFrame) -> DataFrame:
    """(qmgr, channel) of those asked for that messages wait for: they may outlive a channel."""
    pairs = asked.select(c.QMGR, c.CHANNEL).distinct()
    outcomes = lake.read(OUTCOMES.name).select(c.QMGR, c.CHANNEL)
    moved = lake.read_or_empty(REALLOCATIONS.name).select(c.QMGR, w.TO_CHANNEL)
    met = outcomes.union(moved)
    return met.join(F.broadcast(pairs), [c.QMGR, c.CHANNEL], "left_semi").distinct()


def _channels(asked: DataFrame, topology: Topology) -> DataFrame:
    """The cluster-sender channels of the queue managers asked for: seen, or with a status."""
    looking = asked.select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()
    seen = channels_in_view(viewers(looking, topology), topology).where(
        (F.col(c.QMGR) != F.col(VIEWER)) & in_clusters(c.CLUSTER)
    )
    started = topology.channel_status.where(F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value)
    return (
        seen.select(c.SNAPSHOT_ID, F.col(VIEWER).alias(c.QMGR), c.CHANNEL)
        .union(started.select(*OF_EVENT))
        .distinct()
    )


def _unknown(
    snapshot_id: str, qmgr: str, channel: str, channels: DataFrame, topology: Topology
) -> UnknownEventError:
    """What is missing, and what is there instead."""
    of_qmgr = channels.where((F.col(c.SNAPSHOT_ID) == snapshot_id) & (F.col(c.QMGR) == qmgr))
    there = [row[0] for row in of_qmgr.select(c.CHANNEL).orderBy(c.CHANNEL).limit(_SHOWN).collect()]
    if there or is_defined(qmgr, snapshot_id, topology):
        return UnknownEventError(
            f"{qmgr} has no cluster-sender channel '{channel}' in snapshot {snapshot_id}: "
            f"name one of {', '.join(there) or '(none)'}"
        )
    return UnknownEventError(
        f"no queue manager '{qmgr}' in snapshot {snapshot_id}: check the name (case counts), or "
        "ingest its definitions"
    )
