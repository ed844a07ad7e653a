"""Run channel events over all that waits, queue managers side by side, and write what came of it.

An event counts when its row says DONE, which is written last: rows of a run that was killed are
taken away by the next one, which so begins where the killed one began.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder
from clwl_spark.spark.materialize import persisted
from clwl_spark.studies.reallocate.blocks import EVENTS, FIGURES, reallocation_rows, redriven
from clwl_spark.studies.reallocate.events import ChannelEvent, Event, place_events
from clwl_spark.studies.reallocate.wording import none_waits, some_are_missing
from clwl_spark.tables import OUTCOMES, REALLOCATION_CHOICES, REALLOCATION_EVENTS, REALLOCATIONS
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import moment_at, moment_text

WRITTEN: Final = (REALLOCATIONS, REALLOCATION_EVENTS, REALLOCATION_CHOICES)
_COUNTS: Final = (w.WAITING, w.MOVED, w.STILL_FAVOURED, w.FAILED, w.NOT_ELIGIBLE)


@dataclass(frozen=True, slots=True)
class EventSummary:
    """What became of the messages that waited at one event.

    `reasons` counts NOT_ELIGIBLE messages by reason, `rules` STILL_FAVOURED ones by deciding rule.
    Of an event that does not count all counts are 0, and nothing is written.
    """

    event: Event
    counts: dict[str, int]
    choices_made: int
    reasons: dict[str, int]
    rules: dict[str, int]
    choices: list[list[Any]]

    @property
    def note(self) -> str | None:
        """A sentence on who waits, where the counts do not say it all."""
        what = self.event.what
        where = f"{moment_text(moment_at(what.at))}: {what.channel} of {what.qmgr}"
        if not self.event.counts:
            return none_waits(where, self.event.snapshot_id)
        if self.missing:
            return some_are_missing(where, self.missing, self.counts[w.WAITING])
        return None

    @property
    def missing(self) -> int:
        """Messages of the backlog that the lake does not know."""
        return max((self.event.waits.last or 0) - self.counts[w.WAITING], 0)

    def to_json(self) -> dict[str, Any]:
        """An element of `events` in the document of `clwl reallocate --json`."""
        what, waits = self.event.what, self.event.waits
        return {
            w.EVENT_ID: self.event.event_id or None,
            c.QMGR: what.qmgr,
            c.CHANNEL: what.channel,
            c.STATUS: what.status,
            w.AT: moment_at(what.at).isoformat(),
            c.SNAPSHOT_ID: self.event.snapshot_id,
            w.WAITING_BY: waits.by.value,
            w.SINCE: _iso(what.since),
            w.PUT_FROM: _iso(waits.put_from) if waits.by is w.WaitingBy.TIER else None,
            c.BACKLOG: waits.last,
            "missing": self.missing,
            "note": self.note,
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

    Of an event for which nothing says that messages wait, nothing is written: the channel was up.

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
    placed = place_events(lake, wanted, ladder.semantics.edition)
    events = [x for x in placed if x.counts]
    done: list[EventSummary] = []
    if events:
        with persisted(redriven(lake, events, ladder)) as blocks:
            done.extend(_summaries(blocks, events))
            _write(lake, blocks, done)
    by_id = {x.event.event_id: x for x in done}
    summaries = tuple(by_id.get(x.event_id) or _nothing(x) for x in placed)
    return ReallocationSummary(summaries, round(time.monotonic() - started, 3))


def _iso(moment: int | None) -> str | None:
    return None if moment is None else moment_at(moment).isoformat()


def _nothing(event: Event) -> EventSummary:
    """Of an event that does not count."""
    return EventSummary(event, dict.fromkeys(_COUNTS, 0), 0, {}, {}, [])


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


def _write(lake: Lake, blocks: DataFrame, done: Sequence[EventSummary]) -> None:
    """Write the rows between two rows of each event: RUNNING, and DONE, from which on it counts."""
    lake.append(REALLOCATION_EVENTS.name, _event_rows(lake, done, w.Progress.RUNNING))
    lake.append(REALLOCATIONS.name, reallocation_rows(blocks))
    chosen = [(x.event.event_id, *row) for x in done for row in x.choices]
    if chosen:
        rows = lake.arrow_rows(REALLOCATION_CHOICES.name, chosen)
        lake.append(REALLOCATION_CHOICES.name, rows)
    lake.merge(REALLOCATION_EVENTS.name, _event_rows(lake, done, w.Progress.DONE))


def _event_rows(lake: Lake, done: Sequence[EventSummary], progress: w.Progress) -> pa.Table:
    rows = [
        (
            x.event.event_id,
            x.event.number,
            x.event.what.qmgr,
            x.event.what.channel,
            x.event.what.status,
            moment_at(x.event.what.at),
            x.event.snapshot_id,
            progress.value,
            *(x.counts[name] for name in _COUNTS),
            x.choices_made,
            x.event.waits.by.value,
            None if x.event.waits.put_from is None else moment_at(x.event.waits.put_from),
            x.event.waits.last,
        )
        for x in done
    ]
    return lake.arrow_rows(REALLOCATION_EVENTS.name, rows)


def _take_back_killed_runs(lake: Lake) -> None:
    """Delete what events left that were not DONE; one run at a time works on a lake."""
    events = lake.read_or_empty(REALLOCATION_EVENTS.name)
    killed = events.where(F.col(w.PROGRESS) != w.Progress.DONE.value).select(w.EVENT_ID).collect()
    if not killed:
        return
    ids = ", ".join(f"'{row[0]}'" for row in killed)
    for table in (REALLOCATIONS, REALLOCATION_CHOICES, REALLOCATION_EVENTS):
        where = f"{w.EVENT_ID} IN ({ids})"
        lake.spark.sql(f"DELETE FROM {lake.sql_name(table.name)} WHERE {where}")  # noqa: S608
