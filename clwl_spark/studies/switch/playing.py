"""The worker of a switch: one channel's messages in order, placed; blocks of rows come out."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from clwl_spark.routing.intake.blocks import from_ipc, to_ipc
from clwl_spark.spark.parallel import cores
from clwl_spark.studies.reallocate.waiting import sorted_by
from clwl_spark.studies.switch.associations import Association
from clwl_spark.studies.switch.steps import (
    LEFT,
    NEVER,
    PUT_ON_NEW,
    REBALANCED,
    SWITCHED,
    Codes,
    Interruptions,
    Longs,
    Pace,
    examined_at,
    greatest_depth,
    switch_in_steps,
)
from clwl_spark.tables import SWITCHED_MESSAGES
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

ROWS_AT_A_TIME: Final = 100_000
DATA: Final = "data"
FIGURES: Final = "figures"
GOES: Final = "goes"
IS_LATER: Final = "is_later"
BLOCK_SCHEMA: Final = "data binary, figures string"
_BLOCK_ARROW: Final = pa.schema([(DATA, pa.binary()), (FIGURES, pa.string())])
_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_HOW: Final = {
    LEFT: w.Placed.LEFT.value,
    SWITCHED: w.Placed.SWITCHED.value,
    REBALANCED: w.Placed.REBALANCED.value,
    PUT_ON_NEW: w.Placed.PUT_ON_NEW.value,
}
COUNTS: Final = {
    "switched": SWITCHED,
    "rebalanced": REBALANCED,
    "put_on_new": PUT_ON_NEW,
    "left_on_old": LEFT,
}


@dataclass(frozen=True, slots=True)
class SwitchRequest:
    """Which switch to play, and how fast things go; moments in microseconds since the epoch.

    Attributes:
        qmgr: queue manager whose channel it is.
        snapshot_id: snapshot whose definitions count.
        association: the channel, with the queue it has and the one it gets.
        pace: when the channel starts, messages moved a second, messages in a transaction.
        interruptions: (stop, start) pairs; start is None where it stays stopped.
        stopped_at: when it was stopped before, so that balancing began; None = not looked at.
        stopped_status: the status that it had then.
        rebalanced_per_second: messages that balancing looks at in a second.
        since: those wait that were put after it, in microseconds; None = not told.
        backlog: the last so many wait; None = not told.
    """

    qmgr: str
    snapshot_id: str
    association: Association
    pace: Pace
    interruptions: tuple[tuple[int, int | None], ...] = ()
    stopped_at: int | None = None
    stopped_status: str = "STOPPED"
    rebalanced_per_second: int = 10_000
    since: int | None = None
    backlog: int | None = None

    @property
    def looked_at(self) -> int:
        """The moment that says who waits: all that is put later waits as well."""
        return self.pace.start if self.stopped_at is None else self.stopped_at


def playing(request: SwitchRequest) -> Callable[[pa.Table], pa.Table]:
    """Make the worker of one switch, of all messages and for `applyInArrow`."""

    def play(messages: pa.Table) -> pa.Table:
        played = _played(_in_order(messages), request) if messages.num_rows else ()
        return pa.Table.from_batches(list(played), _BLOCK_ARROW)

    return play


def _in_order(messages: pa.Table) -> pa.Table:
    """First what was there at the start, by put_seq; then what came later, as it came."""
    is_later = messages[IS_LATER]
    came = pc.if_else(is_later, messages[w.ARRIVED_AT], 0)
    return sorted_by(messages, is_later, came, messages[c.PUT_SEQ], messages[c.MESSAGE_ID])


@dataclass(frozen=True, slots=True)
class _Placed:
    """What `switch_in_steps` says of the messages, and when they arrived."""

    arrived: Longs
    placed: Longs
    how: Codes
    step_2: int
    undone: int


def _played(messages: pa.Table, request: SwitchRequest) -> Iterator[pa.RecordBatch]:
    """Play one switch: blocks of placed messages, the last with the figures."""
    arrived = messages[w.ARRIVED_AT].to_numpy()
    taken_at = np.full(len(arrived), NEVER, dtype=np.int64)
    if request.stopped_at is not None:
        looked = examined_at(arrived, request.stopped_at, request.rebalanced_per_second)
        taken_at = np.where(messages[GOES].to_numpy(), looked, NEVER)
    pairs = [(stop, NEVER if start is None else start) for stop, start in request.interruptions]
    table = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    stopped = Interruptions(table[:, 0].copy(), table[:, 1].copy())
    placed = _Placed(arrived, *switch_in_steps(arrived, taken_at, request.pace, stopped))
    rows = _placed_rows(messages, placed, request.association)
    for at in range(0, rows.num_rows, ROWS_AT_A_TIME):
        is_last = at + ROWS_AT_A_TIME >= rows.num_rows
        row = [
            [to_ipc(rows.slice(at, ROWS_AT_A_TIME).combine_chunks())],
            [json.dumps(_figures(placed, request.pace.start)) if is_last else ""],
        ]
        yield pa.RecordBatch.from_arrays(
            [pa.array(x, f.type) for x, f in zip(row, _BLOCK_ARROW, strict=True)],
            schema=_BLOCK_ARROW,
        )


def _figures(of: _Placed, start: int) -> dict[str, Any]:
    """The counts of a switch, and how deep the old queue became."""
    was_on_old = of.how != PUT_ON_NEW
    arrived = of.arrived[was_on_old]
    left = np.where(of.how == LEFT, NEVER, of.placed)[was_on_old]
    depth, deepest, deepest_at = greatest_depth(arrived, left, start)
    return {
        w.WAITING: int((of.arrived <= start).sum()),
        **{name: int((of.how == code).sum()) for name, code in COUNTS.items()},
        "rolled_back": int(of.undone),
        "step_2_at": None if of.step_2 == NEVER else int(of.step_2),
        "arrived_in_step_1": int((arrived > start).sum()),
        "last_arrival_in_step_1": int(arrived.max(initial=start)),
        "depth_at_start": depth,
        "deepest": deepest,
        "deepest_at": deepest_at,
    }


def _placed_rows(messages: pa.Table, of: _Placed, association: Association) -> pa.Table:
    """The columns of `switched_messages` that differ from message to message."""
    words = pa.array([_HOW[code] for code in sorted(_HOW)])
    queues = pa.array([association.current, association.next], pa.string())
    on_new = pa.array(((of.how == SWITCHED) | (of.how == PUT_ON_NEW)).astype(np.int32))
    away = pa.array(of.how == REBALANCED)
    return pa.table(
        {
            w.POSITION: np.arange(len(of.arrived), dtype=np.int64),
            c.PUT_SEQ: messages[c.PUT_SEQ],
            c.MESSAGE_ID: messages[c.MESSAGE_ID],
            w.ARRIVED_AT: of.arrived,
            w.PLACED_AT: of.placed,
            w.HOW: pa.DictionaryArray.from_arrays(of.how, words).cast(pa.string()),
            c.XMITQ: pc.if_else(away, messages[w.TO_XMITQ], queues.take(on_new)),
        }
    )


def figures_of_nothing(request: SwitchRequest) -> dict[str, Any]:
    """No message at all: step 2 begins when the channel runs."""
    end = request.pace.start
    for stop, start in request.interruptions:
        if stop <= end:
            end = NEVER if start is None else max(end, start)
    counts = dict.fromkeys((w.WAITING, *COUNTS, "rolled_back", "arrived_in_step_1"), 0)
    depths = {"depth_at_start": 0, "deepest": 0, "deepest_at": end, "last_arrival_in_step_1": end}
    return {**counts, **depths, "step_2_at": None if end == NEVER else end}


def rows_of(blocks: DataFrame, switch_id: str, asked: SwitchRequest) -> DataFrame:
    """The blocks as rows of `switched_messages`."""
    same = {
        w.SWITCH_ID: switch_id,
        c.QMGR: asked.qmgr,
        c.CHANNEL: asked.association.channel,
    }

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for data in batch.column(DATA):
                rows = from_ipc(data.as_buffer())
                columns = {name: rows[name] for name in rows.column_names}
                columns |= {name: pa.repeat(x, rows.num_rows) for name, x in same.items()}
                for name in (w.ARRIVED_AT, w.PLACED_AT):
                    columns[name] = columns[name].cast(_TIMESTAMP)
                yield from pa.table({x: columns[x] for x in SWITCHED_MESSAGES.names}).to_batches()

    spread = blocks.select(DATA).repartition(cores(blocks.sparkSession))
    return spread.mapInArrow(unpack, SWITCHED_MESSAGES.schema)
