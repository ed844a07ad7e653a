"""The stateful stream: blocks, grouped by queue manager, through `applyInPandasWithState`.

One run of the query routes one micro-batch: all messages that are there. The plans reach the
state function as data that joins the stream; a run that finds a plan missing changes nothing and
says which.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState

from clwl_spark import columns as c
from clwl_spark.plan.facts import FACTS
from clwl_spark.routing.blocks import (
    IS_FIRST,
    KEYS,
    KIND,
    KIND_MESSAGES,
    KIND_REJECTS,
    MESSAGES,
    PAYLOAD,
    PEAK,
    SPLIT,
    BlockForm,
    empty_rows,
)
from clwl_spark.routing.engines import Engine
from clwl_spark.routing.history import STATE_SCHEMA, Memory, from_state, to_state
from clwl_spark.routing.intake import Pin
from clwl_spark.routing.sender import KIND_MISSING, RoutedBlock, Sender
from clwl_spark.routing.unpack import ANSWERS, DATA

FIGURES: Final = "figures"
ROUTED_SCHEMA: Final = (
    "qmgr string, kind string, messages bigint, data binary, answers binary, payload binary, "
    "figures string, split string"
)
_ROUTED_COLUMNS: Final = (c.QMGR, KIND, MESSAGES, DATA, ANSWERS, PAYLOAD, FIGURES, SPLIT)
ARROW_ROWS: Final = "spark.sql.execution.arrow.maxRecordsPerBatch"
_TAKEN_AT_ONCE: Final = 1 / 4
_SENT_AT_ONCE: Final = 1 / 8
"""Shares of `worker_memory_mib` that blocks and answers may take on their way to and from Java."""
_FRAME_BYTES: Final = 1 << 20
"""Bytes of routed blocks that go to Java as one frame."""
StateFunction = Callable[
    [tuple[Any, ...], Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a binding lives (microseconds), and what a worker may use (MiB)."""

    ttl: int
    memory_mib: int


def routed_blocks(
    messages: DataFrame, facts: DataFrame, pins: Sequence[Pin], bounds: Bounds, engine: Engine
) -> DataFrame:
    """Route a stream of messages.

    Args:
        messages: rows of `messages`, a stream.
        facts: (qmgr, facts) of `plan.facts`, not a stream.
        pins: valid snapshots, in order.
        bounds: what a queue manager's messages may take.
        engine: how messages become blocks.

    Grain: one row per routed block, reject block, queue manager (history), or queue manager of
    which plans are missing.
    """
    arrow_rows = int(str(messages.sparkSession.conf.get(ARROW_ROWS)))
    taken, sent = (
        arrow_rows / (bounds.memory_mib * 2**20 * share)
        for share in (_TAKEN_AT_ONCE, _SENT_AT_ONCE)
    )
    blocks = engine.blocks(messages, pins, taken)
    first = facts.withColumn(IS_FIRST, F.lit(True))
    with_facts = blocks.join(F.broadcast(first), [c.QMGR, IS_FIRST], "left")
    return (
        with_facts.select(c.QMGR, KIND, MESSAGES, KEYS, PAYLOAD, SPLIT, PEAK, FACTS)
        .groupBy(c.QMGR)
        .applyInPandasWithState(
            route_group([pin.snapshot_id for pin in pins], bounds, engine.form, sent),
            outputStructType=ROUTED_SCHEMA,
            stateStructType=STATE_SCHEMA,
            outputMode="append",
            timeoutConf="NoTimeout",
        )
        .where(F.col(KIND).isNotNull())
    )


def route_group(
    snapshots: list[str], bounds: Bounds, form: BlockForm, rows_per_byte: float = 0.0
) -> StateFunction:
    """Make the state function of one run; its state is one queue manager's memory.

    Blocks come with `empty_rows` and answers go with them, so that what a worker holds does not
    grow with the batch (40 million messages: 1.8 GB without).
    """

    def route(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        memory = from_state(*state.get) if state.exists else Memory()
        sender = Sender(memory, snapshots, bounds.ttl, bounds.memory_mib, form)
        said = _Said(key[0], rows_per_byte)
        facts = None
        taken = False
        for frame in frames:
            rows: Iterator[Any] = frame.itertuples(index=False)
            for row in rows:
                if row.kind == KIND_REJECTS:
                    rejected = RoutedBlock(KIND_REJECTS, row.messages, payload=row.payload)
                    yield from said.add(rejected)
                elif row.kind == KIND_MESSAGES:
                    sender.add(row.keys, row.payload, row.split)
                    facts = facts or row.facts
                    taken = True
        missing = False
        for block in sender.route(key[0], facts):
            missing |= block.kind == KIND_MISSING
            yield from said.add(block)
        yield from said.rest()
        if taken and not missing:
            state.update(to_state(memory))

    return route


class _Said:
    """Routed blocks of a queue manager on their way to Java, some at a time.

    A frame costs a third of a millisecond whatever is in it.
    """

    def __init__(self, qmgr: str, rows_per_byte: float) -> None:
        self._qmgr = qmgr
        self._rows_per_byte = rows_per_byte
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(self, block: RoutedBlock) -> Iterator[pd.DataFrame]:
        """Take a block, as its row and as many empty ones as it is heavy; a frame when full."""
        row = (
            self._qmgr,
            block.kind,
            block.messages,
            block.data,
            block.answers,
            block.payload,
            block.figures,
            block.split,
        )
        size = len(block.data) + len(block.answers) + len(block.payload)
        self._rows += [row, *[(None,) * len(row)] * empty_rows(size, self._rows_per_byte)]
        self._bytes += size
        if self._bytes >= _FRAME_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pd.DataFrame]:
        """A frame of the blocks that wait, if any."""
        if self._rows:
            yield pd.DataFrame(self._rows, columns=list(_ROUTED_COLUMNS), dtype=object)
        self._rows, self._bytes = [], 0
