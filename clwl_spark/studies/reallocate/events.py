"""Stops and failed retries of channels: what makes waiting messages choose anew.

Source: SEMANTICS 8, P22, P30 (Dick's article: a cluster-sender channel stops, and again at every
retry that fails).
"""

import uuid
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.mq.vocabulary import STATUS_TIERS, Edition
from clwl_spark.snapshots.catalog import Pin, SnapshotCatalog, snapshot_catalog
from clwl_spark.studies.reallocate.known_channels import UnknownEventError, refuse_unknown
from clwl_spark.studies.reallocate.who_waits import (
    ALL_WAIT,
    Sender,
    WhoWaits,
    as_told,
    by_status,
    senders_seen,
)
from clwl_spark.tables import CHANNEL_EVENTS, REALLOCATION_EVENTS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import moment_at, moment_text


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
        since: those wait that were put after it, in microseconds; None = not told.
        backlog: the last so many wait; None = not told.
    """

    qmgr: str
    channel: str
    status: str
    at: int
    since: int | None = None
    backlog: int | None = None

    @property
    def sender(self) -> Sender:
        """Whose messages choose anew."""
        return self.qmgr, self.channel


@dataclass(frozen=True, slots=True)
class Event:
    """A channel event with its place in the lake.

    Attributes:
        event_id: names the rows of `reallocations`; blank where it does not count.
        number: place among all events of the lake, from 1; 0 where it does not count.
        what: the event itself.
        snapshot_id: snapshot in force at that moment.
        waits: which messages of the channel wait.
    """

    event_id: str
    number: int
    what: ChannelEvent
    snapshot_id: str
    waits: WhoWaits = ALL_WAIT

    @property
    def counts(self) -> bool:
        """Whether it happens to anything: the channel was not up, or somebody says who waits."""
        return self.waits.is_known


def read_events(lake: Lake, table: str) -> list[ChannelEvent]:
    """The events of a table.

    Args:
        lake: where a bare name is looked for.
        table: name of a table of the lake, or folder or URI of a Delta table, with the columns of
            `schemas.CHANNEL_EVENTS`.

    Raises:
        MissingLakeError: there is no such table.
        MissingColumnsError: it lacks columns.
        UnknownEventError: a cell is null that says which event it is.
        UsageError: an event's `since` and `backlog` cannot be followed.
    """
    place, slash, name = table.rstrip("/").rpartition("/")
    source = Lake(lake.spark, place or slash) if slash else lake
    moments = {x: F.unix_micros(x) for x in (w.AT, w.SINCE)}
    rows = source.read(name, like=CHANNEL_EVENTS).withColumns(moments).collect()
    told = (w.SINCE, c.BACKLOG)
    if any(row[x] is None for row in rows for x in CHANNEL_EVENTS.names if x not in told):
        raise UnknownEventError(f"table '{table}' has events with null cells: fill or delete them")
    events = [ChannelEvent(*row) for row in rows]
    for event in events:
        try:
            check_told(event.at, event.since, event.backlog, told)
        except UsageError as error:
            at = moment_text(moment_at(event.at))
            raise UsageError(f"table '{table}', {event.qmgr} at {at}: {error}") from error
    return events


def check_told(
    at: int,
    since: int | None,
    backlog: int | None,
    names: tuple[str, str] = ("--since", "--backlog"),
) -> None:
    """Refuse what says who waits at a moment, but cannot be followed.

    Args:
        at: the moment, in microseconds.
        since: those put after it wait, in microseconds; None = not told.
        backlog: the last so many wait; None = not told.
        names: what `since` and `backlog` are called where they were given.

    Raises:
        UsageError: both are given, `since` is not before the moment, or `backlog` is below 0.
    """
    if since is not None and backlog is not None:
        raise UsageError(f"{names[0]} and {names[1]} both say who waits: give one of them")
    if since is not None and since >= at:
        then, now = (moment_text(moment_at(x)) for x in (since, at))
        raise UsageError(
            f"{names[0]} {then} is not before {now}, so nothing that waits then was put after it: "
            "give an earlier moment"
        )
    if backlog is not None and backlog < 0:
        raise UsageError(f"{names[1]} {backlog}: give how many messages wait, 0 or more")


def place_events(lake: Lake, wanted: Iterable[ChannelEvent], edition: Edition) -> list[Event]:
    """Give each event its snapshot, number and who waits, in the order in which they run.

    Args:
        lake: routed.
        wanted: the events, in any order.
        edition: the lake's. In the first one all that goes by the channel waits.

    Raises:
        UsageError: a status that channels do not have.
        UnknownEventError: no snapshot is in force yet, no such queue manager, no such channel.
        EarlierEventError: an event before the last one of its queue manager.
    """
    ordered = sorted(wanted, key=_order)
    for event in ordered:
        if event.status not in STATUS_TIERS:
            known = ", ".join(STATUS_TIERS)
            raise UsageError(f"status '{event.status}' is none that channels have: {known}")
    catalog = snapshot_catalog(lake)
    done = done_events(lake)
    _refuse_earlier(ordered, done)
    snapshots = [_snapshot(event, catalog) for event in ordered]
    places = {(x, *event.sender): None for x, event in zip(snapshots, ordered, strict=True)}
    refuse_unknown(lake, list(places))
    waits = _who_waits(lake, ordered, catalog.pins, edition)
    row = done.agg(F.max(w.EVENT_NUMBER)).first()
    number = (row[0] if row else None) or 0
    events = []
    for event, snapshot_id, who in zip(ordered, snapshots, waits, strict=True):
        number += who.is_known
        named = (uuid.uuid4().hex, number) if who.is_known else ("", 0)
        events.append(Event(*named, event, snapshot_id, who))
    return events


def _order(event: ChannelEvent) -> tuple[object, ...]:
    """Events in order of time; those of one moment in one order, however they are given.

    Source: P30, which leaves open what comes first of several of one moment.
    """
    told = (event.since is None, event.since or 0, event.backlog is None, event.backlog or 0)
    return event.at, event.qmgr, event.channel, event.status, *told


def who_waits_at(lake: Lake, event: ChannelEvent, edition: Edition) -> WhoWaits:
    """Which messages wait at an event, whatever events came before it.

    Raises:
        UnknownEventError: the status is asked, and no snapshot is in force yet.
    """
    catalog = snapshot_catalog(lake)
    if edition != Edition.FIRST and as_told(event.since, event.backlog) is None:
        _snapshot(event, catalog)
    return _who_waits(lake, [event], catalog.pins, edition)[0]


def _who_waits(
    lake: Lake, events: Sequence[ChannelEvent], pins: Sequence[Pin], edition: Edition
) -> list[WhoWaits]:
    """Which messages wait at each event, all of which have a snapshot in force."""
    told = [as_told(event.since, event.backlog) for event in events]
    if edition == Edition.FIRST:
        return [who or ALL_WAIT for who in told]
    asked = [event for event, who in zip(events, told, strict=True) if who is None]
    begins = [pin.valid_from for pin in pins]
    upto = bisect_right(begins, max((event.at for event in asked), default=0))
    known = [pin.snapshot_id for pin in pins[:upto]]
    seen = senders_seen(lake, [event.sender for event in asked], known)
    return [
        who or by_status(event.sender, pins[: bisect_right(begins, event.at)], seen)
        for event, who in zip(events, told, strict=True)
    ]


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
