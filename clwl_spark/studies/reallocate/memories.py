"""The balancing history that an event begins with.

It is that of the last routed batch, changed by the choices of all earlier events; routing itself
never sees those. Nothing of an event but its sums per channel is needed for that.

Source: SEMANTICS P29, with C1, P20 and P21 for the resets.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.changes import neighbours, resets
from clwl_spark.snapshots.differences import Differences, pair_rows
from clwl_spark.snapshots.views import VIEWER, read_topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize
from clwl_spark.studies.reallocate.events import Event, done_events
from clwl_spark.tables import (
    BALANCE_HISTORY,
    OUTCOMES,
    REALLOCATION_CHOICES,
    RUNS,
    SNAPSHOT_RESETS,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

Channel = tuple[str, str]


@dataclass
class Past:
    """What a queue manager remembers before its first new event.

    Attributes:
        counter: choices ever made.
        balance: (dest_qmgr, channel) -> [dest_seq_number, dest_seq_factor].
        brought: snapshots whose resets were brought.
        resetting: new events (by event_id) that set every factor to 0 before their first choice.
    """

    counter: int = 0
    balance: dict[Channel, list[int]] = field(default_factory=dict)
    brought: set[str] = field(default_factory=set)
    resetting: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {
            "counter": self.counter,
            "balance": [[*channel, *values] for channel, values in self.balance.items()],
            "resetting": self.resetting,
        }

    def add_choices(self, chosen: Sequence[Row], total: int) -> None:
        """Add what an earlier event chose: its rows of `reallocation_choices`, and how many."""
        for row in chosen:
            values = self.balance.setdefault((row[c.DEST_QMGR], row[c.CHANNEL]), [0, 0])
            values[0] = self.counter + row[w.LAST]
            values[1] += row[w.FACTOR]
        self.counter += total

    def reset(self) -> None:
        """Set every factor to 0; numbers and counter stay (C1)."""
        for values in self.balance.values():
            values[1] = 0


@dataclass(frozen=True, slots=True)
class _Step:
    """An event among others: which snapshots' resets it may bring."""

    event_id: str
    qmgr: str
    snapshot_id: str


def pasts(lake: Lake, events: Sequence[Event], keep: Materialize) -> dict[str, Past]:
    """The past of each event's queue manager, earlier events and all resets counted.

    Args:
        lake: with the routing's tables and earlier events.
        events: the new events, in order.
        keep: what to do with frames that several steps read.
    """
    qmgrs = sorted({event.what.qmgr for event in events})
    order = [pin.snapshot_id for pin in snapshot_catalog(lake).pins]
    found = _routed(lake, qmgrs, order)
    earlier = _earlier(lake, qmgrs)
    steps = [_Step(row[w.EVENT_ID], row[c.QMGR], row[c.SNAPSHOT_ID]) for row in earlier]
    new = [_Step(x.event_id, x.what.qmgr, x.snapshot_id) for x in events]
    resetting = _resets(lake, found, [*steps, *new], order, keep)
    chosen = _chosen(lake, [step.event_id for step in steps])
    for step, row in zip(steps, earlier, strict=True):
        past = found[step.qmgr]
        if _brings_reset(past, step, order, resetting):
            past.reset()
        past.add_choices(chosen[step.event_id], row[w.CHOICES_MADE])
    for step in new:
        if _brings_reset(found[step.qmgr], step, order, resetting):
            found[step.qmgr].resetting.append(step.event_id)
    return found


def _routed(lake: Lake, qmgrs: Sequence[str], order: Sequence[str]) -> dict[str, Past]:
    """The histories after the last routed batch; a choice's number is the counter then."""
    found = {qmgr: Past(brought=set(order[:1])) for qmgr in qmgrs}
    rows = _of(lake.read(BALANCE_HISTORY.name), qmgrs).collect()
    for row in rows:
        past = found[row[c.QMGR]]
        number, factor = row[c.DEST_SEQ_NUMBER], row[c.DEST_SEQ_FACTOR]
        past.balance[row[c.DEST_QMGR], row[c.CHANNEL]] = [number, factor]
        past.counter = max(past.counter, number)
    used = _of(lake.read(OUTCOMES.name), qmgrs).select(c.QMGR, c.SNAPSHOT_ID).distinct().collect()
    pinned = [set(row[0]) for row in lake.read_or_empty(RUNS.name).select("snapshots").collect()]
    for qmgr, snapshot_id in used:
        found[qmgr].brought |= _brought_by(snapshot_id, order, pinned)
    return found


def _brought_by(snapshot_id: str, order: Sequence[str], pinned: Sequence[set[str]]) -> set[str]:
    """The snapshots whose resets a routed message of this one brought (P21).

    Those up to its own that a run with its snapshot knew. Where a snapshot was put between two
    known ones, and messages of the later one were routed before and after, the tables do not say
    whose messages came after it: they count as those of this queue manager.
    """
    if snapshot_id not in order:
        return set()
    upto = set(order[: order.index(snapshot_id) + 1])
    known: set[str] = set().union(*(run for run in pinned if snapshot_id in run))
    return upto & (known or upto)


def _earlier(lake: Lake, qmgrs: Sequence[str]) -> list[Row]:
    """The events that ran before, in order."""
    return _of(done_events(lake), qmgrs).orderBy(w.EVENT_NUMBER).collect()


def _chosen(lake: Lake, event_ids: Sequence[str]) -> dict[str, list[Row]]:
    """What each earlier event chose."""
    by_event: dict[str, list[Row]] = defaultdict(list)
    if event_ids:
        rows = lake.read(REALLOCATION_CHOICES.name)
        for row in rows.where(F.col(w.EVENT_ID).isin(list(event_ids))).collect():
            by_event[row[w.EVENT_ID]].append(row)
    return by_event


def _resets(
    lake: Lake,
    found: dict[str, Past],
    steps: Sequence[_Step],
    order: Sequence[str],
    keep: Materialize,
) -> set[tuple[str, str]]:
    """The (queue manager, snapshot) that reset, among those that events may bring."""
    before = dict(neighbours(order))
    wanted = {
        (step.qmgr, snapshot, before[snapshot])
        for step in steps
        for snapshot in order[
            1 : order.index(step.snapshot_id) + 1 if step.snapshot_id in order else 1
        ]
        if snapshot not in found[step.qmgr].brought
    }
    if not wanted:
        return set()
    types = f"{VIEWER} string, snapshot_id string, previous_id string"
    pairs = frame_from_rows(lake.spark, sorted(wanted), types)
    keys = [c.QMGR, c.SNAPSHOT_ID, c.PREVIOUS_ID]
    known = lake.read_or_empty(SNAPSHOT_RESETS.name).join(
        F.broadcast(pairs.withColumnRenamed(VIEWER, c.QMGR)), keys, "left_semi"
    )
    said = {(row[0], row[1], row[2]): row[3] for row in known.select(*keys, c.IS_RESET).collect()}
    asked = sorted(wanted - said.keys())
    if asked:
        topology = read_topology(lake, sorted({x for _, *two in asked for x in two}), keep)
        rows = pair_rows(lake.spark, {(later, earlier) for _, later, earlier in asked})
        differences = Differences(rows, topology, keep)
        made = resets(frame_from_rows(lake.spark, asked, types), differences, keep)
        said |= {(row[0], row[1], row[2]): row[3] for row in made.collect()}
    return {(qmgr, snapshot) for (qmgr, snapshot, _), is_reset in said.items() if is_reset}


def _brings_reset(
    past: Past, step: _Step, order: Sequence[str], resetting: set[tuple[str, str]]
) -> bool:
    """Bring the resets up to the event's snapshot that were not brought; is any one."""
    if step.snapshot_id not in order:
        return False
    brings = set(order[: order.index(step.snapshot_id) + 1]) - past.brought
    past.brought |= brings
    return any((step.qmgr, snapshot) in resetting for snapshot in brings)


def _of(frame: DataFrame, qmgrs: Sequence[str]) -> DataFrame:
    return frame.where(F.col(c.QMGR).isin(list(qmgrs)))
