"""A channel's switch played over the lake: what waits, what arrives, what is where in the end.

One channel's messages are one task: they keep their order. Memory: about 100 bytes a message.

Source: SEMANTICS 7, P27; IBM's page on transmission queues (how the switch works; re-balancing and
switching in parallel).
"""

import json
import uuid
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import persisted
from clwl_spark.studies.reallocate.blocks import reallocation_rows, redriven
from clwl_spark.studies.reallocate.events import ChannelEvent, place_events, who_waits_at
from clwl_spark.studies.reallocate.waiting import MOVED_AT, unsent, waiting_outcomes
from clwl_spark.studies.reallocate.who_waits import ALL_WAIT, WhoWaits
from clwl_spark.studies.reallocate.wording import none_waits, some_are_missing
from clwl_spark.studies.switch.playing import (
    BLOCK_SCHEMA,
    COUNTS,
    FIGURES,
    GOES,
    IS_LATER,
    SwitchRequest,
    figures_of_nothing,
    playing,
    rows_of,
)
from clwl_spark.tables import (
    REALLOCATION_CHOICES,
    REALLOCATION_EVENTS,
    REALLOCATIONS,
    SWITCHED_MESSAGES,
    SWITCHES,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import moment_at, moment_text

WRITTEN: Final = (SWITCHES, SWITCHED_MESSAGES)


@dataclass(frozen=True, slots=True)
class SwitchSummary:
    """How a switch went.

    Attributes:
        switch_id: names the rows of `switches` and `switched_messages`.
        request: what was played.
        figures: counts; `step_2_at` (None = not reached); depth of the old queue at the start and
            at its deepest, and arrivals during step 1.
        waits: which messages of the channel waited.
        note: a sentence, where nothing says that any did.
    """

    switch_id: str
    request: SwitchRequest
    figures: dict[str, Any]
    waits: WhoWaits = ALL_WAIT
    note: str | None = None

    @property
    def outrun(self) -> bool:
        """Whether arrivals made the old queue deeper by more than a transaction."""
        start = self.figures["depth_at_start"]
        return bool(self.figures["deepest"] > start + self.request.pace.batch)

    @property
    def is_short(self) -> bool:
        """Whether more wait than the lake has messages of."""
        return bool((self.waits.last or 0) > self.figures[w.WAITING])

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl xmitq --start-at ... --json`."""
        end, asked = self.figures["step_2_at"], self.request
        return {
            w.SWITCH_ID: self.switch_id,
            c.QMGR: asked.qmgr,
            c.CHANNEL: asked.association.channel,
            c.SNAPSHOT_ID: asked.snapshot_id,
            w.FROM_XMITQ: asked.association.current,
            w.TO_XMITQ: asked.association.next,
            "started_at": moment_at(asked.pace.start).isoformat(),
            "step_2_at": None if end is None else moment_at(end).isoformat(),
            **{name: self.figures[name] for name in (w.WAITING, *COUNTS, "rolled_back")},
            "outrun": self.outrun,
            "arrived_in_step_1": self.figures["arrived_in_step_1"],
            "deepest": self.figures["deepest"],
            w.WAITING_BY: self.waits.by.value,
            "note": self.note,
        }


def simulate(lake: Lake, request: SwitchRequest, ladder: Ladder) -> SwitchSummary:
    """Play a switch and write what became of each message.

    Waiting messages and arrivals are the outcomes that name the channel, before and after the
    start, less those that were sent before (SEMANTICS 8, "Who waits", when it stopped or else when
    it starts). Where the channel was stopped before, what balancing would do then is worked out by
    the re-allocation itself, of which nothing is written.

    Raises:
        UnknownEventError, EarlierEventError: as `studies.reallocate.run.reallocate`.
    """
    lake.create((*WRITTEN, REALLOCATIONS, REALLOCATION_EVENTS, REALLOCATION_CHOICES))
    switch_id = uuid.uuid4().hex
    asked = _stop(request)
    waits = who_waits_at(lake, asked, ladder.semantics.edition)
    all_of_it = _messages(lake, request, waits, ladder).groupBy()
    with persisted(all_of_it.applyInArrow(playing(request), BLOCK_SCHEMA)) as blocks:
        said = blocks.where(F.col(FIGURES) != "").select(FIGURES).collect()
        figures = json.loads(said[0][0]) if said else figures_of_nothing(request)
        note = _note(lake, asked, waits, figures[w.WAITING])
        summary = SwitchSummary(switch_id, request, figures, waits, note)
        lake.append(SWITCHED_MESSAGES.name, rows_of(blocks, switch_id, request))
        lake.append(SWITCHES.name, lake.arrow_rows(SWITCHES.name, [_row(summary)]))
    return summary


def _stop(request: SwitchRequest) -> ChannelEvent:
    """The moment from which on the channel's messages wait, as an event."""
    return ChannelEvent(
        request.qmgr,
        request.association.channel,
        request.stopped_status,
        request.looked_at,
        request.since,
        request.backlog,
    )


def _note(lake: Lake, asked: ChannelEvent, waits: WhoWaits, waiting: int) -> str | None:
    """A sentence on who waits, where the steps do not say it all."""
    where = f"{moment_text(moment_at(asked.at))}: {asked.channel} of {asked.qmgr}"
    if not waits.is_known:
        snapshot_id = str(snapshot_catalog(lake).in_force(asked.at))
        return none_waits(where, snapshot_id, "the switch has only what is put later to move")
    missing = max((waits.last or 0) - waiting, 0)
    return some_are_missing(where, missing, waiting) if missing else None


def _messages(lake: Lake, request: SwitchRequest, waits: WhoWaits, ladder: Ladder) -> DataFrame:
    """The channel's messages, with where balancing would send them.

    Events after the moment that is looked at have not been.

    Grain: one row per outcome that waits for the channel at that moment, or is put later;
    `arrived_at` in microseconds, `is_later` where that is after the start, `goes` where balancing
    takes it away, `to_xmitq` the queue that it then goes to.
    """
    pair = [(request.qmgr, request.association.channel)]
    channels = frame_from_rows(lake.spark, pair, "qmgr string, channel string")
    arrived = F.coalesce(MOVED_AT, F.unix_micros(c.PUT_TIME))
    found = (
        unsent(waiting_outcomes(lake, channels, request.looked_at), waits, request.looked_at)
        .withColumn(w.ARRIVED_AT, arrived)
        .select(c.PUT_SEQ, c.MESSAGE_ID, w.ARRIVED_AT, w.MESSAGE_KEY, w.DUPLICATE)
        .withColumn(IS_LATER, F.col(w.ARRIVED_AT) > request.pace.start)
    )
    if request.stopped_at is None or not waits.is_known:
        return found.withColumns({GOES: F.lit(False), w.TO_XMITQ: F.lit(None).cast("string")}).drop(
            w.MESSAGE_KEY, w.DUPLICATE
        )
    events = place_events(lake, [_stop(request)], ladder.semantics.edition)
    chosen = reallocation_rows(redriven(lake, events, ladder))
    moved = chosen.where(F.col(w.OUTCOME) == w.Reallocation.MOVED.value).select(
        w.MESSAGE_KEY, w.DUPLICATE, w.TO_XMITQ, F.lit(True).alias(GOES)
    )
    keys = [w.MESSAGE_KEY, w.DUPLICATE]
    return found.join(moved, keys, "left").fillna({GOES: False}).drop(*keys)


def _row(summary: SwitchSummary) -> tuple[Any, ...]:
    """The row of `switches`."""
    found, asked = summary.figures, summary.request
    end = found["step_2_at"]
    values = {
        w.SWITCH_ID: summary.switch_id,
        c.QMGR: asked.qmgr,
        c.CHANNEL: asked.association.channel,
        c.SNAPSHOT_ID: asked.snapshot_id,
        w.FROM_XMITQ: asked.association.current,
        w.TO_XMITQ: asked.association.next,
        "started_at": moment_at(asked.pace.start),
        "step_2_at": None if end is None else moment_at(end),
        **{name: found[name] for name in (w.WAITING, *COUNTS, "rolled_back")},
    }
    return tuple(values[name] for name in SWITCHES.names)
