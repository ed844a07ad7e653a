"""The stateful stream: blocks, grouped by bucket, through an operator that keeps state.

One run of the query routes one micro-batch: all messages that are there. The plans reach the
state function as data that joins the stream; a run that finds a plan missing changes nothing and
says which.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import pandas as pd
from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)

from clwl_spark.planning.facts import FACTS
from clwl_spark.routing.engines.choose import Engine
from clwl_spark.routing.intake.blocks import (
    BUCKET,
    KEYS,
    KIND,
    KIND_FACTS,
    KIND_MESSAGES,
    KIND_REJECTS,
    MESSAGES,
    PAYLOAD,
    SPLIT,
    TOLD_TO_EXIT,
    BlockForm,
    empty_rows,
)
from clwl_spark.routing.intake.duplicate_notes import TOLD
from clwl_spark.routing.ledger.run_record import TRANSFORM, Run
from clwl_spark.routing.output.routed import KIND_MEMORY, RoutedBlock
from clwl_spark.routing.output.unpack import ANSWERS, DATA
from clwl_spark.routing.state.bindings import BindingRules
from clwl_spark.routing.state.bucket import Bucket
from clwl_spark.routing.state.history import MEMORY, STATE_SCHEMA, from_state, to_state
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.spark.limits import setting
from clwl_spark.tables import columns as c

FIGURES: Final = "figures"
ROUTED_SCHEMA: Final = (
    "kind string, messages bigint, data binary, answers binary, payload binary, figures string, "
    "split string"
)
_ROUTED_COLUMNS: Final = (KIND, MESSAGES, DATA, ANSWERS, PAYLOAD, FIGURES, SPLIT)
_STATE: Final = "memories"
_STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ARROW_ROWS: Final = "spark.sql.execution.arrow.maxRecordsPerBatch"
_ARROW_ROWS_OF_SPARK: Final = "10000"
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
    """How buckets route.

    Attributes:
        binding: what messages are bound by.
        memory_mib: what a worker may use.
        rejects_duplicates: messages that were routed before are set aside.
        message_exit: `module:function` that is asked for each message; blank = none.
    """

    binding: BindingRules
    memory_mib: int
    rejects_duplicates: bool = False
    message_exit: str = ""


def routed_blocks(
    messages: DataFrame,
    facts: DataFrame,
    run: Run,
    bounds: Bounds,
    engine: Engine,
    set_aside: DataFrame | None = None,
) -> DataFrame:
    """Route a stream of messages.

    Args:
        messages: rows of `messages`, a stream.
        facts: (qmgr, facts) of `planning.facts` and (memory), of those that the state may not know
            yet; and (told) of duplicates where these are rejected; not a stream.
        run: whose snapshots and buckets they are.
        bounds: what a bucket's messages may take.
        engine: how messages become blocks.
        set_aside: as for `DuplicateNotes`.

    Grain: one row per routed block, reject block, bucket (history), or bucket of which plans are
    missing.
    """
    arrow_rows = int(setting(messages.sparkSession, ARROW_ROWS, _ARROW_ROWS_OF_SPARK))
    taken, sent = (
        arrow_rows / (bounds.memory_mib * 2**20 * share)
        for share in (_TAKEN_AT_ONCE, _SENT_AT_ONCE)
    )
    carried = TOLD_TO_EXIT if bounds.message_exit else ()
    blocks = engine.blocks(messages, run, taken, set_aside, carried)
    with_facts = blocks.join(F.broadcast(facts), c.QMGR, "left")
    told = [TOLD] if bounds.rejects_duplicates else []
    columns = (BUCKET, c.QMGR, KIND, KEYS, PAYLOAD, MESSAGES, SPLIT, FACTS, MEMORY, *told)
    grouped = with_facts.select(*columns).groupBy(BUCKET)
    function = route_bucket(run.pins, bounds, engine.form, sent)
    return _with_state(grouped, function, run.operator).where(F.col(KIND).isNotNull())


def _with_state(grouped: GroupedData, function: StateFunction, operator: str) -> DataFrame:
    """What a state function makes of groups, by the operator that keeps its state."""
    if operator == TRANSFORM:
        return grouped.transformWithStateInPandas(
            statefulProcessor=StateProcessor(function),
            outputStructType=ROUTED_SCHEMA,
            outputMode="append",
            timeMode="none",
        )
    return grouped.applyInPandasWithState(
        function,
        outputStructType=ROUTED_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        timeoutConf="NoTimeout",
    )


def state_settings(spark: SparkSession, operator: str) -> dict[str, str]:
    """Settings that an operator needs, of those that the session does not have so already."""
    if operator != TRANSFORM or setting(spark, _STATE_STORE, "") == _ROCKSDB:
        return {}
    return {_STATE_STORE: _ROCKSDB}


class StateProcessor(StatefulProcessor):
    """A state function as `transformWithState` calls it: one value of state for each group."""

    def __init__(self, function: StateFunction) -> None:
        """Keep the function."""
        self._function = function

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Take hold of the value."""
        self._value = handle.getValueState(_STATE, STATE_SCHEMA)

    def handleInputRows(  # noqa: N802  (Spark's name)
        self,
        key: Any,  # noqa: ANN401
        rows: Any,  # noqa: ANN401  (frames, as they come in pandas)
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """Route what a bucket is given."""
        return self._function(key, rows, cast(GroupState, _State(self._value)))

    def close(self) -> None:
        """Nothing is held but the value."""


class _State:
    """The value of a group, by the words of `GroupState`."""

    def __init__(self, value: ValueState) -> None:
        self._value = value

    @property
    def exists(self) -> bool:
        return self._value.exists()

    @property
    def get(self) -> tuple[Any, ...]:
        return self._value.get() or ()

    def update(self, value: tuple[Any, ...]) -> None:
        self._value.update(value)


def route_bucket(
    pins: Sequence[Pin], bounds: Bounds, form: BlockForm, rows_per_byte: float = 0.0
) -> StateFunction:
    """Make the state function of one run; its state is the memories of a bucket.

    Blocks come with `empty_rows` and answers go with them, so that what a worker holds does not
    grow with the batch (40 million messages: 1.8 GB without).
    """

    def route(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        memories = from_state(key[0], *state.get) if state.exists else {}
        bucket = Bucket(
            memories, pins, bounds.binding, bounds.memory_mib, form, bounds.message_exit
        )
        said = _Said(rows_per_byte)
        known = _Known(memories, told={} if bounds.rejects_duplicates else None)
        for row in _rows_of(frames):
            if row.kind == KIND_REJECTS:
                rejected = RoutedBlock(KIND_REJECTS, row.messages, payload=row.payload)
                yield from said.add(rejected)
            elif row.kind == KIND_MESSAGES:
                bucket.add(row.keys, row.payload, row.split)
            elif row.kind == KIND_FACTS and row.facts:
                known.take(row)
        for block in bucket.route(known.facts, known.told):
            yield from said.add(block)
        if bucket.routed:
            state.update(to_state(memories))
            _, after = to_state({x: memories[x] for x in sorted(bucket.routed)})
            yield from said.add(RoutedBlock(KIND_MEMORY, data=after))
        yield from said.rest()

    return route


def _rows_of(frames: Iterable[pd.DataFrame]) -> Iterator[Any]:
    """Rows of frames, one frame after the other, as named tuples."""
    for frame in frames:
        yield from frame.itertuples(index=False)


@dataclass(slots=True)
class _Known:
    """What comes with the facts of a bucket's queue managers.

    Attributes:
        memories: by queue manager; those that the state lacks are added.
        told: by queue manager (`duplicates.Duplicates`); None = duplicates are kept.
        facts: documents by queue manager.
    """

    memories: dict[str, bytes]
    told: dict[str, bytes] | None
    facts: dict[str, str] = field(default_factory=dict)

    def take(self, row: Any) -> None:  # noqa: ANN401  (a named tuple)
        """Take the facts of a queue manager."""
        self.facts[row.qmgr] = row.facts
        if row.memory:
            self.memories.setdefault(row.qmgr, row.memory)
        if self.told is not None and row.told is not None:
            self.told[row.qmgr] = row.told


class _Said:
    """Routed blocks of a bucket on their way to Java, some at a time.

    A frame costs a third of a millisecond whatever is in it.
    """

    def __init__(self, rows_per_byte: float) -> None:
        self._rows_per_byte = rows_per_byte
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(self, block: RoutedBlock) -> Iterator[pd.DataFrame]:
        """Take a block, as its row and as many empty ones as it is heavy; a frame when full."""
        row = (
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
